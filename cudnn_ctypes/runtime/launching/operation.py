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
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any, TypeVar, cast

from ...raw.values import described
from .bound import BoundOperation
from .forms import OTHER, Form
from .likeness import NoKey, kinds
from .plan import Plan
from .recording import Launcher, Recording, recordings
from .stream_launcher import StreamLauncher

F = TypeVar("F", bound=Callable[..., Any])

_MOST = 64  # forms of one operation


class _Operation:
    """A function that launches; the first call of a key goes through it, and makes a plan.

    - `call`: the function that users call.
    """

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        code = function.__code__
        self.function = function
        self._parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._launcher = "handle" if "handle" in self._parameters else "stream"
        self._place = self._parameters.index(self._launcher)
        self._by_alignment = by_alignment
        self._forms: dict[Any, Form] = {}
        self._launches: dict[Any, list[Callable[..., Any]]] = {}
        self.call = functools.update_wrapper(self._caller(), function)
        vars(self.call)["_operation"] = self

    def _caller(self) -> Callable[..., Any]:
        function, launches, on_stream = self.function, self._launches, self._launcher == "stream"
        place = self._place

        def call(*args: Any, **kwargs: Any) -> Any:
            if recordings and get_ident() in recordings:
                return function(*args, **kwargs)
            try:
                if on_stream or len(args) <= place:
                    given, launcher, values = self._read(args, kwargs)
                else:
                    given, launcher = (len(args), *kwargs), args[place]
                    values = (*args, *kwargs.values()) if kwargs else args
                plans = launcher._plans
            except Exception:  # the operation itself says what is wrong
                self._check(args, kwargs)
                return function(*args, **kwargs)
            for launch in launches.get(given, ()):
                result = launch(plans, launcher, values)
                if result is not OTHER:
                    return result
            return self._recorded(given, launcher, values, args, kwargs)

        return call

    def _check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise TypeError for arguments that do not fit, with those that the operation takes."""
        signature = inspect.signature(self.function)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            needed = [each for each in signature.parameters.values() if each.default is each.empty]
            names = [f"{p.name}=" if p.kind is p.KEYWORD_ONLY else p.name for p in needed]
            text = f"{self.function.__name__}(): {error}; it takes ({', '.join(names)})"
            if self._launcher == "handle" and args and not hasattr(args[0], "_plans"):
                text += f"; is 'handle' forgotten? It got {described(args[0])}"
            raise TypeError(text) from None

    def _read(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Which arguments a call gives, its handle or stream, and the values.

        Raises KeyError without a handle.
        """
        if self._launcher == "stream":
            kwargs = {**kwargs, "stream": StreamLauncher(kwargs.get("stream"))}
        launcher = args[self._place] if len(args) > self._place else kwargs[self._launcher]
        return (len(args), *kwargs), launcher, (*args, *kwargs.values())

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        self._check(args, kwargs)
        given, launcher, values = self._read(args, kwargs)
        if not hasattr(launcher, "_plans") or "foreign" in [kinds[type(each)] for each in values]:
            return None
        known = self._bound(given, launcher, values)
        if known is None:
            self._recorded(given, launcher, values, args, kwargs, launches=False)
            known = self._bound(given, launcher, values)
        return known

    def _bound(
        self, given: Any, launcher: Launcher, values: tuple[Any, ...]
    ) -> BoundOperation[Any] | None:
        for form in [*self._forms.values()]:
            if form.given == given:
                known = form.bind(launcher._plans, launcher, values)
                if known is not OTHER:
                    return BoundOperation(launcher, values, *known)
        return None

    def _recorded(
        self,
        given: Any,
        launcher: Launcher,
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        launches: bool = True,
    ) -> Any:
        """Go the long way; a plan is made of it."""
        self._check(args, kwargs)
        names = [*self._parameters[: given[0]], *given[1:]]
        arguments = dict(zip(names, values, strict=True))
        if isinstance(launcher, StreamLauncher):  # layer 1 looks at what a handle's functions get
            launcher.check_memory(arguments)
        recording = Recording(launcher, arguments, launches=launches)
        recordings[get_ident()] = recording
        try:
            result = self.function(*args, **kwargs)
        except BaseException:
            recording.stack.close()
            raise
        finally:
            recordings.pop(get_ident(), None)
        plan = None
        if recording.calls:
            with suppress(NoKey):
                plan = Plan(recording, result)
                self._keep(plan, given, launcher, values)
        if plan is None:
            recording.stack.close()
        return result

    def _keep(self, plan: Plan, given: Any, launcher: Launcher, values: tuple[Any, ...]) -> None:
        """Have a plan found by the form of its launch, which is tried first from now on."""
        form = Form(given, launcher, values, plan, by_alignment=self._by_alignment)
        form = self._forms.pop(form.known_by, form)
        self._forms[form.known_by] = form
        plan.steps = form.steps  # one text for all plans of a form
        while len(self._forms) > _MOST:
            gone = self._forms.pop(next(iter(self._forms)))
            self._launches.pop(gone.given, None)
        launches = [each for each in reversed(self._forms.values()) if each.given == given]
        self._launches[given] = [each.launch for each in launches]
        launcher._plans.keep(form.key(launcher, values), (plan, *plan.data))


def launched(operation: F) -> F:
    """Have a function launch what it launched before by its key.

    It has a parameter ``handle``, or a keyword-only parameter ``stream``.
    """
    return cast(F, _Operation(operation, by_alignment=False).call)


def launched_by_alignment(operation: F) -> F:
    """Like `launched`, with separate keys for addresses that are multiples of `ALIGNMENT` bytes."""
    return cast(F, _Operation(operation, by_alignment=True).call)
