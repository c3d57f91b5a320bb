"""Operands of recurrent networks, multi-head attention and the CTC loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import enums
from ..ctypes_support import CudnnEnum
from ..descriptors import RNN, Attention, CTCLoss
from .language import NOT_SUPPORTED, Broken, Operand, Rules, equal, no_kernel, rules, unchecked


def _of_type(operand: Operand, whose: str, data_type: Any) -> Iterator[Broken]:
    if operand.data_type != data_type:
        yield Broken(
            operand.name,
            f"expected {data_type.name}, the type of {whose}, got {operand.data_type.name}",
        )


def _of_vectors(operand: Operand, size: int, wanted: int) -> Iterator[Broken]:
    if size != wanted:
        yield Broken(operand.name, f"expected vectors of {wanted} elements, got {size}")


# -- recurrent networks ------------------------------------------------------------------------


@rules("cudnnGetRNNTempSpaceSizes")
def recurrent_input(rnnDesc: RNN, xDesc: Operand) -> Rules:
    yield from _of_type(xDesc, "the network", rnnDesc.data_type)
    yield from _of_vectors(xDesc, xDesc.described.vector_size, rnnDesc.input_size)


@rules("cudnnRNNForward", "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8")
def recurrent(rnnDesc: RNN, xDesc: Operand, yDesc: Operand | None) -> Rules:
    yield from recurrent_input(rnnDesc, xDesc)
    x = xDesc.described
    if yDesc is not None:
        state = rnnDesc.projection_size or rnnDesc.hidden_size
        yield from _of_type(yDesc, "the network", rnnDesc.data_type)
        y_size = state * (2 if rnnDesc.bidirectional else 1)
        yield from _of_vectors(yDesc, yDesc.described.vector_size, y_size)
        for name in ("layout", "max_length", "batch_size", "lengths"):
            wanted, found = getattr(x, name), getattr(yDesc.described, name)
            if found != wanted:
                yield Broken(
                    yDesc.name, f"expected the {name} of {xDesc.name}, {wanted}, got {found}"
                )
    shorter = min(x.lengths) < x.max_length
    if rnnDesc.algorithm != enums.CUDNN_RNN_ALGO_STANDARD and shorter:
        yield no_kernel(xDesc, "the persistent algorithms are for sequences of one length")
    # The packed layout has no padding.
    padded = x.layout == enums.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED and shorter
    batch_major = x.layout == enums.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
    if (padded or batch_major) and not rnnDesc.padded_io:
        yield Broken(
            xDesc.name,
            f"{'padding' if padded else x.layout.name} needs padded input and output in the "
            f"network: padded_io, or CUDNN_RNN_PADDED_IO_ENABLED",
        )


# -- multi-head attention ----------------------------------------------------------------------


@rules("cudnnMultiHeadAttnForward", q="qDesc", k="kDesc", v="vDesc", o="oDesc")
@rules("cudnnMultiHeadAttnBackwardData", q="dqDesc", k="dkDesc", v="dvDesc", o="doDesc")
@rules("cudnnMultiHeadAttnBackwardWeights", q="qDesc", k="kDesc", v="vDesc", o="doDesc")
def attention(attnDesc: Attention, q: Operand, k: Operand, v: Operand, o: Operand) -> Rules:
    """Sequences of q and of the output are alike, and so are those of k and v.

    All are within the attention's largest sizes, and in the same order in memory.
    """
    vectors = (*attnDesc.sizes, attnDesc.projected[3])
    for each, size in zip((q, k, v, o), vectors, strict=True):
        yield from _of_vectors(each, each.shape[3], size)
        yield from _of_type(each, "the attention", attnDesc.data_type)
        if each.described.axes != q.described.axes:
            yield Broken(each.name, f"expected its axes in the order of {q.name}")
    steps, batch, beam, _ = q.shape
    keys = (k.shape[0], batch, beam if attnDesc.one_to_one else 1)
    for each, wanted in ((k, keys), (v, keys), (o, (steps, batch, beam))):
        if each.shape[:3] != wanted:
            yield Broken(
                each.name,
                f"expected (time, batch, beam) = {wanted} for {q.name} {q.shape} and "
                f"{'one key for each query' if attnDesc.one_to_one else 'keys for all queries'}, "
                f"got {each.shape}",
            )
    for each, other in ((o, q), (v, k)):
        if each.described.lengths != other.described.lengths:
            yield Broken(
                each.name,
                f"expected the lengths of {other.name}, {other.described.lengths}, got "
                f"{each.described.lengths}",
            )
    for each, value, limit in (
        (q, steps, "qo_max_length"),
        (k, k.shape[0], "kv_max_length"),
        (q, batch, "max_batch"),
        (q, beam, "max_beam"),
    ):
        most = getattr(attnDesc, limit)
        if value > most:
            yield Broken(each.name, f"{value} is more than the attention's {limit}, {most}")


# -- CTC loss ----------------------------------------------------------------------------------


@rules("cudnnCTCLoss", "cudnnCTCLoss_v8", probs="probsDesc")
@rules(
    "cudnnGetCTCLossWorkspaceSize",
    "cudnnGetCTCLossWorkspaceSize_v8",
    probs="probsDesc",
    gradients="gradientsDesc",
)
def ctc_loss(ctcLossDesc: CTCLoss, probs: Operand, gradients: Operand | None, algo: Any) -> Rules:
    """Gradients count only where they are wanted."""
    if len(probs.shape) != 3:
        yield Broken(probs.name, f"expected (time, samples, symbols), got shape {probs.shape}")
    yield from equal("shape", probs, gradients)
    if gradients is not None and isinstance(algo, CudnnEnum) and not algo.known:
        yield Broken("algo", f"cuDNN has no {int(algo)}", NOT_SUPPORTED, by_meaning=False)
    if probs.data_type != ctcLossDesc.compute_data_type:
        yield no_kernel(
            probs,
            f"of {probs.data_type.name}, but the loss is computed in "
            f"{ctcLossDesc.compute_data_type.name}",
        )
    yield from unchecked(equal("data_type", probs, gradients))  # cuDNN computes nonsense


def symbols(labels: Sequence[Sequence[int]], count: int) -> Iterator[Broken]:
    """Labels are symbols of the alphabet, of which 0 is the blank: cuDNN looks up any number."""
    for n, sequence in enumerate(labels):
        if not all(1 <= label < count for label in sequence):
            yield Broken(
                f"labels[{n}]",
                f"expected symbols from 1 to {count - 1} (0 is the blank), got {list(sequence)}",
            )


def input_lengths(name: str, lengths: Sequence[int], batch: int, steps: int) -> Iterator[Broken]:
    """Every sample has from 1 time step to all of them."""
    if len(lengths) != batch or not all(1 <= length <= steps for length in lengths):
        yield Broken(name, f"expected {batch} ints from 1 to {steps}, got {list(lengths)}")
