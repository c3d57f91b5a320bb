"""Forms of launches: which classes an operation's arguments have, and how such ones are read.

A form has one Python function, generated: it reads the arguments without loops or calls, puts
together the key, and looks up the plan of their shapes and numbers. So any number of shapes costs
what one costs, and as few functions are generated as there are combinations of classes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_void_p
from inspect import Parameter
from types import CodeType, FunctionType
from typing import Any, NamedTuple, NoReturn

from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.torch_forms import alike

from .likeness import LOWEST_ADDRESS, NoKey, Plans, aligned, kind_of_look, look, looks, token_of
from .recording import Launcher

__all__ = ["Form", "Recognize", "form_of", "function_of", "operation_source", "typed_pointers"]

Recognize = Callable[..., "tuple[Any, list[Any]] | None"]
"""From plans, a launcher and the other arguments of an operation to the plan that they have and the
pointers that C receives for them (see `typed_pointers`); None without a plan."""


@functools.lru_cache(maxsize=512)
def _code_of(source: str, name: str) -> CodeType:
    module = compile(source, f"<launch of {name}>", "exec")
    (code,) = (each for each in module.co_consts if isinstance(each, CodeType))
    return code


def function_of(source: str, name: str, scope: dict[str, Any]) -> FunctionType:
    """The only function in `source`, with `scope` as its global names.

    Tracebacks call its file the launch of `name`. Equal sources are compiled once.
    """
    return FunctionType(_code_of(source, name), scope)


_OPERATION = """\
def {name}({signature}):
    if _recordings and _thread() in _recordings{refused}:
        return _function({passed})
    {launcher_line}
    _plans = {launcher}._plans
    for _recognize in _forms:
        _found = _recognize(_plans, {launcher}, {given})
        if _found is not None:
            _plan, _at = _found
            return _plan.run(_plan.data, {launcher}, _at, ({launcher}, {given}))
    return _first({launcher}, ({given}))
"""


def operation_source(name: str, parameters: Sequence[Parameter]) -> str:
    """An operation: tries the forms that were launched before.

    It refers to ``_recordings``, ``_thread`` (the number of this thread), ``_function`` (what the
    user would call), ``_forms``, ``_first`` (which goes the long way), and ``_StreamLauncher``.
    """
    of_handle = any(p.name == "handle" for p in parameters)
    positional = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    return _OPERATION.format(
        name=name,
        signature=", ".join([*positional, *(["*"] if options else []), *options]),
        refused=" or not hasattr(handle, '_plans')" if of_handle else "",
        passed=", ".join([*positional, *(f"{each}={each}" for each in options)]),
        launcher="handle" if of_handle else "_launcher",
        launcher_line="pass" if of_handle else "_launcher = _StreamLauncher(stream)",
        given="".join(f"{p.name}, " for p in parameters if p.name not in ("handle", "stream")),
    )


_RECOGNIZE = """\
def recognize(_plans, _launcher, {given}):
    if {others}:
        return None
    try:
        _plan = _plans.get((_number, _launcher.launch_key, {parts}))
        while _plan is not None and not ({fits}):
            _plan = _plan.other
        if _plan is None:
            return None
        _at = [_launcher._as_parameter_, {at}]
    except (_NoKey, _RuntimeError):  # PyTorch's, for tensors without a shape or strides
        return None
    _plan.used = _plans.now
    return _plan, _at
