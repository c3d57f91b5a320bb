"""Executions that were made before with the same keys: one compiled function for each order.

The first execution with some keys goes the long way, which says what is wrong with the operands.
What it takes after that is written out as source: the operands by their places, each read by what
its class needs, no loops. Whatever is not as it was, and not known to fit, goes the long way again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...raw import cudnnHandle_t
from ...raw.bare import bare, watched
from ...raw.compiled_functions import function_of
from ...raw.function import binding
from ...raw.gpus import ordinals
from ...raw.log import forget, logged
from ...raw.memory import memory_pointer
from ...raw.typed_memory import by_class, is_torch

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
        {values} = memory.values()
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

_ADDRESS = "{1} = {0}.data_ptr() if type({0}) is {2} else {0} if type({0}) is int else pointer({0})"
# Of memory whose address is another than that of the last time.
_ANY = "type(v{0}) is not kind{0} or v{0}.is_cuda"
_FITS = (
    "type(v{0}) is int or fits(v{0}, fitting{0}) if type(v{0}) is not kind{0}"
    " else v{0}.is_cuda and ((form := (v{0}.dtype, v{0}.shape, v{0}.stride())) == form{0}"
    " or form in fitting{0})"
)
_HAS_ROOM = (
    "type(workspace) is int or workspace.nbytes >= size"
    " and (type(workspace) is not kind or workspace.is_cuda)"
)


class Operand(NamedTuple):
    """What stands at one place among the addresses of an execution.

    Attributes
    ----------
    fitting : set, optional
        Of memory that is given: what `by_class` identifies as fitting; None to take anything.
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
    """The functions by the keys of the mappings, in their order; the long way for other keys."""

    def __missing__(self, keys: tuple[Any, ...]) -> Launch:
        return _the_long_way

    def add(self, keys: tuple[Any, ...], made: Launch) -> None:
        """Remember a function for mappings with these keys."""
        if len(self) >= _MOST:
            self.clear()
        self[keys] = made


def _the_long_way(
    long_way: Callable[[Any, Any, Any], None], handle: Any, memory: dict[Any, Any], workspace: Any
) -> None:
    long_way(handle, memory, workspace)


def launch(
    plan: BackendDescriptor,
    packs: VariantPacks,
    operands: Sequence[Operand],
    order: Mapping[int, Any],
    workspace: Any,
    workspace_size: int,
    checked: list[Any],
) -> Launch:
    """A function for executions like the one that was just made.

    Parameters
    ----------
    operands : sequence of Operand
        By place.
    order : mapping of int to memory
        What was given for which place.
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
        "kind": _kind(workspace),
    }
    for place, operand in enumerate(operands):
        scope[f"fitting{place}"], scope[f"number{place}"] = operand.fitting, operand.number
        scope[f"kind{place}"] = _kind(order.get(place))
        scope[f"form{place}"] = next(iter(operand.fitting or ()), None)
        scope[f"tensor{place}"], scope[f"value{place}"] = operand.tensor, operand.value
    source = _source(operands, list(order), needs_workspace=workspace_size > 0)
    return function_of(source, "a plan", scope)


def _source(operands: Sequence[Operand], order: Sequence[int], *, needs_workspace: bool) -> str:
    lines = [_ADDRESS.format(f"v{place}", f"a{place}", f"kind{place}") for place in order]
    key = []
    checks = ["key"]  # not empty
    for place, operand in enumerate(operands):
        if operand.number is not None:
            key.append(f"number{place}")
        elif operand.base is not None:
            key.append(f"a{operand.base} + {operand.offset}")
        else:
            key.append(f"a{place}")
            fits = (_ANY if operand.fitting is None else _FITS).format(place)
            checks.append(f"(a{place} == known[{place}] or a{place} and ({fits}))")
    if needs_workspace:
        lines.append(_ADDRESS.format("workspace", "space", "kind"))
        checks.append(f"(space == known[-1] or space and ({_HAS_ROOM}))")
    key.append("space" if needs_workspace else "0")
    same = [
        f"tensor{place}.value is value{place} and "
        for place, operand in enumerate(operands)
        if operand.tensor is not None
    ]
    return _LAUNCH.format(
        values="".join(f"v{place}, " for place in order),
        addresses="\n        ".join(lines),
        key=f"({', '.join(key)})",
        checks=" and ".join(checks),
    ).replace("good = ", f"good = {''.join(same)}", 1)


def _kind(memory: Any) -> type:
    """The class whose objects are read as PyTorch's tensors are."""
    if is_torch(type(memory)):
        return type(memory)
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor if isinstance(tensor, type) else _NoTensor


class _NoTensor:
    """Stands for PyTorch's class where it is not loaded."""


def _fits(memory: Any, fitting: set[Any]) -> bool:
    """Whether memory of this description was found to fit."""
    identity = by_class.of(memory).identity(memory)
    return identity is not None and identity in fitting
