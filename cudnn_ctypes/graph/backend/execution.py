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
from ...resource import Pointers, Resource
from ...runtime.launching.machine_code import fixed_call, is_available
from ...runtime.launching.sequence import FixedLaunch, as_machine_code

if TYPE_CHECKING:
    from ...handle import Handle

    Descriptor = Resource[raw.cudnnBackendDescriptor_t]

__all__ = ["Execution", "execute"]


def execute(handle: Handle, plan: Descriptor, pack: Descriptor) -> None:
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


class Execution:
    """`execute` with fixed arguments, once more at each call.

    Attributes
    ----------
    call : callable
        One call of C: machine code where there can be some.
    fixed : FixedLaunch or None
        For sequences of launches.
    """

    def __init__(self, handle: Handle, plan: Descriptor, pack: Descriptor) -> None:
        pointer = getattr(handle, "_as_parameter_", handle)
        if pointer is not None and not isinstance(pointer, cudnnHandle_t):
            raise TypeError(f"handle: expected a Handle, got {described(handle)}")
        self.fixed: FixedLaunch | None = None
        self.call: Callable[[], None] = functools.partial(execute, handle, plan, pack)
        if type(getattr(handle, "_as_parameter_", None)) is not cudnnHandle_t:
            return
        by_ctypes = _by_ctypes(handle, plan, pack, pointers := Pointers(handle, plan, pack))
        self.call = by_ctypes
        if not is_available() or not pointer:
            return
        call = fixed_call(bare.cudnnBackendExecute, pointers.arguments)
        if call is None:  # with handles on several GPUs
            return
        settle = binding("cudnnBackendExecute").settle
        self.fixed = FixedLaunch(
            [call],
            lambda _, code: settle(code, (handle, plan, pack)),
            lambda _: by_ctypes(),
            pointers,
        )
        self.call = as_machine_code([self.fixed], by_ctypes) or by_ctypes


def _by_ctypes(
    handle: Handle, plan: Descriptor, pack: Descriptor, pointers: Pointers
) -> Callable[[], None]:
    native, settle = bare.cudnnBackendExecute, binding("cudnnBackendExecute").settle

    def call() -> None:
        if watched or ordinals or logged:
            return execute(handle, plan, pack)
        try:
            arguments = pointers.arguments
        except AttributeError:  # one is closed
            return execute(handle, plan, pack)
        code = native(*arguments)
        if code:
            if not arguments[0]:  # cuDNN refuses NULL; this says more
                return execute(handle, plan, pack)
            settle(code, (handle, plan, pack))
        return None

    return call
