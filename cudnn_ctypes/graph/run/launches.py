"""Executions that were made before with the same keys: one compiled function for each order.

The first execution with some keys goes the long way, which says what is wrong with the operands.
What it takes after that is written out as source: the operands by their places, each read by what
its class needs, no loops. Whatever is not as it was, and not known to fit, goes the long way again.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.compiled_functions import function_of
from ...raw.function import binding
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.memory import memory_pointer
from ...raw.typed_memory import by_class, is_own, is_torch

if TYPE_CHECKING:
    from ..backend.descriptor import BackendDescriptor
    from .variant_packs import VariantPacks

__all__ = ["Launch", "Launches", "Operand", "launch"]

_MOST = 16  # orders of keys that are remembered

Launch = Callable[[Callable[[Any, Any, Any], None], Any, dict[Any, Any], Any], None]
"""Executes a plan; takes the long way, the handle, the mapping and the workspace."""

_LAUNCH = """\
def launch(long_way, handle, memory, workspace):
    if watched or ordinals:
        return long_way(handle, memory, workspace)
    try:
        {values}
    except KeyError:
        return launches().other(memory)(long_way, handle, memory, workspace)
    if len(memory) != {count}:
        return launches().other(memory)(long_way, handle, memory, workspace)
    try:
        {addresses}
        key = {key}
        known = checked[0]
        to_handle, to_plan = handle._as_parameter_, plan["_as_parameter_"]
        good = type(to_handle) is handle_t and to_handle and (key == known or ({checks}))
    except Exception:
        good = False
    if not good:
        return long_way(handle, memory, workspace)
    pack = kept.pop(key, None) or filled(key)
    if logged:
        forget()
    code = execute(to_handle, to_plan, pack.argument)
    if code:
        raise error(code, (handle, descriptor, pack.descriptor))
    kept[key] = pack
    checked[0] = key
