"""What objects and memory of a recorded program are called in its text: by what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set

from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendDescriptor_t
from ..backend_calls import role
from .allocations import Allocation
from .steps import Allocate, Array, Call, Number, Object, Step, Variable

__all__ = ["Identifiers", "Naming", "camel", "destroyed_by"]

_BACKEND_WORDS = {
    "execution_plan": "plan",
    "engineheur": "heuristics",
    "enginecfg": "engineConfig",
    "operationgraph": "operationGraph",
    "deviceprop": "deviceProperties",
}
_DESCRIPTORS = ("tensor", "pointwise", "convolution", "matmul", "reduction", "resample", "rng")
"""Backend descriptors that are called so in C: what they describe has the word itself."""

# These name a descriptor by its kind, not by what it is for.
_ABOUT_IT = ("cudnnCreate", "cudnnDestroy", "cudnnDerive", "cudnnBackend", "cudnnInit")


class Identifiers:
    """Names that differ from each other and from some words."""

    def __init__(self, reserved: Set[str] = frozenset()) -> None:
        self._taken = set(reserved)
        self._counts: dict[str, int] = {}
        self._free: dict[tuple[str, type], list[str]] = {}
        self._kinds: dict[str, tuple[str, type]] = {}

    def unique(self, word: str) -> str:
        """The word, with a number if it is taken."""
        count, name = self._counts.get(word, 1), word
        while name in self._taken:
            count += 1
            name = f"{word}{count}" if not word[-1].isdigit() else f"{word}_{count}"
        self._taken.add(name)
        self._counts[word] = count
        return name

    def variable(self, word: str, kind: type) -> str:
        """The same for a variable; one of its kind that was given back serves again."""
        free = self._free.setdefault((word, kind), [])
        name = free.pop() if free else self.unique(word)
        self._kinds[name] = word, kind
        return name

    def give_back(self, name: str) -> None:
        """What the variable held is gone."""
        if name in self._kinds:
            self._free[self._kinds[name]].append(name)


class Naming:
    """The names in one program.

    Parameters
    ----------
    steps : list of Step
    reserved : set of str
        What cannot be a name there, or means something else.
    """

    def __init__(self, steps: list[Step], reserved: Set[str]) -> None:
        self.identifiers: Identifiers = Identifiers(reserved)
        roles = dict(_roles(steps))
        unique = self.identifiers.unique
        self._objects: dict[str, str] = {}
        self._memory: dict[int, str] = {}
        for step in steps:
            if isinstance(step, Allocate):
                self._memory[id(step.allocation)] = unique(camel(step.allocation.word))
            elif isinstance(step, Call):
                self._call(step, roles)

    def _call(self, call: Call, roles: Mapping[str, str]) -> None:
        """Name what it creates; the names of what it destroys serve again."""
        destroys = destroyed_by(call)
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created:
                word = _word_of_object(value, roles.get(value.created, ""))
                name = self.identifiers.variable(word, value.base)
                self._objects[value.created] = name
            elif isinstance(value, Object) and value.name == destroys:
                self.identifiers.give_back(self._objects[value.name])

    def of_object(self, name: str) -> str:
        """The name of what the session calls so."""
        return self._objects[name]

    def of_memory(self, allocation: Allocation) -> str:
        """The name of an allocation."""
        return self._memory[id(allocation)]


def destroyed_by(call: Call) -> str:
    """The session's name of the object that a call destroys; "" if it destroys none."""
    if "Destroy" in call.function.__name__ and not call.status:
        for value in call.arguments.values():
            if isinstance(value, Object):
                return value.name
    return ""


def camel(text: str) -> str:
    """``workspace_size`` as C programs write it: ``workspaceSize``."""
    first, *others = text.split("_")
    return first + "".join(each.capitalize() for each in others)


def _word_of_object(value: Variable, role_: str) -> str:
    if value.base is not cudnnBackendDescriptor_t:
        word = role_ or value.base.__name__.removeprefix("cudnn").removesuffix("_t")
        word = word[:1].lower() + word[1:]
        return word.removesuffix("Descriptor") + ("Desc" if word.endswith("Descriptor") else "")
    kind = re.sub(r"\d+$", "", value.created)
    if kind == "tensor":
        return f"{camel(role_ or kind)}Desc"
    if kind.startswith("operation_"):
        return camel(kind.removeprefix("operation_")) + "Operation"
    word = camel(_BACKEND_WORDS.get(kind, kind))
    return f"{word}Desc" if kind in _DESCRIPTORS else word


def _roles(steps: Iterable[Step]) -> Iterator[tuple[str, str]]:
    """Objects by the session's names, and what calls call them, those that decide last.

    A call that computes decides before one that asks for sizes, and an earlier one before a later.
    """
    calls = [step for step in steps if isinstance(step, Call)]
    calls.sort(key=lambda call: call.function.__name__.startswith("cudnnGet"))
    for call in reversed(calls):
        function = call.function.__name__
        if function == "cudnnBackendSetAttribute":
            yield from _attribute_roles(call)
        elif not function.startswith(_ABOUT_IT) and not _is_accessor(function):
            for name, value in call.arguments.items():
                if isinstance(value, Object) and name.endswith(("Desc", "Descriptor", "Plan")):
                    yield value.name, name


def _is_accessor(function: str) -> bool:
    """Whether it sets or tells what one descriptor holds."""
    return function.startswith(("cudnnSet", "cudnnGet")) and (
        "Descriptor" in function
        or re.search(r"(GroupCount|MathType|ReorderType)$", function) is not None
    )


def _attribute_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Tensors by the attribute of the operation that they are set in."""
    attribute, array = call.arguments["attributeName"], call.arguments["arrayOfElements"]
    if not isinstance(attribute, Number) or not isinstance(array, Array):
        return
    name = Name(int(attribute.value))
    if name.name.startswith("CUDNN_ATTR_OPERATION_"):
        for item in array.items:
            if isinstance(item, Object):
                yield item.name, role(name)
