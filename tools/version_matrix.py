"""Compare what libraries export with the versions that layer 1 states for its functions.

``python -m tools.version_matrix [LIBRARY ...]``: without arguments the library that cudnn_ctypes
finds; otherwise each of the files or directories given, in a process of its own. For each one:

- missing: functions that came with a later version, as stated;
- lost: functions that this version should have (a reduced build, or a wrong statement);
- early: functions that it has before their stated version.

The exit status is 1 if a function is early, or lost in a library that has the others of its header.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.raw.library import ENVIRONMENT_VARIABLE, version_text


@dataclass(frozen=True)
class Row:
    """One library: how many functions it has, and the names of the others by kind."""

    path: str
    version: int
    present: int
    missing: list[str]
    lost: list[str]
    early: list[str]

    @property
    def wrong(self) -> list[str]:
        """What contradicts the stated versions."""
        by_header: defaultdict[str, set[str]] = defaultdict(set)
        for name, function in raw.FUNCTIONS.items():
            if _number(function.since) <= self.version:
                by_header[function.header].add(name)
        reduced = {header for header, names in by_header.items() if names <= set(self.lost)}
        return self.early + [n for n in self.lost if raw.FUNCTIONS[n].header not in reduced]


def _number(version: str) -> int:
    major, minor, patch = (int(part) for part in version.split("."))
    return major * 10000 + minor * 100 + patch


def compare(path: str, version: int, exported: Iterable[str]) -> Row:
    """What a library of this version exports, against what layer 1 states."""
    has = set(exported)
    due = {name for name, f in raw.FUNCTIONS.items() if _number(f.since) <= version}
    every = list(raw.FUNCTIONS)
    return Row(
        path,
        version,
        present=len(has),
        missing=[name for name in every if name not in has and name not in due],
        lost=[name for name in every if name not in has and name in due],
        early=[name for name in every if name in has and name not in due],
    )


def loaded_row() -> Row:
    """The library that this process loads."""
    library = raw.load()
    exported = [name for name in raw.FUNCTIONS if library.optional_symbol(name) is not None]
    return compare(str(library.path), library.version, exported)


def row_of(path: str) -> Row:
    """The library at a path, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.version_matrix", "--json"],
        env={**os.environ, ENVIRONMENT_VARIABLE: os.path.abspath(path)},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{path}: {done.stderr.strip().splitlines()[-1]}")
    (row,) = json.loads(done.stdout)
    return Row(**row)


def show(row: Row) -> None:
    total = len(raw.FUNCTIONS)
    print(f"{version_text(row.version)}: {row.present} of {total} functions ({row.path})")
    by_since: defaultdict[str, list[str]] = defaultdict(list)
    for name in row.missing:
        by_since[raw.FUNCTIONS[name].since].append(name)
    for since, names in sorted(by_since.items(), key=lambda item: _number(item[0])):
        print(f"  since {since}: {', '.join(names)}")
    for title, names in (("lost", row.lost), ("early", row.early)):
        if names:
            stated = ", ".join(f"{name} ({raw.FUNCTIONS[name].since})" for name in names)
            print(f"  {title}: {stated}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.version_matrix", description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="a libcudnn or its folder")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    options: Any = parser.parse_args(arguments)
    rows = [row_of(path) for path in options.libraries] or [loaded_row()]
    if options.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        for row in rows:
            show(row)
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
