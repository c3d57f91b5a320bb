"""Convolutions on the reference device, as a C program calls them: operands in different layouts.

Operands are small whole numbers, so sums are exact in every order and type: results equal those of
PyTorch in float64, rounded once. Operands in one layout are those of
`tests.legacy.test_random_problems`.
"""

from __future__ import annotations

from ctypes import byref, c_int
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, raw

from ..naive import random_config
from ..raw_program import FLOAT, Memory, Program, scalar

INT8, INT32 = raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT32
SUCCESS, NOT_SUPPORTED = raw.CUDNN_STATUS_SUCCESS, raw.CUDNN_STATUS_NOT_SUPPORTED


def gaps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides with room between elements, rows and images."""
    strides = [2]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size + 3)
    return tuple(strides)


def run(program: Program, direction: str, descriptors: list[Any], operands: list[int], *factors):
    """Ask for algorithms, and run the first one that has a kernel. False if there is none.

    `descriptors` and `operands` are in the order of the C call: input, input, convolution, output.
    """
    kind = {"Forward": "Fwd", "BackwardData": "BwdData", "BackwardFilter": "BwdFilter"}[direction]
    first, second, convolution, output = descriptors
    table, count = (getattr(raw, f"cudnnConvolution{kind}AlgoPerf_t") * 8)(), c_int()
    ask = raw.FUNCTIONS[f"cudnnGetConvolution{direction}Algorithm_v7"]
    ask(program.handle, first, second, convolution, output, 8, byref(count), table)
    found = [row for row in table[: count.value] if row.status == SUCCESS]
    row = found[0] if found else table[0]
    with DeviceBuffer(row.memory) as workspace:
        status = raw.FUNCTIONS[f"cudnnConvolution{direction}"].unchecked(
            *(program.handle, scalar(factors[0]), first, operands[0], second, operands[1]),
            *(convolution, row.algo, workspace, row.memory, scalar(factors[1]), output),
            operands[2],
        )
    assert status == (SUCCESS if found else NOT_SUPPORTED)
    return bool(found)


@pytest.mark.parametrize(
    ("x_layout", "y_layout"), [("NCHW", gaps), ("NHWC", "NCHW"), ("NCHW", "NHWC")]
)
def test_layouts_that_differ(program: Program, torch: Any, x_layout: Any, y_layout: Any) -> None:
    rng, carried_out = np.random.default_rng(0), 0
    for _ in range(6):
        config = random_config(rng, 2)
        alpha, beta = float(rng.choice([1, 0.5, 2])), float(rng.choice([0, 0, 1, -0.5]))
        shapes = config.x_shape, config.w_shape, config.y_shape
        values = [rng.integers(-4, 5, shape) for shape in shapes]
        tx, tw = (torch.tensor(a.astype(float), requires_grad=True) for a in values[:2])
        ty = torch.nn.functional.conv2d(tx, tw, **config.options)
        ty.backward(torch.tensor(values[2].astype(float)))
        layouts = [x_layout, "NCHW", y_layout]
        layouts = [f(s) if callable(f) else f for f, s in zip(layouts, shapes, strict=True)]
        x_desc, y_desc = (program.tensor(shapes[i], FLOAT, layouts[i]) for i in (0, 2))
        w_desc = program.filter(shapes[1])
        how = (config.padding, config.stride, config.dilation)
        convolution = program.convolution(*how, groups=config.groups)
        memory = [
            Memory(s, FLOAT, where, v) for s, where, v in zip(shapes, layouts, values, strict=True)
        ]
        x, w, dy = (each.address for each in memory)
        for direction, output, result, descriptors, operands in (
            ("Forward", 2, ty.detach(), [x_desc, w_desc, convolution, y_desc], [x, w]),
            ("BackwardData", 0, tx.grad, [w_desc, y_desc, convolution, x_desc], [w, dy]),
            ("BackwardFilter", 1, tw.grad, [x_desc, y_desc, convolution, w_desc], [x, dy]),
        ):
            prior = rng.integers(-4, 5, shapes[output]) if beta else None
            target = Memory(shapes[output], FLOAT, layouts[output], prior)
            if run(program, direction, descriptors, [*operands, target.address], alpha, beta):
                carried_out += 1
                wanted = alpha * result.numpy() + (beta * prior if beta else 0)
                np.testing.assert_array_equal(target.get(), wanted, err_msg=f"{direction} {config}")
            elif prior is None:
                assert np.isnan(target.get()).all()
            assert target.gaps_are_poisoned()
    assert carried_out >= 6
