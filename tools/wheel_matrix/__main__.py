"""The command line: ``python -m tools.wheel_matrix``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from .environments import ROOT, Result, build_wheel, try_row
from .rows import CUDNN_VERSIONS, EXTRAS, PYTHONS, Row, rows_of_cudnn, rows_of_dependencies
from .table import page

PAGE = ROOT / "docs" / "version_matrix.md"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tools.wheel_matrix",
        description="Install the built wheel in empty environments and write what works. All rows "
        "together download about 20 GB, and one environment has 2 GB; uv (of the group dev) keeps "
        "downloads in its cache (UV_CACHE_DIR).",
    )
    made.add_argument("--cudnn", nargs="*", default=CUDNN_VERSIONS, metavar="VERSION")
    made.add_argument("--extra", nargs="*", default=tuple(EXTRAS), choices=EXTRAS)
    made.add_argument("--python", nargs="*", default=PYTHONS, metavar="VERSION")
    made.add_argument("--list", action="store_true", help="only name the environments")
    made.add_argument("--output", type=Path, default=PAGE, help="default: %(default)s")
    return made


def chosen(options: Any) -> list[Row]:
    """The rows that the options ask for."""
    extras = tuple(options.extra)
    rows = rows_of_cudnn(tuple(options.cudnn), extras)
    return rows + rows_of_dependencies(tuple(options.python), extras)


def main(arguments: list[str] | None = None) -> int:
    """0 if every environment could be made and no library contradicts the stated versions."""
    options = parser().parse_args(arguments)
    rows = chosen(options)
    if options.list:
        print("\n".join(map(str, rows)))
        return 0
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        for number, row in enumerate(rows, 1):
            print(f"{number} of {len(rows)}: {row}", end=" ", flush=True)
            with tempfile.TemporaryDirectory(dir=folder) as place:
                results.append(try_row(row, wheel, Path(place)))
            print(_summary(results[-1]))
            options.output.write_text(page(results))  # whatever comes later, this is kept
    print(f"written: {options.output}")
    return 1 if any(result.failure or result.contradictions for result in results) else 0


def _summary(result: Result) -> str:
    if result.failure:
        return result.failure
    bad = [name for name, text in result.steps.items() if text != "ok"]
    return f"no: {', '.join(bad)}" if bad else "all works"


if __name__ == "__main__":
    sys.exit(main())
