"""Programs that use cuDNN, translated, against NumPy and PyTorch; others against compiled C."""

from __future__ import annotations

import ast
import shutil
import subprocess

import pytest

from cudnn_ctypes.porting.runtime.flow import cuda_headers

from .oracles import ORACLES, PRINTED_BEFORE
from .translated import HERE, differences, run_python, translation_of

pytest.importorskip("tree_sitter")

PROGRAMS = HERE / "corpus"
WITH_KERNELS = {path.name for path in PROGRAMS.glob("*.cu") if path.name in ORACLES}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", sorted(ORACLES))
def test_everything_is_translated(name):
    translation = translation_of(PROGRAMS / name)
    assert translation.not_translated == []
    assert bool(translation.kernels) == (name in WITH_KERNELS)
    ast.parse(translation.python)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", sorted(set(ORACLES) - WITH_KERNELS))
def test_prints_on_the_reference_device_what_numpy_and_pytorch_say(name, tmp_path):
    pytest.importorskip("torch")
    done = run_python(translation_of(PROGRAMS / name).python, tmp_path)
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]())) == []


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", sorted(WITH_KERNELS))
def test_a_kernel_is_refused_on_the_reference_device(name, tmp_path):
    done = run_python(translation_of(PROGRAMS / name).python, tmp_path)
    assert done.returncode != 0
    assert "NotTranslatedError" in done.stderr
    assert "the reference device runs cuDNN's functions only" in done.stderr


@pytest.mark.parametrize("name", sorted(WITH_KERNELS))
def test_nvrtc_compiles_the_kernels(name):
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    translation = translation_of(PROGRAMS / name)
    calls = [one for one in ast.walk(ast.parse(translation.python)) if isinstance(one, ast.Call)]
    (made,) = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "Kernels"]
    source = ast.literal_eval(made.args[0])
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], [])
    for kernel in translation.kernels:
        nvrtc.nvrtcAddNameExpression(program, kernel.encode())
    options = [b"--std=c++17", *(b"-I" + one.encode() for one in cuda_headers())]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", sorted(PRINTED_BEFORE))
def test_a_marked_part_is_told_and_raises_when_it_is_reached(name, tmp_path):
    translation = translation_of(PROGRAMS / name)
    assert translation.not_translated
    done = run_python(translation.python, tmp_path)
    assert done.stdout.splitlines() == PRINTED_BEFORE[name]
    assert "NotTranslatedError: line" in done.stderr


def test_every_program_has_an_oracle():
    assert {path.name for path in PROGRAMS.iterdir()} == set(ORACLES) | set(PRINTED_BEFORE)


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(ORACLES))
def test_prints_on_a_gpu_what_numpy_and_pytorch_say(name, tmp_path):
    pytest.importorskip("torch")
    done = run_python(translation_of(PROGRAMS / name).python, tmp_path, device="cuda")
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]()), tolerance=2e-3) == []


# --- translated C and C++ prints what the compiled program prints ---------------------------------


pytest.importorskip("tree_sitter")

SNIPPETS = sorted((HERE / "language").glob("*.c*"))


@pytest.mark.thinned(15)
@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_prints_what_the_compiled_program_prints(path, tmp_path):
    compiler = "gcc" if path.suffix == ".c" else "g++"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    translation = translation_of(path)
    assert translation.not_translated == []
    compiled = tmp_path / "compiled"
    options = ["-O0", "-ffp-contract=off", "-w", "-o", str(compiled), str(path), "-lm"]
    subprocess.run([compiler, *options], check=True)
    expected = subprocess.run(
        [str(compiled)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert expected.stdout
    for file in tmp_path.glob("*.txt"):
        file.unlink()

    done = run_python(translation.python, tmp_path)

    assert done.stdout.splitlines() == expected.stdout.splitlines(), done.stderr
    assert done.returncode == expected.returncode
