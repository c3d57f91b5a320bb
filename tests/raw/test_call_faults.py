"""Rows of known faults about C functions: which calls they concern, and their programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.faults.calls import faults_of_call
from cudnn_ctypes.raw.records import Call
from tools.fault_programs import CALLS


def _found(function: str, **arguments: Any) -> set[str]:
    call = Call(function, arguments)
    return {each.fault.name for each in faults_of_call(call, 91900) if not each.fault.data}


@pytest.mark.parametrize("strides", [None, (24, 1, 8)])
def test_operands_that_cudnn_takes_for_packed(strides: Any) -> None:
    with cudnn.TensorDescriptor((2, 8, 3), strides=strides) as x, cudnn.LRNDescriptor() as lrn:
        losses = _found("cudnnCTCLoss", probsDesc=x, gradientsDesc=None)
        neighbours = _found("cudnnLRNCrossChannelForward", xDesc=x, yDesc=x, normDesc=lrn)
    assert bool(losses) == bool(neighbours) == (strides is not None)


@pytest.mark.parametrize(
    ("source", "target", "beta", "drops"),
    [
        (("float64", "NCHW"), ("float32", "NHWC"), 0.5, True),
        (("float64", "NCHW"), ("float32", "NHWC"), 0.0, False),
        (("float64", "NHWC"), ("float32", "NHWC"), 0.5, False),
        (("float64", "NHWC"), ("float64", "NCHW"), 0.5, False),
        (("float32", "NHWC"), ("float64", "NCHW"), 0.5, False),
    ],
)
def test_a_transform_of_five_dimensions_between_double_and_another_type(
    source: Any, target: Any, beta: float, drops: bool
) -> None:
    shape = (1, 2, 4, 5, 3)
    with (
        cudnn.TensorDescriptor(shape, source[0], layout=source[1]) as x,
        cudnn.TensorDescriptor(shape, target[0], layout=target[1]) as y,
    ):
        arguments = {"xDesc": x, "yDesc": y, "beta": beta}
        found = faults_of_call(Call("cudnnTransformTensor", arguments), 91900)
    names = {each.fault.name for each in found}
    assert ("transform out of double" in names) == drops
    assert ("transform into double" in names) == (source == ("float32", "NHWC"))


@pytest.mark.parametrize("kind", ["int8", "float16", "int8x32", "int8x4", "float32"])
def test_a_bias_beside_filters_of_another_size(kind: str) -> None:
    with cudnn.FilterDescriptor((32, 32, 1, 1), kind) as w:
        arguments = {"filterDesc": w, "reorderType": raw.CUDNN_NO_REORDER}
        found = faults_of_call(Call("cudnnReorderFilterAndBias", arguments), 91900)
    assert bool(found) == (kind not in ("int8x4", "float32"))


@pytest.mark.parametrize("kind", ["bfloat16", "int8", "float32", "float64"])
def test_an_operation_into_double(kind: str) -> None:
    with (
        cudnn.OpTensorDescriptor("add", compute_data_type="float64") as double,
        cudnn.OpTensorDescriptor("add", compute_data_type="float32") as single,
        cudnn.TensorDescriptor((1, 4, 1, 1), kind) as a,
        cudnn.TensorDescriptor((1, 4, 1, 1), "float64") as c,
    ):
        wrong = bool(_found("cudnnOpTensor", opTensorDesc=double, aDesc=a, cDesc=c))
        assert wrong == (kind in ("bfloat16", "int8"))
        assert not _found("cudnnOpTensor", opTensorDesc=single, aDesc=a, cDesc=c)


def test_a_bias_with_gaps() -> None:
    with (
        cudnn.TensorDescriptor((1, 4, 1, 1), strides=(8, 2, 1, 1)) as gaps,
        cudnn.TensorDescriptor((1, 4, 1, 1)) as dense,
    ):
        name = "cudnnConvolutionBiasActivationForward"
        assert _found(name, biasDesc=gaps, wDesc=None, convDesc=None)
        assert not _found(name, biasDesc=dense, wDesc=None, convDesc=None)


@pytest.mark.parametrize(
    "name",
    sorted(
        {name for name, program in CALLS.items() if program is not None}
        - {"CTC loss without a longest label", "largest of infinities below zero"}
    ),
)
def test_programs_are_right_on_the_reference_device(name: str) -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        assert CALLS[name](handle)


def test_an_unprojected_value_of_several_heads(new: Any) -> None:
    descriptor = new(raw.cudnnAttnDescriptor_t)
    for heads, projection, found in ((2, 0, True), (1, 0, False), (2, 3, False)):
        raw.cudnnSetAttnDescriptor(
            descriptor, 0, heads, 1.0, raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_FLOAT,
            raw.CUDNN_DEFAULT_MATH, None, None, 4, 4, 4, 4, 4, projection, 4, 3, 3, 1, 1,
        )  # fmt: skip
        assert bool(_found("cudnnMultiHeadAttnForward", attnDesc=descriptor)) == found


@pytest.mark.parametrize(
    ("shape", "strides", "kind", "lost"),
    [
        ((2, 3, 4, 9), (110, 36, 9, 1), "float32", True),
        ((2, 3, 4, 9), (112, 36, 9, 1), "float32", False),
        ((2, 3, 4, 9), (108, 36, 9, 1), "float32", False),
        ((2, 3, 4, 9), (118, 39, 9, 1), "float32", False),  # channels are apart, too
        ((2, 3, 3, 3), (28, 9, 3, 1), "float32", False),  # no vectors in 27 elements
        ((1, 7, 3, 4), (85, 12, 4, 1), "float32", False),
        ((3, 1, 3, 4), (13, 12, 4, 1), "float32", True),
        ((2, 8, 4, 9), (301, 1, 72, 8), "float32", True),
        ((2, 8, 4, 9), (300, 1, 72, 8), "float32", False),
        ((2, 3, 4, 8), (98, 32, 8, 1), "float16", True),
        ((2, 3, 4, 8), (100, 32, 8, 1), "float16", False),
        ((2, 1, 5, 2, 1), (11, 10, 2, 1, 1), "float16", True),
        ((2, 3, 4, 8), (97, 32, 8, 1), "float64", True),
        ((2, 3, 4, 8), (98, 32, 8, 1), "float64", False),
    ],
)
def test_gradients_of_biases_that_lose_the_context(shape, strides, kind, lost):
    with cudnn.TensorDescriptor(shape, kind, strides=strides) as dy:
        assert bool(_found("cudnnConvolutionBackwardBias", dyDesc=dy)) == lost


def test_a_call_that_would_lose_the_context_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        monkeypatch.setattr(mode.runtime, "faults", lambda call: faults_of_call(call, 91900))
        with (
            cudnn.TensorDescriptor((2, 3, 4, 9), strides=(110, 36, 9, 1)) as described,
            cudnn.TensorDescriptor((1, 3, 1, 1)) as db,
            cudnn.DeviceBuffer(4 * 218) as dy,
            cudnn.DeviceBuffer(12) as gradient,
        ):
            arguments = (handle, 1, described, dy, 0, db, gradient)
            for _ in range(2):
                with pytest.raises(
                    cudnn.NotSupportedError, match="gradient of a bias between vectors"
                ):
                    raw.cudnnConvolutionBackwardBias(*arguments)


@pytest.mark.parametrize(
    ("channels", "fold", "source", "target", "wrong"),
    [
        (5, (1, 2), "NHWC", "NCHW", True),
        (4, (1, 2), "NHWC", "NCHW", False),
        (5, (1, 1), "NHWC", "NCHW", False),
        (5, (1, 2), "NCHW", "NCHW", False),
        (5, (1, 2), "NHWC", "NHWC", False),
    ],
)
def test_unfolding_of_channels_that_fill_no_block(channels, fold, source, target, wrong):
    kept = -(-channels // (fold[0] * fold[1]))
    with (
        cudnn.use_reference_device(),
        cudnn.TensorTransformDescriptor(
            (0,) * 4, fold=fold, direction="unfold", layout=target
        ) as how,
        cudnn.TensorDescriptor((2, channels, 4, 5), layout=source) as x,
        cudnn.TensorDescriptor((2, kept, 4 * fold[0], 5 * fold[1]), layout=target) as y,
    ):
        found = _found("cudnnTransformTensorEx", transDesc=how, srcDesc=x, destDesc=y)
    assert ("unfolding of channels that fill no block" in found) == wrong


@pytest.mark.parametrize(
    ("y", "dx", "forward", "backward"),
    [
        ((60, 60, 20, 5, 1), (60, 60, 20, 5, 1), False, False),
        ((60, 1, 20, 5, 1), (60, 1, 20, 5, 1), False, False),
        ((60, 1, 20, 5, 1), (60, 60, 20, 5, 1), False, True),
        ((60, 1, 20, 1, 4), (60, 1, 20, 1, 4), True, True),
        ((60, 15, 5, 15, 1), (60, 15, 5, 15, 1), False, False),
        ((3, 1, 1, 3), (3, 1, 1, 1), True, True),
        ((3, 1, 1, 1), (3, 1, 1, 3), False, False),
        ((4, 4, 1, 3), (4, 4, 1, 1), False, False),
    ],
)
def test_softmax_over_one_channel(y: Any, dx: Any, forward: bool, backward: bool) -> None:
    options = {"algo": raw.CUDNN_SOFTMAX_ACCURATE, "mode": raw.CUDNN_SOFTMAX_MODE_CHANNEL}
    shape = (2, 1, 3, 4, 5) if len(y) == 5 else (2, 1, 3, 1)
    with (
        cudnn.TensorDescriptor(shape, strides=y) as one,
        cudnn.TensorDescriptor(shape, strides=dx) as other,
    ):
        found = _found("cudnnSoftmaxForward", xDesc=one, yDesc=other, **options)
        assert bool(found) == forward
        found = _found("cudnnSoftmaxBackward", yDesc=one, dyDesc=one, dxDesc=other, **options)
        assert bool(found) == backward


ROWS, LAST, GAPS = (60, 20, 5, 1), (60, 1, 15, 3), (70, 20, 5, 1)


@pytest.mark.parametrize(
    ("mode", "algo", "images", "x", "y", "wrong"),
    [
        ("INSTANCE", "ACCURATE", 2, ROWS, ROWS, False),
        ("INSTANCE", "ACCURATE", 2, LAST, LAST, False),
        ("INSTANCE", "ACCURATE", 2, ROWS, LAST, True),
        ("INSTANCE", "ACCURATE", 2, GAPS, GAPS, True),  # it does not see gaps between images
        ("INSTANCE", "ACCURATE", 2, (12, 4, 1), (12, 4, 1), False),
        ("INSTANCE", "ACCURATE", 2, (12, 1, 3), (12, 1, 3), True),
        ("CHANNEL", "ACCURATE", 2, (12, 1, 3), (12, 1, 3), False),
        ("CHANNEL", "ACCURATE", 2, LAST, LAST, False),
        ("CHANNEL", "ACCURATE", 2, LAST, ROWS, True),
        ("CHANNEL", "ACCURATE", 2, ROWS, LAST, False),  # planes, into pixels at equal steps
        ("CHANNEL", "ACCURATE", 2, ROWS, (60, 20, 1, 4), True),
        ("CHANNEL", "LOG", 2, ROWS, LAST, False),
        ("CHANNEL", "LOG", 1, ROWS, LAST, True),
    ],
)
def test_softmax_of_layouts(mode: str, algo: str, images: int, x: Any, y: Any, wrong: bool) -> None:
    options = {
        k: getattr(raw, f"CUDNN_SOFTMAX_{v}") for k, v in (("algo", algo), ("mode", f"MODE_{mode}"))
    }
    shape = (images, 3, 4, 5)[: len(x)]
    with (
        cudnn.TensorDescriptor(shape, strides=x) as one,
        cudnn.TensorDescriptor(shape, strides=y) as other,
    ):
        assert bool(_found("cudnnSoftmaxForward", xDesc=one, yDesc=other, **options)) == wrong
        gradient = _found("cudnnSoftmaxBackward", yDesc=one, dyDesc=one, dxDesc=other, **options)
        assert bool(gradient) == (wrong and algo != "LOG")


@pytest.mark.parametrize(
    ("groups", "channels", "filters", "window", "math", "refused"),
    [
        (3, 2, 3, 2, "default_math", True),
        (3, 2, 3, 2, "fma_math", False),
        (2, 1, 1, 1, "default_math", True),
        (2, 2, 2, 1, "default_math", False),
        (3, 1, 1, 2, "default_math", False),
        (3, 4, 3, 1, "default_math", False),
        (3, 3, 4, 1, "default_math", False),
    ],
)
def test_a_fused_convolution_of_few_channels(
    groups: int, channels: int, filters: int, window: int, math: str, refused: bool
) -> None:
    with (
        cudnn.FilterDescriptor((groups * filters, channels, *[window] * 3)) as w,
        cudnn.ConvolutionDescriptor((0, 0, 0), groups=groups, math_type=math) as how,
    ):
        found = _found(
            "cudnnConvolutionBiasActivationForward", wDesc=w, convDesc=how, biasDesc=None
        )
        assert ("fused convolution of few channels a group" in str(found)) == refused


@pytest.mark.parametrize(
    ("heads", "projection", "keys", "length", "math", "lost"),
    [
        (2, 0, 1, 4, raw.CUDNN_TENSOR_OP_MATH, True),
        (1, 0, 1, 4, raw.CUDNN_TENSOR_OP_MATH, False),
        (2, 4, 1, 4, raw.CUDNN_TENSOR_OP_MATH, False),
        (2, 0, 3, 4, raw.CUDNN_TENSOR_OP_MATH, False),
        (2, 0, 1, 5, raw.CUDNN_TENSOR_OP_MATH, False),
        (2, 0, 1, 4, raw.CUDNN_DEFAULT_MATH, False),
    ],
)
def test_an_attention_gradient_of_single_keys(
    new: Any, heads: int, projection: int, keys: int, length: int, math: Any, lost: bool
) -> None:
    descriptor, q = new(raw.cudnnAttnDescriptor_t), new(raw.cudnnSeqDataDescriptor_t)
    half = raw.CUDNN_DATA_HALF
    raw.cudnnSetAttnDescriptor(
        descriptor, 0, heads, 1.0, half, half, math, None, None, 4, 4, 4, 4, projection, 4, 0,
        5, keys, 1, 1,
    )  # fmt: skip
    raw.cudnnSetSeqDataDescriptor(q, half, 4, [5, 1, 1, 4], [0, 1, 2, 3], 1, [length], None)
    found = _found("cudnnMultiHeadAttnBackwardWeights", attnDesc=descriptor, qDesc=q)
    assert ("attention gradient of single keys" in found) == lost


@pytest.mark.parametrize(
    ("changes", "version", "ends"),
    [
        ({}, 91400, True),
        ({}, 91900, False),
        ({"dilation": 1}, 91400, False),
        ({"stride": 1}, 91400, False),
        ({"math": "fma_math"}, 91400, False),
        ({"layout": "NCHW"}, 91400, False),
        ({"algo": raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0}, 91400, False),
    ],
)
def test_a_gradient_that_ends_the_process_is_refused(
    changes: dict[str, Any], version: int, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {
        "dilation": (1, 1, 2), "stride": (2, 3, 2), "math": "tensor_op_math_allow_conversion",
        "layout": "NHWC", "algo": raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, **changes,
    }  # fmt: skip
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.FilterDescriptor((8, 12, 1, 3, 1), layout=how["layout"]) as w,
        cudnn.ConvolutionDescriptor(
            (0, 0, 0), stride=how["stride"], dilation=how["dilation"], math_type=how["math"]
        ) as convolution,
        cudnn.TensorDescriptor((4, 8, 1, 1, 2), layout=how["layout"]) as dy,
        cudnn.TensorDescriptor((4, 12, 2, 3, 3), layout=how["layout"]) as dx,
        cudnn.DeviceBuffer(4 * 864) as memory,
    ):
        search = Call(
            "cudnnFindConvolutionBackwardDataAlgorithmEx", {"wDesc": w, "convDesc": convolution}
        )
        assert bool(faults_of_call(search, version)) == (ends or "algo" in changes)
        monkeypatch.setattr(mode.runtime, "faults", lambda call: faults_of_call(call, version))
        arguments = (
            handle, 1, w, memory, dy, memory, convolution, how["algo"], None, 0, 0, dx, memory,
        )  # fmt: skip
        try:
            raw.cudnnConvolutionBackwardData(*arguments)
            text = ""
        except (cudnn.BadParamError, cudnn.NotSupportedError) as error:
            text = str(error)
        assert ("strided and dilated gradient of images" in text) == ends


@pytest.mark.parametrize(
    ("layout", "mode", "described", "given", "wrong"),
    [
        ("NCHW", "relu", False, True, True),
        ("NCHW", "relu", True, True, False),
        ("NCHW", "relu", False, False, False),
        ("NHWC", "relu", False, True, False),
        ("NHWC", "identity", False, True, True),
    ],
)
def test_scale_and_bias_without_a_descriptor(
    layout: str, mode: str, described: bool, given: bool, wrong: bool
) -> None:
    """Without a descriptor the reference device applies them before ReLU only."""
    rng = np.random.default_rng(9)
    x_values, few_values, w_values = (
        rng.standard_normal(shape).astype("float16")
        for shape in ((1, 16, 6, 6), (2, 1, 16, 1, 1), (8, 16, 1, 1))
    )
    memory = {
        "xdata": x_values,
        "wdata": w_values,
        "ydata": np.full((1, 8, 6, 6), np.nan, "float16"),
    }
    if given:
        memory |= zip(("bn_eqscale", "bn_eqbias"), few_values, strict=True)
    operation = "scale_bias_activation_conv_bnstats"
    with (
        cudnn.use_reference_device(),
        cudnn.Handle() as handle,
        cudnn.TensorDescriptor((1, 16, 6, 6), "float16", layout=layout) as x,
        cudnn.FilterDescriptor((8, 16, 1, 1), "float16", layout=layout) as w,
        cudnn.TensorDescriptor((1, 8, 6, 6), "float16", layout=layout) as y,
        cudnn.TensorDescriptor((1, 16, 1, 1), "float16") as few,
        cudnn.ConvolutionDescriptor((0, 0)) as how,
        cudnn.FusedOpsConstParamPack(operation, xdesc=x, wdesc=w, ydesc=y, conv_desc=how) as pack,
        cudnn.ActivationDescriptor(mode) as activation,
        cudnn.FusedOpsPlan(operation) as plan,
    ):
        pack.set("bn_mode", "spatial")
        pack.set("activation_desc", activation)
        for each in memory:
            pack.set(f"{each}_placeholder", "ptr_16b_aligned")
        if described:
            pack.set("bn_eqscalebias_desc", few)
        plan.make(handle, pack)
        found = _found("cudnnFusedOpsExecute", plan=plan)
        size = plan.workspace_size or 0
        with (
            cudnn.FusedOpsVariantParamPack(operation) as variants,
            cudnn.DeviceBuffer(size) as workspace,
        ):
            variants.set("ptr_workspace", workspace)
            variants.set("scalar_size_t_workspace_size_in_bytes", size)
            held = {
                name: cudnn.DeviceTensor.from_numpy(array, layout=layout)
                for name, array in memory.items()
            }
            for name, each in held.items():
                variants.set(f"ptr_{name}", each)
            plan.execute(handle, variants)
            got = held["ydata"].numpy()
    assert ("scale and bias without a descriptor" in found) == wrong
    read, (scale, bias) = x_values.astype(float), few_values.astype(float)
    if given and (described or mode == "relu"):
        read = scale * read + bias
    read = np.maximum(read, 0) if mode == "relu" else read
    expected = np.einsum("nchw,kcrs->nkhw", read, w_values.astype(float))
    np.testing.assert_allclose(got, expected, atol=2e-2)


@pytest.mark.parametrize(
    ("shape", "layout", "target", "wrong"),
    [
        ((1, 1, 3), "NHWC", "float64", True),
        ((1, 1, 3), "NCHW", "float64", False),
        ((1, 2, 3), "NHWC", "float64", False),
        ((1, 1, 3), "NHWC", "float16", False),
    ],
)
def test_a_line_into_double(shape: Any, layout: str, target: str, wrong: bool) -> None:
    with (
        cudnn.use_reference_device(),
        cudnn.TensorTransformDescriptor((0, 0, 0), layout=layout) as how,
        cudnn.TensorDescriptor(shape) as x,
        cudnn.TensorDescriptor(shape, target) as y,
    ):
        found = _found("cudnnTransformTensorEx", transDesc=how, srcDesc=x, destDesc=y, beta=1.0)
    assert ("transform into double" in found) == wrong
