"""Batch normalization on the reference device, by the C functions of both generations.

`cudnnBatchNormalization...`, its Ex forms and `cudnnNormalization...` compute the same with
different parameters. BAD_PARAM besides the operands' rules: only one of two statistics; an epsilon
below 0; too little workspace or reserve space.

The reserve space holds ReLU's mask for the fused backward pass: one bit per element, set where ReLU
passed it. (cuDNN 9.14 and 9.19 have one only if a tensor is added.) The workspace has room for two
sums per channel, which the kernels need, and is overwritten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.operand_rules.language import same
from ...raw.operand_rules.normalizations import Form
from ..batch_normalization import (
    Mode,
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
)
from ..tiles import Array
from .call import Call
from .memory import Operand, Use
from .registry import bad_param, implements, not_supported


@dataclass(frozen=True)
class Normalization:
    """A call, whose operands satisfy the rules.

    - `call`: the call, with its memory.
    - `x`: the normalized tensor.
    - `form`: what is computed.
    """

    call: Call
    x: Operand
    form: Form

    @classmethod
    def of(cls, call: Call, x: str = "xDesc") -> Normalization:
        """The checked options of a call; `x` is the C name of the normalized tensor."""
        call.check()
        names = ("mode", "bnOps", "normOps", "algo")
        return cls(call, call.operand(x), Form.of(*(call[name] for name in names if name in call)))

    @property
    def mode(self) -> Mode:
        """The averaged axes, as the formulas name them."""
        return "per_activation" if self.form.per_activation else "spatial"

    # -- operands ------------------------------------------------------------------------------

    def tensors(self, *names: str) -> list[Operand]:
        """Tensors like x, under C's names without and with "Data"."""
        return [self.call.operand(self.call.named(name, f"{name}Data")) for name in names]

    def added(self, name: str) -> Operand | None:
        """z or its gradient, where one is added."""
        if not self.form.adds:
            return None
        (added,) = self.tensors(name)
        self.call.refuse(same(self.x, added))
        return added

    def parameters(self, *names: str) -> list[Operand]:
        """Scale, bias and the like; NULL is refused."""
        return self.call.operands(*names)

    def pair(self, first: str, second: str) -> list[Operand] | None:
        """Two operands, or None if both are NULL; one alone is refused."""
        if not self.call[first] and not self.call[second]:
            return None
        if not (self.call[first] and self.call[second]):
            raise bad_param(f"one of {first} and {second} is NULL, the other not")
        return self.parameters(first, second)

    def epsilon(self) -> float:
        """Refused below CUDNN_BN_MIN_EPSILON."""
        epsilon: float = self.call["epsilon"]
        if not epsilon >= raw.CUDNN_BN_MIN_EPSILON:
            raise bad_param(f"epsilon must be at least 0, got {epsilon}")
        return epsilon

    # -- workspace and reserve space -----------------------------------------------------------

    def workspace_size(self) -> int:
        """Bytes of the workspace: two float sums per channel in the fused forms, else 0."""
        return 2 * 4 * self.x.shape[1] if self.form.relu else 0

    def reserve_size(self) -> int:
        """Bytes of the reserve space: a bit per element in the fused forms, else 0."""
        return -(-math.prod(self.x.shape) // 8) if self.form.relu else 0

    def use_workspace(self, name: str) -> None:
        """Check the workspace, if the function has one, and overwrite it."""
        if name in self.call:
            if name == "workSpace" and self.form.relu and not self.call[name]:
                raise not_supported("workSpace is NULL")
            self.call.use_workspace(name, self.workspace_size())

    def check_reserve(self) -> None:
        """Refuse a reserve space that is missing or too small."""
        if self.form.relu:
            self._reserve("write")

    def save_mask(self, mask: NDArray[np.bool_] | None) -> None:
        """Keep for the backward pass where ReLU let its argument through."""
        if mask is not None:
            self._reserve("write")[:] = np.packbits(mask)

    def saved_mask(self) -> NDArray[np.bool_] | None:
        """The mask stored by `save_mask`; None without ReLU."""
        if not self.form.relu:
            return None
        bits = np.unpackbits(self._reserve("read"), count=math.prod(self.x.shape))
        return bits.view(np.bool_).reshape(self.x.shape)

    def _reserve(self, use: Use) -> Array:
        needed = self.reserve_size()
        self.call.buffer("reserveSpace", needed)
        return self.call.array("reserveSpace", raw.CUDNN_DATA_UINT8, needed, use=use)


@implements("cudnnBatchNormalizationForwardInference", "cudnnNormalizationForwardInference")
def inference(call: Call) -> None:
    """y from x and the running averages."""
    what = Normalization.of(call, "x")
    (y,) = what.tensors("y")
    scale, bias, mean, variance = what.parameters(
        call.named("bnScale", "normScale"),
        call.named("bnBias", "normBias"),
        "estimatedMean",
        "estimatedVariance",
    )
    epsilon, factors = what.epsilon(), call.factors()
    memory = y.prior(factors["beta"])
    result = batch_normalization_forward_inference(
        what.x.load(),
        scale.load(),
        bias.load(),
        mean.load(),
        variance.load(),
        mode=what.mode,
        epsilon=epsilon,
        y=memory,
        out=memory,
        compute_dtype=what.x.compute_dtype,
        **factors,
    )
    y.store(result)


@implements(
    "cudnnBatchNormalizationForwardTraining",
    "cudnnBatchNormalizationForwardTrainingEx",
    "cudnnNormalizationForwardTraining",
)
def training(call: Call) -> None:
    """y from x and its own statistics, which are averaged and saved."""
    what = Normalization.of(call, call.named("x", "xData"))
    (y,) = what.tensors("y")
    scale, bias = what.parameters(
        call.named("bnScale", "normScale"), call.named("bnBias", "normBias")
    )
    running = what.pair("resultRunningMean", "resultRunningVariance")
    saved = what.pair("resultSaveMean", "resultSaveInvVariance")
    if what.form.relu and saved is None:
        raise not_supported("where an activation follows, the statistics must be saved")
    epsilon, average_factor = what.epsilon(), call["exponentialAverageFactor"]
    z = what.added("z")
    what.check_reserve()
    factors = call.factors()
    what.use_workspace("workspace")
    memory = y.prior(factors["beta"])
    done = batch_normalization_forward_training(
        what.x.load(),
        scale.load(),
        bias.load(),
        mode=what.mode,
        epsilon=epsilon,
        average_factor=average_factor,
        running_mean=running[0].prior(1 - average_factor) if running else None,
        running_variance=running[1].prior(1 - average_factor) if running else None,
        z=z.load() if z else None,
        relu=what.form.relu,
        y=memory,
        out=memory,
        **factors,
    )
    y.store(done.y)
    if running and done.running_mean is not None and done.running_variance is not None:
        running[0].store(done.running_mean)
        running[1].store(done.running_variance)
    if saved:
        saved[0].store(done.saved_mean)
        saved[1].store(done.saved_inv_variance)
    what.save_mask(done.mask)


@implements(
    "cudnnBatchNormalizationBackward",
    "cudnnBatchNormalizationBackwardEx",
    "cudnnNormalizationBackward",
)
def backward(call: Call) -> None:
    """dx, dz, dscale and dbias from x and dy."""
    what = Normalization.of(call, call.named("x", "xData"))
    dy, dx = what.tensors("dy", "dx")
    scale, dscale, dbias = what.parameters(
        call.named("bnScale", "bnScaleData", "normScaleData"),
        call.named("dBnScaleResult", "dBnScaleData", "dNormScaleData"),
        call.named("dBnBiasResult", "dBnBiasData", "dNormBiasData"),
    )
    saved = what.pair("savedMean", "savedInvVariance")
    if what.form.relu and saved is None:
        raise not_supported("where an activation followed, the saved statistics are needed")
    epsilon, dz, mask = what.epsilon(), what.added("dz"), what.saved_mask()
    factors = call.factors()
    what.use_workspace("workSpace")
    memory = dx.prior(factors["betaDataDiff"])
    done = batch_normalization_backward(
        x=what.x.load(),
        dy=dy.load(),
        scale=scale.load(),
        mode=what.mode,
        epsilon=epsilon,
        saved_mean=saved[0].load() if saved else None,
        saved_inv_variance=saved[1].load() if saved else None,
        mask=mask,
        alpha=factors["alphaDataDiff"],
        beta=factors["betaDataDiff"],
        alpha_param=factors["alphaParamDiff"],
        beta_param=factors["betaParamDiff"],
        dx=memory,
        out=memory,
        compute_dtype=what.x.compute_dtype,
        dscale=dscale.prior(factors["betaParamDiff"]),
        dbias=dbias.prior(factors["betaParamDiff"]),
    )
    dx.store(done.dx)
    dscale.store(done.dscale)
    dbias.store(done.dbias)
    if dz:
        dz.store(done.dz)


# -- sizes -------------------------------------------------------------------------------------


@implements(
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize",
    "cudnnGetNormalizationBackwardWorkspaceSize",
)
def workspace_size(call: Call) -> None:
    call.put(sizeInBytes=Normalization.of(call).workspace_size())


@implements(
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize",
    "cudnnGetNormalizationTrainingReserveSpaceSize",
)
def reserve_space_size(call: Call) -> None:
    call.put(sizeInBytes=Normalization.of(call).reserve_size())
