"""Compare the versions that the headers state with the headers of older releases.

``python -m tools.since_versions FOLDER``, where FOLDER has one folder of headers per release, named
after it: ``9.0.0.312/cudnn_graph.h`` and so on, as they come out of the wheels. Reports

- names whose stated version is not the first one that has them,
- enumerators that other releases number differently,
- names that an older release had and the installed one lacks.

The exit status is 1 if it finds one of the first two; such facts belong in
``generate/overrides.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .generate.facts import decide
from .generate.model import Headers
from .generate.overrides import RENUMBERED
from .generate.parse import parse

Version = tuple[int, ...]


@dataclass(frozen=True)
class Release:
    """What one release declares: C names, enumerators with their values."""

    version: Version
    names: dict[str, int | None]


def numbers(version: str) -> Version:
    """``9.10.2.21`` as ``(9, 10, 2)``."""
    return tuple(int(part) for part in version.split(".")[:3])


def text(version: Version) -> str:
    return ".".join(map(str, version))


def declared(headers: Headers) -> dict[str, int | None]:
    """All names that a release declares; the value of those that are enumerators."""
    names: dict[str, int | None] = {macro.name: None for macro in headers.macros}
    names |= {declaration.name: None for declaration in headers.declarations}
    return names | {e.name: e.value for enum in headers.enums for e in enum.enumerators}


def stated(headers: Headers) -> dict[str, Version]:
    """The version that the headers, corrected by the overrides, state for each name."""
    return {d.name: numbers(d.since or "") for d in decide(headers).declarations}


def releases(folder: Path) -> list[Release]:
    """The releases in a folder, oldest first."""
    found = []
    for include in folder.iterdir():
        if (include / "cudnn_version.h").exists():
            headers = parse(include)
            found.append(Release(numbers(headers.version), declared(headers)))
    return sorted(found, key=lambda release: release.version)


def wrong_versions(statements: dict[str, Version], history: list[Release]) -> Iterator[str]:
    """A line per name that the releases prove to be older or younger than stated."""
    for name, since in statements.items():
        first = next((r.version for r in history if name in r.names), None)
        if first is None:
            continue
        without = [r.version for r in history if r.version < first]
        if since > first:
            yield f"{name}: stated {text(since)}, but {text(first)} has it"
        elif without and since <= without[-1]:
            yield f"{name}: stated {text(since)}, but {text(without[-1])} lacks it"


def renumbered(history: list[Release]) -> Iterator[str]:
    """A line per value of an enumerator that differs from the newest and that no override tells."""
    for name, value in history[-1].names.items():
        if value is None or name.endswith(("_COUNT", "_COUNTS")):
            continue
        for release in history:
            other = release.names.get(name, value)
            if other not in (value, RENUMBERED.get(name, {}).get(text(release.version))):
                yield f"{name}: {other} in {text(release.version)}"


def gone(history: list[Release]) -> Iterator[str]:
    """A line per name that the newest release lacks."""
    last = {name: r.version for r in history for name in r.names}
    for name, version in last.items():
        if name not in history[-1].names:
            yield f"{name}: last in {text(version)}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.since_versions", description=__doc__)
    parser.add_argument("folder", type=Path, help="one folder of headers per release")
    options = parser.parse_args(arguments)
    headers = parse()
    history = releases(options.folder)
    history = [r for r in history if r.version < numbers(headers.version)]
    history.append(Release(numbers(headers.version), declared(headers)))
    print(f"{len(history)} releases: {', '.join(text(r.version) for r in history)}")
    wrong = list(wrong_versions(stated(headers), history))
    moved = list(renumbered(history))
    for title, lines in (
        ("Stated versions that are wrong", wrong),
        ("Enumerators that were renumbered", moved),
        ("Names that are gone", list(gone(history))),
    ):
        print(f"\n{title}: {len(lines)}")
        for line in lines:
            print(f"  {line}")
    return 1 if wrong or moved else 0


if __name__ == "__main__":
    sys.exit(main())
