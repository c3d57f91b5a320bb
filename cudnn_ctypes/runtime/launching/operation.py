"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
Later calls with the same key run the plan.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.

Calls that give the same arguments, of the same classes, have one form: one Python function,
generated. It reads the arguments without loops or calls, puts together the key, looks up the plan
of their shapes and numbers, and calls C. So any number of shapes costs what one costs, and as few
functions are generated as there are combinations of classes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import c_void_p
from threading import get_ident
from types import FunctionType
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from cudnn_ctypes.raw import log, mode
from cudnn_ctypes.raw.call_source import function_of
from cudnn_ctypes.raw.process import Bounded
from cudnn_ctypes.raw.records import unique
from cudnn_ctypes.raw.torch_forms import alike_but_for_shapes, tells_gradients

from ...raw.values import described
from .. import pytorch
from ..tensor import DeviceTensor
from .bound import BoundOperation
from .likeness import LOWEST_ADDRESS, NoKey, aligned, kind_of_look, kinds, looks, token_of
from .plan import Launcher, Plan, Recording, StreamLauncher, recordings

OTHER: Any = object()
"""Result of a form's functions for arguments of another form, or without a plan."""

_CALL = """\
def {name}{signature}:
    if _more: _operation._arguments(({by_position}, *_more), {{}})
    if recordings and get_ident() in recordings:
        return _operation.function({passed})
    try:
        _plans = {launcher}._plans
    except Exception:
        return _operation._recorded(None, ({given},))
    for _launch in _operation._launches:
        _result = _launch(_plans, {given})
        if _result is not OTHER:
            return _result
    return _operation._recorded({kept_by}, ({given},))
"""
# What is found is a tuple: the plan, and `Plan.data`. The plan itself is far larger, and lies in no
# cache of the CPU. The steps of `Plan` are between.
_READ = """\
def launch(_plans, {given}):
    if {others}:
        return _other
    try:
        _found = _plans[(_number, {key}{parts})]
        if _found is None or _mode.runtime is not _launcher.runtime{unlike}:
            return _other
        {reads}
    except _Exception:  # the operation itself says what is wrong
        return _other
    {results}
"""
_LAUNCH = """\
    try:
        {work}
    except BaseException:
        for _tensor in ({made}): _tensor.close()
        raise
    return {result}
"""
_BIND = """\
    return _found[0], ({gaps}), ({made}), {result}
"""


class _Reading(NamedTuple):
    """How an argument is read, as expressions; {0} is its name.

    - `other`: True for arguments of other forms.
    - `part`: of the key: all that an operation may learn of it besides its class.
    - `at`: what C is given.
    """

    other: str
    part: str = ""
    at: str = ""


_KIND = "{0}.__class__ is not _kind_{0}"
_READINGS = {
    "default": _Reading("{0} is not _default_{0}"),
    "none": _Reading("{0} is not None"),
    "number": _Reading(_KIND, "{0}"),
    # 0.0 equals -0.0, and NaN does not equal itself.
    "float": _Reading(_KIND, "{0} if {0} and {0} == {0} else _text({0})"),
    "int": _Reading(f"{_KIND} or {{0}} >= {LOWEST_ADDRESS}", "{0}"),
    "address": _Reading(f"{_KIND} or {{0}} < {LOWEST_ADDRESS}", at="_passed({0})"),
    "own": _Reading(_KIND, "(_own_{0} := {0}._keyed or {0}.keyed())[0]", "_own_{0}[1]"),
    # PyTorch compares the rest in one call for all tensors, in half the time of reading it.
    "torch": _Reading(_KIND, "{0}.shape, {0}.stride()", "_passed({0}.data_ptr() or _absent())"),
    "descriptor": _Reading(_KIND, "{0}._place.token or _token({0})", "{0}._as_parameter_"),
    "other": _Reading(_KIND, "(_look_{0} := _looks[_kind_{0}]({0}, _launcher))[0]", "_look_{0}[1]"),
}


def _absent() -> NoReturn:
    """A tensor whose memory is not there."""
    raise NoKey


