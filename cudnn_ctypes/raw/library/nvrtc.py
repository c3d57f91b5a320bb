"""The NVRTC with which cuDNN compiles kernels: whether it works and, if not, why."""

from __future__ import annotations

import ctypes

from . import load
from .loaded import cuda_library_files

_SOURCE = b"__global__ void kernel() {}"


def compilation_failure(nvrtc: ctypes.CDLL) -> str:
    """Why NVRTC cannot compile an empty kernel, as when its builtins are missing; "" if it can."""
    program = ctypes.c_void_p()
    size = ctypes.c_size_t()
    try:
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), _SOURCE, None, 0, None, None)
        if not (status := nvrtc.nvrtcCompileProgram(program, 0, None)):
            return ""
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        nvrtc.nvrtcGetProgramLog(program, log)
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        name = nvrtc.nvrtcGetErrorString(status) or b"status %d" % status
    except AttributeError as error:  # a function is missing
        return str(error)
    return b": ".join(filter(None, (name, log.value.strip()))).decode(errors="replace")


def defect() -> str:
    """Why cuDNN's NVRTC cannot compile, and the command that mends it; "" if it can."""
    library = load()
    library.load_cuda_libraries()
    soname = f"libnvrtc.so.{library.cuda_major}"
    package = "nvidia-cuda-nvrtc" + ("-cu12" if library.cuda_major == 12 else "")
    file = next((str(each) for each in cuda_library_files() if each.name.startswith(soname)), "")
    if not file:
        return f"{soname}, which cuDNN compiles kernels with, is not found: pip install {package}"
    if failure := compilation_failure(ctypes.CDLL(file)):
        return (
            f"{file} cannot compile any kernel ({failure}): pip install --force-reinstall {package}"
        )
    return ""
