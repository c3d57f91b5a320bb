"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
Later calls with the same key run the plan.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import get_ident
from types import FunctionType
from typing import Any, TypeVar, cast

from .bound import BoundOperation
from .forms import OTHER, Form, function_of, operation_source
from .likeness import NoKey, kinds
from .plan import Plan
from .recording import Launcher, Recording, recordings
from .stream_launcher import StreamLauncher

F = TypeVar("F", bound=Callable[..., Any])


_FORMS = 16  # forms of one operation that are remembered


class _Operation:
    """A function that launches; the first call of a key goes through it, and makes a plan.

    - `call`: the function that users call. It is compiled when it is first called.
    """

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        self.function = function
        self._by_alignment = by_alignment
        self._forms: dict[Any, Form] = {}
        self._launches: list[Callable[..., Any]] = []
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

    def compiled(self) -> Callable[..., Any]:
        """Give `call` its code, which has the parameters of the operation."""
        call, function = self.call, self.function
        call.__globals__.update(
            _recordings=recordings,
            _thread=get_ident,
            _function=function,
            _forms=self._launches,
            _first=self._first,
            _StreamLauncher=StreamLauncher,
            _other=OTHER,
        )
        source = operation_source(function.__name__, list(self._parameters.values()))
        call.__defaults__, call.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        call.__code__ = function_of(source, function.__name__, {}).__code__
        return call

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        launcher = arguments.pop(self._launcher)
        if self._launcher == "stream":
            launcher = StreamLauncher(launcher)
        values = tuple(arguments.values())
        if not hasattr(launcher, "_plans") or "foreign" in [kinds[type(each)] for each in values]:
            return None
        plan = self._known(launcher, values)
        if plan is None:
            self._recorded(launcher, arguments, launches=False)
            plan = self._known(launcher, values)
        return None if plan is None else BoundOperation(plan, launcher, values)

    def _known(self, launcher: Launcher, values: Sequence[Any]) -> Plan | None:
        tried = (form.find(launcher, values) for form in reversed(tuple(self._forms.values())))
        return next((plan for plan in tried if plan is not None), None)

    def _first(self, launcher: Launcher, values: tuple[Any, ...]) -> Any:
        """Launch with arguments that have no plan."""
        names = [name for name in self._parameters if name != self._launcher]
        return self._recorded(launcher, dict(zip(names, values, strict=True)), launches=True)

    def _form(self, arguments: dict[str, Any], plan: Plan) -> Form:
        """The form of a launch, which is tried first from now on."""
        form = Form(arguments, plan, by_alignment=self._by_alignment)
        form = self._forms.pop(form.known_by, form)
        self._forms[form.known_by] = form
        plan.steps = form.steps  # one text for all plans of a form
        while len(self._forms) > _FORMS:
            self._forms.pop(next(iter(self._forms)))
        self._launches[:] = [each.launch for each in reversed(self._forms.values())]
        return form

    def _recorded(self, launcher: Launcher, arguments: dict[str, Any], *, launches: bool) -> Any:
        """Go the long way; a plan is made of it."""
        if isinstance(launcher, StreamLauncher):  # layer 1 looks at what a handle's functions get
            launcher.check_memory(arguments)
        on = launcher.stream if isinstance(launcher, StreamLauncher) else launcher
        recording = Recording(launcher, {self._launcher: launcher, **arguments}, launches=launches)
        recordings[get_ident()] = recording
        try:
            result = self.function(**arguments, **{self._launcher: on})
        except BaseException:
            recording.stack.close()
            raise
        finally:
            recordings.pop(get_ident(), None)
        plan = None
        if recording.calls:
            with suppress(NoKey):
                plan = Plan(recording, result)
                self._form(arguments, plan).add(plan, launcher, tuple(arguments.values()))
        if plan is None:
            recording.stack.close()
        return result


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of an operation's function until it is called."""
    operation: _Operation = _operation  # type: ignore[name-defined]  # noqa: F821
    return operation.compiled()(*args, **kwargs)


def launched(operation: F) -> F:
    """Have a function launch what it launched before by its key.

    It has a parameter ``handle``, or a keyword-only parameter ``stream``.
    """
    return cast(F, _Operation(operation, by_alignment=False).call)


def launched_by_alignment(operation: F) -> F:
    """Like `launched`, with separate keys for addresses that are multiples of `ALIGNMENT` bytes."""
    return cast(F, _Operation(operation, by_alignment=True).call)
