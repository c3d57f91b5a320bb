"""What a library exports, against the stated versions."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest
from programs import ROOT, printed

from cudnn_ctypes import raw, use_reference_device
from cudnn_ctypes.raw import mode
from tests.graph.advice_cases import ADVISED
from tools import advice_table, bench_call, gpu_check, graph_matrix, version_matrix
from tools.advice_table import COLUMNS
from tools.graph_matrix import differing, report, report_of
from tools.version_matrix import loaded_row
from tools.wheel_matrix import check

ALL = set(raw.FUNCTIONS)


def test_the_installed_library_has_what_is_stated(capsys):
    assert version_matrix.main([]) == 0
    row = loaded_row()
    assert f"{row.present} of {len(ALL)} functions" in capsys.readouterr().out
    assert row.early == []
    assert row.present + len(row.missing) + len(row.lost) == len(ALL)


def test_a_file_that_is_no_library(tmp_path):
    with pytest.raises(SystemExit, match="libcudnn"):
        version_matrix.main([f"{tmp_path}/libcudnn.so.9"])


STEPS = {step.__name__: "ok" for step in check.STEPS}


def test_the_conda_recipe_asks_for_what_the_wheel_asks():
    recipe = (ROOT / "conda/recipe/recipe.yaml").read_text()
    project = (ROOT / "pyproject.toml").read_text()
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    dependencies = re.findall(r'"([\w-]+)([^";]*)', block)
    (python,) = re.findall(r'^requires-python = "(.*)"', project, re.MULTILINE)
    for name, releases in [("python", python), *dependencies]:
        assert f"    - {name} {releases}\n" in recipe.partition("  run:\n")[2]


@pytest.mark.soak
def test_everything_works_here(tmp_path):
    """With a home that cannot be written, and nothing on the path."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); "
        f"runpy.run_path({check.__file__!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        env={"HOME": str(home), "PATH": str(tmp_path)},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["steps"].keys() == STEPS.keys()
    bad = {name: text for name, text in found["steps"].items() if text != "ok"}
    bad.pop("doctor", None)  # in a checkout, an isolated Python does not find the package
    assert bad == {}


# --- the tests' graphs have the same text under every cuDNN ---------------------------------------


OTHERS = "CUDNN_CTYPES_TEST_LIBRARIES"
"""Environment variable: folders of other versions' libraries, as in a PATH."""


@pytest.mark.soak
def test_a_process_of_its_own_gives_the_same():
    path = str(raw.load().path)
    found = report_of(path, "sdpa: pages", "a100")
    assert len(found["graphs"]) > 2
    assert found["version"] == raw.load().version_text
    assert not differing([found, report("sdpa: pages")])


def test_all_graphs_are_the_same_under_other_versions(capsys):
    others = [each for each in os.environ.get(OTHERS, "").split(os.pathsep) if each]
    if not others:
        pytest.skip(f"{OTHERS} names no other cuDNN")
    assert graph_matrix.main([str(raw.load().path), *others]) == 0
    printed = capsys.readouterr().out
    assert "0 graphs differ" in printed
    assert len(printed.splitlines()) == len(others) + 2


@pytest.mark.soak
def test_a_library_that_does_not_load_is_named(tmp_path):
    with pytest.raises(SystemExit, match="status 1"):
        graph_matrix.main([f"{tmp_path}/libcudnn.so.9"])


def test_a_machine_without_a_gpu_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mode, "why_no_gpu", lambda: "the driver sees no GPU")
    with pytest.raises(SystemExit, match="2"):
        gpu_check.main([str(tmp_path / "parts")])
    assert "the driver sees no GPU" in capsys.readouterr().err
    assert not (tmp_path / "parts").exists()


@pytest.mark.soak
@pytest.mark.skipif(raw.load().version < 92800, reason="the graphs were chosen for this version")
def test_the_table_of_advice_shows_the_first_suggestion(capsys):
    name = "norm with float32 scale, and ReLU"
    assert advice_table.main(["--only", name]) == 0
    version, _, header, line, *found = capsys.readouterr().out.splitlines()
    assert version == f"cuDNN {raw.load().version_text}"
    assert header == f"| {' | '.join(COLUMNS)} |"
    assert line.count("|") == header.count("|")
    (row,) = (each.strip("| ").split(" | ") for each in found)
    assert row[:4] == [name, "h200", "refused", ADVISED[name].words]
    assert row[4].startswith("makes the graph supported; engine")
    assert ADVISED[name].caveat in row[5]


def test_there_are_ten_of_each_kind_of_trouble():
    assert sum(not each.supported for each in ADVISED.values()) >= 10
    assert sum(each.supported for each in ADVISED.values()) >= 3


# --- the benchmarks run; what they measure is no test ---------------------------------------------


@pytest.mark.thinned(5)
@pytest.mark.parametrize("case", bench_call.CASES, ids=lambda case: case.row)
def test_calls_run_on_every_side(case):
    times = bench_call.measure(case, rounds=1, loops=2)
    assert times.keys() == {"raw", "c_void_p", "typed", "lean"}
    assert all(seconds > 0 for side in times.values() for seconds in side)


@pytest.fixture
def measured(capsys):
    """Runs a benchmark, in this process: others would load PyTorch; returns the printed lines."""

    def run(tool, *arguments):
        pytest.importorskip("torch")
        with use_reference_device():
            assert not import_module(f"tools.{tool}").main([*arguments])
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.soak
def test_launches_on_the_reference_device(measured):
    lines = measured("bench_gpu", "--reference", "--rounds", "1", "--launches", "1")
    assert lines[0].startswith("Handle(reference device")
    costs = {line.split()[0]: line.split()[1:] for line in lines if line[:1].isalpha()}
    assert costs["softmax_forward"][-1] == costs["gnn_mha_gat_forward"][-1] == "1"  # call of cuDNN
    assert 0 < int(costs["ConvolutionForward.run"][2]) < int(costs["RNN.forward"][2]) < 40


@pytest.mark.soak
def test_executions_of_graphs_without_a_gpu():
    """In a process of its own, of which the functions of cuDNN become empty."""
    pytest.importorskip("torch")
    program = """
        from tools.bench_graph import main
        main(["--empty", "--rounds", "1", "--launches", "2"])
    """
    lines = printed(program)
    assert len(lines) == 1 + 2 * 13
    for problem in (lines[1:14], lines[14:]):
        least = {line[:54].strip(): float(line[54:].split()[1]) for line in problem[2:]}
        assert 0 < least["plain ctypes"] < least["Graph.execute, tensors, y elsewhere each time"]


@pytest.mark.soak
def test_the_reference_device_beside_pytorch(measured):
    flags = ("relu", "--families", "layers", "--rounds", "1", "--least", "0")
    title, heads, *rows = measured("bench_reference.__main__", *flags)
    assert title.startswith("PyTorch")
    assert heads.split() == ["ms", "PyTorch", "ratio", "MB"]
    names = [row.rsplit(maxsplit=4)[0].strip() for row in rows]
    assert names == ["relu forward, cifar", "relu backward, cifar"]


@pytest.mark.soak
def test_models_run_on_the_reference_device(measured):
    title, *rows = measured("bench_torch_ops", "--reference", "llama_token", "unet")
    assert title.startswith("PyTorch")
    errors = [float(row.split("error ")[1].split(",")[0]) for row in rows if "error" in row]
    assert len(errors) == 6  # two models by three ways
    assert max(errors) < 1e-2
    assert sum("by cudnn_ctypes.torch_ops.attention" in row for row in rows) == 2
