"""Functions that modify the scores of attention, with their derivatives and what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

__all__ = ["MODIFIERS", "Causal", "Modifier", "Relative", "SoftCap"]

CAP = 1.5  # scores are normally distributed with deviation 1
Arrays = Mapping[str, NDArray[Any]]


class Modifier:
    """One function; ``backward`` is None where its derivative needs no operation.

    Parameters
    ----------
    dims : tuple of int
        Of the scores, (b, h, s_q, s_kv).
    """

    backward: Callable[[Graph, Tensor], Tensor] | None = None

    def __init__(self, dims: tuple[int, ...]) -> None:
        self.dims = dims

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        raise NotImplementedError

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        """What PyTorch makes of the scores."""
        raise NotImplementedError


class SoftCap(Modifier):
    """cap * tanh(scores / cap)."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        self.small = graph.div(scores, CAP)
        return graph.mul(graph.tanh(self.small), CAP)

    def backward(self, graph: Graph, gradient: Tensor) -> Tensor:  # type: ignore[override]
        return graph.tanh_backward(gradient, self.small)

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        return CAP * (scores / CAP).tanh()


class Causal(Modifier):
    """The mask of gen_index and a comparison."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        row, column = graph.gen_index(scores, 2), graph.gen_index(scores, 3)
        return graph.binary_select(scores, -math.inf, graph.cmp_ge(row, column))

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        import torch

        queries, keys = scores.shape[2:]
        later = np.arange(keys)[None, :] > np.arange(queries)[:, None]
        return scores.masked_fill(torch.tensor(later), -np.inf)


class Relative(Modifier):
    """A bias of the user's own, (1, h, s_q, s_kv), and a factor."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        bias = graph.tensor((1, *self.dims[1:]), name="r")
        return graph.mul(graph.add(scores, bias), 0.5)

    def backward(self, graph: Graph, gradient: Tensor) -> Tensor:  # type: ignore[override]
        return graph.mul(gradient, 0.5)

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        import torch

        return (scores + torch.tensor(a["r"])) * 0.5


MODIFIERS: dict[str, type[Modifier]] = {"cap": SoftCap, "causal": Causal, "relative": Relative}
