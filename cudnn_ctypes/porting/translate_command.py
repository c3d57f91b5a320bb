"""What ``port --translate`` does: write the Python program, and say what was left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..command_line import read_text, refuse_overwriting, write_text
from .translate import Translation, translate

__all__ = ["summary", "translate_file"]


def translate_file(
    path: Path, output: Path | None, *, force: bool = False, as_json: bool = False
) -> int:
    """Translate a file and print the summary; 0 if everything was translated, else 1.

    Parameters
    ----------
    path : Path
        C, C++ or CUDA source.
    output : Path or None
        Where the Python program goes; None prints it, and the summary to standard error.
    force : bool
        Whether to write over a file that is there.
    as_json : bool
        Whether to print the summary as JSON, which has the program if it goes to no file.

    Raises
    ------
    CommandError
        If a file cannot be read or written, or tree-sitter is not installed.
    """
    refuse_overwriting([output], force=force)
    translation = translate(read_text(path), path.name, path.parent)
    if as_json:
        if output is not None:
            write_text(output, translation.python, force=force)
        print(json.dumps(_as_dict(translation, path, output), indent=2))
        return 1 if translation.not_translated else 0
    if output is None:
        sys.stdout.write(translation.python)
    else:
        write_text(output, translation.python, force=force)
    print(summary(translation, path, output), file=sys.stdout if output else sys.stderr)
    return 1 if translation.not_translated else 0


def summary(translation: Translation, path: Path, output: Path | None) -> str:
    """What was translated and what was not, by line of C."""
    lines = [f"{path} -> {output or 'standard output'}: {translation.statements} statements"]
    if not translation.statements and not translation.not_translated:
        lines.append(
            "  nothing is left of it by its #if conditions: define what they ask for in it"
        )
        return "\n".join(lines)
    if translation.kernels:
        names = ", ".join(translation.kernels)
        lines.append(
            f"  needs an NVIDIA GPU: NVRTC compiles the kernels when they are launched: {names}"
        )
    if not translation.not_translated:
        return "\n".join([*lines, "  everything was translated"])
    count = len(translation.not_translated)
    lines.append(f"  not translated: {count}; each raises NotTranslatedError when it is reached")
    return "\n".join(
        [*lines, *(f"  line {line}: {why}" for line, why in translation.not_translated)]
    )


def _as_dict(translation: Translation, path: Path, output: Path | None) -> dict[str, Any]:
    return {
        "file": str(path),
        "output": None if output is None else str(output),
        "python": translation.python if output is None else None,
        "statements": translation.statements,
        "kernels": list(translation.kernels),
        "not_translated": [
            {"line": line, "reason": why} for line, why in translation.not_translated
        ],
    }
