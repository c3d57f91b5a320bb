"""A finding of the doctor: a name, a value, its state, and advice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

__all__ = ["Finding", "State"]

State = Literal["ok", "missing", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the report.

    Attributes
    ----------
    section, name, value : str
    state : {"ok", "missing", "problem"}
        "missing": absent, but not always needed (a GPU, say).
    advice : str
        The remedy for a state other than "ok".
    """

    section: str
    name: str
    value: str
    state: State = "ok"
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)
