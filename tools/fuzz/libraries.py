"""Layouts of cuDNN libraries, each in a process of its own: one cuDNN, or an error with the paths.

``python -m tools.fuzz libraries --other FOLDER`` tries every way to choose a library, with every
other cuDNN within the loader's reach and every damage to every file. `FOLDER` holds the libraries
of another version; without it, libraries without functions stand for one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cudnn_ctypes import raw
from cudnn_ctypes.raw.library import elf

__all__ = ["Case", "cases", "examine", "main"]

_PROJECT = Path(__file__).parents[2]
_SECONDS = 120

# Uses every sublibrary, and says which files it has then.
_PROGRAM = """
import ctypes, json, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path)
report = {}
try:
    from cudnn_ctypes import raw
    from cudnn_ctypes.errors import LibraryNotFoundError
    from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
    from cudnn_ctypes.raw.library import loaded
    report["version"] = raw.cudnnGetVersion()
    statuses = [
        raw.FUNCTIONS[f"cudnnCreate{kind}Descriptor"].unchecked(
            getattr(raw, f"cudnn{kind}Descriptor_t")()
        ).name
        for kind in ("Tensor", "Convolution", "RNN")
    ]
    DeviceProperties.preset("H200").close()
    report |= {"path": str(raw.load().path), "statuses": statuses}
except LibraryNotFoundError as error:
    report["refused"] = str(error)
