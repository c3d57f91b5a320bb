"""Every method that describes a graph, with strange arguments: they work, or are refused."""

from __future__ import annotations

import ctypes
import inspect
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from ..damage import accident, raised

COUNT = 30  # strange values for each parameter
_STRANGER = Graph().tensor((2, 3), name="stranger")


class _Integer:
    """Counts as one, and is none of Python's or NumPy's."""

    def __index__(self) -> int:
        return 2


def _strange(g: Graph) -> list[Any]:
    """Values of all kinds, some of which fit somewhere."""
    tensors = [g.tensor(dims) for dims in ((5,), (2, 3), (2, 8, 4, 4), (2, 4, 64, 64))]
    return [
        *(None, True, False, 0, 1, -1, 7, 1 << 40, 1 << 70, 0.5, 1e308),
        *(float("nan"), float("inf"), "", "x", "add", "training", "maxpool", b"x"),
        *((), [], [1], (1, 1), (1, 2, 3, 4), [None], ["a"], [[1]], {}, {1}, {"a": 1}),
        *(object(), _Integer(), int, len, Graph, range(2), iter([1, 2]), 1j, Decimal(1)),
        *(Fraction(1, 2), slice(0, 1), slice(0, 2, 0), slice("a"), [slice(None)] * 4),
        *(np.int64(3), np.float32(0.5), np.complex64(1), np.str_("a"), np.bool_(True)),
        *(np.array(3), np.array([1, 2]), np.zeros((2, 3)), np.array(["a"]), np.float16),
        *(raw.CUDNN_DATA_HALF, raw.CUDNN_POINTWISE_ADD, raw.cudnnDataType_t(999)),
        *(ctypes.c_float(2), ctypes.c_int(2), "float16", "float15"),
        *(_STRANGER, Tensor(), Tensor("v"), [_STRANGER], *tensors, [tensors[1]], tuple(tensors)),
    ]


def _t(g: Graph, *dims: int, data_type: str | None = None) -> Tensor:
    return g.tensor(dims, data_type=data_type)


def _channels(g: Graph, count: int) -> list[Tensor]:
    return [_t(g, 1, 8, 1, 1) for _ in range(count)]


def _norm(g: Graph) -> list[Any]:
    return ["training", _t(g, 2, 8, 4, 4), _t(g, 1, 8, 4, 4), _t(g, 1, 8, 4, 4), 1e-5]


_POOL = {"window": 2, "stride": 2}
_BAND = {"lower_bandwidth": 16, "upper_bandwidth": 15, "axis": 3}
# Right arguments of each method that needs others than two-dimensional tensors.
RIGHT: dict[str, Callable[[Graph], tuple[list[Any], dict[str, Any]]]] = {
    "tensor": lambda g: ([(2, 3)], {}),
    "tensor_like": lambda g: ([np.zeros((2, 3), np.float16)], {}),
    "find_tensor": lambda g: (["x"], {}),
    "norm_backward": lambda g: (
        ["layer", _t(g, 2, 8, 4, 4), *_norm(g)[1:3], _t(g, 2, 1, 1, 1), _t(g, 2, 1, 1, 1)],
        {},
    ),
    "to_json": lambda g: ([], {}),
    "tensor_scalar": lambda g: ([1.0], {}),
    "conv_fprop": lambda g: ([_t(g, 2, 8, 4, 4), _t(g, 4, 8, 3, 3)], {}),
    "conv_dgrad": lambda g: ([_t(g, 2, 4, 2, 2), _t(g, 4, 8, 3, 3)], {}),
    "matmul": lambda g: ([_t(g, 2, 3, 4), _t(g, 2, 4, 5)], {}),
    "reduction": lambda g: ([_t(g, 2, 3, 4), "add"], {"axes": (2,)}),
    "genstats": lambda g: ([_t(g, 2, 8, 4, 4)], {}),
    "layernorm": lambda g: (_norm(g), {}),
    "norm_forward": lambda g: (["layer", *_norm(g)], {}),
    "batchnorm": lambda g: ([_t(g, 2, 8, 4, 4), *_channels(g, 2)], {"momentum": 0.1}),
    "batchnorm_inference": lambda g: ([_t(g, 2, 8, 4, 4), *_channels(g, 4)], {}),
    "relu": lambda g: ([_t(g, 2, 3)], {}),
    "gen_index": lambda g: ([_t(g, 2, 3), 1], {}),
    "pointwise": lambda g: (["add", _t(g, 2, 3), 1.0], {}),
    "resample": lambda g: ([_t(g, 2, 8, 4, 4), "maxpool"], dict(_POOL)),
    "resample_backward": lambda g: (
        [_t(g, 2, 8, 2, 2), "maxpool"],
        {**_POOL, "input": _t(g, 2, 8, 4, 4), "y": _t(g, 2, 8, 2, 2)},
    ),
    "bn_finalize": lambda g: ([*_channels(g, 4), 1e-5, 100], {}),
    "reshape": lambda g: ([_t(g, 2, 3), (6,)], {}),
    "transpose": lambda g: ([_t(g, 2, 3), (1, 0)], {}),
    "slice": lambda g: ([_t(g, 2, 3), [slice(0, 1), slice(None)]], {}),
    "concatenate": lambda g: ([[_t(g, 2, 3), _t(g, 2, 3)], 0], {}),
    "rng": lambda g: ([(2, 3)], {"seed": 1, "probability": 0.5}),
    "softmax": lambda g: ([_t(g, 2, 4, 64, 64)], {}),
    "rope": lambda g: ([_t(g, 2, 4, 64, 64), _t(g, 1, 1, 64, 64)], {}),
    "paged_cache_load": lambda g: (
        [_t(g, 16, 4, 16, 64), *(_t(g, 2, 1, n, 1, data_type="int32") for n in (8, 1)), 128],
        {},
    ),
    "diagonal_band_mask": lambda g: ([_t(g, 2, 4, 64, 64), -1e9], {}),
    "expand_band_matrix": lambda g: ([_t(g, 2, 4, 64, 32), (2, 4, 64, 64)], dict(_BAND)),
    "contract_band_matrix": lambda g: ([_t(g, 2, 4, 64, 64), (2, 4, 64, 32)], dict(_BAND)),
    "block_scale_quantize": lambda g: ([_t(g, 4, 256, 256), 32], {}),
    "block_scale_dequantize": lambda g: ([_t(g, 4, 256, 256), _t(g, 4, 256, 8), 32], {}),
    "moe_grouped_matmul": lambda g: (
        [_t(g, 1, 8, 4), _t(g, 2, 4, 4), _t(g, 2, 1, 1, data_type="int32")],
        {},
    ),
    "signal": lambda g: ([_t(g, 2, 3), _t(g, 1, 1, data_type="int32"), "set", 1], {}),
}


