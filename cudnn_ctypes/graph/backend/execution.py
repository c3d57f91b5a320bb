"""Execution of a plan: one C call, without what checks its arguments again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from ... import raw
from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.function import binding
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.values import described
from ...resource import Pointers

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
        binding("cudnnBackendExecute").settle(code, (handle, plan, pack))


def execution_of(
    handle: Handle, plan: BackendDescriptor, pack: BackendDescriptor
) -> Callable[[], None]:
    """`execute` with these arguments."""
    pointer = getattr(handle, "_as_parameter_", handle)
    if pointer is not None and not isinstance(pointer, cudnnHandle_t):
        raise TypeError(f"handle: expected a Handle, got {described(handle)}")
    long_way = functools.partial(execute, handle, plan, pack)
    if type(getattr(handle, "_as_parameter_", None)) is not cudnnHandle_t:
        return long_way
    pointers = Pointers(handle, plan, pack)
    native, settle = bare.cudnnBackendExecute, binding("cudnnBackendExecute").settle

    def call() -> None:
        if watched or ordinals or logged:
            return long_way()
        try:
            arguments = pointers.arguments
        except AttributeError:  # one is closed
            return long_way()
        code = native(*arguments)
        if code:
            if not arguments[0]:  # cuDNN refuses NULL; this says more
                return long_way()
            settle(code, (handle, plan, pack))
        return None

    return call
