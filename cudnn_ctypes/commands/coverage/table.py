"""The coverage table: one row for each C function."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, Literal

from ... import raw
from ...raw.function import Function
from .gpu_runs import gpu_runs
from .source import users

__all__ = ["REASONS", "Row", "table"]

ReferenceDevice = Literal["NumPy", "cuDNN itself", "no"]

_SHARED_CALLBACK = "layer 1 holds the callback for its exceptions; log_messages listens beside it"

_READ_AT_ONCE = "another function reads all of the descriptor"

REASONS: dict[str, str] = {
    **dict.fromkeys(("cudnnSetCallback", "cudnnGetCallback"), _SHARED_CALLBACK),
    "cudnnRNNGetClip_v9": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptor": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptorEx": _READ_AT_ONCE,
    "cudnnGetCTCLossDescriptor_v8": _READ_AT_ONCE,
}
"""The reasons why functions have no user, for exactly the functions without one in `table`."""


@dataclass(frozen=True)
class Row:
    """The facts about one C function.

    Attributes
    ----------
    function, header, since : str
    used_by : tuple of str
        Public classes, methods and functions that use it; empty if `reason` is given.
    reference_device : {"NumPy", "cuDNN itself", "no"}
        The implementation on the reference device; "cuDNN itself" if the function needs no GPU.
    succeeded, refused, missing : tuple of str
        Versions of cuDNN with which tests have called it on a GPU: with success; refused every
        time, with the statuses; and versions that lack it.
    reason : str
        The reason for having no user, "" if it has one.
    """

    function: str
    header: str
    since: str
    used_by: tuple[str, ...]
    reference_device: ReferenceDevice
    succeeded: tuple[str, ...]
    refused: tuple[str, ...]
    missing: tuple[str, ...]
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The row as data for JSON."""
        return dataclasses.asdict(self)

    @property
    def gpu(self) -> str:
        """The results on GPUs as text."""
        parts = [*self.succeeded, *self.refused, *(f"not in {v}" for v in self.missing)]
        return ", ".join(parts)


@functools.cache
def table() -> tuple[Row, ...]:
    """The rows of all functions, in the order of the headers."""
    used, runs = users(frozenset(raw.FUNCTIONS)), gpu_runs()
    carried_out = _carried_out()
    rows = []
    for name, function in raw.FUNCTIONS.items():
        rows.append(
            Row(
                function=name,
                header=function.header,
                since=function.since,
                used_by=tuple(used.get(name, ())),
                reference_device=_reference_device(function, name in carried_out),
                succeeded=tuple(run.cudnn for run in runs if name in run.succeeded),
                refused=tuple(
                    f"{run.cudnn}: {' '.join(run.refused[name])}"
                    for run in runs
                    if name in run.refused
                ),
                missing=tuple(run.cudnn for run in runs if name in run.missing),
                reason=REASONS.get(name, ""),
            )
        )
    return tuple(rows)


def _carried_out() -> frozenset[str]:
    from ...reference.device.dispatch import implemented

    return implemented() | {"cudnnCreate"}


def _reference_device(function: Function, carried_out: bool) -> ReferenceDevice:
    if carried_out:
        return "NumPy"
    takes_handle = any(p.type.base is raw.cudnnHandle_t for p in function.parameters)
    return "no" if takes_handle else "cuDNN itself"
