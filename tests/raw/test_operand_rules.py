"""Each rule of operands alone: a call that breaks it, and no other before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw, use_reference_device
from cudnn_ctypes.raw.operand_rules import Broken, broken
from cudnn_ctypes.raw.strides import layout_order, packed

IMAGES, HERE, THERE = (2, 8, 4, 4), 0x1000, 0x2000
BATCH, NORM = "cudnnBatchNormalization", "cudnnNormalization"
POOLED = "cudnnGetPoolingNdForwardOutputDim"


def t(
    *shape: int, kind: str = "FLOAT", layout: str = "nchw", strides: tuple[int, ...] | None = None
) -> Any:
    """A tensor's descriptor; cuDNN takes strides that layer 2 refuses."""
    shape = shape or IMAGES
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    strides = strides or packed(shape, layout_order(layout, len(shape)))
    data_type = getattr(raw, f"CUDNN_DATA_{kind}")
    raw.cudnnSetTensorNdDescriptor(descriptor, data_type, len(shape), shape, strides)
    return descriptor


def tensors(names: str, *descriptors: Any, at: tuple[int, ...] = ()) -> dict[str, Any]:
    """Memory by C's names, each with its descriptor; one descriptor stands for all."""
    parameters = names.split()
    each = descriptors * len(parameters) if len(descriptors) == 1 else descriptors
    addresses = at or range(HERE, HERE * (len(parameters) + 1), HERE)
    described = {
        f"{name.removesuffix('Data')}Desc": d for name, d in zip(parameters, each, strict=True)
    }
    return described | dict(zip(parameters, addresses, strict=True))


def relu(mode: str = "relu") -> Any:
    return cudnn.ActivationDescriptor(mode)


def pooling(ndim: int = 2, window: int = 2, mode: str = "max") -> Any:
    return cudnn.PoolingDescriptor((window,) * ndim, mode=mode)


def averages() -> Any:
    return pooling(mode="average_count_include_padding")


def sampler() -> Any:
    return cudnn.SpatialTransformerDescriptor(IMAGES)


def dropout(xdesc: Any, x: int, ydesc: Any, y: int) -> dict[str, Any]:
    return {"xdesc": xdesc, "x": x, "ydesc": ydesc, "y": y}


def batch(mode: Any = "SPATIAL_PERSISTENT", ops: Any = 0, of: Any = None, **others: Any) -> Any:
    """Batch normalization's arguments for an x, by default half precision in NHWC."""
    x = t(kind="HALF", layout="nhwc") if of is None else of
    mode = getattr(raw, f"CUDNN_BATCHNORM_{mode}") if isinstance(mode, str) else mode
    values = {**tensors("xData yData", x), "mode": mode, "bnOps": raw.cudnnBatchNormOps_t(ops)}
    values |= {"bnScaleBiasMeanVarDesc": t(1, 8, 1, 1), "activationDesc": relu()}
    return {**values, "zDesc": x, "zData": 5 * HERE, **others}


def norm(mode: str = "CHANNEL", ops: int = 0, algo: int = 0, **others: Any) -> dict[str, Any]:
    values = tensors("x y", t())
    values |= {"mode": getattr(raw, f"CUDNN_NORM_PER_{mode}"), "groupCnt": 1}
    values |= {"normOps": raw.cudnnNormOps_t(ops), "algo": raw.cudnnNormAlgo_t(algo)}
    return {
        **values,
        **dict.fromkeys(("normScaleBiasDesc", "normMeanVarDesc"), t(1, 8, 1, 1)),
        **others,
    }


def norm_gradient(**others: Any) -> dict[str, Any]:
    """Arguments of a fused gradient's workspace size, with an added tensor, in NHWC."""
    x = t(kind="HALF", layout="nhwc")
    tensors = dict.fromkeys(("xDesc", "yDesc", "dyDesc", "dxDesc", "dzDesc"), x)
    of_mean = dict.fromkeys(("dNormScaleBiasDesc", "normMeanVarDesc"), t(1, 8, 1, 1))
    return {**norm(ops=2, algo=1), **tensors, **of_mean, "activationDesc": relu(), **others}


def convolution(x: Any, w: tuple[int, ...], y: Any = None, *, groups: int = 1, **of: Any) -> Any:
    conv = cudnn.ConvolutionDescriptor((0,) * (len(w) - 2), groups=groups)
    w_desc = cudnn.FilterDescriptor(w, **of)
    return {"xDesc": x, "wDesc": w_desc, "convDesc": conv, "yDesc": y}


