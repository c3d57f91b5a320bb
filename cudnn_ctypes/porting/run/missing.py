"""Functions of CUDA that a program names and nothing here carries out: each says so when called."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .kernels import MISSING
from .library import compile_c, compiled, compiler

_LIBRARY = "missing.so"
_NAME = re.compile(r"(?:cuda|cudnn|cublas|curand|cufft|cusparse|cusolver|nvrtc|cu)[A-Z]\w*")


def missing_functions(program: Path, libraries: Sequence[Path]) -> list[Path]:
    """A library with the functions that a program needs and these libraries have not.

    No library if nothing is missing, or nm is not there to tell.
    """
    needed = {each for each in _symbols(program, "--undefined-only") if _NAME.fullmatch(each)}
    names = sorted(needed.difference(*(_symbols(each, "--defined-only") for each in libraries)))
    if not names:
        return []
    text = f"void {MISSING}(const char *);\n"
    text += "".join(f'void {each}(void) {{ {MISSING}("{each}"); }}\n' for each in names)

    def work(folder: Path) -> None:
        source = folder / "missing.c"
        source.write_text(text)
        output = ["-shared", "-fPIC", "-o", str(folder / _LIBRARY)]
        compile_c([compiler("c"), "-w", str(source), *output])

    return [compiled(text, (_LIBRARY,), work) / _LIBRARY]


def _symbols(file: Path, which: str) -> set[str]:
    tool = shutil.which("nm")
    if tool is None:
        return set()
    done = subprocess.run([tool, "-D", which, str(file)], capture_output=True, text=True)
    words = (line.split()[-1:] for line in done.stdout.splitlines())
    return {each[0].partition("@")[0] for each in words if each}
