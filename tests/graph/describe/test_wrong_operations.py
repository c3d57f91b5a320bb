"""What operations refuse, each by its own name: with `test_graph_data`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

Build = Callable[[Graph], Any]
Dims = tuple[int, ...]


def _x(g: Graph, *dims: int, name: str = "x", **options: Any) -> Tensor:
    return g.tensor(dims, name=name, **options)


def _convolution(g: Graph, **options: Any) -> Tensor:
    return g.conv_fprop(_x(g, 1, 8, 4, 4), _x(g, 4, 8, 3, 3, name="w"), **options)


def _pool(g: Graph, mode: str = "maxpool", **options: Any) -> Tensor:
    return g.resample(_x(g, 1, 8, 4, 4), mode, **options)[0]


def _norm(
    g: Graph, mode: str, scale: tuple[int, ...], bias: tuple[int, ...], **options: Any
) -> Any:
    operands = [_x(g, *scale, name="scale"), _x(g, *bias, name="bias")]
    return g.norm_forward(mode, "training", _x(g, 2, 3, 4, 4), *operands, 1e-5, **options)


def _gradient(g: Graph, mean: Dims) -> Any:
    dy, x, scale = _x(g, 2, 3, 4, 4, name="dy"), _x(g, 2, 3, 4, 4), _x(g, 1, 3, 1, 1, name="scale")
    saved = _x(g, *mean, name="mean"), _x(g, 1, 3, 1, 1, name="inv")
    return g.norm_backward("batch", dy, x, scale, *saved)


def _running(g: Graph, **options: Any) -> Any:
    channels = [_x(g, 1, 3, 1, 1, name=name) for name in ("scale", "bias", "mean")]
    return g.batchnorm(_x(g, 2, 3, 4, 4), *channels, **options)


def _experts(g: Graph, experts: int, **options: Any) -> Tensor:
    offsets = _x(g, experts, 1, 1, name="offsets", data_type="int32")
    return g.moe_grouped_matmul(_x(g, 1, 8, 4), _x(g, 2, 4, 4, name="w"), offsets, **options)


# Refused when the operation is added: what no other operand could make right.
AT_ONCE: dict[str, tuple[type[Exception], Build, str]] = {
    "strides": (
        ValueError,
        lambda g: g.tensor((2, 3), (-3, 1), name="x"),
        "'x': strides must be at least 0",
    ),
    "uid": (TypeError, lambda g: _x(g, 2, uid="a"), "tensor 'x': uid: expected an int, got 'a'"),
    "both paddings": (
        TypeError,
        lambda g: _convolution(g, padding=1, pre_padding=0),
        "conv_fprop: either padding, or",
    ),
    "padding of one half": (
        TypeError,
        lambda g: _convolution(g, padding=0.5),
        "conv_fprop 'conv_fprop': pre_padding: expected an int, got 0.5",
    ),
    "stride of one half": (
        TypeError,
        lambda g: _convolution(g, stride=(1, Fraction(1, 2))),
        r"conv_fprop 'conv_fprop': stride\[1\]: expected an int, got Fraction",
    ),
    "stride as text": (
        TypeError,
        lambda g: _convolution(g, stride="11"),
        "stride: expected a number, got '11'",
    ),
    "window as text": (
        TypeError,
        lambda g: _pool(g, window="22"),
        "resample 'resample': window: expected a number, got '22'",
    ),
    "convolution mode": (
        ValueError,
        lambda g: _convolution(g, convolution_mode="conv"),
        "conv_fprop: convolution_mode: expected one of 'convolution'",
    ),
    "operator": (
        ValueError,
        lambda g: g.reduction(_x(g, 2, 3), "sum", axes=(1,)),
        "reduction: mode: expected one of 'add'",
    ),
    "axes": (
        TypeError,
        lambda g: g.reduction(_x(g, 2, 3), "add", axes=1),  # type: ignore[arg-type]
        "reduction: axes: expected ints, got 1",
    ),
    "norm mode": (
        ValueError,
        lambda g: _norm(g, "median", (1, 3, 1, 1), (1, 3, 1, 1)),
        "norm_forward: mode: expected one of 'layer_norm'",
    ),
    "norm phase": (
        ValueError,
        lambda g: g.norm_forward("layer", "train", _x(g, 2, 3)),
        "norm_forward: phase: expected one of .*did you mean 'training'",
    ),
    "mean in training": (
        TypeError,
        lambda g: _norm(g, "batch", (1, 3, 1, 1), (1, 3, 1, 1), mean=_x(g, 1, 3, 1, 1)),
        "norm_forward: mean and inv_variance are results in training",
    ),
    "no epsilon": (
        TypeError,
        lambda g: g.layernorm("training", _x(g, 2, 3), None, None, None),  # type: ignore[arg-type]
        "layernorm: epsilon is missing",
    ),
    "running mean alone": (
        TypeError,
        lambda g: _running(g, momentum=0.1),
        "batchnorm: in_running_mean and in_running_var go together",
    ),
    "no momentum": (
        TypeError,
        lambda g: _running(g, in_running_var=_x(g, 1, 3, 1, 1, name="variance")),
        "batchnorm: running statistics need a momentum",
    ),
    "pooling mode": (
        ValueError,
        lambda g: _pool(g, "median", window=2),
        "resample: mode: expected one of",
    ),
    "padding mode": (
        ValueError,
        lambda g: _pool(g, window=2, padding_mode="mirror"),
        "resample: padding_mode: expected one of 'zero_pad'",
    ),
    "no window": (TypeError, _pool, "missing a required argument: .window"),
    "index of averages": (
        ValueError,
        lambda g: _pool(g, "avgpool", window=2, generate_index=True),
        "only 'maxpool' has an index, not 'avgpool'",
    ),
    "no index": (
        TypeError,
        lambda g: g.resample_backward(_x(g, 1, 8, 2, 2), "maxpool", window=2),
        "resample_backward: 'maxpool' needs index, or input and y",
    ),
    "element-wise mode": (
        ValueError,
        lambda g: g.pointwise("relu", _x(g, 2, 3)),
        "pointwise: mode: expected one of 'add'",
    ),
    "operands": (TypeError, lambda g: g.add(_x(g, 2, 3)), "add: missing a required argument: 'b'"),
    "parameter": (
        TypeError,
        lambda g: g.relu(_x(g, 2, 3), lower_clip="a"),
        "relu 'relu': lower_clip: expected a number, got 'a'",
    ),
    "index axis": (
        TypeError,
        lambda g: g.gen_index(_x(g, 2, 3), "x"),
        "gen_index 'gen_index': axis: expected a number, got 'x'",
    ),
    "permutation": (
        TypeError,
        lambda g: g.transpose(_x(g, 2, 3), "ab"),  # type: ignore[arg-type]
        "transpose: permutation: expected ints",
    ),
    "slices": (
        TypeError,
        lambda g: g.slice(_x(g, 2, 3), [0, 1]),  # type: ignore[list-item]
        "slice: slices: expected a slice per dimension",
    ),
    "one tensor": (
        TypeError,
        lambda g: g.concatenate(_x(g, 2, 3), 0),  # type: ignore[arg-type]
        "concatenate: inputs: expected a sequence",
    ),
    "reshape": (
        TypeError,
        lambda g: g.reshape(_x(g, 2, 3), 6),  # type: ignore[arg-type]
        "reshape: dims: expected ints, got 6",
    ),
    "distribution": (
        ValueError,
        lambda g: g.rng((2, 3), "gauss", seed=1),
        "rng: distribution: expected one of 'bernoulli'",
    ),
    "probability": (
        ValueError,
        lambda g: g.rng((2, 3), seed=1, probability=2.0),
        "rng: a probability is from 0 to 1, got 2.0",
    ),
    "block size": (
        ValueError,
        lambda g: g.block_scale_quantize(_x(g, 2, 32), 0),
        "block_scale_quantize: block_size 0 must be positive",
    ),
    "experts mode": (
        ValueError,
        lambda g: _experts(g, 2, mode="spread"),
        "moe_grouped_matmul: mode: expected one of 'none'",
    ),
    "signal": (
        ValueError,
        lambda g: g.signal(_x(g, 2), _x(g, 1), "send", 1),
        "signal: mode: expected one of",
    ),
}


@pytest.mark.parametrize("name", list(AT_ONCE))
def test_what_is_refused_at_once(name: str) -> None:
    kind, build, message = AT_ONCE[name]
    with pytest.raises(kind, match=message):
        build(Graph(io_data_type="float16"))


# Refused by validate(): the operands do not go together.
BY_VALIDATION: dict[str, tuple[Build, str]] = {
    "negative padding": (
        lambda g: _convolution(g, padding=-1),
        r"conv_fprop 'conv_fprop': pre_padding \(-1, -1\) must be at least 0",
    ),
    "axis twice": (
        lambda g: g.reduction(_x(g, 2, 3), "add", axes=(1, -1)),
        r"reduction 'reduction': axes \(1, -1\) name a dimension of 'x' twice",
    ),
    "axis too far": (
        lambda g: g.reduction(_x(g, 2, 3), "add", axes=(2,)),
        "axes .* not all among the 2 dimensions of 'x'",
    ),
    "overlapping result": (
        lambda g: g.relu(_x(g, 2, 3)).set_output(strides=(1, 1)),
        r"relu 'relu': strides \(1, 1\) let elements of its result y 'relu' \(2, 3\) overlap",
    ),
    "result without stride": (
        lambda g: g.relu(_x(g, 2, 3)).set_output(strides=(0, 1)),
        "overlap",
    ),
    "scale and bias": (
        lambda g: _norm(g, "layer", (1, 3, 4, 4), (1, 3, 1, 1)),
        r"scale 'scale' \(1, 3, 4, 4\) and bias 'bias' \(1, 3, 1, 1\) differ",
    ),
    "scale of rows": (
        lambda g: _norm(g, "batch", (1, 3, 4, 1), (1, 3, 4, 1)),
        r"scale 'scale' is .* it needs one number for each channel .* \(1, 3, 1, 1\)",
    ),
    "statistics": (
        lambda g: _gradient(g, (1, 4, 1, 1)),
        r"norm_backward 'norm_backward': mean 'mean' is \(1, 4, 1, 1\), but those of input 'x'",
    ),
    "pooling with negative padding": (
        lambda g: _pool(g, window=2, padding=-1),
        "resample 'resample': pre_padding .* must not be negative",
    ),
    "index dims": (
        lambda g: g.resample_backward(
            _x(g, 1, 8, 2, 2, name="dy"),
            "maxpool",
            index=_x(g, 1, 8, 3, 2, name="index", data_type="int8"),
            window=2,
            stride=2,
        ).set_output(dims=(1, 8, 4, 4)),
        r"index 'index' is \(1, 8, 3, 2\), but loss 'dy' is \(1, 8, 2, 2\)",
    ),
    "sums": (
        lambda g: g.bn_finalize(
            *(_x(g, 1, 4, 1, 1, name=name) for name in ("sum", "sq_sum", "scale")),
            _x(g, 1, 5, 1, 1, name="bias"),
            1e-5,
            10,
        ),
        r"bn_finalize 'bn_finalize': bias 'bias' is \(1, 5, 1, 1\), but sum 'sum' is",
    ),
    "gradients of weights": (
        lambda g: g.bn_backward_weights(
            _x(g, 2, 4, 3, 3, name="dy"),
            _x(g, 2, 5, 3, 3),
            *(_x(g, 1, 4, 1, 1, name=name) for name in ("mean", "inv", "scale")),
        ),
        r"dy 'dy' is \(2, 4, 3, 3\), but input 'x' is \(2, 5, 3, 3\)",
    ),
    "data types": (
        lambda g: g.concatenate([_x(g, 2), _x(g, 2, name="y", data_type="float32")], 0),
        "'x'.* and .*'y'.* differ in their data types",
    ),
    "in place": (
        lambda g: g.concatenate([_x(g, 2), _x(g, 2, name="y")], 0, in_place_index=5),
        "in_place_index 5 is none of the 2 inputs",
    ),
    "experts": (
        lambda g: _experts(g, 3),
        r"first_token_offset 'offsets' \(3, 1, 1\) needs a number for each expert of weight 'w'",
    ),
    "gather without index": (lambda g: _experts(g, 2, mode="gather"), "needs token_index"),
    "virtual input": (
        lambda g: g.relu(_x(g, 2, 3).set_output(False)),
        "'x'.* is virtual, but no operation makes it",
    ),
}


@pytest.mark.parametrize("name", list(BY_VALIDATION))
def test_what_validation_refuses(name: str) -> None:
    build, message = BY_VALIDATION[name]
    g = Graph(io_data_type="float16")
    found = build(g)
    results = found.values() if isinstance(found, dict) else found
    for tensor in results if not isinstance(results, Tensor) else [results]:
        if tensor is not None:
            tensor.set_output()
    with pytest.raises(ValueError, match=message):
        g.validate()


def test_cudnns_refusal_of_a_descriptor_names_the_operation() -> None:
    """cuDNN has no average among the reductions of its graphs."""
    from cudnn_ctypes.errors import NotSupportedError
    from cudnn_ctypes.graph.backend.device_properties import DeviceProperties

    with DeviceProperties.preset("H200") as h200, Graph(io_data_type="float16") as g:
        g.reduction(_x(g, 2, 3, 4), "avg", axes=(2,), name="mean of rows").set_output()
        with pytest.raises(NotSupportedError, match="reduction 'mean of rows'"):
            g.build(h200)
