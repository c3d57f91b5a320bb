"""``FusedOpsPlan``: a fused operation, made of a constant pack and executed with variant packs."""

from __future__ import annotations

from ctypes import c_size_t
from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..raw.descriptors import FusedPlan
from .descriptor import Descriptor
from .enumerators import enumerator
from .fused_packs import FusedOpsConstParamPack, FusedOpsVariantParamPack
from .launch import launch, launched
from .launch_keys import ALIGNMENT

__all__ = ["FusedOpsPlan"]


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
        size = c_size_t()
        raw.cudnnMakeFusedOpsPlan(handle, self, constants, size)
        self.workspace_size = size.value
        return size.value

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
