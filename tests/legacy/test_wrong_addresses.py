"""Wrong addresses in every argument of every family: errors that name the argument, no crash.

Programs of layer 2 make the right calls. Before each new function's call goes on, it is made again
and again with one address exchanged for a wrong one.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceBuffer,
    DeviceMemoryWarning,
    DeviceTensor,
    Handle,
)
from cudnn_ctypes.raw import host_blocks, log, mode
from cudnn_ctypes.raw.function import Parameter
from cudnn_ctypes.reference.device import dispatch
from cudnn_ctypes.reference.device.call import Call

from . import test_layer_leaks, test_leaks

Step = Callable[[], Any]


def normal(*shape: int, **options: Any) -> DeviceTensor:
    values = np.random.default_rng(shape).standard_normal(shape).astype(np.float32)
    return DeviceTensor.from_numpy(values, **options)


@contextlib.contextmanager
def convolutions(handle: Handle) -> Iterator[Step]:
    x, w, bias = normal(2, 4, 6, 6), normal(8, 4, 3, 3), normal(1, 8, 1, 1)

    def step() -> None:
        with ConvolutionDescriptor(1) as conv:
            y = cudnn.convolution_forward(handle, x, w, conv)
            cudnn.convolution_backward_data(handle, w=w, dy=y, conv=conv, dx_shape=x.shape)
            cudnn.convolution_backward_filter(handle, x=x, dy=y, conv=conv, dw_shape=w.shape)
            cudnn.convolution_backward_bias(handle, dy=y)
            with cudnn.ActivationDescriptor("relu") as relu:
                cudnn.convolution_bias_activation_forward(
                    handle, x, w, conv, bias=bias, activation=relu, z=y
                )

    yield step


@contextlib.contextmanager
def normalizations(handle: Handle) -> Iterator[Step]:
    x, scale, bias = normal(2, 4, 6, 6), normal(1, 4, 1, 1), normal(1, 4, 1, 1)
    variance = DeviceTensor.full((1, 4, 1, 1), 0.5, "float32")

    def step() -> None:
        cudnn.normalization_forward_inference(handle, x, scale, bias, bias, variance)
        cudnn.batch_normalization_forward_inference(handle, x, scale, bias, bias, variance)
        made = cudnn.normalization_forward_training(handle, x, scale, bias, average_factor=1)
        cudnn.normalization_backward(handle, x=x, y=made.y, dy=made.y, scale=scale, bias=bias)

    yield step


@contextlib.contextmanager
def causal_convolutions(handle: Handle) -> Iterator[Step]:
    x, weight, bias = normal(2, 3, 16), normal(3, 4), normal(3)
    long, wide = normal(1, 2, 256), normal(2, 128)

    def step() -> None:
        y = cudnn.causal_convolution_forward(x, weight, bias)
        cudnn.causal_convolution_backward(x=x, w=weight, dy=y, bias=bias)
        z = cudnn.fft_causal_convolution_forward(long, wide)
        cudnn.fft_causal_convolution_backward(x=long, w=wide, dy=z)

    yield step


@contextlib.contextmanager
def graphs(handle: Handle) -> Iterator[Step]:
    nodes, others, weights = normal(4, 4), normal(2, 4), normal(8)
    graph = cudnn.GnnCscGraph.from_edges([3, 0, 2, 1, 2], [1, 0, 1, 1, 0])

    def step() -> None:
        made = cudnn.gnn_agg_simple_forward(graph, nodes)
        cudnn.gnn_agg_simple_backward(graph, doutput=made.output, node_feat_dim=4)
        params = cudnn.GnnMhaParams(2)
        attended = cudnn.gnn_mha_gat_forward(graph, nodes, others, weights, params=params)
        cudnn.gnn_mha_gat_backward(
            graph,
            doutput=attended.output,
            src_features=nodes,
            dst_features=others,
            attn_weights=weights,
            sm_scores=attended.sm_scores,
            params=params,
        )

    yield step


def plain(family: Callable[[Handle], Step]) -> Callable[[Handle], AbstractContextManager[Step]]:
    made = lambda handle: contextlib.nullcontext(family(handle))  # noqa: E731
    made.__name__ = family.__name__
    return made


FAMILIES = (
    *map(plain, test_layer_leaks.FAMILIES),
    test_leaks.recurrent,
    test_leaks.ctc,
    test_leaks.dropout,
    test_leaks.attention,
    test_leaks.fused,
    convolutions,
    normalizations,
    causal_convolutions,
    graphs,
)

# Arguments that a call neither reads nor writes, although it is given them.
UNUSED = {
    "cudnnActivationBackward: y",  # for functions whose gradient needs x only
    "cudnnNormalizationBackward: yData",  # where an activation follows
    "cudnnNormalizationBackward: normBiasData",
    "cudnnGetRNNWeightParams: weightSpace",  # these two compute addresses
    "cudnnGetMultiHeadAttnWeights: weights",
}
# Arguments that cuDNN may read, and the reference device does not.
UNREAD = {
    "cudnnPoolingBackward: y",
    "cudnnLRNCrossChannelBackward: y",
    "cudnnRNNBackwardData_v8: y",
    "cudnnRNNBackwardWeights_v8: y",
}


def block(address: int) -> host_blocks.Block:
    found = host_blocks.find(address)
    assert found is not None
    return found


def run(handle: Handle, family: Any, monkeypatch: Any, check: Callable[..., None]) -> set[str]:
    """One step, with `check(call, position, address)` before each function's first call."""
    carry_out, seen = dispatch._carry_out, set()

    def watched(implementation: Any, function: Any, args: tuple[Any, ...]) -> int:
        if function.__name__ not in seen:
            seen.add(function.__name__)
            for position, parameter in enumerate(function.parameters):
                use = f"{function.__name__}: {parameter.name}"
                if parameter.type.kind not in ("device", "labelled") or use in UNUSED:
                    continue
                address = Call(function, args)[parameter.name]
                if not address:
                    continue

                def call(changed: Any, position: int = position) -> int:
                    given = (*args[:position], changed, *args[position + 1 :])
                    return carry_out(implementation, function, given)

                check(call, function, parameter, address)
        return carry_out(implementation, function, args)

    monkeypatch.setattr(dispatch, "_carry_out", watched)
    with family(handle) as step:
        step()
    return seen


