"""One thing that a name means: its declaration, its facts, and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..raw.describe import facts_of
from .explanations import Explanation, explanation
from .words import related

__all__ = ["Entry", "declared"]


@dataclass(frozen=True)
class Entry:
    """One thing that a name means.

    Attributes
    ----------
    name, kind : str
    text : str
        Its declaration and facts.
    lists : dict of str to list of str
        Names that belong to it, by what they are to it.
    facts : dict
        The facts as data, for JSON.
    explanation : Explanation or None
        What the installed headers say of it.
    in_headers : bool
        Whether headers could say something of it.
    """

    name: str
    kind: str
    text: str
    lists: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None
    in_headers: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        said = self.explanation
        return {
            "name": self.name,
            "kind": self.kind,
            "text": self.text,
            **self.facts,
            **{key.replace(" ", "_"): names for key, names in self.lists.items() if names},
            "explanation": said
            and {
                "header": str(said.header),
                "version": said.version,
                "text": said.text,
                "parameters": said.parameters,
            },
        }


def declared(
    name: str,
    kind: str,
    text: str,
    lists: dict[str, list[str]] | None = None,
    facts: dict[str, Any] | None = None,
) -> Entry:
    """The entry of a name of layer 1, with what is known of each of them."""
    header, since, deprecated = facts_of(name)
    known = {"header": header, "since": since, "deprecated": deprecated}
    lists = dict(lists or {})
    listed = {each for names in lists.values() for each in names}
    lists["related"] = [each for each in related(name) if each not in listed]
    return Entry(name, kind, text, lists, known | (facts or {}), explanation(name), in_headers=True)
