"""`cudnnBatchNormalization...` and `cudnnNormalization...` through raw calls, without a GPU."""

from __future__ import annotations

from ctypes import c_size_t
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
SUCCESS = raw.CUDNN_STATUS_SUCCESS
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SHAPE = (3, 4, 5, 2)
STRIDED = (200, 48, 8, 3)
EPSILON = 1e-3
# One rounding of y; x and the parameters are exact. The sums are in float64.
TOLERANCE = {FLOAT: 2.0**-22, DOUBLE: 1e-13, HALF: 2.0**-10, BFLOAT16: 2.0**-7}
PER_ACTIVATION = raw.CUDNN_BATCHNORM_PER_ACTIVATION
SPATIAL, PERSISTENT = raw.CUDNN_BATCHNORM_SPATIAL, raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT
BN, ACTIVATION = raw.CUDNN_BATCHNORM_OPS_BN, raw.CUDNN_BATCHNORM_OPS_BN_ACTIVATION
ADD_ACTIVATION = raw.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


class Layer:
    """One layer's memory and descriptors, and its calls with C's arguments by name.

    `norm` makes the calls of `cudnnNormalization...` instead of those of `cudnnBatchNorm...`.
    """

    def __init__(
        self,
        program: Program,
        mode: Any = SPATIAL,
        *,
        ops: Any = BN,
        shape: tuple[int, ...] = SHAPE,
        data_type: Any = FLOAT,
        layout: Any = "NCHW",
        norm: bool = False,
    ) -> None:
        self.program, self.mode, self.ops, self.norm = program, mode, ops, norm
        self.data_type, self.shape, self.layout = data_type, shape, layout
        rng = np.random.default_rng(0)
        self.desc = program.tensor(shape, data_type, layout)
        self.bn_desc = program.new(raw.cudnnTensorDescriptor_t)
        raw.cudnnDeriveBNTensorDescriptor(self.bn_desc, self.desc, mode)
        self.per = (1, *shape[1:]) if mode == PER_ACTIVATION else (1, shape[1], 1, 1)
        self.axes = (0,) if mode == PER_ACTIVATION else (0, 2, 3)
        self.param_type = DOUBLE if data_type == DOUBLE else FLOAT

        def data(values: bool = True) -> Memory:
            given = 2 * rng.standard_normal(shape) + 1 if values else None
            return Memory(shape, data_type, layout, given)

        def param(values: Any = None) -> Memory:
            return Memory(self.per, self.param_type, values=values)

        self.x, self.z, self.dy = data(), data(), data()
        self.y, self.dx, self.dz = data(False), data(False), data(False)
        self.scale, self.bias = (param(rng.standard_normal(self.per)) for _ in range(2))
        self.mean, self.variance = (param(rng.uniform(0.5, 2, self.per)) for _ in range(2))
        self.saved_mean, self.saved_inv = param(), param()
        self.dscale, self.dbias = param(), param()
        self.activation = program.activation(raw.CUDNN_ACTIVATION_RELU)
        self.workspace = np.full(1024, 7, np.uint8)
        self.reserve = np.full(1024, 7, np.uint8)

    def number(self, value: float) -> Any:
        return scalar(value, self.data_type)

    def how(self) -> dict[str, Any]:
        if not self.norm:
            return {"mode": self.mode, "bnOps": self.ops}
        persist = self.mode == PERSISTENT
        return {
            "mode": raw.CUDNN_NORM_PER_ACTIVATION
            if self.mode == PER_ACTIVATION
            else raw.CUDNN_NORM_PER_CHANNEL,
            "normOps": raw.cudnnNormOps_t(int(self.ops)),
            "algo": raw.CUDNN_NORM_ALGO_PERSIST if persist else raw.CUDNN_NORM_ALGO_STANDARD,
            "groupCnt": 1,
        }

    def space(self) -> dict[str, Any]:
        return {
            "activationDesc": self.activation,
            "reserveSpace": self.reserve.ctypes.data,
            "reserveSpaceSizeInBytes": self.reserve.nbytes,
            "workSpaceSizeInBytes": self.workspace.nbytes,
        }

    def train(self, *, plain: bool = False, **changes: Any) -> raw.cudnnStatus_t:
        """The forward pass; `plain`: cudnnBatchNormalizationForwardTraining, else its Ex form."""
        described = {"bnScaleBiasMeanVarDesc": self.bn_desc}
        names = {"bnScale": self.scale.address, "bnBias": self.bias.address}
        function = raw.cudnnBatchNormalizationForwardTrainingEx
        if self.norm:
            described = {"normScaleBiasDesc": self.bn_desc, "normMeanVarDesc": self.bn_desc}
            names = {"normScale": self.scale.address, "normBias": self.bias.address}
            function = raw.cudnnNormalizationForwardTraining
        arguments = {
            **self.how(),
            "alpha": self.number(1),
            "beta": self.number(0),
            "xDesc": self.desc,
            "xData": self.x.address,
            "zDesc": self.desc,
            "zData": self.z.address,
            "yDesc": self.desc,
            "yData": self.y.address,
            **described,
            **names,
            "exponentialAverageFactor": 0.25,
            "resultRunningMean": self.mean.address,
            "resultRunningVariance": self.variance.address,
            "epsilon": EPSILON,
            "resultSaveMean": self.saved_mean.address,
            "resultSaveInvVariance": self.saved_inv.address,
            "workspace": self.workspace.ctypes.data,
            **self.space(),
        }
        if plain:
            function = raw.cudnnBatchNormalizationForwardTraining
            arguments |= {"x": arguments["xData"], "y": arguments["yData"]}
        return self.call(function, arguments, changes)

    def back(self, *, plain: bool = False, **changes: Any) -> raw.cudnnStatus_t:
        params = {
            "dBnScaleBiasDesc": self.bn_desc,
            "bnScaleData": self.scale.address,
            "bnBiasData": self.bias.address,
            "dBnScaleData": self.dscale.address,
            "dBnBiasData": self.dbias.address,
        }
        function = raw.cudnnBatchNormalizationBackwardEx
        if self.norm:
            params = {
                name.replace("Bn", "Norm").replace("bn", "norm"): value
                for name, value in params.items()
            } | {"normMeanVarDesc": self.bn_desc}
            function = raw.cudnnNormalizationBackward
        arguments = {
            **self.how(),
            "alphaDataDiff": self.number(1),
            "betaDataDiff": self.number(0),
            "alphaParamDiff": self.number(1),
            "betaParamDiff": self.number(0),
            "epsilon": EPSILON,
            "savedMean": self.saved_mean.address,
            "savedInvVariance": self.saved_inv.address,
            "workSpace": self.workspace.ctypes.data,
            **params,
            **self.space(),
        }
        for name in ("x", "y", "dy", "dz", "dx"):
            arguments |= {f"{name}Desc": self.desc, f"{name}Data": getattr(self, name).address}
        if plain:
            function = raw.cudnnBatchNormalizationBackward
            arguments |= {name: arguments[f"{name}Data"] for name in ("x", "dy", "dx")}
            arguments |= {
                "bnScale": self.scale.address,
                "dBnScaleResult": self.dscale.address,
                "dBnBiasResult": self.dbias.address,
            }
        return self.call(function, arguments, changes)

    def infer(self, **changes: Any) -> raw.cudnnStatus_t:
        arguments = {
            **self.how(),
            "alpha": self.number(1),
            "beta": self.number(0),
            "xDesc": self.desc,
            "x": self.x.address,
            "yDesc": self.desc,
            "y": self.y.address,
            "estimatedMean": self.mean.address,
            "estimatedVariance": self.variance.address,
            "epsilon": EPSILON,
        }
        if self.norm:
            arguments |= {
                "normScaleBiasDesc": self.bn_desc,
                "normScale": self.scale.address,
                "normBias": self.bias.address,
                "normMeanVarDesc": self.bn_desc,
                "zDesc": None,
                "z": None,
                "activationDesc": None,
            }
            return self.call(raw.cudnnNormalizationForwardInference, arguments, changes)
        arguments |= {
            "bnScaleBiasMeanVarDesc": self.bn_desc,
            "bnScale": self.scale.address,
            "bnBias": self.bias.address,
        }
        return self.call(raw.cudnnBatchNormalizationForwardInference, arguments, changes)

    def sizes(self, **changes: Any) -> tuple[Any, list[int]]:
        """The sum of the statuses, and the sizes: forward and backward workspace, reserve."""
        family = "Normalization" if self.norm else "BatchNormalization"
        ex = "" if self.norm else "Ex"
        described = (
            {"normScaleBiasDesc": self.bn_desc, "normMeanVarDesc": self.bn_desc}
            if self.norm
            else {"bnScaleBiasMeanVarDesc": self.bn_desc}
        )
        described |= {"dNormScaleBiasDesc": self.bn_desc, "dBnScaleBiasDesc": self.bn_desc}
        for name in ("x", "y", "z", "dy", "dz", "dx"):
            described[f"{name}Desc"] = self.desc
        statuses, values = [], []
        for name in (
            f"cudnnGet{family}ForwardTraining{ex}WorkspaceSize",
            f"cudnnGet{family}Backward{ex}WorkspaceSize",
            f"cudnnGet{family}Training{ex}ReserveSpaceSize",
        ):
            size = c_size_t(12345)
            arguments = {
                **self.how(),
                **described,
                "activationDesc": self.activation,
                "sizeInBytes": size,
            }
            statuses.append(self.call(getattr(raw, name), arguments, changes))
            values.append(size.value)
        assert len(set(statuses)) == 1
        return statuses[0], values

    def call(self, function: Any, arguments: dict, changes: dict) -> raw.cudnnStatus_t:
        """Call with those of the arguments that the function has."""
        names = [p.name for p in function.parameters]
        assert not set(changes) - set(names), "a test changes what the function does not have"
        values = {"handle": self.program.handle, **arguments, **changes}
        return function.unchecked(*(values[name] for name in names))

    # -- what should come out ------------------------------------------------------------------

    def double(self, memory: Memory) -> np.ndarray:
        return memory.get().astype(np.float64)

    def x_hat(self) -> tuple[np.ndarray, np.ndarray]:
        x = self.double(self.x)
        deviation = np.sqrt(x.var(self.axes, keepdims=True) + EPSILON)
        return (x - x.mean(self.axes, keepdims=True)) / deviation, deviation

    def expected_y(self) -> np.ndarray:
        y = self.double(self.scale) * self.x_hat()[0] + self.double(self.bias)
        y += self.double(self.z) if self.ops == ADD_ACTIVATION else 0
        return y if self.ops == BN else np.maximum(y, 0)

    def expected_gradients(self) -> tuple[np.ndarray, ...]:
        """dx, dscale, dbias, dz."""
        x_hat, deviation = self.x_hat()
        dz = self.double(self.dy)
        if self.ops != BN:
            dz = np.where(self.expected_y() > 0, dz, 0)
        dbias = dz.sum(self.axes, keepdims=True)
        dscale = (dz * x_hat).sum(self.axes, keepdims=True)
        count = x_hat.size // dbias.size
        dx = self.double(self.scale) / deviation * (dz - (dbias + x_hat * dscale) / count)
        return dx, dscale, dbias, dz


