"""Every operation of layer 2 that launches, with small operands: one row each.

The tests of launches go through this table, and so does ``tools.bench_gpu``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cudnn_ctypes import Handle, NotSupportedError, SymbolNotFoundError

from . import convolutions, layers, sequences
from .case import Case, Operands, tensors_of

__all__ = ["FAMILIES", "LACKING", "Case", "Family", "rows", "tensors_of"]

Family = Callable[[Operands], "dict[str, Case]"]

LACKING = NotSupportedError, SymbolNotFoundError
"""Of a row that this GPU, or the loaded cuDNN, does not have."""

FAMILIES: tuple[Family, ...] = (
    *(layers.activations, layers.softmax, layers.pooling, layers.local_normalization),
    *(layers.normalization, layers.dropout, layers.spatial_transformer, layers.tensors),
    *(convolutions.convolutions, convolutions.causal_convolutions),
    *(convolutions.back_to_back_convolutions, convolutions.long_fft_convolutions),
    *(convolutions.fused, sequences.recurrent, sequences.attention, sequences.ctc),
    *(sequences.gnn_aggregation, sequences.gnn_attention),
)


@contextmanager
def rows(family: Family, handle: Handle) -> Iterator[dict[str, Case]]:
    """The rows of a family by the operations' names, with operands for a handle."""
    with Operands(handle) as operands:
        yield family(operands)
