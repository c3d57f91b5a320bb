"""The code blocks of a page, and running them in order as a reader would.

A block of `python` or `shell` runs; all of a page share one namespace and one folder. A block of
`text` that follows at once is what it prints, with ``...`` for anything. Words after the language
say what a block needs; what is not here skips it.
"""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from programs import ROOT, run_program

__all__ = ["FAILED", "NEEDS", "ROOT", "Block", "blocks", "faults", "pages", "run"]

FAILED = "\0"
"""First in the output of a block that ended with an exception or a status."""

NEEDS = {
    "gpu": "needs an NVIDIA GPU",
    "torch": "needs PyTorch",
    "install": "changes what is installed",
    "minutes": "takes minutes",
}
"""Words after a block's language, and why the block is skipped."""

_RUN = ("python", "shell")
_SHOWN = ("text", "c")
_OUTPUT = r"(?=\s*```text\n(.*?)^```)?"
_FENCE = re.compile(r"^(```+)(\S*)[ ]*([^\n`]*)\n(.*?)^\1[ ]*\n" + _OUTPUT, re.M | re.S)


@dataclass(frozen=True)
class Block:
    """One block of a page.

    Attributes
    ----------
    language : str
    needs : tuple of str
        Keys of `NEEDS`.
    source : str
    line : int
        Of the page, where the source begins.
    expected : str or None
        What the page says that it prints.
    """

    language: str
    needs: tuple[str, ...]
    source: str
    line: int
    expected: str | None


def pages() -> list[Path]:
    """All pages that people read."""
    written = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"]
    site = (ROOT / "docs").rglob("*.md")
    return written + sorted(each for each in site if "reference" not in each.parts)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that are code; directives of the site are none.

    Raises
    ------
    ValueError
        If a language or a need is not known: the block would not be run, and nobody would notice.
    """
    for match in _FENCE.finditer(text):
        _, language, info, source, expected = match.groups()
        if language.startswith("{"):
            continue
        line = text.count("\n", 0, match.start(4)) + 1
        needs = tuple(info.split())
        if language not in (*_RUN, *_SHOWN):
            raise ValueError(f"line {line}: unknown language {language!r}")
        if set(needs) - set(NEEDS):
            raise ValueError(f"line {line}: unknown need in {info!r}")
        if language in _RUN:
            yield Block(language, needs, source, line, expected)


def run(chosen: Iterable[Block], folder: Path, *, device: str = "reference") -> list[str | None]:
    """What each block printed, in a process of their own; None for one that was not reached.

    The output of a block that failed begins with `FAILED`.
    """
    task = folder.with_suffix(".json")
    task.write_text(json.dumps([asdict(block) for block in chosen]))
    folder.mkdir()
    done = run_program(
        Path(__file__).with_name("run_blocks.py").read_text(),
        str(task),
        folder=folder,
        environment={"CUDNN_CTYPES_DEVICE": device, "COLUMNS": "100", "NO_COLOR": "1"},
        timeout=500,
    )
    printed: list[str | None] = json.loads(done.stdout)
    return printed


def faults(chosen: Iterable[Block], printed: Iterable[str | None]) -> Iterator[str]:
    """What differs from the page: each block that failed or that printed something else."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    for block, output in zip(chosen, printed, strict=True):
        if output is None:
            yield f"line {block.line}: not reached"
        elif block.expected is None:
            if output.startswith(FAILED):
                yield f"line {block.line}:\n{output.removeprefix(FAILED)}"
        elif not checker.check_output(block.expected, output.removeprefix(FAILED), options):
            yield f"line {block.line}: printed\n{output}\nand the page says\n{block.expected}"
