"""Executions of a plan of the graph API like those before: a generated function, and the C call.

The first execution of a kind goes the long way, which says what is wrong with the operands. What it
takes after that is written out as source: the operands by their places, each read by what its class
needs, no loops. Whatever is not as it was goes the long way again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cudnn_ctypes.raw import cudnnHandle_t
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.function import binding, watched
from cudnn_ctypes.raw.gpus import ordinals
from cudnn_ctypes.raw.log import forget, logged
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.raw.torch_forms import alike
from cudnn_ctypes.raw.typed_memory import by_class

from .forms import function_of
from .likeness import kinds
from .packs import VariantPacks

_MOST = 16

_EXECUTE = """\
def execute(handle, memory, workspace):
    {known}
    if watched or ordinals:
        return False
    try:
        {reads}
        to_handle, to_plan = handle._as_parameter_, plan["_as_parameter_"]
        if to_handle.__class__ is not handle_t or not to_handle or len(memory) != {count}{others}:
            return False
    except Exception:  # the long way says what is wrong
        return False
    key = ({key})
    try:
        pack = last.pop()
    except IndexError:
        pack = exchanged(key)
    else:
        if pack.key != key:
            pack = exchanged(key, pack)
    if logged:
        forget()
    code = native(to_handle, to_plan, pack.argument)
    if code:
        settle(code, (handle, descriptor, pack.descriptor))
    last.append(pack)
    return True
"""

# Tensors of PyTorch are compared only if they are not the objects of the last time, where those
# were: PyTorch gives addresses again, to tensors of other shapes too.
_READINGS = {
    "torch": """\
v{0} = {1}
        a{0} = data_ptr{0}(v{0})
        if known{0}[0]() is not v{0} or known{0}[1] != a{0}:
            if v{0}.is_nested or not like{0}(v{0}) or not a{0}: return False
            known{0} = weak(v{0}), a{0}""",
    "own": """\
v{0} = {1}
        k{0} = v{0}._keyed or v{0}.keyed()
        if k{0}[0] != like{0}: return False
        a{0} = k{0}[1].value""",
    "address": """\
a{0} = {1}
        if a{0}.__class__ is not int or not 0 < a{0} < highest: return False""",
}
_OTHER = """\
v{0} = {1}
        if v{0}.__class__ is not class{0} or form(v{0}) != like{0}: return False
        a{0} = address(v{0})
        if not 0 < a{0} < highest: return False"""
_HIGHEST_ADDRESS = 1 << 62  # so far that of a part of this memory has 64 bits, too

Execute = Callable[[Any, dict[Any, Any], Any], bool]
"""Takes the handle, the mapping and the workspace; False: nothing was executed."""


class Operand(NamedTuple):
    """One of the addresses of an execution.

    - `base`, `offset`: the place of the operand of which this one is a part, and the bytes before
      it.
    - `number`: the address of a number that is fixed in the graph.
    - `tensor`, `value`: whose number it is, as long as its value is this one.
    """

    base: int | None = None
    offset: int = 0
    number: int | None = None
    tensor: Any = None
    value: Any = None


class Executions:
    """Executions of one plan, known by the classes and forms of their memory.

    - `execute`: of the last kind of execution; call this one first.
    """

    def __init__(self, plan: Any) -> None:
        self._plan = plan
        self._known: list[Execute] = []
        self.execute: Execute = _nothing

    def tried(self, handle: Any, memory: dict[Any, Any], workspace: Any) -> bool:
        """Execute as one of the kinds that `execute` is not for, if one fits."""
        for each in self._known[1:]:
            if each(handle, memory, workspace):
                self._put_first(each)
                return True
        return False

    def _put_first(self, execute: Execute) -> None:
        self._known = [execute, *(each for each in self._known if each is not execute)][:_MOST]
        self.execute = execute

    def clear(self) -> None:
        self._known, self.execute = [], _nothing

    def learn(
        self,
        memory: Mapping[Any, Any],
        workspace: Any,
        packs: VariantPacks,
        operands: Sequence[Operand],
        places: Sequence[int],
    ) -> None:
        """Know executions like the one that was just made.

        - `memory`: what was given.
        - `workspace`: None: none is needed.
        - `operands`: by place.
        - `places`: of what was given, in the order of the keys.
        """
        scope = {
            "watched": watched,
            "ordinals": ordinals,
            "descriptor": self._plan,
            "plan": vars(self._plan),
            "handle_t": cudnnHandle_t,
            "last": packs.last,
            "exchanged": packs.exchanged,
            "logged": logged,
            "forget": forget,
            "native": bare.cudnnBackendExecute,
            "settle": binding("cudnnBackendExecute").settle,
            "address": memory_pointer,
            "form": _form,
            "weak": weakref.ref,
            "highest": _HIGHEST_ADDRESS,
        }
        known: list[str] = []
        reads, others = [], []
        for place, (key, value) in zip(places, memory.items(), strict=True):
            scope[f"key{place}"] = key
            reads.append(_read(place, value, f"memory[key{place}]", scope, known))
        space = len(operands)
        if workspace is not None:
            reads.append(_read(space, workspace, "workspace", scope, known))
        addresses = []
        for place, operand in enumerate(operands):
            found = f"a{place}"
            if operand.number is not None:
                found = str(operand.number)
                scope |= {f"tensor{place}": operand.tensor, f"value{place}": operand.value}
                others.append(f" or tensor{place}.value is not value{place}")
            elif operand.base is not None:
                found = f"a{operand.base} + {operand.offset}"
            addresses.append(found)
        source = _EXECUTE.format(
            known=f"global {', '.join(known)}" if known else "pass",
            reads="\n        ".join(reads) or "pass",
            count=len(memory),
            others="".join(others),
            key=", ".join([*addresses, f"a{space}" if workspace is not None else "0"]),
        )
        self._put_first(function_of(source, "a plan", scope))


def _read(place: int, value: Any, expression: str, scope: dict[str, Any], known: list[str]) -> str:
    """Statements that read memory like `value`; adds the names that they need to `scope`."""
    kind = "address" if type(value) is int else kinds[type(value)]
    scope[f"class{place}"] = type(value)
    if kind == "torch":
        known.append(f"known{place}")
        scope[f"known{place}"] = weakref.ref(value), value.data_ptr()
        scope[f"data_ptr{place}"], scope[f"like{place}"] = type(value).data_ptr, alike([value])
    elif kind == "own":
        scope[f"like{place}"] = value.keyed()[0]
    elif kind != "address":
        scope[f"like{place}"] = _form(value)
    return _READINGS.get(kind, _OTHER).format(place, expression)


def _form(value: Any) -> Any:
    """Equal for objects of a class whose memory is of one type, shape and size."""
    return by_class.of(value).identity(value), getattr(value, "nbytes", None)


def _nothing(handle: Any, memory: dict[Any, Any], workspace: Any) -> bool:
    return False
