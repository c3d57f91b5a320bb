"""The choice of a convolution's algorithm: within the workspace limit, timed if requested."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .... import raw
from ....errors import CudnnError
from ..v7 import old_status_number
from ..v7.algorithm_choice import choose
from ..v7.old_function import Refused
from .arrays import Session
from .descriptors import Descriptor, get_handle
from .errors import CuDNNError
from .low_level import low

__all__ = [
    "Algorithm",
    "Problem",
    "algorithm_for",
    "get_max_workspace_size",
    "set_max_workspace_size",
]

_TENSOR_OP, _DEFAULT = int(raw.CUDNN_TENSOR_OP_MATH), int(raw.CUDNN_DEFAULT_MATH)
_max_workspace_size = 8 * 1024 * 1024


def get_max_workspace_size() -> int:
    """The largest workspace of a convolution, in bytes."""
    return _max_workspace_size


def set_max_workspace_size(size: int) -> None:
    """Set the largest workspace of a convolution, in bytes."""
    global _max_workspace_size
    _max_workspace_size = size


class Algorithm(NamedTuple):
    """An algorithm, the bytes of its workspace, and its math type."""

    algo: int
    memory: int
    math_type: int


class Problem(NamedTuple):
    """A convolution in one direction: its descriptors and memory, in the order of C's calls."""

    direction: str
    first: Descriptor
    second: Descriptor
    convolution: Descriptor
    result: Descriptor
    addresses: tuple[int, int, int]

    @property
    def descriptors(self) -> tuple[int, int, int, int]:
        return self.first.value, self.second.value, self.convolution.value, self.result.value


_found: dict[Any, Algorithm] = {}
"""The fastest timed algorithms, by the problems."""


def algorithm_for(
    problem: Problem, key: Any, session: Session, cores: bool, timed: bool, deterministic: bool
) -> Algorithm:
    """The algorithm for a problem: within the workspace limit, timed if requested."""
    handle, limit = get_handle(), _max_workspace_size
    if timed and not deterministic:
        return _timed(problem, (handle, key, limit), session, cores)
    if not cores and not deterministic:
        return _chosen(problem, limit)
    ask = getattr(low, f"getConvolution{problem.direction}Algorithm_v7")
    usable = [each for each in ask(handle, *problem.descriptors, 10) if not each.status]
    if deterministic:
        usable = [each for each in usable if each.determinism == raw.CUDNN_DETERMINISTIC]
    within = [each for each in usable if each.memory <= limit]
    if not within:
        raise RuntimeError(_none_within(problem, limit))
    if within[0] is not usable[0]:
        warnings.warn(
            f"The best algorithm of a convolution ({problem.direction}) might not be selected due "
            f"to lack of workspace size ({limit})",
            stacklevel=4,
        )
    best = within[0]
    return Algorithm(best.algo, best.memory, best.mathType)  # the memory is for this math type


def _timed(problem: Problem, key: Any, session: Session, cores: bool) -> Algorithm:
    if key not in _found:
        first, second, result = problem.addresses
        find = getattr(low, f"findConvolution{problem.direction}AlgorithmEx_v7")
        limit = _max_workspace_size
        (best,) = find(
            get_handle(),
            *(problem.first.value, first),
            *(problem.second.value, second),
            problem.convolution.value,
            *(problem.result.value, result),
            1,
            *(session.workspace(limit), limit),
        )
        if best.status:
            raise CuDNNError(best.status)
        if cores and best.mathType != _TENSOR_OP:
            warnings.warn(
                f"Tensor Core mode is set but the selected convolution ({problem.direction}) "
                f"algorithm is not a Tensor Core enabled algorithm.",
                RuntimeWarning,
                stacklevel=5,
            )
        _found[key] = Algorithm(best.algo, best.memory, best.mathType)
    return _found[key]


def _chosen(problem: Problem, limit: int) -> Algorithm:
    """The algorithm chosen like `get...Algorithm_v6` with a limit."""
    low.setConvolutionMathType(problem.convolution.value, _DEFAULT)
    kinds = {
        "Forward": ("Tensor", "Filter", "Tensor"),
        "BackwardData": ("Filter", "Tensor", "Tensor"),
        "BackwardFilter": ("Tensor", "Tensor", "Filter"),
    }[problem.direction]
    names = (*kinds[:2], "Convolution", kinds[2])
    typed = []
    for name, address in zip(names, problem.descriptors, strict=True):
        typed.append(getattr(raw, f"cudnn{name}Descriptor_t")())
        typed[-1].value = address
    handle = raw.cudnnHandle_t()
    handle.value = get_handle()
    try:
        algo = int(choose(problem.direction, limit, handle, *typed))
    except Refused:
        raise RuntimeError(_none_within(problem, limit)) from None
    except CudnnError as error:
        raise CuDNNError(old_status_number(error.status), str(error)) from error
    size = getattr(low, f"getConvolution{problem.direction}WorkspaceSize")
    memory = size(get_handle(), *problem.descriptors, algo)
    return Algorithm(algo, memory, _DEFAULT)


def _none_within(problem: Problem, limit: int) -> str:
    return (
        f"No convolution ({problem.direction}) algorithm available with workspace size less equal "
        f"{limit}"
    )
