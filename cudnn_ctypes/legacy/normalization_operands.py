"""The operands of one normalization, checked before C: data like x, and parameters.

Scale, bias, means, variances and the gradients of the first two are parameters: one number per
channel, or per activation. In C they share a descriptor that is derived from x. Here (C,) will do
for (1, C, 1, 1), and (C, H, W) for (1, C, H, W).
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_void_p
from typing import Any, NamedTuple, TypeVar

from ..device import DeviceBuffer, DeviceTensor
from ..dtypes import data_type_name
from ..raw.ctypes_support import CudnnEnum
from .activation import ActivationDescriptor
from .agreement import check_same
from .launch import Memory
from .layouts import dense_layout
from .operands import (
    Operands,
    check_memory,
    expect,
    imported,
    refuse_beta,
)
from .tensor import TensorDescriptor

__all__ = [
    "NormalizationForward",
    "NormalizationGradients",
    "NormalizationOperands",
    "NormalizationSizes",
]

E = TypeVar("E", bound=CudnnEnum)


class NormalizationForward(NamedTuple):
    """What the forward pass of training returns.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    saved_mean, saved_inv_variance : DeviceTensor, or as they were given, or None
        For the backward pass: the batch's mean and 1 / sqrt(variance + epsilon).
    reserve_space : DeviceTensor of bytes, or as it was given, or None
        For the backward pass, if that needs one.
    """

    y: Any
    saved_mean: Any
    saved_inv_variance: Any
    reserve_space: Any


class NormalizationGradients(NamedTuple):
    """What the backward pass returns.

    Attributes
    ----------
    dx, dscale, dbias : DeviceTensor, or as they were given
    dz : DeviceTensor, or dz as it was given, or None
        The gradient of what was added.
    """

    dx: Any
    dscale: Any
    dbias: Any
    dz: Any


class NormalizationSizes(NamedTuple):
    """Bytes of workspace, forward and backward, and of reserve space."""

    forward_workspace: int
    backward_workspace: int
    reserve_space: int


class NormalizationOperands(Operands):
    """The operands of one call; usable in ``with``, which frees the workspace made here.

    Parameters
    ----------
    handle : Handle
    **operands : (object, descriptor or None)
        x, and what is like x: y, z, dy, dx, dz.
    """

    def data(self, name: str, *, written: bool = False) -> tuple[TensorDescriptor, Any]:
        """Descriptor and memory of an operand that has x's shape and type."""
        memory, desc = self.tensor(name)
        if name != "x":
            check_same("x", self.tensor("x")[1], name, desc)
        return desc, check_memory(name, memory, desc, self._handle, written=written)

    def result(self, name: str, value: Any, beta: float = 0) -> Any:
        """`value`, or if it is None a new tensor like x."""
        return self.make_like(name, "x", beta=beta) if value is None else value

    def derived(
        self, derive: Callable[..., TensorDescriptor], given: TensorDescriptor | None, name: str
    ) -> TensorDescriptor:
        """The parameters' descriptor: `given`, which must have the derived shape, or derived."""
        return self.as_derived(name, given, self.enter_context(derive(self.tensor("x")[1])))

    def as_derived(
        self, name: str, given: TensorDescriptor | None, derived: TensorDescriptor
    ) -> TensorDescriptor:
        """A parameters' descriptor as the user gave it, checked; `derived` if there is none."""
        if given is None:
            return derived
        expect(name, given, TensorDescriptor)
        if (given.shape, given.data_type) != (derived.shape, derived.data_type):
            raise ValueError(
                f"{name}: expected shape {derived.shape} of {data_type_name(derived.data_type)}, "
                f"got {given.shape} of {data_type_name(given.data_type)}"
            )
        return given

    def parameter(
        self, name: str, value: Any, desc: TensorDescriptor, *, written: bool = False
    ) -> Any:
        """The memory of a parameter that `desc` describes.

        Raises
        ------
        TypeError
            If it is None, or no device memory.
        ValueError
            If its type or shape is another, or its elements lie otherwise in memory.
        """
        if value is None:
            raise TypeError(f"{name}: a tensor is needed, got None")
        if not isinstance(value, (int, c_void_p, DeviceBuffer)) or isinstance(value, bool):
            value = imported(name, value, self._handle)
            if value.data_type != desc.data_type:
                raise ValueError(
                    f"{name}: expected {data_type_name(desc.data_type)}, which goes with x, got "
                    f"{data_type_name(value.data_type)}"
                )
            # Dimensions of size 1 change nothing.
            if [n for n in value.shape if n > 1] != [n for n in desc.shape if n > 1]:
                raise ValueError(f"{name}: expected shape {desc.shape}, got {value.shape}")
            dense = dense_layout(value.shape, value.strides, value.data_type, "NCHW") == "NCHW"
            if not dense and value.strides != desc.strides:
                raise ValueError(f"{name}: must be dense in C order, got strides {value.strides}")
        return check_memory(name, value, desc, self._handle, written=written)

    def new_parameter(self, desc: TensorDescriptor, like: Any, name: str, beta: float = 0) -> Any:
        """A parameter to be written, of the shape that `like` has."""
        refuse_beta(name, beta)
        shape = tuple(getattr(like, "shape", desc.shape))
        made = DeviceTensor.empty(
            shape, desc.data_type, device=self._handle.device, stream=self._handle.stream
        )
        return self.result_memory(made)

    def pair(
        self, first: tuple[str, Any], second: tuple[str, Any], desc: TensorDescriptor, written: bool
    ) -> tuple[Any, Any]:
        """The memory of two parameters that are given both or neither."""
        if first[1] is None and second[1] is None:
            return None, None
        for (name, value), (other, _) in ((first, second), (second, first)):
            if value is None:
                raise ValueError(f"{name}: needed together with {other}")
        return (
            self.parameter(*first, desc, written=written),
            self.parameter(*second, desc, written=written),
        )

    def follow_up(self, operations: type[E], activation: Any, adds: bool) -> tuple[Any, E]:
        """What follows the normalization: the activation's descriptor, and the operation.

        Parameters
        ----------
        operations : cudnnBatchNormOps_t or cudnnNormOps_t
            Members 0, 1 and 2: nothing, an activation, an addition and an activation.
        """
        if activation is None:
            if adds:
                raise ValueError(
                    "activation: needed where a tensor is added: cuDNN adds only before one"
                )
            return None, operations(0)
        if isinstance(activation, str):
            activation = self.enter_context(ActivationDescriptor(activation))
        expect("activation", activation, ActivationDescriptor)
        return activation, operations(2 if adds else 1)

    # -- workspace and reserve space -----------------------------------------------------------

    def new_reserve_space(self, needed: int) -> Any:
        """A reserve space for the caller to keep; None where none is needed."""
        if not needed:
            return None
        made = DeviceTensor.empty(
            (needed,), "uint8", device=self._handle.device, stream=self._handle.stream
        )
        return self.result_memory(made)

    def reserve_space(self, given: Any, needed: int) -> tuple[Any, int]:
        """What C receives for the reserve space, and its size."""
        if given is None:
            if needed:
                raise TypeError("reserve_space: needed, as the forward pass returned it")
            return None, 0
        memory = given
        if not isinstance(given, DeviceBuffer):
            memory = imported("reserve_space", given, self._handle)
        if memory.nbytes < needed:
            raise ValueError(
                f"reserve_space: {memory.nbytes} bytes are too small, {needed} are needed"
            )
        return Memory("reserve_space", memory, written=True), memory.nbytes
