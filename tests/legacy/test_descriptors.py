"""What all descriptors have in common: ownership, comparison, refusal of the wrong kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import legacy, raw
from cudnn_ctypes.errors import BadParamError, ClosedError

from .leaks import check_no_memory_is_left

MAKERS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: cudnn.TensorDescriptor((2, 3, 4, 5)),
    "tensor with strides": lambda: cudnn.TensorDescriptor((2, 3, 4), strides=(100, 20, 3)),
    "filter": lambda: cudnn.FilterDescriptor((2, 3, 4, 5), "float16", layout="NHWC"),
    "activation": lambda: cudnn.ActivationDescriptor("elu", coef=0.5),
    "convolution": lambda: cudnn.ConvolutionDescriptor(padding=(1, 2), stride=2, groups=3),
    "sequences": lambda: cudnn.SeqDataDescriptor((4, 2, 1, 3), axes="NTBV", lengths=(4, 2)),
    "attention": lambda: cudnn.AttnDescriptor(2, q_size=3, qo_max_length=4, kv_max_length=5),
    "CTC loss": lambda: cudnn.CTCLossDescriptor("float64", max_label_length=7),
    "pooling": lambda: cudnn.PoolingDescriptor((3, 2), padding=1, mode="max_deterministic"),
    "op tensor": lambda: cudnn.OpTensorDescriptor("max", nan_propagation="propagate_nan"),
    "reduction": lambda: cudnn.ReduceTensorDescriptor("norm1", compute_data_type="float64"),
}


NAN = ("", ("propagate_nan", "not_propagate_nan"))
COMPUTE = ("DATA_", ("float32", "float64"))
MODES = ("sigmoid", "relu", "tanh", "clipped_relu", "elu", "identity", "swish")
AVERAGES = ("average_count_include_padding", "average_count_exclude_padding")
REDUCTIONS = ("add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_no_zeros")
MATH = ("default_math", "tensor_op_math", "tensor_op_math_allow_conversion", "fma_math")
SET: dict[str, tuple[Any, dict[str, tuple[str | None, tuple[Any, ...]]], str]] = {
    "activation": (
        cudnn.ActivationDescriptor,
        {
            "mode": ("ACTIVATION_", MODES),
            "nan_propagation": NAN,
            "coef": (None, (0.0, 1.5, 0.125)),
            "swish_beta": (None, (1.0, 2.5, 0.25)),
        },
        "set mode nan_propagation coef",
    ),
    "pooling": (
        cudnn.PoolingDescriptor,
        {
            "window": (None, ((3, 2), (4, 5))),
            "padding": (None, ((1, 0), (1, 2))),
            "stride": (None, ((2, 1), (3, 6))),
            "mode": ("POOLING_", ("max", "max_deterministic", *AVERAGES)),
            "nan_propagation": NAN,
        },
        "set_nd mode nan_propagation window padding stride",
    ),
    "pooling in three dimensions": (
        cudnn.PoolingDescriptor,
        {
            "window": (None, ((2, 3, 4),)),
            "padding": (None, ((0, 1, 2),)),
            "stride": (None, ((5, 1, 2),)),
            "mode": ("POOLING_", ("max",)),
            "nan_propagation": NAN,
        },
        "set_nd mode nan_propagation window padding stride",
    ),
    "op tensor": (
        cudnn.OpTensorDescriptor,
        {
            "op": ("OP_TENSOR_", ("add", "mul", "min", "max", "sqrt", "not")),
            "compute_data_type": COMPUTE,
            "nan_propagation": NAN,
        },
        "set op compute_data_type nan_propagation",
    ),
    "reduction": (
        cudnn.ReduceTensorDescriptor,
        {
            "op": ("REDUCE_TENSOR_", REDUCTIONS),
            "compute_data_type": COMPUTE,
            "nan_propagation": NAN,
            "indices": (None, (True, False)),
            "indices_type": ("", ("cudnn_32bit_indices", "cudnn_64bit_indices")),
        },
        "set op compute_data_type nan_propagation indices indices_type",
    ),
    "LRN": (
        cudnn.LRNDescriptor,
        {
            "n": (None, (1, 7, 16)),
            "alpha": (None, (0.1, 2.5)),
            "beta": (None, (0.01, 2.5, 100.0)),
            "k": (None, (1e-5, 0.25, 1e10)),
        },
        "set n alpha beta k",
    ),
    "spatial transformer": (
        cudnn.SpatialTransformerDescriptor,
        {
            "shape": (None, ((2, 3, 4, 7), (1, 2, 5, 5))),
            "data_type": COMPUTE,
            "sampler": ("SAMPLER_", ("bilinear",)),
        },
        "set_nd sampler data_type shape",
    ),
    "transform": (
        cudnn.TensorTransformDescriptor,
        {
            "pad_before": (None, ((1, 2, -3, 4), (0, 0, 1, 2))),
            "pad_after": (None, ((5, 6, 7, -8), (3, 4, 5, 6))),
            "fold": (None, ((2, 3), (1, 1))),
            "direction": ("TRANSFORM_", ("fold", "unfold")),
            "layout": ("TENSOR_", ("nchw", "nhwc")),
        },
        "set layout pad_before pad_after fold direction",
    ),
    "CTC loss": (
        cudnn.CTCLossDescriptor,
        {
            "compute_data_type": COMPUTE,
            "normalization": ("LOSS_NORMALIZATION_", ("none", "softmax")),
            "gradient_mode": ("CTC_", ("zero_oob_gradients", "skip_oob_gradients")),
            "max_label_length": (None, (5, 17)),
        },
        "set_v9 compute_data_type normalization gradient_mode max_label_length",
    ),
    "convolution": (
        cudnn.ConvolutionDescriptor,
        {
            "padding": (None, ((0, 3, 1), (2, 0, 4))),
            "stride": (None, ((1, 2, 3), (4, 1, 1))),
            "dilation": (None, ((3, 1, 2), (1, 5, 1))),
            "groups": (None, (1, 8)),
            "mode": ("", ("convolution", "cross_correlation")),
            "compute_data_type": ("DATA_", ("float32", "float64", "float16", "int32")),
            "math_type": ("", MATH),
            "reorder_type": ("", ("default_reorder", "no_reorder")),
        },
        "set_nd padding stride dilation mode compute_data_type",
    ),
}
"""By kind: the class, the choices for each option with the prefix of its enumerators (None: it is
itself), and the function that sets it again, with the names of its arguments."""

TYPES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF", "int32": "INT32"}


@pytest.mark.usefixtures("reference_handle")  # cuDNN itself needs a GPU for transforms
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", SET)
def test_reads_back_what_was_set(kind: str, seed: int) -> None:
    make, choices, again = SET[kind]
    rng = random.Random(f"{kind} {seed}")
    first, second = ({n: rng.choice(c) for n, (_, c) in choices.items()} for _ in range(2))
    with make(**first) as descriptor, make(**second) as other:
        options = ", ".join(f"{name}={value!r}" for name, value in first.items())
        assert repr(descriptor) == f"{make.__name__}({options})"
        for name, (prefix, _) in choices.items():
            value = first[name]
            held = getattr(descriptor, "format" if name == "layout" else name)
            if prefix is not None:
                name_of = TYPES.get(value, value.upper().removeprefix("CUDNN_"))
                value = getattr(raw, f"CUDNN_{prefix}{name_of}")
            assert held == value, name
            assert type(held) is type(value)
        assert (descriptor == other) == (first == second)
        function, *names = again.split()
        getattr(descriptor, function)(*(second[name] for name in names))
        for name in set(choices) - set(names):  # which the function leaves alone
            setattr(descriptor, name, second[name])
        assert descriptor == other


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    maker: Callable[[], Any] = request.param
    return maker


def test_close_can_be_repeated_and_ends_all_use(make: Callable[[], Any]) -> None:
    descriptor = make()
    handle = descriptor._as_parameter_
    assert not descriptor.closed
    descriptor.close()
    descriptor.close()
    assert descriptor.closed
    assert not handle, "the C object was not destroyed"
    assert repr(descriptor) == f"{type(descriptor).__name__}(closed)"
    with pytest.raises(ClosedError, match="closed"):
        _ = descriptor == make()


def test_equality_is_that_of_what_the_library_holds(make: Callable[[], Any]) -> None:
    with make() as first, make() as second:
        assert first == second
        assert (first != second) is False
        others = [maker() for maker in MAKERS.values() if maker is not make]
        assert all(first != other for other in others)
        assert first != "something else"
        for other in others:
            other.close()


def test_repr_makes_an_equal_descriptor(make: Callable[[], Any]) -> None:
    names = {name: getattr(legacy, name) for name in legacy.__all__}
    with make() as descriptor, eval(repr(descriptor), names) as again:
        assert again == descriptor


def test_a_forgotten_descriptor_warns_and_is_destroyed(make: Callable[[], Any]) -> None:
    descriptors = [make()]
    handle = descriptors[0]._as_parameter_
    with pytest.warns(ResourceWarning, match=f"unclosed {type(descriptors[0]).__name__}"):
        descriptors.clear()
    assert not handle


@pytest.mark.soak
def test_descriptors_leave_no_memory(make: Callable[[], Any]) -> None:
    check_no_memory_is_left(lambda: make().close())


def test_an_error_while_reading_for_repr_can_show_the_descriptor() -> None:
    class Unreadable(cudnn.TensorDescriptor):
        def _arguments(self) -> dict[str, Any]:
            raise BadParamError("f", 2000, arguments={"desc": repr(self)})

    with Unreadable((1, 2, 3, 4)) as descriptor:
        for _ in range(2):
            with pytest.raises(BadParamError, match=r"desc=Unreadable\(unreadable\)"):
                repr(descriptor)


@pytest.mark.usefixtures("reference_device")
def test_filters_with_gaps_are_refused() -> None:
    tensor = cudnn.DeviceTensor.empty((8, 4, 3, 3), "float32", strides=(72, 18, 6, 2))
    with tensor, pytest.raises(ValueError, match="dense"):
        cudnn.FilterDescriptor.of(tensor)