def _parameters(name: str) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(getattr(Graph, name))
    return [each.name for each in signature.parameters.values() if each.kind in kinds][1:]


def _called(g: Graph, name: str, parameter: str, value: Any) -> None:
    """The method with one argument replaced, then the checks of the whole."""
    positional, options = RIGHT[name](g)
    place = [*_parameters(name), parameter].index(parameter)
    if place < len(positional):
        positional[place] = value
    else:
        options[parameter] = value
    found = getattr(g, name)(*positional, **options)
    results = found.values() if isinstance(found, dict) else found
    for tensor in results if isinstance(results, (list, tuple, type({}.values()))) else [results]:
        if isinstance(tensor, Tensor):
            tensor.set_output()
    used = {id(each) for node in g.nodes for each in (*node.operands, *node.outputs.values())}
    g.tensors = [each for each in g.tensors if id(each) in used]
    if g.nodes:
        g.validate()
        Graph.from_json(g.to_json()).validate()


@pytest.mark.thinned(9)
@pytest.mark.parametrize("name", RIGHT)
def test_strange_arguments(name):
    random_ = random.Random(len(name))
    count = len(_strange(Graph(io_data_type="float16")))
    for parameter in _parameters(name):
        for index in random_.sample(range(count), COUNT):
            g = Graph(io_data_type="float16")
            value = _strange(g)[index]
            error = raised(
                lambda g=g, parameter=parameter, value=value: _called(g, name, parameter, value)
            )
            assert error is None or not accident(error), (parameter, index, repr(error))


@pytest.mark.parametrize("name", list(RIGHT))
def test_an_unknown_argument_is_named(name):
    """For it alone a call is refused, as for each strange one: all others are right."""
    g = Graph(io_data_type="float16")
    g.tensor((2, 3), name="x")
    positional, options = RIGHT[name](g)
    getattr(g, name)(*positional, **options)
    with pytest.raises(TypeError, match=r"no_such|has no option"):
        _called(g, name, "no_such", 1)


