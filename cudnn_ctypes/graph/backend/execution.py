"""Execution of a plan: one C call, without what checks its arguments again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import raw
from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.function import binding
from ...raw.log import forget, logged

if TYPE_CHECKING:
    from ...handle import Handle
    from .descriptor import BackendDescriptor

__all__ = ["execute"]


def execute(handle: Handle, plan: BackendDescriptor, pack: BackendDescriptor) -> None:
    """Run a plan on the handle's stream; follows ``cudnnBackendExecute``.

    Parameters
    ----------
    handle : Handle
    plan : BackendDescriptor
        An EXECUTION_PLAN.
    pack : BackendDescriptor
        A finalized VARIANT_PACK.

    Raises
    ------
    ClosedError
        If one of them is closed.
    TypeError
        If `handle` is none.
    """
    pointer = getattr(handle, "_as_parameter_", handle)
    if watched or pointer.__class__ is not cudnnHandle_t or not pointer:
        raw.cudnnBackendExecute(handle, plan, pack)
        return
    if logged:
        forget()
    code = bare.cudnnBackendExecute(pointer, plan._as_parameter_, pack._as_parameter_)
    if code:
        raise binding("cudnnBackendExecute").error(code, (handle, plan, pack))
