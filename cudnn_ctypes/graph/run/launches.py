"""Executions like those before: one compiled function for the same keys and classes of memory.

The first execution of a kind goes the long way, which says what is wrong with the operands. What it
takes after that is written out as source: the operands by their places, each read by what its class
needs, no loops. Whatever is not as it was, and not known to fit, goes the long way again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.function import binding
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.memory import memory_pointer
from ...raw.typed_memory import by_class, is_own, is_torch
from ...runtime.cuda import CUDA
from ...runtime.launching.forms import function_of

if TYPE_CHECKING:
    from ..backend.descriptor import BackendDescriptor
    from .variant_packs import VariantPacks

__all__ = ["Launch", "Launches", "Operand", "launch"]

_MOST = 32  # functions that are remembered

Launch = Callable[[Callable[[Any, Any, Any], None], Any, dict[Any, Any], Any], None]
"""Executes a plan; takes the long way, the handle, the mapping and the workspace."""

_LAUNCH = """\
def launch(long_way, handle, memory, workspace):
    {declaration}
    if watched or ordinals:
        return long_way(handle, memory, workspace)
    try:
        {key}
    except Exception:
        return launches().other(memory, workspace)(long_way, handle, memory, workspace)
    if len(memory) != {count}:
        return launches().other(memory, workspace)(long_way, handle, memory, workspace)
    try:
        to_handle, to_plan = handle._as_parameter_, plan["_as_parameter_"]
        good = {fits}type(to_handle) is handle_t and to_handle
        known = last[-1].key if last else None
        if key == known:
            key = known
        elif not ({are_addresses}):
            good = False
        {comparison}
    except Exception:
        good = False
    if not good:
        return long_way(handle, memory, workspace)
    try:
        pack = last.pop()
    except IndexError:
        pack = exchanged(key)
    else:
        if pack.key is not key:
            pack = exchanged(key, pack)
    if logged:
        forget()
    code = execute(to_handle, to_plan, pack.argument)
    if code:
        settle(code, (handle, descriptor, pack.descriptor))
    last.append(pack)
"""

# Tensors of PyTorch are read only if they are not the objects of the last time, where those were:
# PyTorch gives addresses again, to tensors of other shapes too.
_COMPARISON = """\
if not (key is seen and {same}):
            good = good and {fits}
            if good:
                seen = key"""
_IS_SAME = "ref{0}() is v{0}"
_READ = (
    "(ref{0}() is v{0} and key[{0}] == seen[{0}] or key[{0}] and {1} and (ref{0} := weak(v{0})))"
)
_SAME = "tensor{0}.value is value{0}"
_IN_RANGE = "0 < key[{0}] < most"
_HIGHEST_ADDRESS = 1 << 62  # so far that of a part of this memory has 64 bits, too


class _Reading(NamedTuple):
    """How memory of a class is read, as expressions; {0} is its place, {1} its expression.

    Attributes
    ----------
    address : str
        Names the memory ``v{0}``; raises an exception for objects of other classes.
    on_gpu, fits, has_room : str
        Whether it is memory of a GPU, its description was found to fit, or it has `size` bytes.
    """

    address: str
    on_gpu: str
    fits: str
    has_room: str


_TORCH = _Reading(
    "data_ptr{0}(v{0} := {1})",
    "v{0}.is_cuda",
    "v{0}.is_cuda and not v{0}.is_neg() and (v{0}.dtype == dtype{0} and v{0}.shape == shape{0} and "
    "v{0}.stride() == strides{0} or (v{0}.dtype, v{0}.shape, v{0}.stride()) in fitting{0})",
    "v{0}.is_cuda and v{0}.nbytes >= size",
)
_OWN = _Reading(
    "((v{0} := {1})._keyed or v{0}.keyed())[1].value",
    "v{0}._runtime is cuda",
    "(v{0}._keyed or v{0}.keyed())[0] in fitting{0}",  # which says where it is
    "v{0}._runtime is cuda and v{0}.nbytes >= size",
)
_ADDRESS = _Reading("(v{0} if type(v{0} := {1}) is int else of_another_class())", *["True"] * 3)
_OTHER = _Reading("address(v{0} := {1})", "True", "fits(v{0}, fitting{0})", "v{0}.nbytes >= size")


class Operand(NamedTuple):
    """One of the addresses of an execution.

    Attributes
    ----------
    fitting : set, optional
        For memory of the user: the forms that were found to fit, as `by_class` identifies them;
        None for any.
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
    """The functions by what they are for: the keys of the mappings, and the classes of the memory.

    Attributes
    ----------
    last : Launch
        The one that was taken last, which knows what it is for: call this one.
    """

    __slots__ = ("__weakref__", "last")

    def __init__(self) -> None:
        self.last: Launch = _the_long_way

    def other(self, memory: dict[Any, Any], workspace: Any) -> Launch:
        """The launch for memory that `last` is not for; the long way if there is none."""
        found = self.get(_kinds(memory, workspace))
        if found is None or found is self.last:
            return _the_long_way
        self.last = found
        return found

    def lack(self, memory: dict[Any, Any], workspace: Any) -> bool:
        """Whether no launch is for this memory."""
        return _kinds(memory, workspace) not in self

    def add(self, memory: dict[Any, Any], workspace: Any, made: Launch) -> None:
        """Remember a function for memory like this."""
        if len(self) >= _MOST:
            self.clear()
        self[_kinds(memory, workspace)] = self.last = made

    def clear(self) -> None:
        super().clear()
        self.last = _the_long_way


def _kinds(memory: dict[Any, Any], workspace: Any) -> tuple[Any, ...]:
    return *memory, *map(type, memory.values()), type(workspace)


