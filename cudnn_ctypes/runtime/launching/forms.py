"""Forms of launches: which classes an operation's arguments have, and how such ones are launched.

A form has one Python function, generated: it reads the arguments without loops or calls, puts
together the key, looks up the plan of their shapes and numbers, and calls C. So any number of
shapes costs what one costs, and as few functions are generated as there are combinations of
classes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_void_p
from inspect import Parameter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from cudnn_ctypes.raw import log, mode
from cudnn_ctypes.raw.torch_forms import alike_but_for_shapes, tells_gradients

from .. import pytorch
from ..allocation import Allocation
from ..tensor import DeviceTensor
from .likeness import LOWEST_ADDRESS, NoKey, aligned, kind_of_look, looks, token_of
from .recording import Launcher

if TYPE_CHECKING:
    from .plan import Plan

OTHER: Any = object()
"""Result of a form's function for arguments of another form, or without a plan."""


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
    if _recordings and _thread() in _recordings:
        return _function({passed})
    try:
        {launcher_line}
        _plans = {launcher}._plans
    except AttributeError:
        return _function({passed})
    for _launch in _forms:
        _result = _launch(_plans, {launcher}, {given})
        if _result is not _other:
            return _result
    return _first({launcher}, ({given}))
"""


def operation_source(name: str, parameters: Sequence[Parameter]) -> str:
    """An operation: tries the forms that were launched before.

    It refers to ``_recordings``, ``_thread`` (the number of this thread), ``_function`` (what the
    user would call), ``_forms``, ``_first`` (which goes the long way), ``_StreamLauncher``, and
    ``_other`` (`OTHER`).
    """
    of_handle = any(p.name == "handle" for p in parameters)
    positional = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    return _OPERATION.format(
        name=name,
        signature=", ".join([*positional, *(["*"] if options else []), *options]),
        passed=", ".join([*positional, *(f"{each}={each}" for each in options)]),
        launcher="handle" if of_handle else "_launcher",
        launcher_line="pass" if of_handle else "_launcher = _StreamLauncher(stream)",
        given="".join(f"{p.name}, " for p in parameters if p.name not in ("handle", "stream")),
    )


# What is found is a tuple: the plan, the comparison of its tensors of PyTorch, another tuple of the
# key, and `Plan.data`. The plan itself is far larger, and lies in no cache of the CPU.
_LAUNCH = """\
def launch(_plans, _launcher, {given}):
    if {others}:
        return _other
    try:
        _found = _plans[({number}, {key}{parts})]
        {choice}
        if _found is None or _mode.runtime is not _launcher.runtime:
            return _other
        {reads}
    except _Exception:  # the operation itself says what is wrong
        return _other
    {before}
    try:
        {work}
    except BaseException:
        for _tensor in ({made}): _tensor.close()
        raise
    return {result}
