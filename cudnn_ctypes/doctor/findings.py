"""What the doctor finds: a name, a value, whether it is a problem, and what to do."""

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
        "missing": not there, and not needed for everything (a GPU, say).
    advice : str
        What to do, for all that is not ok.
    """

    section: str
    name: str
    value: str
    state: State = "ok"
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)
