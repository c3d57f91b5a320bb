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
from contextlib import suppress
from typing import Any, Generic, ParamSpec, TypeVar, cast

from ..device import copy
from ..errors import ClosedError
from ..handle import Handle
from ..raw.bare import watched
from ..raw.function import Function
from ..resource import Uncopied
from .launch_keys import NoKey, is_foreign, look
from .launch_plan import Launcher, Memory, Plan, Recording, make_call
from .stream_launcher import StreamLauncher

__all__ = ["BoundOperation", "Memory", "bind", "keep", "launch", "launched", "recording"]

_KEPT = 1024  # plans of one handle
ALIGNMENT = 16
"""What cuDNN's kernels for fused operations may be told about addresses."""

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
P = ParamSpec("P")


_LookedUp = tuple[Launcher, Any, Plan | None, list[Any], list[Any]]
"""Launcher, key, plan, addresses and arguments of a call; key and plan may be None."""


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


class _Operation:
    """A function that launches: itself, and the names of its parameters.

    One of them is `handle`, or, keyword-only, `stream`.
    """

    __slots__ = ("_by_alignment", "_place", "function", "names")

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        self.function = function
        self._by_alignment = by_alignment
        self.names = tuple(inspect.signature(function).parameters)
        self._place = self.names.index("handle") if "handle" in self.names else None

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Launch by the plan of the key; the first call of a key makes it."""
        call = self._look_up(args, kwargs)
        if call is None:
            return self.function(*args, **kwargs)  # which refuses it
        launcher, key, plan, pointers, given = call
        if plan is not None and plan.fits(launcher):
            return plan.run(launcher, pointers, given)
        return self._recorded(launcher, key, args, kwargs, launches=True)[0]

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        call = self._look_up(args, kwargs)
        if call is None:
            return None
        launcher, key, plan, pointers, given = call
        if any(map(is_foreign, given)):
            return None
        if plan is None or not plan.fits(launcher):
            plan = self._recorded(launcher, key, args, kwargs, launches=False)[1]
        if plan is None or key is None:
            return None
        return BoundOperation(plan, launcher, pointers, given)

    def _look_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _LookedUp | None:
        """What is known of a call; None if it has no handle."""
        place = self._place
        parts: list[Any] = [self.function, len(args)]
        launcher: Any
        if place is None:
            launcher = StreamLauncher(kwargs.get("stream"))
            parts.append(launcher.launch_key)
            kwargs = {name: value for name, value in kwargs.items() if name != "stream"}
        else:
            launcher = args[place] if len(args) > place else kwargs.get("handle")
            if type(launcher) is not Handle:
                return None
        given = [value for value in (*args, *kwargs.values()) if value is not launcher]
        pointers: list[Any] = []
        try:
            for value in given:
                part, pointer = look(value, launcher)
                parts.append(part)
                pointers.append(pointer)
        except NoKey:
            return launcher, None, None, pointers, given
        if self._by_alignment:
            parts += [p is not None and (p.value or 0) % ALIGNMENT == 0 for p in pointers]
        key = (*parts, *kwargs)
        try:
            return launcher, key, launcher._plans.get(key), pointers, given
        except TypeError:  # not hashable
            return launcher, key, None, pointers, given

    def _recorded(
        self,
        handle: Launcher,
        key: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        launches: bool,
    ) -> tuple[Any, Plan | None]:
        """Go the long way; the result, and the plan that was made of it."""
        given = {**dict(zip(self.names, args, strict=False)), **kwargs}
        given.pop("stream" if self._place is None else "handle", None)
        recording = Recording(handle, given, launches=launches)
        result, plan = _recorded(recording, self.function, args, kwargs)
        if plan is not None and key is not None:
            with suppress(TypeError):  # not hashable
                keep(handle._plans, key, plan)
        return result, plan


def keep(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a bounded cache, the oldest goes first."""
    while len(cache) >= _KEPT:
        with suppress(RuntimeError, StopIteration):  # another thread changes it meanwhile
            cache.pop(next(iter(cache)), None)
    cache[key] = value


def launched(operation: F) -> F:
    """Have a function launch what it launched before by its key.

    It has a parameter ``handle``, or a keyword-only parameter ``stream``.
    """
    return _launched(operation, _Operation(operation, by_alignment=False))


def launched_by_alignment(operation: F) -> F:
    """As `launched`; addresses that are multiples of `ALIGNMENT` bytes have keys of their own."""
    return _launched(operation, _Operation(operation, by_alignment=True))


def _launched(operation: F, known: _Operation) -> F:
    @functools.wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _current.recording is not None:
            return operation(*args, **kwargs)
        return known(args, kwargs)

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


class BoundOperation(Uncopied, Generic[R]):
    """An operation with its operands: each call is one call of C. Made by `bind`.

    Fused operations take their pointers by calls before that one.

    Attributes
    ----------
    result
        What the operation returns: the results that were given or made.
    """

    def __init__(self, plan: Plan, handle: Launcher, pointers: list[Any], given: list[Any]) -> None:
        self._scratch = [handle.allocator.allocate(size) for size in plan.scratch_sizes]
        made = plan.fill(handle, pointers, self._scratch)
        self._plan, self._handle = plan, handle
        self._kept = given, made
        self._zeroed = plan.zeroed(made, self._scratch)
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
        for memory, nbytes in self._zeroed:
            copy.fill(memory, b"\0", 0, nbytes, stream=self._handle.stream)
        for function, callee, arguments in self._checked if watched else self._native:
            make_call(function, callee, arguments)
        return self.result

    def close(self) -> None:
        """Let go of the operands, and free the workspaces; a second call does nothing."""
        self._plan = self._kept = None  # type: ignore[assignment]
        self._zeroed = []
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
    bound: BoundOperation[R] | None = known.bound(given, kwargs)
    if bound is None:
        raise TypeError(
            f"{known.function.__name__}: these operands cannot be bound: give DeviceTensors, "
            f"DeviceBuffers, addresses or tensors of PyTorch"
        )
    return bound
