"""Checks around C calls where C would crash, overwrite memory or compute garbage.

Each module here holds one kind of check. When a C function is bound, the functions of `_GUARDS`
return the source lines that the function needs, or None. The lines of all fragments and the
C call are compiled into one Python function. So checks cost a function without guards nothing, and
a function with guards no extra Python calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["Fragment", "fragment", "inserted"]

# In the order of their lines: NULL is refused before other checks read the arguments.
_GUARDS = (
    *("lengths.nulls", "lengths.lengths", "lengths.read_back_dims", "lengths.products"),
    *("backend.attributes", "labels.fragment", "lifetime.unset", "lengths.losses"),
    *("lifetime.changed", "lifetime.destroyed", "backend.executable"),
    *("lifetime.callback", "operands.fragment", "faults.fragment"),
)


@dataclass(frozen=True)
class Fragment:
    """Source lines around a C call.

    The lines use C's parameter names, and ``{args}`` for the tuple of all arguments.
    ``return _refused(code, {args}, reason, ...)`` refuses the call with a status.

    - `before`: lines before the call.
    - `after`: lines after the call, for every status; the status is ``_code``.
    - `success`: lines after a call that succeeded.
    - `scope`: further names in the lines; each begins with an underscore. Always present are
      ``_kind_NAME``, the class of a parameter's values or variables, ``_of_NAME``, the handle or
      descriptor that its argument is or owns, and ``_convert_NAME``, its converter.
    - `arguments`: the expression that C receives, by parameter, where the usual one would repeat
      work.
    - `argtypes`: converters of the arguments, for interceptors of the C function.
    """

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    success: Sequence[str] = ()
    scope: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    argtypes: Sequence[Any] = ()


def fragment(binding: Binding) -> Fragment:
    """The lines of all guards for one C function."""
    before: list[str] = []
    after: list[str] = []
    success: list[str] = []
    scope: dict[str, Any] = {}
    arguments: dict[str, str] = {}
    argtypes: Sequence[Any] = ()
    for guard in _GUARDS:
        module, _, name = guard.partition(".")
        part = getattr(importlib.import_module(f".{module}", __name__), name)(binding)
        if part is None:
            continue
        before += part.before
        after += part.after
        success += part.success
        if repeated := scope.keys() & part.scope.keys():
            raise NameError(f"guards of {binding.name}: {sorted(repeated)} in two fragments")
        scope.update(part.scope)
        arguments.update(part.arguments)
        argtypes = part.argtypes or argtypes
    return Fragment(before, after, success, scope, arguments, argtypes)


def inserted(source: str, guard: Fragment, arguments: str) -> str:
    """The source of a function with the guard's lines in their places."""
    lines: list[str] = []
    places = {"#before": guard.before, "#after": guard.after, "#success": guard.success}
    for line in source.splitlines():
        if (place := line.strip()) in places:
            lines += [f"    {each.replace('{args}', arguments)}" for each in places[place]]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"