"""

_ADDRESS = "{1} = {2} if type({0}) is kind_{0} else {0} if type({0}) is int else pointer({0})"
# Of memory whose address is another than that of the last time.
_ANY = "type({0}) is not kind_{0} or {1}"
_FITS = "{2} if type({0}) is kind_{0} else type({0}) is int or fits({0}, fitting_{0})"
_HAS_ROOM = "type({0}) is int or {0}.nbytes >= size and (type({0}) is not kind_{0} or {1})"


class _Reading(NamedTuple):
    """How memory of a class is read, as expressions in which {0} is its name.

    Attributes
    ----------
    address : str
    on_gpu, fits : str
        Whether it is memory of a GPU, and whether its description was found to fit.
    """

    address: str
    on_gpu: str
    fits: str


_TORCH = _Reading(
    "{0}.data_ptr()",
    "{0}.is_cuda",
    "{0}.is_cuda and ((form := ({0}.dtype, {0}.shape, {0}.stride())) == form_{0}"
    " or form in fitting_{0})",
)
_OWN = _Reading(
    "({0}._keyed or {0}.keyed())[1].value",
    "not {0}._on_host",
    "({0}._keyed or {0}.keyed())[0] in fitting_{0}",  # which says where it is
)


class Operand(NamedTuple):
    """One of the addresses of an execution.

    Attributes
    ----------
    fitting : set, optional
        For memory of the user: the forms that fit, as `by_class` identifies them; None for any.
    base, offset : int, optional
        The place of the operand of which this one is a part, and the bytes before it.
    number : int, optional
        The address of a number that is fixed in the graph.
    tensor, value : optional
        Whose number it is, as long as its value is this one.
    """

    fitting: set[Any] | None = None
    base: int | None = None
    offset: int = 0
    number: int | None = None
    tensor: Any = None
    value: Any = None


class Launches(dict[tuple[Any, ...], Launch]):
    """The functions by the keys of the mappings; the long way for other keys.

    Attributes
    ----------
    last : Launch
        The one that was taken last, which knows for which keys it is: call this one.
    """

    __slots__ = ("__weakref__", "last")

    def __init__(self) -> None:
        self.last: Launch = _the_long_way

    def other(self, memory: dict[Any, Any]) -> Launch:
        """The launch for a mapping with other keys than those of `last`."""
        found = self.get((*memory,))
        if found is None:
            return _the_long_way
        self.last = found
        return found

    def add(self, keys: tuple[Any, ...], made: Launch) -> None:
        """Remember a function for mappings with these keys."""
        if len(self) >= _MOST:
            self.clear()
        self[keys] = self.last = made

    def clear(self) -> None:
        super().clear()
        self.last = _the_long_way


def _the_long_way(
    long_way: Callable[[Any, Any, Any], None], handle: Any, memory: dict[Any, Any], workspace: Any
) -> None:
    long_way(handle, memory, workspace)


def launch(
    launches: Launches,
    keys: Sequence[Any],
    plan: BackendDescriptor,
    packs: VariantPacks,
    operands: Sequence[Operand],
    order: Mapping[int, Any],
    workspace: Any,
    workspace_size: int,
    checked: list[Any],
) -> None:
    """Add a function for executions like the one that was just made.

    Parameters
    ----------
    launches : Launches
        Which the function is added to.
    keys : sequence
        Of the mapping.
    operands : sequence of Operand
        By place.
    order : mapping of int to memory
        What was given for which place, in the order of the keys.
    workspace : device memory or None
    workspace_size : int
        Bytes that are needed.
    checked : list
        Its one element is the addresses, by place, that were found to fit the last time, and that
        of the workspace. It is kept up to date.
    """
    scope = {
        "watched": watched,
        "ordinals": ordinals,
        "checked": checked,
        "descriptor": plan,
        "plan": vars(plan),
        "handle_t": cudnnHandle_t,
        "kept": packs.kept,
        "filled": packs.filled,
        "logged": logged,
        "forget": forget,
        "execute": bare.cudnnBackendExecute,
        "error": binding("cudnnBackendExecute").error,
        "pointer": memory_pointer,
        "fits": _fits,
        "size": workspace_size,
        "launches": weakref.ref(launches),
    }
    readings = {}
    for place, operand in enumerate(operands):
        scope[f"fitting_v{place}"], scope[f"number{place}"] = operand.fitting, operand.number
        scope[f"form_v{place}"] = next(iter(operand.fitting or ()), None)
        scope[f"tensor{place}"], scope[f"value{place}"] = operand.tensor, operand.value
    for key, (place, memory) in zip(keys, order.items(), strict=True):
        scope[f"key{place}"] = key
        scope[f"kind_v{place}"], readings[place] = _kind(memory)
    scope["kind_workspace"], of_workspace = _kind(workspace)
    source = _source(operands, readings, of_workspace if workspace_size else None)
    made: Launch = function_of(source, "a plan", scope)
    launches.add((*keys,), made)


def _source(
    operands: Sequence[Operand], readings: Mapping[int, _Reading], of_workspace: _Reading | None
) -> str:
    """Source of a launch: reads the memory at each place, and the workspace if there is one."""
    lines = [_address(f"v{place}", f"a{place}", each) for place, each in readings.items()]
    key = []
    checks = ["key"]  # not empty
    for place, operand in enumerate(operands):
        if operand.number is not None:
            key.append(f"number{place}")
        elif operand.base is not None:
            key.append(f"a{operand.base} + {operand.offset}")
        else:
            key.append(f"a{place}")
            fits = _filled(_ANY if operand.fitting is None else _FITS, f"v{place}", readings[place])
            checks.append(f"(a{place} == known[{place}] or a{place} and ({fits}))")
    if of_workspace is not None:
        lines.append(_address("workspace", "space", of_workspace))
        has_room = _filled(_HAS_ROOM, "workspace", of_workspace)
        checks.append(f"(space == known[-1] or space and ({has_room}))")
    key.append("0" if of_workspace is None else "space")
    same = [
        f"tensor{place}.value is value{place} and "
        for place, operand in enumerate(operands)
        if operand.tensor is not None
    ]
    values = ", ".join(f"v{place}" for place in readings)
    return _LAUNCH.format(
        values=f"{values} = {', '.join(f'memory[key{place}]' for place in readings)}",
        count=len(readings),
        addresses="\n        ".join(lines),
        key=f"({', '.join(key)})",
        checks=" and ".join(checks),
    ).replace("good = ", f"good = {''.join(same)}", 1)


def _address(name: str, address: str, reading: _Reading) -> str:
    return _ADDRESS.format(name, address, reading.address.format(name))


def _filled(check: str, name: str, reading: _Reading) -> str:
    return check.format(name, reading.on_gpu.format(name), reading.fits.format(name))


def _kind(memory: Any) -> tuple[type, _Reading]:
    """The class whose objects are read at once, and how."""
    cls = type(memory)
    if is_torch(cls):
        return cls, _TORCH
    if is_own(cls) and hasattr(cls, "keyed"):
        return cls, _OWN
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return (tensor if isinstance(tensor, type) else _NoTensor), _TORCH


class _NoTensor:
    """Stands for PyTorch's class where it is not loaded."""


def _fits(memory: Any, fitting: set[Any]) -> bool:
    """Whether memory of this description was found to fit."""
    identity = by_class.of(memory).identity(memory)
    return identity is not None and identity in fitting
