"""A call of batch normalization on the reference device, by any of the C functions.

`cudnnBatchNormalization...`, its Ex forms and `cudnnNormalization...` compute the same with
different parameters. Statuses are those in cuDNN's documentation:

- BAD_PARAM: NULL for a required tensor; only one of two statistics; tensors that
  are not of 4 or 5 dimensions, or do not match; parameters of another shape or type than
  ``cudnnDeriveBNTensorDescriptor`` gives; an epsilon below 0; too little workspace or reserve
  space.
- NOT_SUPPORTED: other data types than FLOAT, DOUBLE, HALF and BFLOAT16, except for INT8 in
  inference; the fused forms without ReLU, FLOAT, HALF or BFLOAT16, packed NHWC or the persistent
  algorithm, and their backward pass without the saved statistics.

The reserve space holds ReLU's mask for the fused backward pass: one bit per element, set where ReLU
passed it. (cuDNN 9.14 and 9.19 have one only if a tensor is added.) The workspace has room for two
sums per channel, which the kernels need, and is overwritten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import Activation, Tensor
from ...raw.faults.softmax import same_layout
from ..batch_normalization import Mode, batch_normalization_parameter_shape
from ..layout import packed_strides
from .agreement import FLOATING, require_equal
from .call import Call
from .memory import Operand, Use
from .registry import bad_param, not_supported

__all__ = ["Normalization"]

_IMAGES = ("yDesc", "dyDesc", "dxDesc")
_PARAMETERS = (
    "bnScaleBiasMeanVarDesc",
    "dBnScaleBiasDesc",
    "normScaleBiasDesc",
    "normMeanVarDesc",
    "dNormScaleBiasDesc",
)


def _check_enumerators(call: Call) -> None:
    """Refuse values of `cudnnNormalization...` that are no enumerators, but for normOps."""
    names = ("normScaleBiasDesc", "normMeanVarDesc")
    if all(name in call and call[name] for name in names):
        scale, mean = (call.record(name, Tensor) for name in names)
        if (scale.shape, scale.data_type) != (mean.shape, mean.data_type):
            raise bad_param(f"normScaleBiasDesc is {scale}, normMeanVarDesc {mean}")
    if "Inference" not in call.name:
        call.require_known("normOps")
    if not all(call[name].known for name in ("mode", "normOps", "algo")):
        raise not_supported("mode, normOps and algo must be enumerators")


@dataclass(frozen=True)
class Normalization:
    """The options of a call: the averaged axes, the algorithm, the operations afterwards.

    Attributes
    ----------
    call
        The call, with its memory.
    x
        The normalized tensor.
    mode
        'per_activation' or 'spatial'.
    persistent
        True for the persistent algorithm, which keeps its data on the chip.
    relu, adds
        The operations afterwards: ReLU, and adding z before it.
    """

    call: Call
    x: Operand
    mode: Mode
    persistent: bool
    relu: bool
    adds: bool

    @classmethod
    def of(cls, call: Call, x: str = "xDesc") -> Normalization:
        """The checked options of a call; `x` is the C name of the normalized tensor."""
        mode, adds, relu = call["mode"], False, False
        if "groupCnt" in call:
            if call["groupCnt"] != 1:
                raise not_supported(f"groupCnt must be 1, got {call['groupCnt']}")
            _check_enumerators(call)
            relu = call["normOps"] != raw.CUDNN_NORM_OPS_NORM
            adds = call["normOps"] == raw.CUDNN_NORM_OPS_NORM_ADD_ACTIVATION
            per_activation = mode == raw.CUDNN_NORM_PER_ACTIVATION
            persistent = call["algo"] == raw.CUDNN_NORM_ALGO_PERSIST
            if per_activation and persistent:
                raise not_supported("the persistent algorithm is for one scale per channel")
        else:
            call.require_known("mode")
            per_activation = mode == raw.CUDNN_BATCHNORM_PER_ACTIVATION
            persistent = mode == raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT
        if "bnOps" in call:
            call.require_known("bnOps")
            relu = call["bnOps"] != raw.CUDNN_BATCHNORM_OPS_BN
            adds = call["bnOps"] == raw.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION
        kind: Mode = "per_activation" if per_activation else "spatial"
        what = cls(call, call.operand(x), kind, persistent, relu, adds)
        what._check()
        return what

    def _check(self) -> None:
        """Refuse tensors and activations for which cuDNN has no kernel."""
        x, inference = self.x, "Inference" in self.call.name
        asks = self.call.name.endswith("Size")
        if inference and self.relu:
            raise not_supported("in inference nothing can follow the normalization")
        if len(x.shape) not in (4, 5):
            raise bad_param(f"xDesc must have 4 or 5 dimensions, got {x.shape}")
        integers = inference and x.data_type == raw.CUDNN_DATA_INT8
        if not integers and x.data_type not in FLOATING:
            raise not_supported(f"cuDNN does not normalize {x.data_type.name}")
        self._check_descriptors()
        if not self.relu or (asks and not self.persistent):
            return
        activation = self.call.record("activationDesc", Activation)
        unseen = asks and not self.adds and activation.mode == raw.CUDNN_ACTIVATION_SWISH
        if activation.mode != raw.CUDNN_ACTIVATION_RELU and not unseen:
            raise not_supported(f"only RELU can follow, not {activation.mode.name}")
        wanted = packed_strides(x.shape, "NHWC")
        packed = all(n == 1 or a == b for n, a, b in zip(x.shape, x.strides, wanted, strict=True))
        if x.data_type == raw.CUDNN_DATA_DOUBLE or not (self.persistent and packed):
            raise not_supported(
                "an activation can follow only in FLOAT, HALF and BFLOAT16, with packed NHWC "
                "tensors and the persistent algorithm"
            )
        if self.adds and x.shape[1] % 4:
            raise not_supported(f"with an added tensor, 4 must divide the channels: {x.shape[1]}")

    def _has(self, descriptor: str) -> bool:
        return descriptor in self.call and bool(self.call[descriptor])

    def _check_descriptors(self) -> None:
        """Refuse what contradicts x, which a query of a size does too."""
        call, x = self.call, self.x
        double, half = (
            raw.CUDNN_DATA_DOUBLE,
            x.data_type
            not in (
                raw.CUDNN_DATA_FLOAT,
                raw.CUDNN_DATA_DOUBLE,
            ),
        )
        images = {name: call.record(name, Tensor) for name in _IMAGES if self._has(name)}
        for name, image in images.items():
            if (image.shape, image.data_type) != (x.shape, x.data_type):
                raise bad_param(f"{name} is {image}, not like xDesc")
        added = ("zDesc", "dzDesc") if self.adds else ()
        images |= {name: call.record(name, Tensor) for name in added if self._has(name)}
        for name, image in images.items():
            fused = half and self.relu and self.persistent
            if fused and (image.shape, image.data_type) != (x.shape, x.data_type):
                raise bad_param(f"{name} is {image}, not like xDesc")
            if fused and name != "dzDesc" and not same_layout(image, x):
                raise not_supported(f"{name} has not the layout of xDesc: {image}")
        shape = batch_normalization_parameter_shape(x.shape, self.mode)
        wanted = double if x.data_type == double else raw.CUDNN_DATA_FLOAT
        tensors = {name: call.record(name, Tensor) for name in _PARAMETERS if self._has(name)}
        types = {tensor.data_type for tensor in tensors.values()}
        brain = x.data_type == raw.CUDNN_DATA_BFLOAT16 and any(
            ("bnOps" in call, "algo" in call, "Inference" in call.name)
        )
        for name, tensor in tensors.items():
            if brain and len(types) == 1 and tensor.data_type != wanted:
                raise not_supported(f"{name} of a BFLOAT16 tensor must be FLOAT: {tensor}")
            if (tensor.shape, tensor.data_type) != (shape, wanted):
                raise bad_param(f"{name} must be {wanted.name} of shape {shape}, got {tensor}")

    # -- operands ------------------------------------------------------------------------------

    def tensors(self, *names: str) -> list[Operand]:
        """Tensors like x, under C's names without and with "Data"."""
        tensors = [self.call.operand(self.call.named(name, f"{name}Data")) for name in names]
        require_equal(self.x, *tensors)
        return tensors

    def added(self, name: str) -> Operand | None:
        """z or its gradient, where one is added."""
        return self.tensors(name)[0] if self.adds else None

    def parameters(self, *names: str) -> list[Operand]:
        """Scale, bias and the like; NULL is refused."""
        shape = batch_normalization_parameter_shape(self.x.shape, self.mode)
        double = self.x.data_type == raw.CUDNN_DATA_DOUBLE
        data_type = raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT
        operands = self.call.operands(*names)
        for each in operands:
            if each.shape != shape or each.data_type != data_type:
                raise bad_param(
                    f"the descriptor of {each.name} must hold {data_type.name} and shape {shape}, "
                    f"got {each.data_type.name} and {each.shape}"
                )
        return operands

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
        return 2 * 4 * self.x.shape[1] if self.relu else 0

    def reserve_size(self) -> int:
        """Bytes of the reserve space: a bit per element in the fused forms, else 0."""
        return -(-math.prod(self.x.shape) // 8) if self.relu else 0

    def use_workspace(self, name: str) -> None:
        """Check the workspace, if the function has one, and overwrite it."""
        if name in self.call:
            if name == "workSpace" and self.relu and not self.call[name]:
                raise not_supported("workSpace is NULL")
            self.call.use_workspace(name, self.workspace_size())

    def check_reserve(self) -> None:
        """Refuse a reserve space that is missing or too small."""
        if self.relu:
            self._reserve("write")

    def save_mask(self, mask: NDArray[np.bool_] | None) -> None:
        """Keep for the backward pass where ReLU let its argument through."""
        if mask is not None:
            self._reserve("write")[:] = np.packbits(mask)

    def saved_mask(self) -> NDArray[np.bool_] | None:
        """The mask stored by `save_mask`; None without ReLU."""
        if not self.relu:
            return None
        bits = np.unpackbits(self._reserve("read"), count=math.prod(self.x.shape))
        return bits.view(np.bool_).reshape(self.x.shape)

    def _reserve(self, use: Use) -> NDArray[Any]:
        needed = self.reserve_size()
        self.call.buffer("reserveSpace", needed)
        return self.call.array("reserveSpace", raw.CUDNN_DATA_UINT8, needed, use=use)