class Form:
    """Arguments of the same kinds and classes, whose launches take the same steps.

    - `launcher`: the handle or stream, which is among the `values`.
    - `values`: of all parameters of the operation, which has these `defaults`.
    - `plan`: of a launch with these values.
    - `by_alignment`: whether the alignment of addresses counts, too.

    - `steps`: as `Plan.steps`.
    - `known_by`: equal for all arguments and plans of the form.
    - `launch`: a function of plans, a launcher and the arguments; returns the operation's result,
      or `OTHER` without a plan. It is made when it is first asked for.
    - `bind`: like it, without the calls; returns the plan, the values for the gaps of its calls but
      for workspaces, the results that were made, and the operation's result.
    """

    def __init__(
        self,
        launcher: Launcher,
        values: Sequence[Any],
        defaults: Sequence[Any],
        plan: Plan,
        *,
        by_alignment: bool,
    ) -> None:
        self.steps, self._defaults = plan.steps, defaults
        self._number = unique()
        places = enumerate(values)
        self._names = ["_launcher" if each is launcher else f"_v{i}" for i, each in places]
        kinds = [
            "default" if value is default else kind_of_look(value)
            for value, default in zip(values, defaults, strict=True)
        ]
        first: dict[int, str] = {}  # PyTorch's comparison takes no tensor twice
        named = zip(self._names, kinds, values, strict=True)
        self._same = [
            first.setdefault(id(value), name) if kind == "torch" else name
            for name, kind, value in named
        ]
        tensors = [values[self._names.index(name)] for name in first.values()]
        self._like = alike_but_for_shapes(tensors) if tensors else None
        self._tensors, self._kinds = list(first.values()), kinds
        self._classes = [type(value) for value in values]
        self._by_alignment = by_alignment
        self.known_by: Any = (
            self._like,
            *(part for each in (kinds, self._classes, self._same) for part in each),
            *self.steps.items(),
        )

    launch = functools.cached_property(lambda self: self._function(_LAUNCH))
    bind = functools.cached_property(lambda self: self._function(_BIND))

    def _function(self, template: str) -> FunctionType:
        scope: dict[str, Any] = {
            "_number": self._number,
            "_other": OTHER,
            "_like": self._like,
            "_mode": mode,
            "_Exception": Exception,
            "_text": repr,
            "_passed": c_void_p,
            "_absent": _absent,
            "_token": token_of,
            "_looks": looks,
            "_aligned": aligned,
            "_logged": log.logged,
            "_forget": log.forget,
            "_tuple": tuple.__new__,
            "_tensor_in": DeviceTensor._in,
            "_follow": pytorch.follow,
        }
        others, parts, reads, unread = [], [], [], []
        for name, kind, same, cls, default in zip(
            self._names, self._kinds, self._same, self._classes, self._defaults, strict=True
        ):
            if name == "_launcher":
                continue
            reading = _READINGS[kind]
            scope |= {f"_kind_{name}": cls, f"_default_{name}": default}
            if name != same:
                others.append(f"{name} is not {same}")
            else:
                others.append(reading.other.format(name))
                if kind == "torch" and not tells_gradients():
                    others.append(f"{name}.requires_grad")
                if reading.part:
                    parts.append(f"{reading.part.format(name)}, ")
            if reading.at:
                reads.append(f"_at{name} = {reading.at.format(name)}")
            else:
                unread.append(f"_at{name} = ")
        if self._by_alignment:
            addresses = "".join(f"{each.partition(' = ')[2]}, " for each in reads)
            parts.append(f"*_aligned(({addresses}))")
        reads.append("".join([*unread, "None"]))
        unlike = "" if self._like is None else f" or not _like({', '.join(self._tensors)})"
        source = (_READ + template).format(
            given=", ".join(self._names),
            others=" or ".join(others) or "False",
            parts="".join(parts),
            unlike=unlike,
            reads="\n        ".join(reads),
            **self.steps,
        )
        return function_of(source, "a form", scope)

    def key(self, values: Sequence[Any]) -> Any:
        """The key of the plan for these arguments.

        Raises NoKey if nothing stands for one of them.
        """
        asked: list[Any] = []
        self.launch(Bounded(asked.append), *values)
        if not asked:
            raise NoKey
        return asked[0]


F = TypeVar("F", bound=Callable[..., Any])

_MOST = 64  # forms of one operation
_MISSING: Any = inspect.Parameter.empty


