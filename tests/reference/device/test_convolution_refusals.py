"""Wrong calls of the convolution family, on the reference device and on a GPU: the same statuses.

Every call starts from one that is right; one argument is then changed. Where the reference device
is stricter than cuDNN 9.19, which the statuses were read off, the test says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ctypes import addressof, c_float, c_void_p
from typing import Any, NamedTuple

import pytest

from cudnn_ctypes import DeviceBuffer, raw

from ..raw_program import FLOAT, Program

BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SHAPE = raw.CUDNN_STATUS_NOT_SUPPORTED_SHAPE
DATA_TYPE = raw.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE
HALF, INT32 = raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_INT32
ONE, ZERO = c_float(1), c_float(0)
X, W, Y = (2, 4, 6, 6), (8, 4, 3, 3), (2, 8, 6, 6)

Arguments = dict[str, Any]


class Here(NamedTuple):
    """A program, and memory for x, w, y, bias and workspace on its device."""

    program: Program
    x: DeviceBuffer
    w: DeviceBuffer
    y: DeviceBuffer
    bias: DeviceBuffer
    workspace: DeviceBuffer


@pytest.fixture
def everywhere(anywhere: Program) -> Iterator[Here]:
    sizes = [4 * math.prod(shape) for shape in (X, W, Y, (1, 8, 1, 1))]
    with ExitStack() as stack:
        buffers = [stack.enter_context(DeviceBuffer(size)) for size in (*sizes, 1 << 22)]
        for buffer in buffers:
            buffer.fill(0)
        yield Here(anywhere, *buffers)


def right(here: Here, operation: str) -> Arguments:
    """The arguments of a right call, by their names in C; memory and scalars by their addresses."""
    program, x, w, y, bias, workspace = here
    y_desc, x_desc, w_desc = program.tensor(Y), program.tensor(X), program.filter(W)
    made = {
        "handle": program.handle,
        "alpha alpha1": c_void_p(addressof(ONE)),
        "beta alpha2": c_void_p(addressof(ZERO)),
        "xDesc dxDesc": x_desc,
        "x dx": x.ptr,
        "wDesc dwDesc": w_desc,
        "w dw": w.ptr,
        "yDesc dyDesc zDesc": y_desc,
        "y dy z": y.ptr,
        "biasDesc dbDesc": program.tensor((1, 8, 1, 1)),
        "bias db": bias.ptr,
        "convDesc": program.convolution((1, 1)),
        "activationDesc": program.activation(raw.CUDNN_ACTIVATION_RELU),
        "algo": 1,
        "workSpace": workspace.ptr,
        "workSpaceSizeInBytes": workspace.nbytes,
    }
    values = {name: value for names, value in made.items() for name in names.split()}
    return {
        p.name: values[p.name] for p in raw.FUNCTIONS[f"cudnnConvolution{operation}"].parameters
    }


def status(operation: str, arguments: Arguments) -> raw.cudnnStatus_t:
    return raw.FUNCTIONS[f"cudnnConvolution{operation}"].unchecked(**arguments)


# Roles of the descriptors in each operation: x, w, y.
ROLES = {
    "Forward": ("xDesc", "wDesc", "yDesc"),
    "BackwardData": ("dxDesc", "wDesc", "dyDesc"),
    "BackwardFilter": ("xDesc", "dwDesc", "dyDesc"),
    "BiasActivationForward": ("xDesc", "wDesc", "yDesc"),
}
ALL = [*ROLES, "BackwardBias"]

Change = tuple[str, Callable[[Program], Any]]
DO_NOT_FIT: dict[str, Change] = {
    "x channels": ("x", lambda p: p.tensor((2, 5, 6, 6))),
    "x 5d": ("x", lambda p: p.tensor((2, 4, 6, 6, 6))),
    "x batch": ("x", lambda p: p.tensor((3, 4, 6, 6))),
    "x size": ("x", lambda p: p.tensor((2, 4, 7, 6))),
    "x never set": ("x", lambda p: p.new(raw.cudnnTensorDescriptor_t)),
    "w channels": ("w", lambda p: p.filter((8, 3, 3, 3))),
    "w filters": ("w", lambda p: p.filter((7, 4, 3, 3))),
    "w 5d": ("w", lambda p: p.filter((8, 4, 3, 3, 3))),
    "w size": ("w", lambda p: p.filter((8, 4, 2, 2))),
    "w never set": ("w", lambda p: p.new(raw.cudnnFilterDescriptor_t)),
    "y channels": ("y", lambda p: p.tensor((2, 7, 6, 6))),
    "y size": ("y", lambda p: p.tensor((2, 8, 5, 6))),
    "y larger": ("y", lambda p: p.tensor((2, 8, 7, 6))),
    "y batch": ("y", lambda p: p.tensor((1, 8, 6, 6))),
    "y 5d": ("y", lambda p: p.tensor((2, 8, 6, 6, 1))),
    "y never set": ("y", lambda p: p.new(raw.cudnnTensorDescriptor_t)),
    "convolution 3d": ("conv", lambda p: p.convolution((1, 1, 1))),
    "convolution never set": ("conv", lambda p: p.new(raw.cudnnConvolutionDescriptor_t)),
}


def changed(here: Here, operation: str, change: Change) -> Arguments:
    role, make = change
    names = dict(zip(("x", "w", "y"), ROLES[operation], strict=True), conv="convDesc")
    return {**right(here, operation), names[role]: make(here.program)}


@pytest.mark.parametrize("operation", ALL)
def test_the_call_that_is_changed_below_is_right(everywhere: Here, operation: str):
    assert status(operation, right(everywhere, operation)) == raw.CUDNN_STATUS_SUCCESS


@pytest.mark.parametrize("change", DO_NOT_FIT)
@pytest.mark.parametrize("operation", ROLES)
def test_descriptors_that_do_not_fit(everywhere: Here, operation: str, change: str):
    assert status(operation, changed(everywhere, operation, DO_NOT_FIT[change])) == BAD_PARAM


CHANGES: dict[str, list[tuple[Callable[[Program], Arguments], int]]] = {
    "BackwardBias": [
        (lambda p: {"dbDesc": p.tensor((1, 7, 1, 1))}, BAD_PARAM),
        (lambda p: {"dbDesc": p.tensor((2, 8, 1, 1))}, BAD_PARAM),
        (lambda p: {"dbDesc": p.tensor((1, 8, 6, 1))}, BAD_PARAM),
        (lambda p: {"dbDesc": p.tensor((1, 8, 1))}, BAD_PARAM),
        (lambda p: {"dbDesc": p.tensor((1, 8, 1, 1, 1))}, BAD_PARAM),
        (lambda p: {"dbDesc": p.tensor((1, 8, 1, 1), HALF)}, BAD_PARAM),
        (lambda p: {"dyDesc": p.tensor(Y, HALF)}, BAD_PARAM),
        (lambda p: {"dyDesc": p.tensor((2, 8, 6)), "dbDesc": p.tensor((1, 8, 1))}, NOT_SUPPORTED),
        (
            lambda p: {"dyDesc": p.tensor(Y, INT32), "dbDesc": p.tensor((1, 8, 1, 1), INT32)},
            NOT_SUPPORTED,
        ),
        (
            lambda p: {
                "dyDesc": p.tensor(Y, raw.CUDNN_DATA_BFLOAT16),
                "dbDesc": p.tensor((1, 8, 1, 1), raw.CUDNN_DATA_BFLOAT16),
            },
            NOT_SUPPORTED,
        ),
    ],
    "BiasActivationForward": [
        (lambda p: {"zDesc": p.tensor((2, 8, 5, 6))}, SHAPE),
        (lambda p: {"zDesc": p.tensor((1, 8, 1, 1))}, SHAPE),
        (lambda p: {"zDesc": p.tensor(Y, HALF)}, SHAPE),
        (lambda p: {"yDesc": p.tensor(Y, FLOAT, "NHWC")}, SHAPE),
        (lambda p: {"biasDesc": p.tensor((1, 7, 1, 1))}, SHAPE),
        (lambda p: {"biasDesc": p.tensor((2, 8, 1, 1))}, SHAPE),
        (lambda p: {"biasDesc": p.tensor((1, 8, 6, 1))}, SHAPE),
        (lambda p: {"biasDesc": p.tensor((1, 8, 1))}, BAD_PARAM),
        (lambda p: {"biasDesc": p.tensor((1, 8, 1, 1, 1))}, BAD_PARAM),
        (lambda p: {"biasDesc": p.tensor((1, 8, 1, 1), HALF)}, DATA_TYPE),
        (lambda p: {"yDesc": p.tensor(Y, HALF), "zDesc": p.tensor(Y, HALF)}, DATA_TYPE),
        (lambda p: {"algo": raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT}, NOT_SUPPORTED),
        (lambda p: {"activationDesc": p.activation(raw.CUDNN_ACTIVATION_TANH)}, NOT_SUPPORTED),
        # In the fused call the layout of w is free.
        (lambda p: {"wDesc": p.filter(W, FLOAT, "NHWC")}, raw.CUDNN_STATUS_SUCCESS),
    ],
    "Forward": [(lambda p: {"wDesc": p.filter(W, FLOAT, "NHWC")}, NOT_SUPPORTED)],
}


@pytest.mark.parametrize("operation", CHANGES)
def test_bias_and_activation(everywhere: Here, operation: str):
    for number, (change, expected) in enumerate(CHANGES[operation]):
        arguments = {**right(everywhere, operation), **change(everywhere.program)}
        assert status(operation, arguments) == expected, number