def _the_long_way(
    long_way: Callable[[Any, Any, Any], None], handle: Any, memory: dict[Any, Any], workspace: Any
) -> None:
    long_way(handle, memory, workspace)


def launch(
    launches: Launches,
    memory: dict[Any, Any],
    workspace: Any,
    workspace_size: int,
    plan: BackendDescriptor,
    packs: VariantPacks,
    operands: Sequence[Operand],
    places: Sequence[int],
) -> None:
    """Add a function for executions like the one that was just made.

    Parameters
    ----------
    launches : Launches
        Which the function is added to.
    memory : dict
        What was given.
    workspace : device memory or None
    workspace_size : int
        Bytes that are needed.
    operands : sequence of Operand
        By place.
    places : sequence of int
        Of what was given, in the order of the keys.
    """
    scope = {
        "watched": watched,
        "ordinals": ordinals,
        "descriptor": plan,
        "plan": vars(plan),
        "handle_t": cudnnHandle_t,
        "last": packs.last,
        "exchanged": packs.exchanged,
        "logged": logged,
        "forget": forget,
        "execute": bare.cudnnBackendExecute,
        "settle": binding("cudnnBackendExecute").settle,
        "address": memory_pointer,
        "of_another_class": _of_another_class,
        "most": _HIGHEST_ADDRESS,
        "fits": _fits,
        "cuda": CUDA,
        "size": workspace_size,
        "launches": weakref.ref(launches),
        "weak": weakref.ref,
    }
    for place, operand in enumerate(operands):
        scope[f"fitting{place}"], scope[f"number{place}"] = operand.fitting, operand.number
        scope[f"tensor{place}"], scope[f"value{place}"] = operand.tensor, operand.value
    readings, given = {}, {}
    for place, (key, each) in zip(places, memory.items(), strict=True):
        scope[f"key{place}"] = key
        given[place], readings[place] = each, _reading(each, place, scope)
    of_workspace = None
    if workspace_size:
        given[len(operands)] = workspace
        of_workspace = _reading(workspace, len(operands), scope)
    of_torch = [place for place, each in given.items() if is_torch(type(each))]
    scope |= {f"ref{place}": weakref.ref(given[place]) for place in of_torch}
    scope["seen"] = (None,) * (len(operands) + 1)
    source = _source(operands, readings, of_workspace, of_torch)
    launches.add(memory, workspace, function_of(source, "a plan", scope))


def _source(
    operands: Sequence[Operand],
    readings: Mapping[int, _Reading],
    of_workspace: _Reading | None,
    of_torch: Collection[int],
) -> str:
    """Source of a launch: reads the memory at each place, and the workspace if there is one."""
    fits = {}
    for place, reading in readings.items():
        does_fit = reading.on_gpu if operands[place].fitting is None else reading.fits
        fits[place] = does_fit.format(place)
    if of_workspace is not None:
        fits[len(operands)] = of_workspace.has_room.format(len(operands))
    in_range = [_IN_RANGE.format(place) for place in fits if place not in of_torch]
    declaration, comparison = "", ""
    if of_torch:
        declaration = f"global seen, {', '.join(f'ref{place}' for place in of_torch)}"
        comparison = _COMPARISON.format(
            same=" and ".join(_IS_SAME.format(place) for place in of_torch),
            fits=" and ".join(_READ.format(place, fits.pop(place)) for place in of_torch),
        )
    conditions = [_SAME.format(at) for at, each in enumerate(operands) if each.tensor is not None]
    conditions += [each for each in fits.values() if each != "True"]
    return _LAUNCH.format(
        declaration=declaration,
        key="\n        ".join(_key(operands, readings, of_workspace)),
        count=len(readings),
        fits="".join(f"{each} and " for each in conditions),
        are_addresses=" and ".join(in_range) or "True",
        comparison=comparison,
    )


def _key(
    operands: Sequence[Operand], readings: Mapping[int, _Reading], of_workspace: _Reading | None
) -> list[str]:
    """Statements that put together the addresses, by place, and that of the workspace."""
    found = {at: each.address.format(at, f"memory[key{at}]") for at, each in readings.items()}
    lines = []
    for base in {operand.base for operand in operands if operand.base is not None}:
        lines.append(f"a{base} = {found[base]}")
        found[base] = f"a{base}"
    for place, operand in enumerate(operands):
        if operand.number is not None:
            found[place] = f"number{place}"
        elif operand.base is not None:
            found[place] = f"a{operand.base} + {operand.offset}"
    key = [found[place] for place in range(len(operands))]
    space = "0" if of_workspace is None else of_workspace.address
    return [*lines, f"key = ({', '.join(key)}, {space.format(len(operands), 'workspace')})"]


def _reading(memory: Any, place: int, scope: dict[str, Any]) -> _Reading:
    """How a launch reads memory of this class; adds the names that it needs to `scope`."""
    cls = type(memory)
    if is_torch(cls):
        scope[f"data_ptr{place}"] = cls.data_ptr
        form = by_class.of(memory).identity(memory)
        scope[f"dtype{place}"], scope[f"shape{place}"], scope[f"strides{place}"] = form
        return _TORCH
    if is_own(cls) and hasattr(cls, "keyed"):
        return _OWN
    return _ADDRESS if cls is int else _OTHER


def _of_another_class() -> NoReturn:
    raise TypeError("no address")


def _fits(memory: Any, fitting: set[Any]) -> bool:
    """Whether memory of this description, or that has none, was found to fit."""
    return by_class.of(memory).identity(memory) in fitting
