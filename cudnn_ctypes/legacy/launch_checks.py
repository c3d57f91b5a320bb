"""The conditions, as source, by which a compiled launch recognizes its arguments.

Arguments are alike if their looks have equal parts (see `launch_keys`). Each kind of argument has a
condition that takes less time than a look; all others are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any

from ..raw.torch_forms import alike
from .launch_keys import LOWEST_ADDRESS, Look, aligned, kind_of_look, looks

__all__ = ["Checks"]

_CONDITIONS = {
    "none": "{0} is not None",
    "number": "{0} is not _value_{0} and ({0}.__class__ is not _kind_{0} or {0} != _value_{0})",
    "float": "{0} is not _value_{0} and ({0}.__class__ is not _kind_{0} or {0} != _value_{0} "
    "or not {0} and _text({0}) != _text(_value_{0}))",  # 0.0 equals -0.0
    "address": "{0}.__class__ is not _kind_{0} or {0} < _lowest",
    "own": "{0}.__class__ is not _kind_{0} "
    "or (_own_{0} := {0}._keyed or {0}.keyed())[0] != _part_{0}",
    "descriptor": "{0}.__class__ is not _kind_{0} or {0}._place.token != _part_{0}",
    "other": "(_look_{0} := _looks[{0}.__class__]({0}, _launcher))[0] != _part_{0}",
}
_AT = {
    "address": "_pointer({0})",
    "own": "_own_{0}[1]",
    "torch": "_pointer({0}.data_ptr())",
    "descriptor": "{0}._as_parameter_",
    "other": "_look_{0}[1]",
}


class Checks:
    """The conditions of a launch.

    Parameters
    ----------
    given : dict
        The arguments by name. None of them is kept but numbers, names and types.
    seen : sequence of Look
        Their looks.
    by_alignment : bool
        Whether the alignment of addresses counts too.

    Attributes
    ----------
    conditions : list of str
        Each is true if an argument is another.
    at : list of str
        Lines that assign the pointers that C receives for the arguments.
    scope : dict
        The names that both refer to, besides ``_launcher``.
    """

    def __init__(self, given: dict[str, Any], seen: Sequence[Look], *, by_alignment: bool) -> None:
        self.conditions: list[str] = []
        self.at: list[str] = []
        self.scope: dict[str, Any] = {
            "_pointer": c_void_p if by_alignment else c_void_p.from_param,
            "_lowest": LOWEST_ADDRESS,
            "_looks": looks,
            "_text": repr,
        }
        tensors: dict[int, str] = {}
        for (name, value), (part, _) in zip(given.items(), seen, strict=True):
            kind = kind_of_look(value)
            self.scope[f"_kind_{name}"], self.scope[f"_part_{name}"] = type(value), part
            if kind in ("number", "float"):
                self.scope[f"_value_{name}"] = value
            if kind != "torch":
                self.conditions.append(_CONDITIONS[kind].format(name))
            elif (first := tensors.setdefault(id(value), name)) != name:
                self.conditions.append(f"{name} is not {first}")
            if kind in _AT:
                self.at.append(f"_at_{name} = {_AT[kind].format(name)}")
        if tensors:
            self.conditions += [
                f"{name}.__class__ is not _kind_{name} or {name}.is_nested"
                for name in tensors.values()
            ]
            self.scope["_alike"] = alike([given[name] for name in tensors.values()])
            self.conditions.append(f"not _alike({', '.join(tensors.values())})")
            self.conditions += [f"{name}.requires_grad" for name in tensors.values()]
        if by_alignment:
            names = "".join(f"{line.partition(' =')[0]}, " for line in self.at)
            self.scope |= {"_aligned": aligned, "_alignment": aligned([at for _, at in seen])}
            self.at.append(f"if _aligned(({names})) != _alignment: return _OTHER")
