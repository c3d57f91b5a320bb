"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
Each later call with the same key fills in the addresses.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, cast

from ..errors import ClosedError
from ..handle import Handle
from ..raw.bare import watched
from ..raw.function import Function
from .launch_keys import NoKey, signature
from .launch_plan import Memory, Plan, Recording, make_call

__all__ = ["BoundOperation", "Memory", "bind", "launch", "launched", "recording"]

_KEPT = 1024  # plans of one handle; the oldest goes first

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
P = ParamSpec("P")


class _Current(threading.local):
    recording: Recording | None = None


_current = _Current()


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return _current.recording


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    current = _current.recording
    if current is None or current.launches:
        function(*arguments)
    if current is not None:
        current.calls.append((cast(Function, function), arguments))


class _Operation(NamedTuple):
    """A function that launches: itself, and the names of its parameters, of which one is handle."""

    function: Callable[..., Any]
    names: tuple[str, ...]

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments by name; None if there are too many of them."""
        given = dict(zip(self.names, args, strict=False))
        given.update(kwargs)
        return given if len(given) == len(args) + len(kwargs) else None

    def plan(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, launches: bool = True
    ) -> tuple[Plan | None, Any, dict[str, Any], Any]:
        """The plan of a call, its handle and other arguments; the result if it was recorded now."""
        given = self.arguments(args, kwargs)
        handle = None if given is None else given.pop("handle", None)
        if given is None or type(handle) is not Handle:
            return None, handle, {}, self.function(*args, **kwargs)  # which refuses them
        plans = handle._plans
        try:
            key = (self.function, tuple(given), *map(signature, given.values()))
            plan = plans.get(key)
        except (NoKey, TypeError):  # TypeError: not hashable
            key, plan = None, None
        if plan is not None:
            return plan, handle, given, _NOTHING
        recording = Recording(handle, given, launches=launches)
        result, plan = _recorded(recording, self.function, args, kwargs)
        if plan is not None and key is not None:
            while len(plans) >= _KEPT:
                plans.pop(next(iter(plans)), None)
            plans[key] = plan
        return plan, handle, given, result


_NOTHING: Any = object()


def launched(operation: F) -> F:
    """Have a function with a parameter ``handle`` launch what it launched before by its key."""
    known = _Operation(operation, tuple(inspect.signature(operation).parameters))

    @functools.wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _current.recording is not None:
            return operation(*args, **kwargs)
        plan, handle, given, result = known.plan(args, kwargs)
        if plan is None or result is not _NOTHING:
            return result
        return plan.run(handle, given)

    call._operation = known  # type: ignore[attr-defined]
    return cast(F, call)


def _recorded(
    recording: Recording, operation: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Any, Plan | None]:
    _current.recording = recording
    try:
        result = operation(*args, **kwargs)
    except BaseException:
        recording.stack.close()
        raise
    finally:
        _current.recording = None
    if recording.calls:
        try:
            return result, Plan(recording, result)
        except NoKey:
            pass
    recording.stack.close()
    return result, None


class BoundOperation(Generic[R]):
    """An operation with its operands: each call is one call of C. Made by `bind`.

    Attributes
    ----------
    result
        What the operation returns: the results that were given or made.
    """

    def __init__(self, plan: Plan, handle: Handle, given: dict[str, Any]) -> None:
        pointers, made, self._scratch = plan.memory(handle, given)
        self._plan, self._handle = plan, handle
        self._kept = given, made
        self._native = list(plan.calls(pointers, checked=False))
        self._checked = list(plan.calls(pointers, checked=True))
        self.result: R = plan.returns(made, given)

    def __call__(self) -> R:
        """Launch; returns `result`.

        Raises
        ------
        ClosedError
            If this or the handle is closed.
        CudnnError
            If cuDNN refuses.
        """
        if self._plan is None:
            raise ClosedError("this BoundOperation is closed")
        _ = self._handle._as_parameter_
        self._plan.follow(self._handle)
        for function, callee, arguments in self._checked if watched else self._native:
            make_call(function, callee, arguments)
        return self.result

    def close(self) -> None:
        """Let go of the operands, and free the workspaces; a second call does nothing."""
        self._plan = self._kept = None  # type: ignore[assignment]
        for block in self._scratch:
            block.release()
        self._scratch = []

    def __enter__(self) -> BoundOperation[R]:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def bind(operation: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> BoundOperation[R]:
    """Fix the operands of an operation, so that launching it is one call of C.

    Nothing is launched. Results that are not given are made once, workspaces are kept, and a
    captured CUDA graph may hold the calls.

    Parameters
    ----------
    operation
        A function of the legacy API that launches, or a method such as ``ConvolutionForward.run``.
    *args, **kwargs
        Its arguments.

    Raises
    ------
    TypeError
        If `operation` is not one that can be bound, or an operand is a tensor of a library other
        than PyTorch, whose memory is only lent for one call.

    Examples
    --------
    >>> relu = bind(activation_forward, handle, x, "relu", y)  # doctest: +SKIP
    >>> relu()  # doctest: +SKIP
    """
    function: Any = getattr(operation, "__func__", operation)
    known = getattr(function, "_operation", None)
    if known is None:
        raise TypeError(f"operation: expected a launching function of cuDNN, got {operation!r}")
    given: tuple[Any, ...] = args
    if function is not operation:
        given = (operation.__self__, *args)  # type: ignore[attr-defined]
    plan, handle, named, _ = known.plan(given, kwargs, launches=False)
    if plan is None:
        raise TypeError(
            f"{known.function.__name__}: these operands cannot be bound: give DeviceTensors, "
            f"DeviceBuffers, addresses or tensors of PyTorch"
        )
    return BoundOperation(plan, handle, named)
