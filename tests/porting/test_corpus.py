"""Programs that use cuDNN, translated, against NumPy and PyTorch; others against compiled C."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from cudnn_ctypes.porting.translate import translate

from .oracles import ORACLES
from .translated import HERE, differences, run_python

pytest.importorskip("tree_sitter")

PROGRAMS = HERE / "corpus"
IN_C = sorted(name for name in ORACLES if name.endswith(".c"))
BEYOND_C = sorted(set(ORACLES) - set(IN_C))


@pytest.mark.parametrize("name", IN_C)
def test_prints_on_the_reference_device_what_numpy_and_pytorch_say(name, tmp_path):
    pytest.importorskip("torch")
    translation = translate(PROGRAMS / name)
    assert translation.not_translated == []
    done = run_python(translation.python, tmp_path)
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]())) == []


@pytest.mark.parametrize("name", BEYOND_C)
def test_classes_templates_namespaces_and_kernels_are_told_and_raise(name, tmp_path):
    translation = translate(PROGRAMS / name)
    beyond = ("class", "GPU", "a template", "a namespace", "an initial value of a member")
    assert any(each in why for _, why in translation.not_translated for each in beyond)
    assert "NotTranslatedError: line" in run_python(translation.python, tmp_path).stderr


def test_every_program_has_an_oracle():
    assert {path.name for path in PROGRAMS.iterdir()} == set(ORACLES)


@pytest.mark.gpu
@pytest.mark.parametrize("name", IN_C)
def test_prints_on_a_gpu_what_numpy_and_pytorch_say(name, tmp_path):
    pytest.importorskip("torch")
    done = run_python(translate(PROGRAMS / name).python, tmp_path, device="cuda")
    assert done.returncode == 0, done.stderr
    assert differences(done.stdout, list(ORACLES[name]()), tolerance=2e-3) == []


# --- translated C and C++ prints what the compiled program prints ---------------------------------


SNIPPETS = sorted((HERE / "language").glob("*.c*"))


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_prints_what_the_compiled_program_prints(path, tmp_path):
    compiler = "gcc" if path.suffix == ".c" else "g++"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    translation = translate(path)
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
