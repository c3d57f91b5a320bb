"""A call of batch normalization on the reference device, whichever of the C functions made it.

`cudnnBatchNormalization...`, its Ex forms and `cudnnNormalization...` differ in how they say what
is to be done, and compute the same. Statuses are those that cuDNN documents:

- BAD_PARAM: NULL where a tensor is needed; one of two statistics that go together; tensors that
  are not of 4 or 5 dimensions, or do not match; parameters of another shape or type than
  ``cudnnDeriveBNTensorDescriptor`` gives; an epsilon below 0; too little workspace or reserve
  space.
- NOT_SUPPORTED: other data types than FLOAT, DOUBLE, HALF and BFLOAT16, except for INT8 in
  inference; the fused forms except with ReLU, FLOAT, HALF or BFLOAT16, packed NHWC and the
  persistent algorithm, and backward except with the saved statistics.

The reserve space holds what the fused backward pass needs of the forward pass: one bit for each
element, set where ReLU let it through. (cuDNN 9.14 and 9.19 have one only where a tensor is added.)
The workspace holds two sums for each channel, as the kernels need, and is overwritten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import Activation, Tensor
from ..batch_normalization import Mode, batch_normalization_parameter_shape
from ..layout import packed_strides
from .agreement import FLOATING, require_known
from .dispatch import Refused
from .held import read
from .memory import Operand, Use, at, require, scribble

__all__ = ["Normalization", "check_epsilon", "pair", "parameters"]


@dataclass(frozen=True)
class Normalization:
    """What is to be done: averages over what, by which algorithm, followed by what.

    Attributes
    ----------
    mode
        'per_activation' or 'spatial'.
    persistent
        Whether the algorithm that keeps its data on the chip was asked for.
    relu, adds
        What follows: ReLU, with or without adding z before.
    """

    mode: Mode
    persistent: bool
    relu: bool
    adds: bool

    @classmethod
    def of_batch(
        cls, mode: raw.cudnnBatchNormMode_t, ops: raw.cudnnBatchNormOps_t
    ) -> Normalization:
        """As the BatchNormalization functions say it."""
        require_known(mode=mode, bnOps=ops)
        return cls(
            "per_activation" if mode == raw.CUDNN_BATCHNORM_PER_ACTIVATION else "spatial",
            mode == raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
            ops != raw.CUDNN_BATCHNORM_OPS_BN,
            ops == raw.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
        )

    @classmethod
    def of_norm(
        cls,
        mode: raw.cudnnNormMode_t,
        ops: raw.cudnnNormOps_t,
        algo: raw.cudnnNormAlgo_t,
        groups: int,
    ) -> Normalization:
        """As the Normalization functions say it."""
        require_known(mode=mode, normOps=ops, algo=algo)
        if groups != 1:
            raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, f"groupCnt must be 1, got {groups}")
        return cls(
            "per_activation" if mode == raw.CUDNN_NORM_PER_ACTIVATION else "spatial",
            mode == raw.CUDNN_NORM_PER_CHANNEL and algo == raw.CUDNN_NORM_ALGO_PERSIST,
            ops != raw.CUDNN_NORM_OPS_NORM,
            ops == raw.CUDNN_NORM_OPS_NORM_ADD_ACTIVATION,
        )

    def check(self, x: Operand, activation: Any, *, inference: bool = False) -> None:
        """Refuse tensors and activations for which cuDNN has no kernel."""
        if len(x.described.shape) not in (4, 5):
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"xDesc must have 4 or 5 dimensions, got {x.described.shape}",
            )
        integers = inference and x.described.data_type == raw.CUDNN_DATA_INT8
        if not integers and x.described.data_type not in FLOATING:
            raise Refused(
                raw.CUDNN_STATUS_NOT_SUPPORTED,
                f"cuDNN does not normalize {x.described.data_type.name}",
            )
        if not self.relu:
            return
        held = read(Activation, activation, "activationDesc")
        if held.mode != raw.CUDNN_ACTIVATION_RELU:
            raise Refused(
                raw.CUDNN_STATUS_NOT_SUPPORTED, f"only RELU can follow, not {held.mode.name}"
            )
        packed = x.described.strides == packed_strides(x.described.shape, "NHWC")
        double = x.described.data_type == raw.CUDNN_DATA_DOUBLE
        if double or not (self.persistent and packed):
            raise Refused(
                raw.CUDNN_STATUS_NOT_SUPPORTED,
                "an activation can follow only in FLOAT, HALF and BFLOAT16, with packed NHWC "
                "tensors and the persistent algorithm",
            )
        if self.adds and x.described.shape[1] % 4:
            raise Refused(
                raw.CUDNN_STATUS_NOT_SUPPORTED,
                f"with an added tensor, 4 must divide the channels: {x.described.shape[1]}",
            )

    # -- workspace and reserve space -----------------------------------------------------------

    def workspace_size(self, x: Operand) -> int:
        """Bytes: two float sums for each channel in the fused forms, else none."""
        return 2 * 4 * x.described.shape[1] if self.relu else 0

    def reserve_size(self, x: Operand) -> int:
        """Bytes: a bit for each element in the fused forms, else none."""
        return -(-math.prod(x.described.shape) // 8) if self.relu else 0

    def take_workspace(self, x: Operand, address: int | None, size: int) -> None:
        """Check the workspace, and overwrite it."""
        needed = self.workspace_size(x)
        if size < needed:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"workSpaceSizeInBytes is {size}, {needed} bytes are needed",
            )
        scribble(address, needed, "workSpace")

    def save_mask(
        self, x: Operand, mask: NDArray[np.bool_] | None, address: int | None, size: int
    ) -> None:
        """Keep for the backward pass where ReLU let its argument through."""
        if mask is not None:
            self._reserve(x, address, size, "write")[:] = np.packbits(mask)

    def saved_mask(self, x: Operand, address: int | None, size: int) -> NDArray[np.bool_] | None:
        """What `save_mask` kept."""
        if not self.relu:
            return None
        bits = np.unpackbits(
            self._reserve(x, address, size, "read"), count=math.prod(x.described.shape)
        )
        return bits.view(np.bool_).reshape(x.described.shape)

    def check_reserve(self, x: Operand, address: int | None, size: int) -> None:
        """Refuse a reserve space that is missing or too small."""
        if self.relu:
            self._reserve(x, address, size, "write")

    def _reserve(self, x: Operand, address: int | None, size: int, use: Use) -> NDArray[np.uint8]:
        needed = self.reserve_size(x)
        if size < needed:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM,
                f"reserveSpaceSizeInBytes is {size}, {needed} bytes are needed",
            )
        return at(address, raw.CUDNN_DATA_UINT8, (needed,), (1,), "reserveSpace", use)


def parameters(
    desc: Any, name: str, x: Operand, mode: Mode, **addresses: int | None
) -> dict[str, Operand]:
    """Scale, bias and the like, by name, all described by `desc`; NULL is refused."""
    described = read(Tensor, desc, name)
    shape = batch_normalization_parameter_shape(x.described.shape, mode)
    double = x.described.data_type == raw.CUDNN_DATA_DOUBLE
    data_type = raw.CUDNN_DATA_DOUBLE if double else raw.CUDNN_DATA_FLOAT
    if described.shape != shape or described.data_type != data_type:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{name} must hold {data_type.name} and shape {shape}, got "
            f"{described.data_type.name} and {described.shape}",
        )
    require(**addresses)
    return {key: Operand(key, described, address) for key, address in addresses.items()}


def pair(
    desc: Any, name: str, x: Operand, mode: Mode, **addresses: int | None
) -> tuple[Operand, Operand] | None:
    """Two parameters that are given both or neither."""
    given = [address for address in addresses.values() if address]
    if not given:
        return None
    if len(given) == 1:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"one of {' and '.join(addresses)} is NULL, the other not"
        )
    first, second = parameters(desc, name, x, mode, **addresses).values()
    return first, second


def check_epsilon(epsilon: float) -> None:
    """Refuse an epsilon below CUDNN_BN_MIN_EPSILON."""
    if not epsilon >= raw.CUDNN_BN_MIN_EPSILON:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"epsilon must be at least 0, got {epsilon}")
