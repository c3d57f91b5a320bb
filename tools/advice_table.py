"""What is advised for graphs that cuDNN refuses or carries out slowly, as a table.

``python -m tools.advice_table`` prints it in Markdown: of each graph of the tests the first
suggestion, what it brings, and what is to be minded. ``--only TEXT`` takes graphs whose names have
it. Nothing is run, so no GPU is needed; the tests follow each suggestion.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from cudnn_ctypes import raw
from cudnn_ctypes.graph import DeviceProperties

__all__ = ["main", "rows"]

COLUMNS = ("graph", "GPU", "as it is", "advice", "effect", "mind")


def rows(only: str = "") -> Iterator[tuple[str, ...]]:
    """A row for each graph."""
    from tests.graph.advice_cases import ADVISED

    for name, case in ADVISED.items():
        if only not in name:
            continue
        with DeviceProperties.preset(case.device) as device:
            advice = case.graph().explain(device).advice()
        state = "slow" if advice.supported else "refused"
        told = [(each.words, each.effect, each.caveat) for each in advice[:1]]
        yield (name, case.device, state, *(told[0] if told else ("none", "", "")))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.advice_table", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="graphs with this in their name")
    options = parser.parse_args(arguments)
    print(f"cuDNN {raw.load().version_text}\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for row in rows(options.only):
        print(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
