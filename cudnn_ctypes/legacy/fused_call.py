"""One call of a fused operation: packs and plan, made of the operands and executed."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..handle import Handle
from ..raw.memory import memory_pointer
from .activation import FUSED, ActivationDescriptor
from .fused_packs import FusedOpsConstParamPack, FusedOpsVariantParamPack
from .fused_plan import FusedOpsPlan
from .launch import Memory, launch
from .operands import Operands

__all__ = ["FusedCall"]

# Memory of this package is aligned to 16 bytes, which cuDNN's kernels for convolutions want.
ALIGNED, ELEMENT_ALIGNED = "ptr_16b_aligned", "ptr_elem_aligned"


class FusedCall(Operands):
    """The operands of one call, which go to C in packs, one after the other.

    Parameters
    ----------
    **values
        The operands by name; None for those that are absent, and for results to be made.
    """

    def __init__(self, handle: Handle, operation: raw.cudnnFusedOps_t, **values: Any) -> None:
        super().__init__(handle, **{name: (value, None) for name, value in values.items()})
        self._values_given = values
        self.operation = operation
        self.constants: dict[str, Any] = {}
        self.pointers: dict[str, Memory] = {}
        self.numbers: dict[str, Any] = {}

    def pack(
        self, name: str, desc: Any, desc_label: str, label: str, *, written: bool = False
    ) -> Any:
        """Add an operand under C's labels; return its descriptor."""
        memory = self.memory(name, written=written)
        self.pointers[f"ptr_{label}"] = memory
        self.constants[desc_label] = desc
        aligned = (memory_pointer(memory, name) or 0) % 16 == 0
        self.constants[f"{label}_placeholder"] = ALIGNED if aligned else ELEMENT_ALIGNED
        return desc

    def same(
        self,
        name: str,
        shape: tuple[int, ...],
        desc_label: str,
        label: str,
        *,
        written: bool = False,
    ) -> None:
        """Add an operand of float32 that must have this shape."""
        desc = self.pack(name, self.describe(name), desc_label, label, written=written)
        if desc.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {desc.shape}")
        if desc.data_type != raw.CUDNN_DATA_FLOAT:
            raise TypeError(f"{name}: expected float32, got {desc.data_type.name}")

    def result(self, name: str, shape: tuple[int, ...], data_type: Any) -> Any:
        """The result `name`: as it was given, or an uninitialised tensor."""
        value = self._values_given[name]
        return self.make(name, shape, data_type) if value is None else value

    def affine(self, name: str, shape: tuple[int, ...], *, written: bool = False) -> None:
        """Add the scale or the bias of a tensor of this shape; both have one type."""
        desc = self.describe_channels(name, shape)
        before = self.constants.get("bn_eqscalebias_desc", desc)
        if before.data_type != desc.data_type:
            raise TypeError("bias: must be of the type of scale")
        self.pack(name, desc, "bn_eqscalebias_desc", f"bn_eq{name}", written=written)
        self.constants["bn_mode"] = "spatial"

    def input(
        self, x_shape: tuple[int, ...], activation: ActivationDescriptor | str | None
    ) -> None:
        """Add what is applied to x."""
        for name in ("scale", "bias"):
            if self._values_given[name] is not None:
                self.affine(name, x_shape)
        if activation is not None:
            self.constants["activation_desc"] = self.descriptor(
                "activation", activation, ActivationDescriptor, **FUSED
            )

    def parameters(self, shape: tuple[int, ...]) -> None:
        """Add what batch normalization learns and averages."""
        self.constants["bn_mode"] = "spatial"
        labels = {"bn_scale": "bn_scale", "bn_bias": "bn_bias"}
        averages = {"running_mean": "bn_running_mean", "running_variance": "bn_running_var"}
        absent = [name for name in averages if self._values_given[name] is None]
        if len(absent) == 1:
            raise ValueError("running_mean and running_variance: give both or none")
        for name, label in (labels if absent else {**labels, **averages}).items():
            desc_label = "bn_scalebias_meanvar_desc"
            self.same(name, shape, desc_label, label, written=name in averages)

    def equivalent(self, shape: tuple[int, ...], data_type: Any) -> tuple[Any, Any]:
        """Add the results scale and bias."""
        scale, bias = (self.result(name, shape, data_type) for name in ("scale", "bias"))
        for name in ("scale", "bias"):
            self.affine(name, shape, written=True)
        return scale, bias

    def run(self, workspace: Any) -> None:
        """Make the plan and execute it."""
        constants = self.enter_context(FusedOpsConstParamPack(self.operation, **self.constants))
        plan = self.enter_context(FusedOpsPlan(self.operation))
        space, size = self.workspace(workspace, plan.make(self._handle, constants))
        if space is not None:
            self.pointers["ptr_workspace"] = space
        self.numbers["scalar_size_t_workspace_size_in_bytes"] = size
        variants = self.enter_context(FusedOpsVariantParamPack(self.operation, **self.numbers))
        for label, memory in self.pointers.items():
            member = raw.cudnnFusedOpsVariantParamLabel_t[f"CUDNN_{label.upper()}"]
            launch(raw.cudnnSetFusedOpsVariantParamPackAttribute, variants, member, memory)
        launch(raw.cudnnFusedOpsExecute, self._handle, plan, variants)