def close(memory: Memory, expected: np.ndarray, tolerance: float) -> None:
    bound = tolerance * max(1.0, float(abs(expected).max()))
    np.testing.assert_allclose(memory.get().astype(np.float64), expected, rtol=0, atol=bound)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", STRIDED], ids=str)
@pytest.mark.parametrize("data_type", TOLERANCE, ids=str)
@pytest.mark.parametrize("mode", list(raw.cudnnBatchNormMode_t), ids=str)
@pytest.mark.parametrize("function", ["plain", "ex", "norm"])
def test_training(program: Program, function: str, mode: Any, data_type: Any, layout: Any):
    layer = Layer(program, mode, data_type=data_type, layout=layout, norm=function == "norm")
    mean, variance = layer.double(layer.mean), layer.double(layer.variance)
    plain = function == "plain"
    assert layer.train(plain=plain) == SUCCESS
    assert layer.back(plain=plain) == SUCCESS
    tolerance = TOLERANCE[data_type]
    close(layer.y, layer.expected_y(), tolerance)
    x = layer.double(layer.x)
    new_mean, new_variance = (
        x.mean(layer.axes, keepdims=True),
        x.var(layer.axes, keepdims=True, ddof=1),
    )
    parameter = TOLERANCE[layer.param_type]
    close(layer.mean, 0.75 * mean + 0.25 * new_mean, parameter)
    close(layer.variance, 0.75 * variance + 0.25 * new_variance, parameter)
    close(layer.saved_mean, new_mean, parameter)
    close(layer.saved_inv, 1 / layer.x_hat()[1], parameter)
    dx, dscale, dbias, _ = layer.expected_gradients()
    close(layer.dx, dx, 4 * tolerance)  # mean and deviation were saved in float32
    close(layer.dscale, dscale, 16 * parameter)
    close(layer.dbias, dbias, parameter)
    if layout == STRIDED:
        assert layer.y.gaps_are_poisoned()
        assert layer.dx.gaps_are_poisoned()


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
@pytest.mark.parametrize("mode", list(raw.cudnnBatchNormMode_t), ids=str)
def test_inference(program: Program, mode: Any, norm: bool):
    layer = Layer(program, mode, norm=norm)
    assert layer.infer() == SUCCESS
    deviation = np.sqrt(layer.double(layer.variance) + EPSILON)
    x_hat = (layer.double(layer.x) - layer.double(layer.mean)) / deviation
    expected = layer.double(layer.scale) * x_hat + layer.double(layer.bias)
    close(layer.y, expected, TOLERANCE[FLOAT])


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
@pytest.mark.parametrize("ops", [ACTIVATION, ADD_ACTIVATION], ids=str)
def test_fused(program: Program, ops: Any, norm: bool):
    layer = Layer(program, PERSISTENT, ops=ops, data_type=HALF, layout="NHWC", norm=norm)
    status, (forward, backward, reserve) = layer.sizes()
    assert (status, forward, backward, reserve) == (SUCCESS, 32, 32, 15)  # 120 elements
    sizes = {"workSpaceSizeInBytes": 32, "reserveSpaceSizeInBytes": 15}
    assert layer.train(**sizes) == SUCCESS
    close(layer.y, layer.expected_y(), TOLERANCE[HALF])
    assert (layer.workspace[:32] == 0xA5).all()
    assert (layer.workspace[32:] == 7).all()
    assert (layer.reserve[15:] == 7).all()
    assert layer.back(**sizes) == SUCCESS
    dx, dscale, dbias, dz = layer.expected_gradients()
    close(layer.dx, dx, 2 * TOLERANCE[HALF])
    close(layer.dscale, dscale, 1e-5)
    close(layer.dbias, dbias, 1e-5)
    if ops == ADD_ACTIVATION:
        close(layer.dz, dz, 0)
    else:
        assert np.isnan(layer.dz.get()).all()  # not written
    # The mask in the reserve space is what the backward pass goes by.
    layer.reserve[:] = 0
    assert layer.back() == SUCCESS
    assert not layer.dbias.get().any()


