"""The names of objects and memory in the text of a recorded program, from their roles."""

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
"""Backend descriptors whose names end in "Desc", since the described object has the plain word."""

# Parameters of these functions name a descriptor by its kind, not by its role.
_ABOUT_IT = ("cudnnCreate", "cudnnDestroy", "cudnnDerive", "cudnnBackend", "cudnnInit")


class Identifiers:
    """Unique names, different from the reserved words."""

    def __init__(self, reserved: Set[str] = frozenset()) -> None:
        self._taken = set(reserved)
        self._counts: dict[str, int] = {}
        self._free: dict[tuple[str, type], list[str]] = {}
        self._kinds: dict[str, tuple[str, type]] = {}

    def unique(self, word: str) -> str:
        """The word, with a number if it is in use."""
        count, name = self._counts.get(word, 1), word
        while name in self._taken:
            count += 1
            name = f"{word}{count}" if not word[-1].isdigit() else f"{word}_{count}"
        self._taken.add(name)
        self._counts[word] = count
        return name

    def variable(self, word: str, kind: type) -> str:
        """A variable's name from `word`; a released name of the same type is used again."""
        free = self._free.setdefault((word, kind), [])
        name = free.pop() if free else self.unique(word)
        self._kinds[name] = word, kind
        return name

    def release(self, name: str) -> None:
        """Release a variable's name: its object was destroyed."""
        if name in self._kinds:
            self._free[self._kinds[name]].append(name)


class Naming:
    """The names in one program.

    Parameters
    ----------
    steps : list of Step
    reserved : set of str
        Words that cannot be names in the program, or have another meaning.
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
        """Name the objects that a call creates, and release the names of destroyed ones."""
        destroys = destroyed_by(call)
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created:
                word = _word_of_object(value, roles.get(value.created, ""))
                name = self.identifiers.variable(word, value.base)
                self._objects[value.created] = name
            elif isinstance(value, Object) and value.name == destroys:
                self.identifiers.release(self._objects[value.name])

    def of_object(self, name: str) -> str:
        """The program's name of the object that the session calls `name`."""
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
    """A name in C's style: ``workspaceSize`` for ``workspace_size``."""
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
    """Pairs of an object's session name and the name of a parameter to which calls pass it.

    The last pair of an object decides: computing calls go before calls that ask for sizes, earlier
    calls before later ones.
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
    """Whether a function sets or gets the values of one descriptor."""
    return function.startswith(("cudnnSet", "cudnnGet")) and (
        "Descriptor" in function
        or re.search(r"(GroupCount|MathType|ReorderType)$", function) is not None
    )


def _attribute_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Tensors with the name of the operation's attribute in which they are set."""
    attribute, array = call.arguments["attributeName"], call.arguments["arrayOfElements"]
    if not isinstance(attribute, Number) or not isinstance(array, Array):
        return
    name = Name(int(attribute.value))
    if name.name.startswith("CUDNN_ATTR_OPERATION_"):
        for item in array.items:
            if isinstance(item, Object):
                yield item.name, role(name)
