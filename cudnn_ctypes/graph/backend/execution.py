"""Execution of a plan: one C call, without what checks its arguments again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import raw
from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.function import binding
from ...raw.gpus import ordinals
from ...raw.log import forget, logged

if TYPE_CHECKING:
    from ...handle import Handle
    from .descriptor import BackendDescriptor

__all__ = ["execute", "execution_of"]


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


def execution_of(
    handle: Handle, plan: BackendDescriptor, pack: BackendDescriptor
) -> Callable[[], None]:
    """`execute` with these arguments."""
    long_way = functools.partial(execute, handle, plan, pack)
    native, error = bare.cudnnBackendExecute, binding("cudnnBackendExecute").error
    # The pointers are looked up at each call: `close` takes them away.
    of_handle: dict[str, Any] = getattr(handle, "__dict__", {})
    of_plan, of_pack = vars(plan), vars(pack)

    def call() -> None:
        if watched or ordinals or logged:
            return long_way()
        try:
            to_handle = of_handle["_as_parameter_"]
            to_plan, to_pack = of_plan["_as_parameter_"], of_pack["_as_parameter_"]
        except KeyError:  # one is closed
            return long_way()
        if type(to_handle) is not cudnnHandle_t or not to_handle:
            return long_way()
        code = native(to_handle, to_plan, to_pack)
        if code:
            raise error(code, (handle, plan, pack))
        return None

    return call