"""
_CHOICE = "while _found is not None and not _found[1]({0}): _found = _found[2]"


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
    "none": _Reading("{0} is not None"),
    "number": _Reading(_KIND, "{0}"),
    # 0.0 equals -0.0, and NaN does not equal itself.
    "float": _Reading(_KIND, "{0} if {0} and {0} == {0} else _text({0})"),
    "int": _Reading(f"{_KIND} or {{0}} >= {LOWEST_ADDRESS}", "{0}"),
    "address": _Reading(f"{_KIND} or {{0}} < {LOWEST_ADDRESS}", at="_passed({0})"),
    "own": _Reading(_KIND, "(_own_{0} := {0}._keyed or {0}.keyed())[0]", "_own_{0}[1]"),
    # PyTorch compares the rest in one call for all tensors, in half the time of reading it.
    "torch": _Reading(
        _KIND,  # and `_GRADIENTS`, where the comparison does not tell
        "{0}.shape, {0}.stride()",
        "_passed({0}.data_ptr() or _absent())",
    ),
    "descriptor": _Reading(_KIND, "{0}._place.token or _token({0})", "{0}._as_parameter_"),
    "other": _Reading(_KIND, "(_look_{0} := _looks[_kind_{0}]({0}, _launcher))[0]", "_look_{0}[1]"),
}

_GRADIENTS = " or {0}.requires_grad"
_numbers = itertools.count()


def _absent() -> NoReturn:
    """A tensor whose memory is not there."""
    raise NoKey


class Form:
    """Arguments of the same kinds and classes, whose launches take the same steps.

    - `values`: the arguments by name, without the handle or stream.
    - `plan`: of a launch with them.
    - `by_alignment`: whether the alignment of addresses counts, too.

    - `known_by`: equal for all arguments and plans of the form.
    - `steps`: as `Plan.steps`.
    - `launch`: from plans, a launcher and the other arguments of an operation to its result;
      `OTHER` without a plan. It is made when it is first asked for.
    """

    def __init__(self, values: Mapping[str, Any], plan: Plan, *, by_alignment: bool) -> None:
        first: dict[int, str] = {}  # PyTorch's comparison takes no tensor twice
        self._kinds = {name: kind_of_look(value) for name, value in values.items()}
        self._same = {
            name: first.setdefault(id(values[name]), name)
            for name, kind in self._kinds.items()
            if kind == "torch"
        }
        self._classes = tuple(map(type, values.values()))
        self.steps: dict[str, str] = plan.steps
        self._by_alignment = by_alignment
        self._tensors = [list(values).index(name) for name in first.values()]
        self.known_by: Any = (
            *self._kinds.values(),
            *self._classes,
            *self._same.values(),
            *self.steps.values(),
        )

    @functools.cached_property
    def launch(self) -> FunctionType:
        kinds, same = self._kinds, self._same
        scope: dict[str, Any] = {
            "_other": OTHER,
            "_mode": mode,
            "_Exception": Exception,
            "_text": repr,
            # In half the time, but it does not say its address again.
            "_passed": c_void_p if self._by_alignment else c_void_p.from_param,
            "_absent": _absent,
            "_token": token_of,
            "_looks": looks,
            "_aligned": aligned,
            "_logged": log.logged,
            "_forget": log.forget,
            "_new": object.__new__,
            "_tuple": tuple.__new__,
            "_Allocation": Allocation,
            "_DeviceTensor": DeviceTensor,
            "_follow": pytorch.follow,
            **{f"_kind_{name}": cls for name, cls in zip(kinds, self._classes, strict=True)},
        }
        parts = list(_parts(kinds, same))
        reads = {f"_at_{name}": _READINGS[kind].at.format(name) for name, kind in kinds.items()}
        reads = {name: read for name, read in reads.items() if read}
        if self._by_alignment:
            parts.append(f"*_aligned(({', '.join(reads.values())},))")
        tensors = ", ".join([*kinds][at] for at in self._tensors)
        source = _LAUNCH.format(
            number=next(_numbers),
            given="".join(f"{name}, " for name in kinds),
            others=" or ".join(_others(kinds, same)) or "False",
            parts="".join(f"{part}, " for part in parts),
            choice=_CHOICE.format(tensors) if tensors else "pass",
            reads="\n        ".join(f"{name} = {read}" for name, read in reads.items()) or "pass",
            **self.steps,
        )
        return function_of(source, "a form", scope)

    def add(self, plan: Plan, launcher: Launcher, values: Sequence[Any]) -> None:
        """Have a plan found for arguments of its shapes.

        Raises NoKey if nothing stands for one of them.
        """
        key = self._key(launcher, values)
        if key is None:
            raise NoKey
        like = self._like(values)
        found = plan, like, None, *plan.data
        others = [each for each in _chain(launcher._plans[key]) if each[1] is not like]
        for each in reversed(others[: _MOST_OF_A_KEY - 1]):
            found = *found[:2], (*each[:2], found[2], *each[3:]), *found[3:]
        launcher._plans.keep(key, found)

    def find(self, launcher: Launcher, values: Sequence[Any]) -> Plan | None:
        """The plan for these arguments."""
        key = self._key(launcher, values)
        if key is None or mode.runtime is not launcher.runtime:
            return None
        like = self._like(values)
        for found in _chain(launcher._plans[key]):
            if found[1] is like:
                plan: Plan = found[0]
                return plan
        return None

    def _like(self, values: Sequence[Any]) -> Any:
        tensors = [values[at] for at in self._tensors]
        return alike_but_for_shapes(tensors) if tensors else None

    def _key(self, launcher: Launcher, values: Sequence[Any]) -> Any:
        asked = _Asked()
        self.launch(asked, launcher, *values)
        return asked.key


_MOST_OF_A_KEY = 8


def _chain(found: Any) -> Iterator[Any]:
    while found is not None:
        yield found
        found = found[2]


class _Asked:
    """Notes the key that is looked up."""

    key: Any = None

    def __getitem__(self, key: Any) -> None:
        self.key = key


def _others(kinds: Mapping[str, str], same: Mapping[str, str]) -> Iterator[str]:
    for name, kind in kinds.items():
        repeated = same.get(name, name) != name
        other = _READINGS[kind].other
        if kind == "torch" and not tells_gradients():
            other += _GRADIENTS
        yield f"{name} is not {same[name]}" if repeated else other.format(name)


def _parts(kinds: Mapping[str, str], same: Mapping[str, str]) -> Iterator[str]:
    for name, kind in kinds.items():
        if (part := _READINGS[kind].part) and same.get(name, name) == name:
            yield part.format(name)