def rnn(
    algorithm: str = "standard", x: Any = None, y: Any = None, **options: Any
) -> dict[str, Any]:
    network = cudnn.RNNDescriptor(
        "gru", input_size=3, hidden_size=4, algorithm=algorithm, **options
    )
    x = cudnn.RNNDataDescriptor([5, 5], 3) if x is None else x
    return {"rnnDesc": network, "xDesc": x, "yDesc": y}


def steps(lengths: Any = (5, 5), size: int = 3, **options: Any) -> Any:
    return cudnn.RNNDataDescriptor(list(lengths), size, **options)


def attention(**others: Any) -> dict[str, Any]:
    limits = {"qo_max_length": 4, "kv_max_length": 5, "max_batch": 2, "max_beam": 2}
    attn = cudnn.AttnDescriptor(1, q_size=6, **limits)
    values = {
        "attnDesc": attn,
        **{f"{role}Desc": q(steps) for role, steps in zip("qkvo", (4, 5, 5, 4), strict=True)},
    }
    return values | others


def q(
    steps: int = 4, batch: int = 2, beam: int = 1, size: int = 6, kind: str = "float32", **o: Any
) -> Any:
    return cudnn.SeqDataDescriptor((steps, batch, beam, size), kind, **o)


def ctc(probs: Any, gradients: Any = None, algo: int = 0) -> dict[str, Any]:
    loss, algorithm = cudnn.CTCLossDescriptor(), raw.cudnnCTCLossAlgo_t(algo)
    return {"ctcLossDesc": loss, "probsDesc": probs, "gradientsDesc": gradients, "algo": algorithm}


