"""The names of NVIDIA's Python front end 1.32 that are not here, and why; a test compares.

``left_out.json`` has them by group and reason: what is no part of cuDNN, and what is built on
cuDNN, done here by another name or not. Names are those of its module; with a point, members of its
classes and enums; in brackets, arguments of its methods.
"""

from __future__ import annotations

import json
from pathlib import Path

_GROUPS: dict[str, dict[str, list[str]]] = json.loads(
    (Path(__file__).parent / "left_out.json").read_text(encoding="utf-8")
)
_REFUSED = "described here, and refused by validate"

LEFT_OUT = {
    name: f"{group}: {reason}"
    for group, reasons in _GROUPS.items()
    if group != _REFUSED
    for reason, lines in reasons.items()
    for name in " ".join(lines).split()
}
"""Group and reason by name."""

REFUSED = {
    name: reason for reason, lines in _GROUPS[_REFUSED].items() for name in " ".join(lines).split()
}
"""Reasons by name for what can be described, and ``pygraph.validate`` refuses."""


def missing(owner: str, name: str) -> str:
    """The text of an AttributeError for a name that is not here.

    - `owner`: the object that was asked, for the message: "pygraph".
    """
    reason = LEFT_OUT.get(name) or LEFT_OUT.get(f"{owner}.{name}")
    return f"{owner} has no {name!r}" + (f": {reason}" if reason else "")
