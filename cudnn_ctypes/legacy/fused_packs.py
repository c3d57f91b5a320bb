"""Fused operations as C has them: the parameter packs of which plans are made and executed.

A constant pack holds descriptors and what is known about pointers, and a plan is made of it; a
variant pack holds the pointers and numbers of one execution. Labels are C's, or short: "xdesc" for
``CUDNN_PARAM_XDESC``, "ptr_xdata" for ``CUDNN_PTR_XDATA``. The functions of `fused_operations` do
all of this for one call.

Three of the seven operations are reserved for future use: cuDNN makes packs for them, and no plans.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any

from .. import raw
from ..arguments import enumerator, expect
from ..handle import Handle
from ..raw.ctypes_support import short_name
from ..raw.descriptors import ConstantPack, FusedPlan, VariantPack
from ..raw.memory import memory_pointer
from ..raw.origins import POINTEES
from ..runtime.launching.likeness import ALIGNMENT, Look, kinds, look
from ..runtime.launching.plan import launch
from .activation import ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .descriptor import Descriptor, number
from .documentation import launched
from .tensor import FilterDescriptor, TensorDescriptor

_DESCRIPTORS: dict[str, type[Descriptor[Any]]] = {
    "cudnnTensorDescriptor_t": TensorDescriptor,
    "cudnnFilterDescriptor_t": FilterDescriptor,
    "cudnnConvolutionDescriptor_t": ConvolutionDescriptor,
    "cudnnActivationDescriptor_t": ActivationDescriptor,
}


class FusedOpsConstParamPack(Descriptor[raw.cudnnFusedOpsConstParamPack_t]):
    """Constant parameters of a plan; follows ``cudnnSetFusedOpsConstParamPackAttribute``.

    Parameters
    ----------
    operation : cudnnFusedOps_t or str
        "scale_bias_activation_conv_bnstats", "scale_bias_activation_wgrad",
        "bn_finalize_statistics_training", "bn_finalize_statistics_inference", or one of the three
        that are reserved.
    **values
        By label; see `set`.

    Raises
    ------
    BadParamError
        For a label that the operation does not have.

    Examples
    --------
    >>> with TensorDescriptor((1, 8, 1, 1)) as sums:
    ...     pack = FusedOpsConstParamPack("bn_finalize_statistics_training", ystats_desc=sums)
    >>> pack.get("ysum_placeholder").name
    'CUDNN_PTR_NULL'
    >>> pack.close()
    """

    _has_copies = False

    def __init__(self, operation: Any, **values: Any) -> None:
        self.operation: raw.cudnnFusedOps_t = enumerator(
            raw.cudnnFusedOps_t, operation, "operation"
        )
        super().__init__(raw.cudnnFusedOpsConstParamPack_t(), self.operation)
        with self._closed_on_error():
            for label, value in values.items():
                self.set(label, value)

    def set(self, label: Any, value: Any) -> None:
        """Set one constant.

        Parameters
        ----------
        label : cudnnFusedOpsConstParamLabel_t or str
            "xdesc", for instance.
        value : descriptor, enumerator, str or None
            For "…desc" a descriptor, which cuDNN copies, or None to unset it; for "bn_mode" a
            ``cudnnBatchNormMode_t`` or its name; for "…_placeholder" a
            ``cudnnFusedOpsPointerPlaceHolder_t`` or its name: "ptr_null" (there will be no
            pointer), "ptr_elem_aligned" or "ptr_16b_aligned".
        """
        label = enumerator(raw.cudnnFusedOpsConstParamLabel_t, label, "label")
        name = POINTEES.get(label.name)
        if name is not None:
            if value is not None:
                expect(short_name(label), value, _DESCRIPTORS[name])
            raw.cudnnSetFusedOpsConstParamPackAttribute(self, label, value)
            return
        member = enumerator(_enum_of(label), value, short_name(label))
        raw.cudnnSetFusedOpsConstParamPackAttribute(self, label, c_int(member))

    def get(self, label: Any) -> Any:
        """One constant: an enumerator, or a new descriptor, None if it is unset.

        Follows ``cudnnGetFusedOpsConstParamPackAttribute``, which for the operation
        "conv_scale_bias_add_activation" knows no label (cuDNN 9.28).
        """
        label = enumerator(raw.cudnnFusedOpsConstParamLabel_t, label, "label")
        name, is_null = POINTEES.get(label.name), c_int()
        if name is None:
            value = _enum_of(label)()
            raw.cudnnGetFusedOpsConstParamPackAttribute(self, label, ctypes.byref(value), is_null)
            return value.value
        descriptor = _DESCRIPTORS[name]()  # type: ignore[call-arg]
        try:
            raw.cudnnGetFusedOpsConstParamPackAttribute(self, label, descriptor, is_null)
        except BaseException:
            descriptor.close()
            raise
        if not is_null.value:
            return descriptor
        descriptor.close()
        return None

    @property
    def placeholders(self) -> dict[str, raw.cudnnFusedOpsPointerPlaceHolder_t]:
        """Placeholders of pointers by their labels in a variant pack, without "null" ones."""
        return self._record(ConstantPack).placeholders

    def _held(self) -> dict[str, Any]:
        values: dict[str, Any] = {"operation": self.operation}
        for name, value in self._record(ConstantPack).held.items():
            label = raw.cudnnFusedOpsConstParamLabel_t[f"CUDNN_PARAM_{name}"]
            if POINTEES.get(label.name) is not None:
                values[short_name(label)] = value
            elif value:
                values[short_name(label)] = _enum_of(label)(value)
        return values


class FusedOpsVariantParamPack(Descriptor[raw.cudnnFusedOpsVariantParamPack_t]):
    """Pointers and numbers of one execution; ``cudnnSetFusedOpsVariantParamPackAttribute``.

    Parameters
    ----------
    operation : cudnnFusedOps_t or str
        As for `FusedOpsConstParamPack`.
    **values
        By label; see `set`.

    Examples
    --------
    >>> operation = "bn_finalize_statistics_training"
    >>> pack = FusedOpsVariantParamPack(operation, scalar_double_bn_epsilon=0.5)
    >>> pack.get("scalar_double_bn_epsilon")
    0.5
    """

    _has_copies = False

    def __init__(self, operation: Any, **values: Any) -> None:
        self.operation: raw.cudnnFusedOps_t = enumerator(
            raw.cudnnFusedOps_t, operation, "operation"
        )
        self._kept: dict[str, tuple[int | None, Any]] = {}  # pointers: address and memory
        super().__init__(raw.cudnnFusedOpsVariantParamPack_t(), self.operation)
        with self._closed_on_error():
            for label, value in values.items():
                self.set(label, value)

    def set(self, label: Any, value: Any) -> None:
        """Set one pointer or number.

        Parameters
        ----------
        label : cudnnFusedOpsVariantParamLabel_t or str
            "ptr_xdata", for instance.
        value : device memory, number or None
            For ``ptr_…`` a tensor, a ``DeviceBuffer``, an address or None; it is kept alive. For
            ``scalar_size_t_…`` and ``scalar_int64_t_…`` an int, for ``scalar_double_…`` a float.
        """
        label = enumerator(raw.cudnnFusedOpsVariantParamLabel_t, label, "label")
        kind, name = _number_type(label), label.name.removeprefix("CUDNN_").lower()
        passed = value if kind is None else ctypes.byref(kind(value))
        raw.cudnnSetFusedOpsVariantParamPackAttribute(self, label, passed)
        if kind is None:
            self._kept[name] = self._record(VariantPack).held[name.upper()], value

    def get(self, label: Any) -> int | float | None:
        """One pointer, as an address, or one number.

        Follows ``cudnnGetFusedOpsVariantParamPackAttribute``, which for the operation
        "bn_finalize_statistics_inference" knows no label (cuDNN 9.28).
        """
        label = enumerator(raw.cudnnFusedOpsVariantParamLabel_t, label, "label")
        value = (_number_type(label) or c_void_p)()
        raw.cudnnGetFusedOpsVariantParamPackAttribute(self, label, ctypes.byref(value))
        found: int | float | None = value.value
        return found

    def _look(self, launcher: Any) -> Look:
        """The key of an execution: set values, and which addresses are NULL or aligned."""
        values = self._record(VariantPack).held
        for label, (address, memory) in self._kept.items():
            if values.get(label.upper()) == address and kinds[type(memory)] != "foreign":
                look(memory, launcher)  # ClosedError
        part = [
            (name, name.startswith("PTR_") and values[name] and values[name] % ALIGNMENT == 0)
            for name in values
        ]
        return (self.operation, *part), self._as_parameter_

    def address(self, label: str) -> int | None:
        """The address that was set for ``ptr_…``, None for NULL.

        Parameters
        ----------
        label : str
            "ptr_xdata", for instance.

        Raises
        ------
        ClosedError
            If the memory that was given is closed.
        """
        address: int | None = self._record(VariantPack).held.get(label.upper())
        if (kept := self._kept.get(label)) is not None and kept[0] == address:
            memory_pointer(kept[1], label)
        return address

    def _held(self) -> dict[str, Any]:
        held = self._record(VariantPack).held
        return {"operation": self.operation, **{name.lower(): held[name] for name in held}}


def _enum_of(label: raw.cudnnFusedOpsConstParamLabel_t) -> Any:
    if label == raw.CUDNN_PARAM_BN_MODE:
        return raw.cudnnBatchNormMode_t
    return raw.cudnnFusedOpsPointerPlaceHolder_t


def _number_type(label: raw.cudnnFusedOpsVariantParamLabel_t) -> Any:
    """The C type of a number, None for pointers."""
    for part, kind in (("_SIZE_T_", c_size_t), ("_INT64_T_", c_int64), ("_DOUBLE_", c_double)):
        if label.name.startswith(f"CUDNN_SCALAR{part}"):
            return kind
    return None


class FusedOpsPlan(Descriptor[raw.cudnnFusedOpsPlan_t]):
    """A plan; follows ``cudnnMakeFusedOpsPlan``.

    Parameters
    ----------
    operation : cudnnFusedOps_t or str
        As for `FusedOpsConstParamPack`.

    Attributes
    ----------
    workspace_size : int or None
        Bytes that an execution needs; None until it is made.

    Examples
    --------
    >>> with FusedOpsPlan("scale_bias_activation_conv_bnstats") as plan:
    ...     print(plan.workspace_size)
    None
    """

    _has_copies = False

    def __init__(self, operation: Any) -> None:
        self.operation: raw.cudnnFusedOps_t = enumerator(
            raw.cudnnFusedOps_t, operation, "operation"
        )
        self.workspace_size: int | None = None
        super().__init__(raw.cudnnFusedOpsPlan_t(), self.operation)

    def make(self, handle: Handle, constants: FusedOpsConstParamPack) -> int:
        """Make the plan of a constant pack; return the bytes of workspace that it needs.

        Parameters
        ----------
        constants : FusedOpsConstParamPack
            The operation, its descriptors and settings.

        Raises
        ------
        BadParamError
            If the pack is for another operation, or something is missing in it.
        NotSupportedError
            If cuDNN has no kernel for it.
        """
        expect("constants", constants, FusedOpsConstParamPack)
        size = number(raw.cudnnMakeFusedOpsPlan, handle, self, constants)
        self.workspace_size = size
        return size

    @launched
    def execute(self, handle: Handle, variants: FusedOpsVariantParamPack) -> None:
        """Carry the plan out, on the handle's stream; follows ``cudnnFusedOpsExecute``.

        Once it is bound (see `bind`), nobody looks at what the pack is set to later.

        Parameters
        ----------
        variants : FusedOpsVariantParamPack
            Addresses, and numbers on the host.

        Raises
        ------
        ValueError
            If a pointer is NULL where the plan was made for one, or not aligned as the plan was
            told: some kernels of cuDNN 9.14 and 9.19 end the CUDA context then.
        """
        expect("variants", variants, FusedOpsVariantParamPack)
        made_of = self._record(FusedPlan).constants
        for label, placeholder in made_of.placeholders.items() if made_of else ():
            address = variants.address(label)
            if not address:
                raise ValueError(f"variants: {label} is NULL, and the plan was made for memory")
            if placeholder == raw.CUDNN_PTR_16B_ALIGNED and address % ALIGNMENT:
                raise ValueError(
                    f"variants: {label} is {address:#x}, and the plan was told of 16-byte alignment"
                )
        launch(raw.cudnnFusedOpsExecute, handle, self, variants)

    def _held(self) -> dict[str, Any]:
        return {"operation": self.operation}
