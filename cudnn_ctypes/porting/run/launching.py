"""The environment in which a program loads the library in place of NVIDIA's libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ... import raw
from ...evidence.files import CommandError
from ...evidence.tracing import ENVIRONMENT_VARIABLE as TRACE_VARIABLE
from ...raw.mode import ENVIRONMENT_VARIABLE as DEVICE_VARIABLE
from ...raw.mode import MEMCHECK_VARIABLE
from .kernels import CUDA_NAME, missing_functions
from .library import compile_c, compiled, compiler, library, registered_kernels, stand_ins
from .signatures import OLD_STATUS_VARIABLE


def environment(
    program: Path, *, device: str, recordings: Sequence[str] = (), checks: Sequence[str] = ()
) -> dict[str, str]:
    """The environment variables for a program.

    - `program`: the program, whose file is looked at.
    - `device`: "reference", "reference:GPU" or "gpu".
    - `recordings`: what is recorded, as the variable CUDNN_CTYPES_TRACE has it.
    - `checks`: "strict", "guard_pages".

    Raises CommandError if the device is not known; if the program is linked statically with the
    CUDA runtime, or the library cannot be compiled.
    """
    kind, _, gpu = device.partition(":")
    if kind not in ("reference", "gpu") or (gpu and kind == "gpu"):
        raise CommandError(f"--device {device}: expected reference, reference:GPU or gpu")
    on_reference = kind == "reference"
    with program.open("rb") as file:
        data = file.read(256 << 20)
    if on_reference and _has_own_runtime(data):
        raise CommandError(
            f"{program} has the CUDA runtime in itself, which calls the driver: link it with "
            f"nvcc -cudart shared, or compile it with cudnn-ctypes build"
        )
    built = library()
    variables = dict(os.environ)
    before = [each for each in variables.get("LD_PRELOAD", "").split(":") if each]
    own = [built]
    if on_reference:
        own.append(registered_kernels(built))
        own += _missing_functions(program, own)
    variables["LD_PRELOAD"] = ":".join([*map(str, own), *before])
    path = variables.get("LD_LIBRARY_PATH", "")
    if on_reference:
        folders = [str(stand_ins(built)), path]
    else:
        folders = [path, *_real_folders()]
    variables["LD_LIBRARY_PATH"] = ":".join(each for each in folders if each)
    variables[DEVICE_VARIABLE] = device if on_reference else "cuda"
    variables[TRACE_VARIABLE] = ",".join(recordings) or "0"
    variables[MEMCHECK_VARIABLE] = ",".join(checks)
    variables[OLD_STATUS_VARIABLE] = "1" if _OLD_CUDNN.search(data) else ""
    return variables


_OLD_CUDNN = re.compile(rb"\0libcudnn(_\w+)?\.so\.[4-8]\0")


def _has_own_runtime(data: bytes) -> bool:
    """Whether a program was linked with the static CUDA runtime."""
    return b"libcuda.so.1" in data and b"libcudart.so" not in data and b"cudart" in data.lower()


def _real_folders() -> list[str]:
    """The folders of cuDNN and of what comes with it, for a program that does not find them."""
    cudnn = Path(raw.load().path)
    found = [cudnn.parent, *sorted(cudnn.parents[2].glob("*/lib"))]
    return [str(each) for each in found if each.is_dir()]


# --- functions of CUDA that a program names and nothing here carries out --------------------------

_LIBRARY = "missing.so"


def _missing_functions(program: Path, libraries: Sequence[Path]) -> list[Path]:
    """A library with the functions that a program needs and these libraries have not.

    No library if nothing is missing, or nm is not there to tell.
    """
    needed = {each for each in _symbols(program, "--undefined-only") if CUDA_NAME.fullmatch(each)}
    names = needed.difference(*(_symbols(each, "--defined-only") for each in libraries))
    if not names:
        return []
    text = missing_functions(names)

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
