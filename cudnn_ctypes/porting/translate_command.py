"""What ``port --translate`` does: write the Python program, and say what was left."""

from __future__ import annotations

import sys
from pathlib import Path

from ..command_line import read_text, write_text
from .translate import Translation, translate

__all__ = ["summary", "translate_file"]


def translate_file(path: Path, output: Path | None) -> int:
    """Translate a file and print the summary; 0 if everything was translated, else 1.

    Parameters
    ----------
    path : Path
        C, C++ or CUDA source.
    output : Path or None
        Where the Python program goes; None prints it, and the summary to standard error.

    Raises
    ------
    CommandError
        If a file cannot be read or written, or tree-sitter is not installed.
    """
    translation = translate(read_text(path), path.name, path.parent)
    if output is None:
        sys.stdout.write(translation.python)
    else:
        write_text(output, translation.python)
    print(summary(translation, path, output), file=sys.stdout if output else sys.stderr)
    return 1 if translation.not_translated else 0


def summary(translation: Translation, path: Path, output: Path | None) -> str:
    """What was translated and what was not, by line of C."""
    lines = [f"{path} -> {output or 'standard output'}: {translation.statements} statements"]
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
