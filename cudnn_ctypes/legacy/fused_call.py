"""One call of a fused operation: packs and plan, made of the operands and executed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from .. import raw
from ..device import DeviceTensor
from ..handle import Handle
from ..raw.memory import memory_pointer
from .activation import ActivationDescriptor
from .fused_packs import FusedOpsConstParamPack, FusedOpsVariantParamPack
from .fused_plan import FusedOpsPlan
from .operands import Operands, check_memory, expect, new_workspace, workspace_memory

__all__ = ["FusedCall"]

# Memory of this package is aligned to 16 bytes, which cuDNN's kernels for convolutions want.
ALIGNED, ELEMENT_ALIGNED = "ptr_16b_aligned", "ptr_elem_aligned"


class FusedCall:
    """The packs of one call, collected operand by operand."""

    def __init__(self, operands: Operands, handle: Handle, operation: raw.cudnnFusedOps_t) -> None:
        self.operands = operands
        self.handle = handle
        self.operation = operation
        self.constants: dict[str, Any] = {}
        self.pointers: dict[str, Any] = {}
        self.numbers: dict[str, Any] = {}

    def add(
        self,
        name: str,
        operand: tuple[Any, Any],
        desc_label: str,
        label: str,
        *,
        written: bool = False,
    ) -> Any:
        """Add an operand under C's labels; return its descriptor."""
        memory, desc = operand
        checked = check_memory(name, memory, desc, self.handle, written=written)
        self.pointers[f"ptr_{label}"] = checked
        self.constants[desc_label] = desc
        aligned = (memory_pointer(checked, name) or 0) % 16 == 0
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
        desc = self.add(name, self.operands.tensor(name), desc_label, label, written=written)
        if desc.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {desc.shape}")
        if desc.data_type != raw.CUDNN_DATA_FLOAT:
            raise TypeError(f"{name}: expected float32, got {desc.data_type.name}")

    def input(
        self,
        x_shape: tuple[int, ...],
        scale: Any,
        bias: Any,
        activation: ActivationDescriptor | str | None,
    ) -> None:
        """Add what is applied to x."""
        for name, value in (("scale", scale), ("bias", bias)):
            if value is not None:
                operand = self.operands.channels(name, x_shape)
                before = self.constants.get("bn_eqscalebias_desc")
                if before is not None and before.data_type != operand[1].data_type:
                    raise TypeError("bias: must be of the type of scale")
                self.add(name, operand, "bn_eqscalebias_desc", f"bn_eq{name}")
        if scale is not None or bias is not None:
            self.constants["bn_mode"] = "spatial"
        if isinstance(activation, str):
            activation = self.operands.enter_context(ActivationDescriptor(activation))
        if activation is not None:
            self.constants["activation_desc"] = expect(
                "activation", activation, ActivationDescriptor
            )

    def parameters(self, shape: tuple[int, ...], running_mean: Any, running_variance: Any) -> None:
        """Add what batch normalization learns and averages."""
        self.constants["bn_mode"] = "spatial"
        given = [("bn_scale", "bn_scale", False), ("bn_bias", "bn_bias", False)]
        if (running_mean is None) != (running_variance is None):
            raise ValueError("running_mean and running_variance: give both or none")
        if running_mean is not None:
            given.append(("running_mean", "bn_running_mean", True))
            given.append(("running_variance", "bn_running_var", True))
        for name, label, written in given:
            self.same(name, shape, "bn_scalebias_meanvar_desc", label, written=written)

    def equivalent(self, shape: tuple[int, ...], data_type: Any) -> list[DeviceTensor]:
        """Make and add scale and bias."""
        made: list[DeviceTensor] = []
        for name in ("scale", "bias"):
            made.append(self.operands.make(name, shape, data_type))
            operand = self.operands.tensor(name)
            self.add(name, operand, "bn_eqscalebias_desc", f"bn_eq{name}", written=True)
        return made

    def run(self, workspace: Any) -> None:
        """Make the plan and execute it."""
        with ExitStack() as stack:
            constants = stack.enter_context(
                FusedOpsConstParamPack(self.operation, **self.constants)
            )
            plan = stack.enter_context(FusedOpsPlan(self.operation))
            needed = plan.make(self.handle, constants)
            if workspace is None:
                workspace = stack.enter_context(new_workspace(self.handle, needed))
            space, size = workspace_memory(self.handle, workspace)
            if size < needed:
                raise ValueError(f"workspace: {needed} bytes are needed, got {size}")
            variants = FusedOpsVariantParamPack(
                self.operation,
                **self.pointers,
                **self.numbers,
                ptr_workspace=space,
                scalar_size_t_workspace_size_in_bytes=size,
            )
            plan.execute(self.handle, stack.enter_context(variants))