@contextlib.contextmanager
def read_only_memory() -> Iterator[int]:
    memory = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ)
    yield address
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_wrong_addresses(reference_handle: Handle, family: Any, monkeypatch: Any) -> None:
    with DeviceBuffer(1 << 20) as closed:
        freed = closed.ptr
    wrong: list[str] = []
    with read_only_memory() as read_only, DeviceBuffer(2) as small:
        small.fill(0)
        faults: dict[str, tuple[str, Callable[[host_blocks.Block], int]]] = {
            "past the end": ("begins 0 bytes beyond the end", lambda b: b.address + b.nbytes),
            "before the start": ("begins 16 bytes before the start", lambda b: b.address - 16),
            "freed": (r"was freed: bytes 0 to \d+", lambda _: freed),
            "too small": (r"is too small: \d+ bytes are missing", lambda _: small.ptr),
            "read-only": ("is written, but .* are read-only memory", lambda _: read_only),
            "unmapped": ("not memory of this process", lambda _: 1 << 46),
        }

        def check(call: Any, function: Any, parameter: Parameter, address: int) -> None:
            for fault, (message, changed) in faults.items():
                if fault == "read-only" and parameter.direction == "in":
                    continue
                log.forget()
                status, said = call(changed(block(address))), " ".join(log.take()[0])
                if status == 0 or not re.search(f"{parameter.name}.*{message}", said):
                    wrong.append(f"{function.__name__}: {parameter.name} {fault}: {said}")

        run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_memory_that_was_never_written(
    reference_handle: Handle, family: Any, monkeypatch: Any
) -> None:
    wrong: list[str] = []

    def check(call: Any, function: Any, parameter: Parameter, address: int) -> None:
        if parameter.direction != "in" or f"{function.__name__}: {parameter.name}" in UNREAD:
            return
        with DeviceBuffer(1 << 20) as empty:
            log.forget()
            monkeypatch.setattr(mode, "strict", True)
            status, said = call(empty.ptr), " ".join(log.take()[0])
            monkeypatch.setattr(mode, "strict", False)
            if status == 0 or not re.search(f"{parameter.name}: .* were never written", said):
                wrong.append(f"{function.__name__}: {parameter.name} strict: {said}")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(empty.ptr)
            texts = [str(w.message) for w in caught if w.category is DeviceMemoryWarning]
            if not any(text.startswith(f"{parameter.name}: ") for text in texts):
                wrong.append(f"{function.__name__}: {parameter.name} by default: {texts}")

    run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)