class _Operation:
    """A function that launches; the first call of a key goes through it, and makes a plan.

    - `call`: the function that users call. It gets its code when it is first called.
    """

    def __init__(self, function: Callable[..., Any], *, by_alignment: bool) -> None:
        code, self.function = function.__code__, function
        self._names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._launcher = "handle" if "handle" in self._names else "stream"
        self._by_alignment = by_alignment
        self._forms: dict[Any, Form] = {}
        self._launches: list[Callable[..., Any]] = []
        call = FunctionType(_first_call.__code__, {**globals(), "_operation": self})
        self.call: Any = functools.update_wrapper(call, function)
        vars(self.call)["_operation"] = self

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @functools.cached_property
    def _defaults(self) -> tuple[Any, ...]:
        """Defaults of all parameters, `_MISSING` of those that have none."""
        return tuple(each.default for each in self._signature.parameters.values())

    def compiled(self) -> Any:
        """Give `call` its code, which has the parameters of the operation, all with defaults."""
        call, name, kept_by = self.call, self.function.__name__, self._launcher
        parameters = self._signature.parameters.values()
        plain = [each.replace(annotation=each.empty, default=each.empty) for each in parameters]
        count = self.function.__code__.co_argcount
        plain.insert(count, inspect.Parameter("_more", inspect.Parameter.VAR_POSITIONAL))
        source = _CALL.format(
            name=name,
            by_position=", ".join(self._names[:count]) or "()",
            signature=str(inspect.Signature(plain)),
            passed=", ".join(f"{each}={each}" for each in self._names),
            launcher={"stream": "(stream := StreamLauncher(stream))"}.get(kept_by, kept_by),
            kept_by=kept_by,
            given=", ".join(self._names),
        )
        call.__defaults__ = self._defaults[:count]
        call.__kwdefaults__ = dict(zip(self._names, self._defaults, strict=True))
        call.__code__ = function_of(source, name, {}).__code__
        return call

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name.

        Raises TypeError if they do not fit, with those that the operation takes.
        """
        try:
            return self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            parameters = self._signature.parameters.values()
            needed = [each for each in parameters if each.default is _MISSING]
            names = [f"{p.name}=" if p.kind is p.KEYWORD_ONLY else p.name for p in needed]
            text = f"{self.function.__name__}(): {error}; it takes ({', '.join(names)})"
            handle = kwargs.get("handle", next(iter(args), None))
            if self._launcher == "handle" and handle is not None and not hasattr(handle, "_plans"):
                text += f"; is 'handle' forgotten? It got {described(handle)}"
            raise TypeError(text) from None

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BoundOperation[Any] | None:
        """The operation with these operands; None if they cannot be bound."""
        arguments = self._arguments(args, kwargs)
        launcher: Any = arguments.get(self._launcher)
        if self._launcher == "stream":
            launcher = arguments["stream"] = StreamLauncher(launcher)
        values = (*map(arguments.get, self._names, self._defaults),)
        if not hasattr(launcher, "_plans") or "foreign" in [kinds[type(each)] for each in values]:
            return None
        for is_recorded in (False, True):
            if is_recorded:
                self._recorded(launcher, values, launches=False)
            for form in [*self._forms.values()]:
                known = form.bind(launcher._plans, *values)
                if known is not OTHER:
                    return BoundOperation(launcher, values, *known)
        return None

    def _recorded(
        self, launcher: Launcher | None, values: tuple[Any, ...], *, launches: bool = True
    ) -> Any:
        """Go the long way; a plan is made of it, if there is a launcher to keep it."""
        given = zip(self._names, values, strict=True)
        arguments = self._arguments((), {name: v for name, v in given if v is not _MISSING})
        called = arguments
        if launcher is None:  # the operation itself says what is wrong
            return self.function(**arguments)
        if isinstance(launcher, StreamLauncher):  # layer 1 looks at what a handle's functions get
            launcher.check_memory(arguments)
            called = {**arguments, "stream": launcher.stream}
        recording = Recording(launcher, arguments, launches=launches)
        recordings[get_ident()] = recording
        try:
            result = self.function(**called)
        except BaseException:
            recording.stack.close()
            raise
        finally:
            recordings.pop(get_ident(), None)
        plan = None
        if recording.calls:
            with suppress(NoKey):
                plan = Plan(recording, result)
                self._keep(plan, launcher, values)
        if plan is None:
            recording.stack.close()
        return result

    def _keep(self, plan: Plan, launcher: Launcher, values: tuple[Any, ...]) -> None:
        """Have a plan found by the form of its launch, which is tried first from now on."""
        form = Form(launcher, values, self._defaults, plan, by_alignment=self._by_alignment)
        form = self._forms.pop(form.known_by, form)
        self._forms[form.known_by] = form
        plan.steps = form.steps  # one text for all plans of a form
        while len(self._forms) > _MOST:
            self._forms.pop(next(iter(self._forms)))
        self._launches[:] = [each.launch for each in reversed(self._forms.values())]
        launcher._plans.keep(form.key(values), (plan, *plan.data))


def _first_call(*args: Any, **kwargs: Any) -> Any:
    """The code of an operation's function until it is called."""
    operation: _Operation = _operation  # type: ignore[name-defined]  # noqa: F821
    return operation.compiled()(*args, **kwargs)


def launched(operation: F, *, by_alignment: bool = False) -> F:
    """Have a function launch what it launched before by its key.

    It has a parameter ``handle``, or a keyword-only parameter ``stream``. If it goes
    `by_alignment`, addresses that are multiples of `ALIGNMENT` bytes have keys of their own.
    """
    return cast(F, _Operation(operation, by_alignment=by_alignment).call)