def test_without_saved_statistics_and_averages(program: Program):
    layer = Layer(program)
    nulls = {"resultSaveMean": None, "resultSaveInvVariance": None}
    assert (
        layer.train(**nulls, resultRunningMean=None, resultRunningVariance=None, plain=True)
        == SUCCESS
    )
    assert layer.back(savedMean=None, savedInvVariance=None, plain=True) == SUCCESS
    dx, dscale, *_ = layer.expected_gradients()
    close(layer.dx, dx, 1e-6)
    close(layer.dscale, dscale, 1e-6)


def test_blending_and_in_place(program: Program):
    layer = Layer(program)
    expected, prior = layer.expected_y(), layer.double(layer.z)
    layer.y.set(prior)
    assert layer.train(alpha=layer.number(2), beta=layer.number(-0.5)) == SUCCESS
    close(layer.y, 2 * expected - 0.5 * prior, 1e-6)
    dx, dscale, dbias, _ = layer.expected_gradients()
    layer.dx.set(prior)
    layer.dscale.set(layer.double(layer.bias))
    layer.dbias.set(layer.double(layer.scale))
    assert (
        layer.back(
            alphaDataDiff=layer.number(0.5),
            betaDataDiff=layer.number(2),
            alphaParamDiff=layer.number(3),
            betaParamDiff=layer.number(-1),
        )
        == SUCCESS
    )
    close(layer.dx, 0.5 * dx + 2 * prior, 1e-6)
    close(layer.dscale, 3 * dscale - layer.double(layer.bias), 1e-5)
    close(layer.dbias, 3 * dbias - layer.double(layer.scale), 1e-6)
    assert layer.train(yData=layer.x.address) == SUCCESS
    close(layer.x, expected, 1e-6)


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
def test_refusals_of_tensors(program: Program, norm: bool):
    layer = Layer(program, norm=norm)
    assert layer.train() == layer.back() == layer.infer() == SUCCESS
    scale, bias = ("normScale", "normBias") if norm else ("bnScale", "bnBias")
    for name in ("alpha", "beta", "xData", "yData", scale, bias, "resultSaveMean"):
        assert layer.train(**{name: None}) == BAD_PARAM, name
    for name in ("resultRunningMean", "resultRunningVariance", "resultSaveInvVariance"):
        assert layer.train(**{name: None}) == BAD_PARAM, name
    d = "dNorm" if norm else "dBn"
    for name in ("alphaDataDiff", "betaParamDiff", "xData", "dyData", "dxData", f"{scale}Data"):
        assert layer.back(**{name: None}) == BAD_PARAM, name
    for name in (f"{d}ScaleData", f"{d}BiasData", "savedMean", "savedInvVariance"):
        assert layer.back(**{name: None}) == BAD_PARAM, name
    for name in ("x", "y", scale, bias, "estimatedMean", "estimatedVariance"):
        assert layer.infer(**{name: None}) == BAD_PARAM, name
    other = program.tensor((3, 4, 5, 3))
    for function, names in (
        (layer.train, ("xDesc", "yDesc")),
        (layer.back, ("xDesc", "dyDesc", "dxDesc")),
        (layer.infer, ("xDesc", "yDesc")),
    ):
        for name in names:
            assert function(**{name: other}) == BAD_PARAM, name
            assert function(**{name: program.tensor(SHAPE, HALF)}) == BAD_PARAM, name
        assert function(epsilon=-1e-9) == BAD_PARAM
        assert function(epsilon=np.nan) == BAD_PARAM
    desc = "normScaleBiasDesc" if norm else "bnScaleBiasMeanVarDesc"
    for wrong in (
        program.tensor((1, 4, 5, 2)),
        program.tensor((1, 4, 1, 1), HALF),
        program.tensor((4, 1, 1, 1)),
    ):
        assert layer.train(**{desc: wrong}) == BAD_PARAM
        assert layer.infer(**{desc: wrong}) == BAD_PARAM
        assert layer.back(**{f"{d}ScaleBiasDesc": wrong}) == BAD_PARAM
        if norm:
            assert layer.train(normMeanVarDesc=wrong) == BAD_PARAM
    assert layer.train(mode=7) == (NOT_SUPPORTED if norm else BAD_PARAM)


