"""The command ``explain``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.graph import Graph


@pytest.fixture
def product(tmp_path: Path) -> Path:
    graph = Graph("product", io_data_type="float16")
    a, b = graph.tensor((4, 64, 128)), graph.tensor((4, 128, 256))
    graph.gelu(graph.matmul(a, b)).set_output()
    path = tmp_path / "product.json"
    path.write_text(graph.to_json())
    return path


def test_the_table_is_printed(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(product), "--device", "H200", "--heuristics", "a"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("'product' (matmul 'matmul', gelu 'gelu') on NVIDIA H200, cuDNN")
    assert "  a 1  " in out
    assert "accepted, not compiled" in out


def test_json_is_printed(product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", str(product), "--device", "h200", "--json", "--require", "tensor_core"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    usable = [row for row in told["rows"] if row["state"] == "accepted"]
    assert usable
    assert all("tensor_core" in row["numerical_notes"] for row in usable)


def test_without_an_engine_the_status_says_so(
    product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", str(product), "--device", "H200", "--require", "winograd"]
    assert main(words) == 1
    assert "lacks the note winograd" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--device", "H2000"], "no preset for 'H2000'; did you mean 'h200'"),
        (["--device", "H200", "--forbid", "nondet"], "forbid: there is no note 'nondet'"),
        (["--device", "H200", "--heuristics", "c"], "heuristics: expected one of"),
    ],
)
def test_wrong_arguments(
    words: list[str], says: str, product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(product), *words]) == 2
    assert says in capsys.readouterr().err


def test_a_damaged_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    path.write_text("{")
    assert main(["explain", str(path), "--device", "H200"]) == 2
    assert capsys.readouterr().err.startswith("explain: ")


def test_a_reader_that_has_enough_is_no_error(product: Path) -> None:
    words = [sys.executable, "-m", "cudnn_ctypes", "explain", str(product), "--device", "H200"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
