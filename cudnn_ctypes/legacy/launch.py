"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
The second call with the same key finds the plan and compiles it together with the checks that tell
such calls from others. Later calls try the launches that were compiled for memory of their size.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import get_ident
from types import FunctionType
from typing import Any, TypeVar, cast

from ..handle import Handle
from ..raw.bare import watched
from ..raw.compiled_functions import code_of
from ..raw.function import Function
from ..raw.tokens import unique
from .bound_operation import BoundOperation
from .launch_keys import Look, NoKey, aligned, is_foreign, looks, sizes
from .launch_plan import OTHER, Plan
from .launch_source import operation_source
from .recording import Launcher, Memory, Recording
from .stream_launcher import StreamLauncher

__all__ = ["Memory", "keep", "launch", "launched", "launched_by_alignment", "recording"]

_KEPT = 1024  # plans of one handle, and sizes and keys of which it has compiled launches
_TRIED = 6  # compiled launches of one size
_FORMS = 4  # compiled launches of one key

F = TypeVar("F", bound=Callable[..., Any])


_recordings: dict[int, Recording] = {}
"""Recordings by thread; most of the time there is none."""


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return _recordings.get(get_ident())


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    current = recording()
    if current is None or current.launches:
        function(*arguments)
    if current is not None:
        current.calls.append((cast(Function, function), arguments))


class _Operation:
    """A function that launches; the first call of a key goes through it, and makes a plan.

    Attributes
    ----------
    call : function
        The function that users call. It is compiled when it is first called.
    """

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        self.function = function
        self._by_alignment = by_alignment
        self._number = unique() << 48  # sizes are below
        self.call = FunctionType(_first_call.__code__, {"_operation": self}, function.__name__)
        functools.update_wrapper(self.call, function)
        vars(self.call)["_operation"] = self

    @functools.cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        """One of them is `handle`, or, keyword-only, `stream`."""
        return dict(inspect.signature(self.function).parameters)

    @functools.cached_property
    def _launcher(self) -> str:
        return "handle" if "handle" in self._parameters else "stream"

    def first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The function for a first call with these arguments; `function` refuses wrong ones."""
        with suppress(TypeError):
            return self.compile(args, kwargs)
        return self.function

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """Give `call` the code of this operation, whose first call has these arguments."""
        name, call, function = self.function.__name__, self.call, self.function
        _, arguments = self._given(args, kwargs)
        # The first memory, by whose size launches are found.
        self._subject = max(
            arguments, key=lambda each: sizes[type(arguments[each])](arguments[each]) > 0
        )
        source = operation_source(name, list(self._parameters.values()), self._subject)
        call.__globals__.update(
            _recordings=_recordings,
            _thread=get_ident,
            _function=function,
            _number=self._number,
            _sizes=sizes,
            _OTHER=OTHER,
            _found=self._found,
            _Handle=Handle,
            _StreamLauncher=StreamLauncher,
        )
        call.__defaults__, call.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        call.__code__ = code_of(source, name)
        return call

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The handle or stream, and the other arguments by name."""
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        return arguments.pop(self._launcher), arguments

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        launcher, arguments = self._given(args, kwargs)
        if self._launcher == "stream":
            launcher = StreamLauncher(launcher)
        if type(launcher) not in (Handle, StreamLauncher) or any(
            map(is_foreign, arguments.values())
        ):
            return None
        key, seen = self._look(launcher, arguments.values())
        plan = launcher._plans.get(key)
        if plan is None or not plan.fits(launcher):
            plan = self._recorded(launcher, key, arguments, launches=False)[1]
        if plan is None or key is None:
            return None
        return BoundOperation(plan, launcher, [at for _, at in seen], tuple(arguments.values()))

    def _look(self, launcher: Launcher, arguments: Iterable[Any]) -> tuple[Any, list[Look]]:
        """The key of a launch, None if it has none, and the looks of its arguments."""
        try:
            seen = [looks[type(value)](value, launcher) for value in arguments]
        except NoKey:
            return None, []
        where = launcher.launch_key if isinstance(launcher, StreamLauncher) else None
        more = aligned(at for _, at in seen) if self._by_alignment else ()
        return (self._number, where, *(part for part, _ in seen), *more), seen

    def _found(self, launcher: Launcher, values: tuple[Any, ...]) -> Any:
        """Run the plan of these arguments; without one, go the long way, which makes it."""
        names = [name for name in self._parameters if name != self._launcher]
        arguments = dict(zip(names, values, strict=True))
        key, seen = self._look(launcher, values)
        plan = launcher._plans.get(key)
        if plan is None or not plan.fits(launcher):
            return self._recorded(launcher, key, arguments, launches=True)[0]
        if watched:
            return plan.run(launcher, [at for _, at in seen], values)
        known = launcher._launches.get(key, ())
        for tried in known:  # others of its size were in front of it
            result = tried(launcher, *values)
            if result is not OTHER:
                self._put_first(launcher, arguments, tried)
                return result
        if len(known) < _FORMS:  # else compiled checks do not recognize these arguments
            made = plan.compiled(arguments, seen, self._looked_at, by_alignment=self._by_alignment)
            keep(launcher._launches, key, (made, *known))
            self._put_first(launcher, arguments, made)
        return plan.run(launcher, [at for _, at in seen], values)

    def _put_first(self, launcher: Launcher, arguments: dict[str, Any], launch: Any) -> None:
        """Have a compiled launch tried first for memory of this size."""
        subject = arguments[self._subject]
        index = self._number + sizes[type(subject)](subject)
        others = [each for each in launcher._launches.get(index, ()) if each is not launch]
        keep(launcher._launches, index, (launch, *others[: _TRIED - 1]))

    def _looked_at(self, launcher: Launcher, values: tuple[Any, ...]) -> list[Any]:
        """The pointers that C receives for the arguments."""
        return [at for _, at in self._look(launcher, values)[1]]

    def _recorded(
        self, launcher: Launcher, key: Any, arguments: dict[str, Any], *, launches: bool
    ) -> tuple[Any, Plan | None]:
        """Go the long way; the result, and the plan that was made of it."""
        if isinstance(launcher, StreamLauncher):  # layer 1 looks at what a handle's functions get
            launcher.check_memory(arguments)
        on = launcher if self._launcher == "handle" else launcher.stream
        recording = Recording(launcher, arguments, launches=launches)
        result, plan = _recorded(recording, self.function, {**arguments, self._launcher: on})
        if plan is not None and key is not None:
            keep(launcher._plans, key, plan)
            launcher._launches.pop(key, None)  # of a plan for another stream
        return result, plan


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of an operation's function until it is called."""
    operation: _Operation = _operation  # type: ignore[name-defined]  # noqa: F821
    return operation.first(args, kwargs)(*args, **kwargs)


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
    return cast(F, _Operation(operation, by_alignment=False).call)


def launched_by_alignment(operation: F) -> F:
    """Like `launched`, with separate keys for addresses that are multiples of `ALIGNMENT` bytes."""
    return cast(F, _Operation(operation, by_alignment=True).call)


def _recorded(
    recording: Recording, operation: Callable[..., Any], arguments: dict[str, Any]
) -> tuple[Any, Plan | None]:
    _recordings[get_ident()] = recording
    try:
        result = operation(**arguments)
    except BaseException:
        recording.stack.close()
        raise
    finally:
        _recordings.pop(get_ident(), None)
    if recording.calls:
        try:
            return result, Plan(recording, result)
        except NoKey:
            pass
    recording.stack.close()
    return result, None
