"""Entries of statuses, by name and number, and of the exceptions that they raise."""

from __future__ import annotations

import inspect

from ... import errors, raw
from ...raw import hints
from ...raw.describe import aligned, documentation
from ...raw.gone_table import OLD_STATUS_NUMBERS
from .entry import Entry, declared

__all__ = ["exception_entry", "has_status", "status_entry"]


def has_status(code: int) -> bool:
    """Whether a release of cuDNN has or had a status with this number."""
    return raw.cudnnStatus_t(code).known or code in OLD_STATUS_NUMBERS


def status_entry(code: int, name: str = "") -> Entry:
    """The entry of a status, by its number in cuDNN 9 or in earlier releases."""
    old = ""
    if not raw.cudnnStatus_t(code).known:
        name = OLD_STATUS_NUMBERS[code]
        code, old = int(getattr(raw, name)), f"{code} was {name} before cuDNN 9.0\n\n"
    name = name or raw.cudnnStatus_t(code).name
    number = next((n for n, each in OLD_STATUS_NUMBERS.items() if each == name), None)
    text = old + documentation(name)
    rows = [] if code == 0 else [("raised as", errors.error_class(code).__name__)]
    if number is not None and not old:
        rows.append(("before 9.0", str(number)))
    if advice := hints.usual_cause(name):
        rows.append(("usual cause", advice))
    text += "\n\n" + aligned(rows) if rows else ""
    facts = {"enum": "cudnnStatus_t", "value": code, "before_9": number}
    return declared(name, "status", text, {}, facts)


def exception_entry(name: str) -> Entry:
    """The entry of an exception of this package, with the statuses that raise it."""
    cls = getattr(errors, name)
    statuses = [
        f"{each} ({int(member)})"
        for each, member in raw.cudnnStatus_t.__members__.items()
        if int(member) and errors.error_class(member) is cls
    ]
    bases = ", ".join(base.__name__ for base in cls.__mro__[1:-2])
    text = f"exception {name}({bases})\n\n{inspect.cleandoc(cls.__doc__ or '')}"
    return Entry(name, "exception", text, {"statuses": statuses})
