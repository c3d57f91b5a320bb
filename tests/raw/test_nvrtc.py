"""Whether the NVRTC that cuDNN compiles with can compile."""

from __future__ import annotations

import pytest
from programs import fake_library, printed

from cudnn_ctypes import raw
from cudnn_ctypes.raw.library import nvrtc

_FUNCTIONS = {
    "nvrtcCreateProgram": 0,
    "nvrtcCompileProgram": 6,
    "nvrtcGetProgramLogSize": 0,
    "nvrtcGetProgramLog": 0,
    "nvrtcGetErrorString": 0,
}


@pytest.mark.parametrize(
    ("functions", "reason"), [(_FUNCTIONS, "status 6"), ({}, "nvrtcCreateProgram")]
)
def test_a_library_that_cannot_compile(functions, reason, tmp_path):
    file = fake_library(tmp_path, f"libnvrtc.so.{raw.load().cuda_major}", **functions)
    program = """
        import ctypes, sys
        ctypes.CDLL(sys.argv[1])
        from cudnn_ctypes.raw.library import nvrtc
        print(nvrtc.defect())
    """
    (told,) = printed(program, str(file))
    assert told.startswith(f"{file} cannot compile any kernel (")
    assert reason in told
    assert "pip install --force-reinstall nvidia-cuda-nvrtc" in told


def test_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "cuda_library_files", list)
    assert "is not found: pip install nvidia-cuda-nvrtc" in nvrtc.defect()