report["files"] = [str(file) for file in loaded.cudnn_files()]
print(json.dumps(report))
"""

CHOICES = ("file", "folder", "in the process", "in the process, and another is chosen")
HOMES = ("full", "reduced", "main alone", "link to main")
REACHES = ("nothing", "other", "empty", "empty, long names", "same, long names", "", "home")
DAMAGES: dict[str, Callable[[Path], object]] = {
    "no": lambda file: None,
    "removed": Path.unlink,
    "no bytes": lambda file: _rewrite(file, lambda content: b""),
    "cut at once": lambda file: _rewrite(file, lambda content: content[:100]),
    "cut": lambda file: _rewrite(file, lambda content: content[: len(content) // 2]),
    "one byte short": lambda file: _rewrite(file, lambda content: content[:-1]),
    "blank end": lambda file: _rewrite(file, _with_blank_end),
    "text": lambda file: _rewrite(file, lambda content: b"no library " * 500),
    "other machine": lambda file: _rewrite(file, lambda content: _patched(content, 18, b"\xf3\0")),
    "32 bits": lambda file: _rewrite(file, lambda content: _patched(content, 4, b"\1")),
    "folder": lambda file: (file.unlink(), file.mkdir()),
    "pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "dangling link": lambda file: (file.unlink(), file.symlink_to("/nowhere")),
}
PARTS = ("", "_graph", "_ops", "_engines_precompiled")


def _rewrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    content = change(file.read_bytes())
    file.unlink()  # it may be a link
    file.write_bytes(content)


def _patched(content: bytes, offset: int, value: bytes) -> bytes:
    return content[:offset] + value + content[offset + len(value) :]


def _with_blank_end(content: bytes) -> bytes:
    half = len(content) // 2
    return content[:half] + bytes(len(content) - half)


@dataclass(frozen=True)
class Case:
    """One layout.

    Attributes
    ----------
    choice : str
        How the library is chosen, of `CHOICES`.
    home : str
        What its folder holds, of `HOMES`.
    reach : str
        What ``LD_LIBRARY_PATH`` leads to, of `REACHES`; "" is the current directory, with "other".
    damage : str
        Of `DAMAGES`.
    part : str
        The file that is damaged: "" is the main library, "_ops" a sublibrary.
    """

    choice: str
    home: str
    reach: str
    damage: str = "no"
    part: str = ""

    @property
    def must_be_refused(self) -> bool:
        broken = self.damage != "no"
        if self.damage == "removed":
            # Without its graph library this is a link to the main library; engines may be absent.
            broken = self.part in ("", "_ops")
        return broken or self.home == "main alone" or self.choice == CHOICES[3]


def cases() -> Iterator[Case]:
    for choice, home, reach in itertools.product(CHOICES, HOMES, REACHES):
        yield Case(choice, home, reach)
    for reach, damage, part in itertools.product(("nothing", "other"), list(DAMAGES)[1:], PARTS):
        yield Case("folder", "full", reach, damage, part)


class _Layouts:
    """Makes folders of libraries in a scratch folder."""

    def __init__(self, scratch: Path, other: Path | None) -> None:
        self.installed = raw.load().path.parent
        self.scratch = scratch
        version = raw.load().version
        long = f".{version // 100 % 100}.{version % 100}"
        names = sorted(file.name for file in self.installed.glob("libcudnn*.so.9"))
        self.empty = self._folder("empty", names)
        self.long = self._folder("long", [name + long for name in names if "_" in name])
        self.other = other or self.empty
        self.same = scratch / "same"
        self.same.mkdir()
        for part in ("graph", "ops"):
            name = f"libcudnn_{part}.so.9"
            shutil.copy(self.installed / name, self.same / (name + long))

    def _folder(self, title: str, names: Sequence[str]) -> Path:
        folder = self.scratch / title
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(elf.shared_object(name.split(".so")[0] + ".so.9"))
        return folder

    def home(self, case: Case, folder: Path) -> Path:
        """The folder of the chosen library; damage to be done is done in it."""
        parts = {
            "full": [f.name for f in self.installed.glob("libcudnn*.so.9")],
            "reduced": [f"libcudnn{p}.so.9" for p in ("", "_graph", "_engines_runtime_compiled")],
            "main alone": ["libcudnn.so.9"],
            "link to main": ["libcudnn.so.9"],
        }[case.home]
        folder.mkdir()
        for name in parts:
            (folder / name).symlink_to(self.installed / name)
        main = folder / "libcudnn.so.9"
        if case.home == "main alone":
            _rewrite(main, lambda content: content)
        DAMAGES[case.damage](folder / f"libcudnn{case.part}.so.9")
        return folder

    def reach(self, case: Case, home: Path) -> str | None:
        places = {
            "nothing": None,
            "other": self.other,
            "empty": self.empty,
            "empty, long names": self.long,
            "same, long names": self.same,
            "": "",
            "home": home,
        }
        place = places[case.reach]
        return None if place is None else f"{place}:/nowhere"


def examine(case: Case, layouts: _Layouts) -> tuple[str, str]:
    """What became of a case, in a word, and more words where that is wrong."""
    with tempfile.TemporaryDirectory(dir=layouts.scratch) as scratch:
        home = layouts.home(case, Path(scratch, "home"))
        main = home / "libcudnn.so.9"
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        environment["PYTHONPATH"] = str(_PROJECT)
        if (path := layouts.reach(case, home)) is not None:
            environment["LD_LIBRARY_PATH"] = path
        loaded_first = [str(main)] if case.choice.startswith("in the process") else []
        if case.choice == "in the process, and another is chosen":
            environment["CUDNN_CTYPES_LIBRARY"] = str(layouts.other)
        elif not loaded_first:
            environment["CUDNN_CTYPES_LIBRARY"] = str(main if case.choice == "file" else home)
        try:
            done = subprocess.run(
                [sys.executable, "-c", _PROGRAM, *loaded_first],
                env=environment,
                cwd=layouts.other,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return "hang", ""
        if done.returncode < 0:
            return signal.Signals(-done.returncode).name, done.stderr[-500:]
        if done.returncode:
            return "exception", done.stderr[-500:]
        return _judged(case, json.loads(done.stdout.splitlines()[-1]), layouts)


def _judged(case: Case, report: dict[str, object], layouts: _Layouts) -> tuple[str, str]:
    if "refused" in report:
        text = str(report["refused"])
        return ("refused" if case.must_be_refused else "refused without need"), text
    folders = {Path(file).parent for file in report["files"]}  # type: ignore[attr-defined]
    if folders - {layouts.installed}:
        return "mixture", ", ".join(map(str, folders))
    return ("taken in spite of its damage" if case.must_be_refused else "one cuDNN"), ""


_GOOD = ("one cuDNN", "refused")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz libraries", description=__doc__)
    parser.add_argument("--other", type=Path, help="folder of another version's libraries")
    parser.add_argument("--sample", type=int, default=0, help="take so many cases")
    parser.add_argument("--only", default="", help="take cases whose text contains this")
    options = parser.parse_args(arguments)
    todo = [case for case in cases() if options.only in str(case)]
    if 0 < options.sample < len(todo):
        todo = random.Random(9).sample(todo, options.sample)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(prefix="cudnn_ctypes-") as scratch:
        layouts = _Layouts(Path(scratch), options.other)
        for case in todo:
            result, text = examine(case, layouts)
            row = f"{case.damage} damage" if case.damage != "no" else f"{case.choice}; {case.home}"
            counts[row, result] += 1
            if result not in _GOOD:
                print(f"{result}: {case}\n    {text}", flush=True)
    for row in dict.fromkeys(row for row, _ in counts):
        results = ", ".join(f"{n} {result}" for (r, result), n in counts.items() if r == row)
        print(f"{row:60} {results}")
    bad = sum(n for (_, result), n in counts.items() if result not in _GOOD)
    print(f"{len(todo)} layouts of cuDNN {raw.load().version_text}, {bad} bad")
    return int(bad > 0)
