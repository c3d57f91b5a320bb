"""Which engine configs a program does not want."""

from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = ["Filters"]


class Filters:
    """Conditions on engine configs, which hold for those that there are and those to come."""

    def __init__(self) -> None:
        self.workspace_limit: int | None = None
        self._wanted: set[str] = set()
        self._unwanted: set[str] = set()
        self._names: tuple[str, ...] = ()

    def notes(self, names: Iterable[str], *, wanted: bool) -> None:
        """Take only configs that have all of these notes, or none that has one of them."""
        (self._wanted if wanted else self._unwanted).update(names)

    def engines(self, names: Iterable[str]) -> None:
        """Take no config whose name has one of these in it."""
        self._names += tuple(names)

    def reason(self, name: str, notes: Collection[str]) -> str:
        """Why a config of this name with these notes is not wanted; "" if it is."""
        found, lacking = self._unwanted & set(notes), self._wanted - set(notes)
        if found:
            return f"has {', '.join(sorted(found))}"
        if lacking:
            return f"lacks {', '.join(sorted(lacking))}"
        return "deselected by its name" if any(part in name for part in self._names) else ""
