"""``atlas``: which shapes compile for which GPU with which cuDNN, as measured, or measured now."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..absent_gpu.properties import presets
from ..evidence.atlas.cells import Atlas, Cell, Result
from ..evidence.files import CommandError
from ..raw.describe import aligned
from .options import (
    Names,
    Output,
    add_force,
    add_json,
    file_name,
    make_folder,
    refuse_overwriting,
    steps,
)

EPILOG = """\
examples:
  python -m cudnn_ctypes atlas
  python -m cudnn_ctypes atlas b200 9.28 attention backward
  python -m cudnn_ctypes atlas h200 "head 256" --why
  python -m cudnn_ctypes atlas diff 9.19 9.28 b200
  python -m cudnn_ctypes atlas measure gpu.json attention

Words choose cells: names of GPUs, versions of cuDNN, parts of shapes' names; all must be true of a
cell. A number is the engine that compiles, "fails" stands where engines accept the graph and do not
compile, "no" where none accepts it, and "*" where a known fault concerns it (--why tells which).
diff shows what compiles with one version and not with the other. measure asks the loaded cuDNN
about the chosen shapes, for GPUs that need not be there: presets, or files that
`doctor --save-device` wrote. Nothing is executed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes atlas``."""
    parser.add_argument(
        "words",
        nargs="*",
        type=Names("diff", "measure", *presets()),
        metavar="WORD",
        help="diff, measure, GPUs, versions, parts of shapes' names",
    )
    parser.add_argument("--why", action="store_true", help="say too why shapes do not compile")
    parser.add_argument(
        "--engines", action="store_true", help="of diff: another first engine is a difference too"
    )
    parser.add_argument(
        "--file", type=file_name, metavar="FILE", help="cells that measure -o wrote"
    )
    parser.add_argument(
        "-o", "--output", type=Output, metavar="FILE", help="of measure: keep the cells"
    )
    add_force(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print cells; of diff 1 if the versions differ, 2 on an error."""
    action, words = "", arguments.words
    if words and words[0] in ("diff", "measure"):
        action, words = words[0], words[1:]
    if arguments.output is not None and action != "measure":
        raise CommandError("-o/--output goes with measure")
    if action == "measure":
        found = _measured(words, arguments.output, force=arguments.force)
    else:
        found = Atlas.known() if arguments.file is None else Atlas.read(arguments.file)
    if action == "diff":
        return _differences(found, words, engines=arguments.engines, as_json=arguments.json)
    if action != "measure":
        found = found.where(*words)
    if not found.cells:
        raise CommandError("no cell has all of these words")
    if arguments.json:
        print(json.dumps(found.as_list(), indent=1))
        return 0
    print(found.table() if words else found.counts())
    if arguments.why:
        print(f"\n{found.reasons()}")
    return 0


def _differences(atlas: Atlas, words: Sequence[str], *, engines: bool, as_json: bool) -> int:
    if len(words) < 2:
        raise CommandError("diff takes two versions: atlas diff 9.19 9.28")
    one, two, *others = words
    pairs = atlas.where(*others).differences(one, two, engines=engines)
    if as_json:
        print(json.dumps([[asdict(each) for each in pair] for pair in pairs], indent=1))
    else:
        rows = [("GPU", "shape", one, two, "reason"), *(_row(*pair) for pair in pairs)]
        print(aligned(rows) if pairs else f"{one} and {two} say the same of what both have")
    return int(bool(pairs))


def _row(before: Cell, after: Cell) -> tuple[str, ...]:
    reason = before.result.reason or after.result.reason
    return before.gpu, before.shape, before.result.text, after.result.text, reason[:100]


def _measured(words: Sequence[str], output: Output | None, *, force: bool) -> Atlas:
    """Measure the chosen shapes for the GPUs among the words, or for all presets."""
    from ..evidence.atlas.measuring import measured, shapes
    from ..graph.backend.device_properties import as_properties
    from ..raw.library import load

    target = None if output is None else output.file("atlas.json", ".json")
    refuse_overwriting([target], force=force)
    gpus = [each for each in words if each.lower() in presets() or each.endswith(".json")]
    parts = [each for each in words if each not in gpus]
    version = load().version_text
    names = (
        Atlas(tuple(Cell(each, "", version, Result()) for each in shapes())).where(*parts).shapes
    )
    gpus = gpus or [*presets()]
    cells = []
    with steps("measuring", len(gpus) * len(names)) as progress:
        for gpu in gpus:
            properties = as_properties(gpu)  # a wrong file is told before the work
            progress.begin(f"for {gpu}")
            for name, result in measured(properties, names):
                cells.append(Cell(name, Path(gpu).stem.lower(), version, result))
                progress.advance()
    atlas = Atlas(tuple(cells))
    if target is not None:
        make_folder(target.parent)
        atlas.save(target)
    return atlas
