"""A report on a program: its findings, and their text on a terminal."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .faults import faults
from .names import cuda_names, cudnn_names, kernels
from .program import KINDS, Finding, Program, program_of
from .source import Source, is_missing, left_out

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Report:
    """The findings in one program.

    - `findings`: in the order of the text.
    - `folders`: where its headers were looked for, besides its own folder.
    """

    source: Source
    findings: list[Finding]
    folders: Sequence[Path] = ()

    @property
    def needs_work(self) -> bool:
        """Whether something is gone, unknown or a fault."""
        kinds = {each.kind for each in self.findings}
        return bool(kinds & {"missing", "gone", "unknown", "fault"})

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each kind, for those kinds that there are."""
        counted = collections.Counter(each.kind for each in self.findings)
        return {kind: counted[kind] for kind in KINDS if counted[kind]}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "file": str(self.source.path),
            "language": self.source.language,
            "lines": len(self.source.lines),
            "counts": self.counts,
            "findings": [each.as_dict() for each in self.findings],
        }

    def print(self, console: Console) -> None:
        """Print it: by line what changes, then what stays."""
        path = self.source.path
        console.print(f"[bold]{path}[/]", f"({len(self.source.lines)} lines)", highlight=False)
        changes = [each for each in self.findings if each.kind not in ("kept", "other", "own")]
        for finding in _first_of_each(changes):
            _print_finding(console, self.source, finding, _further(changes, finding))
        for kind in ("own", "kept"):
            _print_names(console, KINDS[kind], [f for f in self.findings if f.kind == kind])
        told = ", ".join(f"{count} {KINDS[kind]}" for kind, count in self.counts.items())
        console.print(f"{path.name}: {told or 'nothing of cuDNN or CUDA'}", highlight=False)
        if self.counts:
            command = as_it_is([path], self.folders)
            console.print(f"as it is, it runs with: {command}", highlight=False, soft_wrap=True)
        console.print()


_STYLES = {
    "missing": "red",
    "gone": "red",
    "fault": "red",
    "unknown": "red",
    "unread": "red",
    "note": "yellow",
}


def as_it_is(paths: Sequence[Path], folders: Sequence[Path] = ()) -> str:
    """The command that runs a program unchanged."""
    command = "python -m cudnn_ctypes"
    if len(paths) == 1 and not folders:
        return f"{command} run {paths[0]}"
    files = " ".join([*map(str, paths), *(f"-I {each}" for each in folders)])
    return f"{command} build {files} -o {paths[-1].stem} && {command} run ./{paths[-1].stem}"


def report_on(source: Source, folders: Sequence[Path] = ()) -> Report:
    """All that is known of a program, whose headers are also looked for in these folders."""
    program = program_of(source, folders)
    ranges = list(left_out(source))
    missing = [
        Finding("missing", include.line, 1, include.name, "it is not found: -I names its folder")
        for include in source.includes
        if not include.system and is_missing(include.name, (source.path.parent, *folders))
    ]
    findings = [
        replace(each, kind="other") if any(a <= each.line <= b for a, b in ranges) else each
        for each in [*missing, *_findings(program)]
    ]
    return Report(source, sorted(findings, key=lambda f: (f.line, f.column, f.kind)), folders)


def _findings(program: Program) -> Iterator[Finding]:
    source, known = program.source, program.known
    yield from cudnn_names(source, known)
    yield from faults(program)
    yield from cuda_names(source)
    yield from kernels(source)
    yield from _checks(source)
    for node in source.root.errors:
        text = "the grammar does not understand this; names in it are reported all the same"
        yield Finding("unread", *node.place, "", text)


_LOOKS = re.compile(
    r"CUDNN_STATUS_SUCCESS|CUBLAS_STATUS_SUCCESS|cudaSuccess|(?:cudnn|cuda)GetErrorString"
)


def _checks(source: Source) -> Iterator[Finding]:
    """Macros that look at a status, which Python's functions do themselves."""
    for macro in source.macros.values():
        if macro.parameters and _LOOKS.search(macro.body):
            text = (
                f"each function of raw, cudart and cublas raises an error by itself: "
                f"{macro.name}(f(x)) is f(x)"
            )
            yield Finding("note", macro.line, 1, macro.name, text)


def _first_of_each(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Without those that only repeat an earlier one at another line."""
    said: set[tuple[Any, ...]] = set()
    for each in findings:
        key = each.kind, each.name, each.text, each.code
        if key not in said:
            said.add(key)
            yield each


def _further(findings: Sequence[Finding], first: Finding) -> list[int]:
    """The other lines where the same is to be said."""
    same = (first.kind, first.name, first.text, first.code)
    lines = [f.line for f in findings if (f.kind, f.name, f.text, f.code) == same]
    return sorted(set(lines) - {first.line})


def _print_finding(
    console: Console, source: Source, finding: Finding, further: Sequence[int]
) -> None:
    from rich.padding import Padding
    from rich.text import Text

    head = Text(f"{finding.line:>5}  ")
    head.append(finding.kind, style=_STYLES.get(finding.kind, "cyan"))
    head.append(f"  {finding.name}" if finding.name else "", style="bold")
    head.append(f"  {_lines('also', further)}" if further else "", style="dim")
    console.print(head)
    line = source.lines[finding.line - 1].strip() if finding.line <= len(source.lines) else ""
    console.print(Padding(Text(line, style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, 7)))
    if finding.text:
        console.print(Padding(Text(finding.text), (0, 0, 0, 7)))
    for code in finding.code:  # never broken: it is there to be copied
        console.print(Text(f"       now  {code}", style="green"), soft_wrap=True)


def _print_names(console: Console, title: str, findings: Sequence[Finding]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    places: dict[str, list[int]] = {}
    for each in findings:
        places.setdefault(each.name, []).append(each.line)
    if places:
        console.print(Text(f"       {title}: {len(places)} names", style="bold"))
    for name, lines in sorted(places.items()):
        text = Text(f"{name}  ")
        text.append(_lines("", sorted(set(lines))), style="dim")
        console.print(Padding(text, (0, 0, 0, 7)))


def _lines(word: str, lines: Sequence[int]) -> str:
    return f"{word} line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}".strip()