"""
_FITS = (
    "_mode.runtime is _plan.runtime and "
    "(_plan.stream is None or _plan.stream == _launcher.stream_pointer)"
)


class _Reading(NamedTuple):
    """How an argument is read, as expressions; {0} is its name.

    Attributes
    ----------
    other : str
        True for arguments of other forms.
    part : str
        Of the key: all that an operation may learn of it besides its class.
    at : str
        What C is given.
    """

    other: str
    part: str = ""
    at: str = "None"


_KIND = "{0}.__class__ is not _kind_{0}"
_READINGS = {
    "none": _Reading("{0} is not None"),
    "number": _Reading(_KIND, "{0}"),
    # 0.0 equals -0.0, and NaN does not equal itself.
    "float": _Reading(_KIND, "{0} if {0} and {0} == {0} else _text({0})"),
    "int": _Reading(f"{_KIND} or {{0}} >= {LOWEST_ADDRESS}", "{0}"),
    "address": _Reading(f"{_KIND} or {{0}} < {LOWEST_ADDRESS}", at="_passed({0})"),
    "own": _Reading(_KIND, "(_own_{0} := {0}._keyed or {0}.keyed())[0]", "_own_{0}[1]"),
    # PyTorch compares the rest in one call for all tensors, which takes a tenth of reading it.
    "torch": _Reading(
        f"{_KIND} or {{0}}.requires_grad", "{0}.shape", "_passed({0}.data_ptr() or _absent())"
    ),
    "descriptor": _Reading(_KIND, "{0}._place.token or _token({0})", "{0}._as_parameter_"),
    "other": _Reading(_KIND, "(_look_{0} := _looks[_kind_{0}]({0}, _launcher))[0]", "_look_{0}[1]"),
}

_numbers = itertools.count()
_PASSED = type(c_void_p.from_param(1))


def _absent() -> NoReturn:
    """A tensor whose memory is not there."""
    raise NoKey


def typed_pointers(launcher: Any, at: list[Any], given: Sequence[Any]) -> list[Any]:
    """Pointers of a recognized launch as ``raw`` takes them."""
    return [
        look(value, launcher)[1] if type(pointer) is _PASSED else pointer
        for pointer, value in zip(at, given, strict=True)
    ]


class Form(NamedTuple):
    """A form: its function, and how a plan of arguments like these is found later."""

    recognize: Recognize
    tensors: tuple[int, ...]
    """The arguments that are tensors of PyTorch, each once."""

    def add(self, plan: Any, launcher: Launcher, values: Sequence[Any]) -> None:
        """Have a plan found for arguments of its shapes.

        Raises
        ------
        NoKey
            If nothing stands for one of them.
        """
        asked = _Asked()
        self.recognize(asked, launcher, *values)
        if asked.key is None:
            raise NoKey
        if self.tensors:
            plan.alike = alike([values[i] for i in self.tensors])
        plans: Plans = launcher._plans
        plans.keep(asked.key, plan)


class _Asked:
    """Notes the key that is looked up."""

    key: Any = None

    def get(self, key: Any) -> None:
        self.key = key


def form_of(values: Mapping[str, Any], *, by_alignment: bool) -> tuple[Any, Callable[[], Form]]:
    """Return what the form of arguments is known by, and a function that makes it.

    Parameters
    ----------
    values : mapping
        The arguments by name, without the handle or stream.
    by_alignment : bool
        Whether the alignment of addresses counts, too.
    """
    first: dict[int, str] = {}  # PyTorch's comparison takes no tensor twice
    kinds = {name: kind_of_look(value) for name, value in values.items()}
    same = {
        name: first.setdefault(id(values[name]), name)
        for name, kind in kinds.items()
        if kind == "torch"
    }

    def make() -> Form:
        scope: dict[str, Any] = {
            "_number": next(_numbers),
            "_mode": mode,
            "_NoKey": NoKey,
            "_RuntimeError": RuntimeError,
            "_text": repr,
            # In half the time, but it does not say its address again.
            "_passed": c_void_p if by_alignment else c_void_p.from_param,
            "_absent": _absent,
            "_token": token_of,
            "_looks": looks,
            "_aligned": aligned,
            **{f"_kind_{name}": type(value) for name, value in values.items()},
        }
        tensors = [name for name in same if same[name] == name]
        given = "".join(f"{name}, " for name in values)
        at = "".join(f"{_READINGS[kinds[name]].at.format(name)}, " for name in values)
        parts = "".join(f"{part}, " for part in _parts(kinds, same))
        if by_alignment:
            parts += f"*_aligned(({at})), "
        source = _RECOGNIZE.format(
            given=given,
            others=" or ".join(_others(kinds, same)) or "False",
            parts=parts,
            fits=_FITS + (f" and _plan.alike({', '.join(tensors)})" if tensors else ""),
            at=at,
        )
        names = list(values)
        return Form(
            function_of(source, "a form", scope), tuple(names.index(each) for each in tensors)
        )

    return (*kinds.values(), *map(type, values.values()), *same.values()), make


def _others(kinds: Mapping[str, str], same: Mapping[str, str]) -> Iterator[str]:
    for name, kind in kinds.items():
        repeated = same.get(name, name) != name
        yield f"{name} is not {same[name]}" if repeated else _READINGS[kind].other.format(name)


def _parts(kinds: Mapping[str, str], same: Mapping[str, str]) -> Iterator[str]:
    for name, kind in kinds.items():
        if (part := _READINGS[kind].part) and same.get(name, name) == name:
            yield part.format(name)