def test_refusals_of_dimensions_and_types(program: Program):
    layer = Layer(program)
    for shape, status in (((3, 4, 5), BAD_PARAM), ((3, 4, 5, 2, 1, 1), BAD_PARAM)):
        desc = program.tensor(shape)
        assert layer.train(xDesc=desc, yDesc=desc) == status
    integers = program.tensor(SHAPE, raw.CUDNN_DATA_INT8)
    assert layer.train(xDesc=integers, yDesc=integers) == NOT_SUPPORTED
    norm = Layer(program, norm=True)
    assert norm.train(groupCnt=2) == norm.back(groupCnt=2) == NOT_SUPPORTED
    assert norm.infer(groupCnt=2) == norm.sizes(groupCnt=2)[0] == NOT_SUPPORTED
    for ops in (raw.CUDNN_NORM_OPS_NORM_ACTIVATION, raw.CUDNN_NORM_OPS_NORM_ADD_ACTIVATION):
        assert norm.infer(normOps=ops) == NOT_SUPPORTED


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
def test_refusals_of_fused_forms(program: Program, norm: bool):
    kind = {"ops": ADD_ACTIVATION, "norm": norm}
    for mode, data_type, layout in (
        (SPATIAL, HALF, "NHWC"),
        (PER_ACTIVATION, HALF, "NHWC"),
        (PERSISTENT, HALF, "NCHW"),
        (PERSISTENT, HALF, STRIDED),
        (PERSISTENT, DOUBLE, "NHWC"),
    ):
        layer = Layer(program, mode, data_type=data_type, layout=layout, **kind)
        assert layer.train() == layer.back() == NOT_SUPPORTED
        # Sizes of the other algorithm are told; but one of PER_ACTIVATION is not persistent.
        told = SUCCESS if mode != PERSISTENT else NOT_SUPPORTED
        assert layer.sizes()[0] == told
    odd = Layer(program, PERSISTENT, shape=(3, 6, 5, 2), data_type=HALF, layout="NHWC", **kind)
    assert odd.train() == NOT_SUPPORTED
    layer = Layer(program, PERSISTENT, data_type=HALF, layout="NHWC", **kind)
    assert layer.train() == layer.back() == SUCCESS
    sigmoid = program.activation(raw.CUDNN_ACTIVATION_SIGMOID)
    assert layer.train(activationDesc=sigmoid) == layer.back(activationDesc=sigmoid)
    assert layer.train(activationDesc=sigmoid) == NOT_SUPPORTED
    assert layer.train(activationDesc=None) == BAD_PARAM
    assert layer.train(zData=None) == layer.back(dzData=None) == BAD_PARAM
    assert layer.train(reserveSpace=None) == layer.back(reserveSpace=None) == BAD_PARAM
    for name, size in (("workSpaceSizeInBytes", 31), ("reserveSpaceSizeInBytes", 14)):
        assert layer.train(**{name: size}) == layer.back(**{name: size}) == BAD_PARAM
    assert layer.train(workspace=None) == BAD_PARAM
    assert layer.back(workSpace=None) == NOT_SUPPORTED
    other = program.tensor(SHAPE, HALF)
    assert layer.train(zDesc=program.tensor((3, 4, 5, 3), HALF)) == BAD_PARAM
    assert layer.back(dzDesc=other) == SUCCESS  # z may lie otherwise in memory


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
def test_plain_forms_need_no_space(program: Program, norm: bool):
    layer = Layer(program, norm=norm)
    assert layer.sizes(activationDesc=None) == (SUCCESS, [0, 0, 0])
    nothing = {"workSpaceSizeInBytes": 0, "reserveSpace": None, "reserveSpaceSizeInBytes": 0}
    assert layer.train(**nothing, workspace=None, zDesc=None, activationDesc=None) == SUCCESS
    assert layer.back(**nothing, workSpace=None, dzDesc=None, yDesc=None, yData=None) == SUCCESS
    assert layer.sizes(sizeInBytes=None)[0] == BAD_PARAM
