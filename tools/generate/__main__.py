"""``python -m tools.generate``: write what is generated of the package, or compare with it."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from .emit_constants import emit_constants
from .emit_enums import emit_enums
from .emit_functions import emit_functions
from .emit_methods import emit_front_end_methods, emit_graph_methods
from .emit_types import emit_types
from .emit_uses import emit_uses
from .facts import decide
from .model import Headers
from .parse import parse
from .text import COMMAND

RAW = Path(__file__).resolve().parents[2] / "cudnn_ctypes" / "raw"

EMITTERS = {
    "enums.py": emit_enums,
    "types.py": emit_types,
    "constants.py": emit_constants,
    "functions.py": emit_functions,
    "uses.json": emit_uses,
    "../graph/describe/operations/table.pyi": emit_graph_methods,
    "../frontend/methods.pyi": emit_front_end_methods,
}


def generate(headers: Headers) -> dict[str, str]:
    """File name to text of the generated part of layer 1."""
    decided = decide(headers)
    return {name: emit(decided) for name, emit in EMITTERS.items()}


def differences(files: dict[str, str], folder: Path = RAW) -> str:
    """A unified diff from what stands in a folder to what was generated; empty if equal."""
    lines: list[str] = []
    for name, text in files.items():
        path = folder / name
        present = path.read_text() if path.exists() else ""
        lines += difflib.unified_diff(
            present.splitlines(keepends=True),
            text.splitlines(keepends=True),
            str(path),
            f"generated {name}",
        )
    return "".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; 1 if they differ")
    parser.add_argument("--include", type=Path, help="folder of the cuDNN headers")
    options = parser.parse_args(arguments)
    headers = parse(options.include)
    if options.check:
        found = differences(generate(headers))
        sys.stdout.write(found or f"cudnn_ctypes/raw is what cuDNN {headers.version} declares\n")
        return 1 if found else 0
    decided = decide(headers)
    for name, emit in EMITTERS.items():  # the last one reads what the others have written
        (RAW / name).write_text(emit(decided))
    enumerators = sum(len(enum.enumerators) for enum in headers.enums)
    print(
        f"cuDNN {headers.version}: {len(headers.functions)} functions, {len(headers.enums)} enums "
        f"with {enumerators} enumerators, {len(headers.handles)} handles, "
        f"{len(headers.structs)} structs, {len(headers.macros)} macros"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