@pytest.mark.parametrize("number", [np.int64(2), np.int32(2), np.array(2), _Integer()])
def test_integers_of_all_libraries_are_taken(number):
    g = Graph(io_data_type="float16")
    x = g.tensor(np.array([2, 8, 4, 4]), name="x")
    g.resample(x, "avgpool", window=number, stride=(number, 2))[0].set_output(uid=number)
    g.gen_index(x, number).set_output()
    g.concatenate([x, x], number).set_output(dims=[2, 8, 8, 4])
    g.validate()
    again = Graph.from_json(g.to_json())
    for found, node in zip(again.nodes, g.nodes, strict=True):
        options = {k: tuple(v) if isinstance(v, list) else v for k, v in node.options.items()}
        assert found.options == options
    assert [tensor.dims for tensor in again.tensors] == [tensor.dims for tensor in g.tensors]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("dims", "23", r"tensor 'y': dims: expected ints, got '23'"),
        ("dims", (2, 0), r"tensor 'y': dims must be positive, got \(2, 0\)"),
        ("dims", (), r"tensor 'y': dims: expected at least one, got none"),
        ("dims", (2, 3.0), r"tensor 'y': dims\[1\]: expected an int, got 3.0"),
        ("strides", (1 << 70, 1), r"tensor 'y': strides\[0\]: \d* has more than 64 bits"),
        ("data_type", "float16", r"tensor 'y': data_type: expected a cudnnDataType_t, got"),
        ("uid", "1", r"tensor 'y': uid: expected an int, got '1'"),
        ("uid", -1, r"tensor 'y': uid: -1 is cuDNN's own; any other int will do"),
        ("virtual", 1, r"tensor 'y': virtual: expected a bool, got 1"),
        ("alignment", None, r"tensor 'y': alignment: expected an int, got None"),
        ("vector_count", 0, r"tensor 'y': vector_count must be positive, got 0"),
        ("vector_dimension", 2, r"'y'.* vector_dimension 2 is none of its dimensions"),
        ("value", 1.0, r"tensor 'y': has a value, but is neither by_value nor scratch"),
        ("ragged_offset", _STRANGER, r"'y'.*: its ragged_offset .*'stranger'.* of another graph"),
        ("reordering", 0, r"tensor 'y': reordering: expected a cudnnBackendTensorReordering_t"),
        ("name", 5, r"tensor 5: name: expected text, got 5"),
        ("vector_count", 4, r"'y'.* vector_count without vector_dimension"),
        ("by_value", True, r"'y'.* is passed by value, so it can only be one number"),
        ("ragged_offset", Tensor(ragged_offset=_STRANGER), r"'y': its ragged_offset has one its"),
    ],
)
def test_fields_of_tensors_that_were_changed(field, value, says):
    g = Graph(io_data_type="float16")
    y = g.relu(g.tensor((2, 3), name="x")).set_output(name="y")
    setattr(y, field, value)
    with pytest.raises((TypeError, ValueError), match=f"^{says}|{says}"):
        g.validate()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("inputs", {}, "relu 'relu': x is missing"),
        ("inputs", {"x": None}, "relu 'relu': x: expected a Tensor, got None"),
        ("inputs", {"x": _STRANGER}, "relu 'relu': x .*'stranger'.* is of another graph"),
        ("inputs", {"X": _STRANGER}, "relu 'relu': there is no input 'X'"),
        ("outputs", {}, "relu 'relu': expected at least one output of y"),
        ("outputs", {"y": 5}, "relu 'relu': y: expected a Tensor, got 5"),
        ("options", {}, "relu 'relu': mode is missing"),
        ("options", {"mode": 3}, "relu 'relu': mode: expected a cudnnPointwiseMode_t, got 3"),
        ("transposed", {"b", "z"}, "relu 'relu': there is no transposed operand 'z'"),
        ("compute_data_type", "float32", "relu 'relu': compute_data_type: expected a cudnnDataT"),
        ("name", None, "name: expected text, got NoneType"),
    ],
)
def test_fields_of_nodes_that_were_changed(field, value, says):
    g = Graph(io_data_type="float16")
    g.relu(g.tensor((2, 3), name="x")).set_output(name="y")
    setattr(g.nodes[0], field, value)
    with pytest.raises((TypeError, ValueError), match=says):
        g.validate()


@pytest.mark.parametrize(
    "option", ["relu_lower_clip", "relu_upper_clip", "elu_alpha", "softplus_beta", "swish_beta"]
)
def test_parameters_of_functions_are_not_nan(option):
    """Those of cuDNN's kernels; NaN among the operands is a number like others."""
    method, option = option.partition("_")[0], option.removeprefix("relu_")
    g = Graph(io_data_type="float16")
    x = g.tensor((2, 3, 4), name="x")
    with pytest.raises(ValueError, match=f"^{method} '{method}': {option}: expected a .*, got NaN"):
        getattr(g, method)(x, **{option: float("nan")})
    (x + float("nan")).set_output()
    g.validate()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda g: Graph(5), r"Graph: name: expected text, got 5"),
        (lambda g: Graph(None), r"Graph: name: expected text, got None"),
        (lambda g: Graph(io_data_type=5), r"Graph: io_data_type: expected a data type, got 5"),
        (lambda g: Graph(intermediate_data_type=[]), r"Graph: intermediate_data_type: .*\[\]"),
        (lambda g: Graph(compute_data_type="float17"), r"Graph: compute_data_type: .*float17"),
        (
            lambda g: g.tensor((2, 3), name="x").set_output(data_type=b"x"),
            r"tensor 'x': data_type: expected a data type, got b'x'",
        ),
        (lambda g: g.replaced(io_data_type=5), r"replaced: io_data_type: expected a data type"),
        (lambda g: g.tensor({2, 3}), r"tensor 'tensor': dims: expected ints, got \{2, 3\}"),
        (lambda g: g.tensor((2, 3), {3: 1, 1: 3}), r"tensor 'tensor': strides: expected ints"),
    ],
)
def test_wrong_arguments_are_named(call, says):
    """A set has no order, in which dims would be."""
    with pytest.raises(TypeError, match=f"^{says}"):
        call(Graph())
