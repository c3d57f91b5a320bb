"""Where the headers are, and the compiler flags under which they compile.

Besides the cuDNN headers that takes the CUDA runtime's headers, `crt/host_defines.h` (which the
nvcc wheel carries) and a compiler's `stddef.h`.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path


def wheel_include(package: str) -> Path:
    """The include folder of an NVIDIA wheel, e.g. of `nvidia.cudnn`."""
    spec = importlib.util.find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        if (include := Path(place) / "include").is_dir():
            return include
    raise FileNotFoundError(f"no include folder of {package}: is its wheel installed?")


def compiler() -> str:
    """A C compiler. Raises FileNotFoundError if there is none."""
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError("no C compiler (cc, gcc, clang)")


def cuda_includes() -> list[Path]:
    """The folders of CUDA's headers: of wheels for CUDA 12, else of the toolkit or of CUDA 13."""
    try:
        return [wheel_include("nvidia.cuda_runtime"), wheel_include("nvidia.cuda_nvcc")]
    except FileNotFoundError:
        toolkit = Path("/usr/local/cuda/include")
        return [toolkit if toolkit.is_dir() else wheel_include("nvidia.cu13")]


def include_flags(cudnn_include: Path) -> list[str]:
    """Compiler flags under which the cuDNN headers of that folder compile."""
    query = [compiler(), "-print-file-name=include"]
    builtin = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    return [
        f"-I{cudnn_include}",
        *(f"-I{folder}" for folder in cuda_includes()),
        "-isystem",
        builtin,
    ]