LAST = {"layout": "nhwc"}
IN_PLACE = (HERE, THERE, THERE)
# Function, its arguments, and what cuDNN says: the operand, the status' last words, and a part of
# the sentence. The statuses are NVIDIA's documentation's, or an H200's with cuDNN 9.14 and 9.19.
ROWS: dict[str, tuple[str, Any, str, str, str]] = {
    "activation in place": (
        "cudnnActivationForward",
        lambda: {"activationDesc": relu()} | tensors("x y", t(), t(**LAST), at=(HERE, HERE)),
        "y", "BAD_PARAM", "the strides of x",
    ),
    "activation of a stride of 0": (
        "cudnnActivationForward",
        lambda: {"activationDesc": relu()} | tensors("x y", t(1, 8, 4, 4, strides=(0, 16, 4, 1))),
        "x", "NOT_SUPPORTED", "no stride of 0",
    ),
    "softmax of a stride of 0": (
        "cudnnSoftmaxForward",
        lambda: tensors("x y", t(1, 8, 4, 4), t(1, 8, 4, 4, strides=(0, 16, 4, 1))),
        "y", "NOT_SUPPORTED", "no stride of 0",
    ),
    "gradient of a softmax in place": (
        "cudnnSoftmaxBackward",
        lambda: tensors("y dy dx", t(), t(), t(**LAST), at=IN_PLACE),
        "dx", "BAD_PARAM", "the strides of dy",
    ),
    "pooling, dimensions of its input": (
        POOLED, lambda: {"poolingDesc": pooling(), "inputTensorDesc": t(2, 3, 4, 4, 4)},
        "inputTensorDesc", "BAD_PARAM", "needs 4 dimensions",
    ),
    "pooling, a window too large": (
        POOLED, lambda: {"poolingDesc": pooling(window=5), "inputTensorDesc": t()},
        "inputTensorDesc", "BAD_PARAM", "5 elements along spatial dimension 0, and 4 are there",
    ),
    "pooling over 4 dimensions": (
        "cudnnPoolingForward",
        lambda: {"poolingDesc": pooling(4)} | tensors("x y", t(2, 3, 4, 4, 4, 4)),
        "x", "NOT_SUPPORTED", "pooling is for 4 to 5 dimensions",
    ),
    "gradient of averages, type of dx": (
        "cudnnPoolingBackward",
        lambda: {"poolingDesc": averages()} | tensors("x y dy dx", t(), t(), t(), t(kind="INT8")),
        "dx", "NOT_SUPPORTED", "CUDNN_DATA_INT8",
    ),
    "gradient of averages, type of dy": (
        "cudnnPoolingBackward",
        lambda: {"poolingDesc": averages()} | tensors("x y dy dx", t(), t(), t(kind="INT8"), t()),
        "dy", "NOT_SUPPORTED", "CUDNN_DATA_INT8",
    ),
    "LRN, bfloat16 before shapes": (
        "cudnnLRNCrossChannelForward",
        lambda: tensors("x y", t(kind="BFLOAT16"), t(1, 8, 4, 4)),
        "x", "NOT_SUPPORTED", "CUDNN_DATA_BFLOAT16",
    ),
    "gradient of an activation of 3 dimensions, the tensor that it does not need": (
        "cudnnActivationBackward",
        lambda: {"activationDesc": relu()} | tensors(
            "x y dy dx", t(2, 8, 4), t(2, 8, 3), t(2, 8, 4), t(2, 8, 4),
        ),
        "y", "NOT_SUPPORTED", "the shape of x",
    ),
    "dropout of elements that share memory": (
        "cudnnDropoutForward",
        lambda: dropout(t(strides=(128, 16, 1, 1)), 1, t(), 2),
        "x", "BAD_PARAM", "elements share addresses",
    ),
    "dropout of bfloat16": (
        "cudnnDropoutForward",
        lambda: dropout(b := t(kind="BFLOAT16"), 1, b, 2),
        "x", "NOT_SUPPORTED", "dropout of CUDNN_DATA_BFLOAT16",
    ),
    "dropout in place": (
        "cudnnDropoutForward",
        lambda: dropout(t(), HERE, t(**LAST), HERE),
        "y", "BAD_PARAM", "the strides of x",
    ),
    "sampler of integers": (
        "cudnnSpatialTfSamplerForward",
        lambda: {"stDesc": sampler()} | tensors("x y", t(kind="INT8"), t()),
        "x", "NOT_SUPPORTED", "sampler of CUDNN_DATA_INT8",
    ),
    "sampler of 5 dimensions": (
        "cudnnSpatialTfSamplerForward",
        lambda: {"stDesc": sampler()} | tensors("x y", t(2, 8, 4, 4, 4), t()),
        "x", "NOT_SUPPORTED", "4 to 4 dimensions",
    ),
    "batch normalization of 3 dimensions": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(of=t(2, 8, 4)),
        "xDesc", "BAD_PARAM", "a normalization is for 4 to 5 dimensions",
    ),
    "batch normalization of integers": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(of=t(kind="INT32")),
        "xDesc", "NOT_SUPPORTED", "normalization of CUDNN_DATA_INT32",
    ),
    "batch normalization, shape of parameters": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(bnScaleBiasMeanVarDesc=t(1, 4, 1, 1)),
        "bnScaleBiasMeanVarDesc", "BAD_PARAM", "expected shape (1, 8, 1, 1) of CUDNN_DATA_FLOAT",
    ),
    "batch normalization, parameters of bfloat16": (
        f"{BATCH}ForwardTrainingEx",
        lambda: batch(of=t(kind="BFLOAT16"), bnScaleBiasMeanVarDesc=t(1, 8, 1, 1, kind="BFLOAT16")),
        "bnScaleBiasMeanVarDesc", "NOT_SUPPORTED", "parameters of BFLOAT16 must be FLOAT",
    ),
    "batch normalization, mode": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(mode=raw.cudnnBatchNormMode_t(77)),
        "mode", "BAD_PARAM", "has no 77",
    ),
    "batch normalization, operations": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=77), "bnOps", "BAD_PARAM", "has no 77",
    ),
    "batch normalization without x": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(xDesc=None), "xDesc", "BAD_PARAM", "it is NULL",
    ),
    "batch normalization, no activation": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=1, activationDesc=None),
        "activationDesc", "BAD_PARAM", "it is NULL",
    ),
    "batch normalization, another activation": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=1, activationDesc=relu("tanh")),
        "xDesc", "NOT_SUPPORTED", "only RELU can follow",
    ),
    "batch normalization, layout of y in single precision": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=1, of=t(layout="nhwc"), yDesc=t()),
        "yDesc", "NOT_SUPPORTED", "the layout of xDesc",
    ),
    "batch normalization and an activation, a stride of a single row": (
        f"{BATCH}ForwardTrainingEx",
        lambda: batch(ops=1, of=t(4, 8, 1, 1, kind="HALF", strides=(8, 1, 32, 8))),
        "xDesc", "NOT_SUPPORTED", "packed NHWC",
    ),
    "normalization, layout of the gradient of z": (
        "cudnnGetNormalizationBackwardWorkspaceSize",
        lambda: norm_gradient(dzDesc=t(kind="HALF")),
        "dzDesc", "NOT_SUPPORTED", "the layout of xDesc",
    ),
    "batch normalization and an activation, single channels outside": (
        f"{BATCH}ForwardTrainingEx",
        lambda: batch(ops=1, of=t(2, 1, 4, 4), bnScaleBiasMeanVarDesc=t(1, 1, 1, 1)),
        "xDesc", "NOT_SUPPORTED", "packed NHWC",
    ),
    "batch normalization, layout of y": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=1, yDesc=t(kind="HALF")),
        "yDesc", "NOT_SUPPORTED", "expected the layout of xDesc",
    ),
    "batch normalization and an activation in NCHW": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=1, of=t(kind="HALF")),
        "xDesc", "NOT_SUPPORTED", "with packed NHWC tensors",
    ),
    "batch normalization, shape of an added tensor": (
        f"{BATCH}ForwardTrainingEx", lambda: batch(ops=2, zDesc=t(1, 8, 4, 4, kind="HALF", **LAST)),
        "zDesc", "BAD_PARAM", "the shape of xDesc",
    ),
    "batch normalization, channels beside an added tensor": (
        f"{BATCH}ForwardTrainingEx",
        lambda: batch(
            ops=2, of=t(2, 6, 4, 4, kind="HALF", **LAST), bnScaleBiasMeanVarDesc=t(1, 6, 1, 1)
        ),
        "xDesc", "NOT_SUPPORTED", "4 must divide the 6 channels",
    ),
    "normalization in groups": (
        f"{NORM}ForwardInference", lambda: norm(groupCnt=2),
        "groupCnt", "NOT_SUPPORTED", "expected 1",
    ),
    "normalization, statistics unlike scales": (
        f"{NORM}ForwardInference", lambda: norm(normMeanVarDesc=t(1, 4, 1, 1)),
        "normMeanVarDesc", "BAD_PARAM", "the shape of normScaleBiasDesc",
    ),
    "normalization, operations of training": (
        f"{NORM}ForwardTraining", lambda: norm(ops=77), "normOps", "BAD_PARAM", "has no 77",
    ),
    "normalization, operations of inference": (
        f"{NORM}ForwardInference", lambda: norm(ops=77), "normOps", "NOT_SUPPORTED", "has no 77",
    ),
    "normalization, persistent per activation": (
        f"{NORM}ForwardInference", lambda: norm("ACTIVATION", algo=1),
        "mode", "NOT_SUPPORTED", "the persistent algorithm is for one scale per channel",
    ),
    "normalization, an activation in inference": (
        f"{NORM}ForwardInference", lambda: norm(ops=1),
        "xDesc", "NOT_SUPPORTED", "in inference nothing can follow",
    ),
    "reduction of bfloat16 before shapes": (
        "cudnnReduceTensor",
        lambda: {"reduceTensorDesc": cudnn.ReduceTensorDescriptor("add")}
        | tensors("A C", t(kind="BFLOAT16"), t(2, 3, 1, 1))
        | {"aDesc": t(kind="BFLOAT16"), "cDesc": t(2, 3, 1, 1)},
        "C", "NOT_SUPPORTED", "no reduction of CUDNN_DATA_BFLOAT16",
    ),
    "convolution, filters in groups": (
        "cudnnConvolutionForward", lambda: convolution(t(), (3, 4, 1, 1), groups=2),
        "wDesc", "BAD_PARAM", "3 filters, which 2 groups do not divide",
    ),
    "convolution of elements that share memory": (
        "cudnnConvolutionForward",
        lambda: convolution(t(strides=(128, 16, 1, 1)), (3, 8, 1, 1), t(2, 3, 4, 4)),
        "xDesc", "BAD_PARAM", "elements share addresses",
    ),
    "convolution, types": (
        "cudnnConvolutionForward",
        lambda: convolution(t(), (3, 8, 1, 1), t(2, 3, 4, 4), data_type="float16"),
        "wDesc", "NOT_SUPPORTED", "the data type of xDesc",
    ),
    "im2col of integers": (
        "cudnnIm2Col", lambda: convolution(t(kind="INT8"), (3, 8, 1, 1)) | {"x": HERE},
        "x", "NOT_SUPPORTED", "no im2col for 4 dimensions of CUDNN_DATA_INT8",
    ),
    "gradient of a bias, 3 dimensions": (
        "cudnnConvolutionBackwardBias", lambda: tensors("dy db", t(2, 8, 4), t(1, 8, 1)),
        "dy", "NOT_SUPPORTED", "no gradient of a bias",
    ),
    "gradient of a bias, 2 dimensions": (
        "cudnnConvolutionBackwardBias", lambda: tensors("dy db", t(8, 4), t(8, 4)),
        "dy", "BAD_PARAM", "2 dimensions, 4 are needed",
    ),
    "gradient of a bias, shape": (
        "cudnnConvolutionBackwardBias", lambda: tensors("dy db", t(), t(1, 4, 1, 1)),
        "db", "BAD_PARAM", "one value for each channel of dy",
    ),
    "RNN's sizes, type": (
        "cudnnGetRNNTempSpaceSizes", lambda: rnn(x=steps(data_type="float16")),
        "xDesc", "BAD_PARAM", "expected CUDNN_DATA_FLOAT, the type of the network",
    ),
    "RNN, type of y": (
        "cudnnRNNForward", lambda: rnn(y=steps(size=4, data_type="float16")),
        "yDesc", "BAD_PARAM", "expected CUDNN_DATA_FLOAT, the type of the network",
    ),
    "RNN, vectors of y": (
        "cudnnRNNForward", lambda: rnn(y=steps(size=5)),
        "yDesc", "BAD_PARAM", "expected vectors of 4 elements, got 5",
    ),
    "RNN, lengths of y": (
        "cudnnRNNForward", lambda: rnn(y=steps((5, 4), 4)),
        "yDesc", "BAD_PARAM", "expected the lengths of xDesc",
    ),
    "RNN, a persistent algorithm and two lengths": (
        "cudnnRNNForward", lambda: rnn("persist_static", x=steps((5, 4))),
        "xDesc", "NOT_SUPPORTED", "sequences of one length",
    ),
    "attention, type": (
        "cudnnMultiHeadAttnForward", lambda: attention(kDesc=q(5, kind="float16")),
        "kDesc", "BAD_PARAM", "the type of the attention",
    ),
    "attention, order": (
        "cudnnMultiHeadAttnForward", lambda: attention(kDesc=q(5, axes="NTBV")),
        "kDesc", "BAD_PARAM", "its axes in the order of qDesc",
    ),
    "attention, lengths": (
        "cudnnMultiHeadAttnForward", lambda: attention(vDesc=q(5, lengths=[5, 4])),
        "vDesc", "BAD_PARAM", "expected the lengths of kDesc",
    ),
    "attention, steps": (
        "cudnnMultiHeadAttnForward", lambda: attention(qDesc=q(6), oDesc=q(6)),
        "qDesc", "BAD_PARAM", "6 is more than the attention's qo_max_length, 4",
    ),
    "CTC loss, dimensions": (
        "cudnnCTCLoss", lambda: ctc(t(4, 2, 5, 1)),
        "probsDesc", "BAD_PARAM", "(time, samples, symbols)",
    ),
    "CTC loss, algorithm": (
        "cudnnGetCTCLossWorkspaceSize", lambda: ctc(t(4, 2, 5), t(4, 2, 5), algo=7),
        "algo", "NOT_SUPPORTED", "cuDNN has no 7",
    ),
    "CTC loss, type": (
        "cudnnGetCTCLossWorkspaceSize", lambda: ctc(t(4, 2, 5, kind="DOUBLE")),
        "probsDesc", "NOT_SUPPORTED", "the loss is computed in CUDNN_DATA_FLOAT",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with use_reference_device():
        yield


def found(function: str, values: dict[str, Any], **options: Any) -> Broken | None:
    return broken(raw.FUNCTIONS[function], values, **options)


@pytest.mark.parametrize("row", ROWS)
def test_a_rule(row: str) -> None:
    function, make, operand, status, sentence = ROWS[row]
    rule = found(function, make())
    assert rule is not None
    assert (rule.operand, rule.status.name.removeprefix("CUDNN_STATUS_")) == (operand, status)
    assert sentence in rule.sentence


ALLOWED: dict[str, tuple[str, Any]] = {
    "batch normalization": (f"{BATCH}ForwardTrainingEx", batch),
    "batch normalization and ReLU": (f"{BATCH}ForwardTrainingEx", lambda: batch(ops=2)),
    "normalization": (f"{NORM}ForwardInference", norm),
    "recurrent network": ("cudnnRNNForward", lambda: rnn(y=steps(size=4))),
    "attention": ("cudnnMultiHeadAttnForward", attention),
    "CTC loss": ("cudnnGetCTCLossWorkspaceSize", lambda: ctc(t(4, 2, 5), t(4, 2, 5))),
    "gradient of a softmax in place": (
        "cudnnSoftmaxBackward", lambda: tensors("y dy dx", t(), at=IN_PLACE),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ALLOWED)
def test_operands_that_fit(row: str) -> None:
    function, make = ALLOWED[row]
    assert found(function, make()) is None


def test_layer_2_compares_an_added_tensor_where_cudnn_does_not() -> None:
    x, z = t(layout="nhwc"), t(1, 8, 4, 4, layout="nhwc")
    values = batch(ops=2, of=x, zDesc=z)
    assert found(f"{BATCH}ForwardTrainingEx", values) is None
    rule = found(f"{BATCH}ForwardTrainingEx", values, asked=lambda rule: rule.by_meaning)
    assert rule is not None
    assert rule.operand == "zDesc"
