"""A thousand steps of each family of sequences, and of fused operations, leave no memory behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
)

from .recurrent import Run, example, random_operands
from .small_attention import HEADS, OPTIONS, TK, TQ, N, arrays, normal
from .test_convolution_refusals import least_device_growth
from .test_descriptors import heap_bytes

Step = Callable[[], Any]
ROUNDS = 3  # of least_device_growth


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
        with CTCLossDescriptor(max_label_length=3) as loss:
            for version in (cudnn.ctc_loss, cudnn.ctc_loss_v8):
                version(handle, probs, [[1, 2, 2], [4]], loss)

    yield step


@contextmanager
def dropout(handle: Handle) -> Iterator[Step]:
    x = normal_tensor(8, 33)

    def step() -> None:
        with DropoutDescriptor(handle, 0.5, seed=1) as descriptor:
            y, reserve_space = cudnn.dropout_forward(handle, x, descriptor)
            cudnn.dropout_backward(handle, y, descriptor, reserve_space)

    yield step


@contextmanager
def attention(handle: Handle) -> Iterator[Step]:
    operands = normal_tensor(TQ, N, 6), normal_tensor(TK, N, 5), normal_tensor(TK, N, 4)

    def step() -> None:
        with ExitStack() as stack:
            attn = stack.enter_context(AttnDescriptor(HEADS, **OPTIONS))
            weights = stack.enter_context(AttentionWeights(handle, attn, arrays()))
            out, reserve = cudnn.attention_forward_training(handle, *operands, attn, weights)
            given = (out, *operands, attn, weights, reserve)
            cudnn.attention_backward_data(handle, *given)
            stack.enter_context(cudnn.attention_backward_weights(handle, *given))

    yield step


@contextmanager
def fused(handle: Handle) -> Iterator[Step]:
    x = normal_tensor(2, 8, 6, 6, dtype=np.float16, layout="NHWC")
    w = normal_tensor(32, 8, 3, 3, dtype=np.float16, layout="NHWC")
    sums = [DeviceTensor.full((1, 32, 1, 1), value, "float32") for value in (0, 72, 1, 1)]

    def step() -> None:
        with ConvolutionDescriptor(1, compute_type="float32", math_type="tensor_op_math") as conv:
            y = cudnn.scale_bias_activation_convolution(handle, x, w, conv, statistics=False).y
            cudnn.scale_bias_activation_backward_filter(handle, x, y, conv, dw_shape=w.shape)
        cudnn.finalize_statistics_training(handle, *sums[:2], 72, *sums[2:])

    yield step


@pytest.mark.parametrize(
    ("family", "warm_up", "on_reference", "slack"),
    [
        # A descriptor takes more than 64 bytes, a thousand of them 64 kB.
        (recurrent, 50, 100, 32 * 1024),
        (ctc, 50, 100, 32 * 1024),
        (dropout, 50, 300, 32 * 1024),
        (attention, 50, 100, 32 * 1024),
        (fused, 50, 100, 32 * 1024),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_thousand_steps_leave_no_memory(
    handle: Handle, family: Any, warm_up: int, on_reference: int, slack: int
) -> None:
    """Host memory, and on a GPU device memory; nothing is forgotten, which would warn."""
    with warnings.catch_warnings(), family(handle) as step:
        warnings.simplefilter("error", ResourceWarning)
        for _ in range(warm_up):
            step()
        before = heap_bytes()
        count = on_reference if handle.on_reference_device else 334
        assert least_device_growth(handle, step, count) <= 0
        grown = heap_bytes() - before
        assert grown < slack * ROUNDS * count / 1000 + 16 * 1024, grown
