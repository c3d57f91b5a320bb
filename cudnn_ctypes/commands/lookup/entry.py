"""An entry: a meaning of a name, with declaration, facts and related names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...raw.describe import facts_of
from .explanations import Explanation, explanation
from .words import related

__all__ = ["Entry", "declared"]


@dataclass(frozen=True)
class Entry:
    """One meaning of a name.

    Attributes
    ----------
    name, kind : str
    text : str
        The declaration and facts.
    lists : dict of str to list of str
        Related names, by their relation: "related", "values".
    facts : dict
        The facts as data, for JSON.
    explanation : Explanation or None
        The installed headers' explanation.
    in_headers : bool
        True for a name that headers may explain.
    """

    name: str
    kind: str
    text: str
    lists: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None
    in_headers: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The entry as data for JSON."""
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
    """The entry of a name of layer 1, with the facts that all these names have."""
    header, since, deprecated = facts_of(name)
    known = {"header": header, "since": since, "deprecated": deprecated}
    lists = dict(lists or {})
    listed = {each for names in lists.values() for each in names}
    lists["related"] = [each for each in related(name) if each not in listed]
    return Entry(name, kind, text, lists, known | (facts or {}), explanation(name), in_headers=True)
