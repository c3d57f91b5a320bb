"""Steps of each family of sequences, and of fused operations, leave no memory behind."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ctypes import c_size_t, c_void_p
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    AttentionWeights,
    AttnDescriptor,
    ConvolutionDescriptor,
    CTCLossDescriptor,
    DeviceTensor,
    DropoutDescriptor,
    Handle,
    softmax_forward,
)

from .leaks import FOUND, check_no_memory_is_left
from .recurrent import Run, example, random_operands
from .small_attention import HEADS, OPTIONS, TK, TQ, N, arrays, normal

Step = Callable[[], Any]


def normal_tensor(*shape: int, dtype: Any = np.float32, **options: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(normal(*shape).astype(dtype), **options)


@contextmanager
def recurrent(handle: Handle) -> Iterator[Step]:
    """Descriptors, weights and all three passes of a GRU with dropout, made anew every time."""
    problem = example("gru", layers=2)
    given = random_operands(problem)

    def step() -> None:
        with (
            DropoutDescriptor(handle, 0.5, seed=1) as dropout,
            Run(handle, problem, given, dropout=dropout) as run,
        ):
            run.training_step()

    yield step


@contextmanager
def ctc(handle: Handle) -> Iterator[Step]:
    probs = normal_tensor(6, 2, 5)

    def step() -> None:
        with CTCLossDescriptor(max_label_length=5) as loss:
            for version in (cudnn.ctc_loss, cudnn.ctc_loss_v8):
                version(handle, probs, [[1, 2, 2], [4]], loss)

    yield step


@contextmanager
def dropout(handle: Handle) -> Iterator[Step]:
    x = normal_tensor(8, 33)

    def step() -> None:
        with DropoutDescriptor(handle, 0.5, seed=1) as descriptor:
            y, reserve_space = cudnn.dropout_forward(handle, x, descriptor)
            cudnn.dropout_backward(handle, descriptor, dy=y, reserve_space=reserve_space)

    yield step


@contextmanager
def attention(handle: Handle) -> Iterator[Step]:
    operands = normal_tensor(TQ, N, 6), normal_tensor(TK, N, 5), normal_tensor(TK, N, 4)

    def step() -> None:
        with ExitStack() as stack:
            attn = stack.enter_context(AttnDescriptor(HEADS, **OPTIONS))
            weights = stack.enter_context(AttentionWeights(handle, attn, arrays()))
            out, reserve = cudnn.attention_forward_training(handle, *operands, attn, weights)
            given = dict(zip("qkv", operands, strict=True))
            given |= {"dy": out, "weights": weights, "reserve_space": reserve}
            cudnn.attention_backward_data(handle, attn, **given)
            stack.enter_context(cudnn.attention_backward_weights(handle, attn, **given))

    yield step


@contextmanager
def fused(handle: Handle) -> Iterator[Step]:
    x = normal_tensor(2, 8, 6, 6, dtype=np.float16, layout="NHWC")
    w = normal_tensor(32, 8, 3, 3, dtype=np.float16, layout="NHWC")
    sums = [DeviceTensor.full((1, 32, 1, 1), value, "float32") for value in (0, 72, 1, 1)]

    def step() -> None:
        with ConvolutionDescriptor(
            1, compute_data_type="float32", math_type="tensor_op_math"
        ) as conv:
            y = cudnn.scale_bias_activation_convolution(handle, x, w, conv, statistics=False).y
            cudnn.scale_bias_activation_backward_filter(handle, conv, x=x, dy=y, dw_shape=w.shape)
        cudnn.finalize_statistics_training(handle, *sums[:2], 72, *sums[2:], average_factor=1.0)

    yield step


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(recurrent, marks=pytest.mark.soak),
        ctc,
        pytest.param(dropout, marks=pytest.mark.soak),
        pytest.param(attention, marks=pytest.mark.soak),
        pytest.param(fused, marks=pytest.mark.soak),
    ],
    ids=lambda family: family.__name__,
)
def test_steps_leave_no_memory(handle: Handle, family: Any) -> None:
    """Host memory, and on a GPU device memory; nothing is forgotten, which would warn."""
    with family(handle) as step:
        check_no_memory_is_left(step, handle)


@pytest.mark.soak
@pytest.mark.parametrize("every", [1, 3])
def test_a_leak_is_found(reference_handle: Handle, every: int) -> None:
    """As small a one as there is, and one of every third step."""
    malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
    malloc.restype, malloc.argtypes, free.argtypes = c_void_p, [c_size_t], [c_void_p]
    x, left = normal_tensor(8, 33), []
    count = itertools.count()

    def clean() -> None:
        softmax_forward(reference_handle, x).close()

    def step() -> None:
        clean()
        if next(count) % every == 0:
            left.append(malloc(FOUND * every - 8))  # malloc adds 8

    check_no_memory_is_left(clean, reference_handle)  # what other tests kept is freed now
    with pytest.raises(AssertionError):
        check_no_memory_is_left(step, reference_handle, rounds=6)
    for address in left:
        free(address)


def test_what_is_given_back_is_no_leak() -> None:
    kept: list[bytes] = []

    def step() -> None:
        kept.append(bytes(FOUND * 100))
        del kept[:-1]

    check_no_memory_is_left(step)
