"""Forms of launches: which arguments calls give, of which classes, and how such calls are launched.

A form has one Python function, generated: it reads the arguments without loops or calls, puts
together the key, looks up the plan of their shapes and numbers, and calls C. So any number of
shapes costs what one costs, and as few functions are generated as there are combinations of
classes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from ctypes import c_void_p
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from cudnn_ctypes.raw import log, mode
from cudnn_ctypes.raw.records import unique
from cudnn_ctypes.raw.torch_forms import alike_but_for_shapes, tells_gradients

from .. import pytorch
from ..tensor import DeviceTensor
from .likeness import LOWEST_ADDRESS, NoKey, aligned, kind_of_look, looks, token_of
from .recording import Launcher

if TYPE_CHECKING:
    from .plan import Plan

OTHER: Any = object()
"""Result of a form's functions for arguments of another form, or without a plan."""


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


# What is found is a tuple: the plan, and `Plan.data`. The plan itself is far larger, and lies in no
# cache of the CPU. The steps of `Plan` are between.
_READ = """\
def launch(_plans, _launcher, _values):
    {given} = _values
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
    "none": _Reading("{0} is not None"),
    "number": _Reading(_KIND, "{0}"),
    # 0.0 equals -0.0, and NaN does not equal itself.
    "float": _Reading(_KIND, "{0} if {0} and {0} == {0} else _text({0})"),
    "int": _Reading(f"{_KIND} or {{0}} >= {LOWEST_ADDRESS}", "{0}"),
    "address": _Reading(f"{_KIND} or {{0}} < {LOWEST_ADDRESS}", at="_passed({0})"),
    "own": _Reading(_KIND, "(_own_{0} := {0}._keyed or {0}.keyed())[0]", "_own_{0}[1]"),
    # PyTorch compares the rest in one call for all tensors, in half the time of reading it.
    "torch": _Reading(
        _KIND,
        "{0}.shape, {0}.stride()",
        "_passed({0}.data_ptr() or _absent())",
    ),
    "descriptor": _Reading(_KIND, "{0}._place.token or _token({0})", "{0}._as_parameter_"),
    "other": _Reading(_KIND, "(_look_{0} := _looks[_kind_{0}]({0}, _launcher))[0]", "_look_{0}[1]"),
}


def _absent() -> NoReturn:
    """A tensor whose memory is not there."""
    raise NoKey


class Form:
    """Arguments of the same kinds and classes, whose launches take the same steps.

    - `given`: which arguments a call gives, and in which order: the others have their defaults.
    - `launcher`: the handle or stream, which is among the `values`.
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
        given: Any,
        launcher: Launcher,
        values: Sequence[Any],
        plan: Plan,
        *,
        by_alignment: bool,
    ) -> None:
        self.given, self.steps = given, plan.steps
        self._number = unique()
        self._names = [f"_v{i}" for i in range(len(values))]
        kinds = ["launcher" if each is launcher else kind_of_look(each) for each in values]
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
            given,
            self._like,
            *(part for each in (kinds, self._classes, self._same) for part in each),
            *self.steps.items(),
        )

    @functools.cached_property
    def launch(self) -> FunctionType:
        return self._function(_LAUNCH)

    @functools.cached_property
    def bind(self) -> FunctionType:
        return self._function(_BIND)

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
        for name, kind, same, cls in zip(
            self._names, self._kinds, self._same, self._classes, strict=True
        ):
            if kind == "launcher":
                continue
            reading = _READINGS[kind]
            scope[f"_kind_{name}"] = cls
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
        if unread:
            reads.append(f"{''.join(unread)}None")
        unlike = "" if self._like is None else f" or not _like({', '.join(self._tensors)})"
        source = (_READ + template).format(
            given=f"({', '.join(self._names)},)",
            others=" or ".join(others) or "False",
            parts="".join(parts),
            unlike=unlike,
            reads="\n        ".join(reads) or "pass",
            **self.steps,
        )
        return function_of(source, "a form", scope)

    def key(self, launcher: Launcher, values: Sequence[Any]) -> Any:
        """The key of the plan for these arguments.

        Raises NoKey if nothing stands for one of them.
        """
        asked = _Asked()
        self.launch(asked, launcher, values)
        if asked.key is None:
            raise NoKey
        return asked.key


class _Asked:
    """Notes the key that is looked up."""

    key: Any = None

    def __getitem__(self, key: Any) -> None:
        self.key = key
