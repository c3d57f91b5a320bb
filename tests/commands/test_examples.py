"""``python -m cudnn_ctypes examples``: in a checkout, and from an installed wheel."""

from __future__ import annotations

import ast
import json
import sys
import sysconfig
from pathlib import Path

import pytest
from programs import ROOT, run_command

from cudnn_ctypes.__main__ import main

EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(path.stem for path in EXAMPLES.glob("notebooks/*.ipynb"))


def names(text: str) -> list[str]:
    """The names that a list begins its lines with."""
    words = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    return [word for word in words if word[:2].isdecimal()]


def test_lists_all_in_reading_order(capsys):
    assert main(["examples"]) == 0
    assert names(capsys.readouterr().out) == PROGRAMS + NOTEBOOKS


def test_numbers_are_without_gaps():
    for first, stems in ((1, PROGRAMS), (0, NOTEBOOKS)):
        assert [int(stem[:2]) for stem in stems] == list(range(first, len(stems) + first))


def test_shows_what_one_teaches(capsys):
    path = EXAMPLES / "05_algorithms.py"
    title, _, about = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")
    title = title.replace("\n", " ")
    assert main(["examples", "05_ALGORITHMS"]) == 0
    assert capsys.readouterr().out == f"{path}\n\n{title}\n\n{about}\n\n"
    assert main(["examples", "5", "--json"]) == 0
    program, notebook = json.loads(capsys.readouterr().out)
    assert program == {"path": str(path), "title": title, "about": about}
    assert notebook["path"] == str(EXAMPLES / "notebooks" / "05_pooling_and_softmax.ipynb")
    assert notebook["title"].startswith("Pooling and softmax: where gradients go")


def test_copies_and_overwrites_nothing(tmp_path, capsys):
    target = tmp_path / "new" / "folder"
    assert main(["examples", "--copy", str(target)]) == 0
    written = [path for path in target.rglob("*") if path.is_file()]
    assert capsys.readouterr().out == f"{len(written)} files in {target}; begin with README.md\n"
    assert main(["examples", "--copy", str(target), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == sorted(map(str, written))
    for path in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("notebooks/*.ipynb")):
        assert (target / path.relative_to(EXAMPLES)).read_bytes() == path.read_bytes()
    (target / "README.md").write_text("mine")
    assert main(["examples", "--copy", str(target)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (target / "README.md").read_text() == "mine"
    assert main(["examples", "--copy", str(target / "README.md"), "--force"]) == 2
    assert capsys.readouterr().err.endswith("README.md: this is a file, and a folder is wanted\n")


def test_the_index_names_each_once():
    index = (EXAMPLES / "README.md").read_text()
    for stem in PROGRAMS:
        assert index.count(f"({stem}.py)") == 1, stem
    for stem in NOTEBOOKS:
        assert index.count(f"(notebooks/{stem}.ipynb)") == 1, stem


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A prefix that pip has installed the wheel into."""
    for module in ("hatchling", "pip"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("wheel")

    def run(*command):
        done = run_command(sys.executable, "-m", *command, folder=ROOT)
        assert done.returncode == 0, done.stderr

    run("hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    prefix = folder / "prefix"
    options = ("--quiet", "--no-deps", "--no-compile", "--ignore-installed", "--prefix", prefix)
    run("pip", "install", *options, wheel)
    return prefix


@pytest.mark.soak
def test_the_wheel_has_them_as_data_files_and_nothing_else(installed):
    place = installed / "share" / "cudnn-ctypes" / "examples"
    found = {path.relative_to(place) for path in place.rglob("*") if path.is_file()}
    command = "git ls-files --cached --others --exclude-standard ."
    tracked = run_command(*command.split(), folder=EXAMPLES)
    if tracked.returncode == 0:
        assert found == {Path(line) for line in tracked.stdout.splitlines()}
    assert {path.stem for path in found} >= {*PROGRAMS, *NOTEBOOKS}
    packages = {path.name for path in _site_packages(installed).iterdir()}
    assert {name for name in packages if not name.endswith(".dist-info")} == {"cudnn_ctypes"}
    assert not (_site_packages(installed) / "cudnn_ctypes" / "examples").exists()


def _site_packages(prefix):
    return Path(sysconfig.get_path("purelib", vars={"base": str(prefix)}))


@pytest.mark.soak
def test_the_installed_package_lists_copies_and_runs_them(installed, tmp_path):
    environment = {"PYTHONPATH": str(_site_packages(installed)), "CUDNN_CTYPES_DEVICE": "reference"}

    def run(*words):
        done = run_command(sys.executable, *words, folder=tmp_path, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = run("-m", "cudnn_ctypes", "examples")
    assert names(listed) == PROGRAMS + NOTEBOOKS
    assert str(installed) in listed
    run("-m", "cudnn_ctypes", "examples", "--copy", "mine")
    assert "[363 528 573 360]" in run(Path("mine") / "02_convolution_raw.py")
    assert not (tmp_path / "mine" / "notebooks" / "solutions").exists()
    attempt = tmp_path / "mine" / "notebooks" / "attempt.py"
    answer = run("-m", "cudnn_ctypes", "examples", "--answer", "output_size").partition("\n\n")[2]
    attempt.write_text(
        f"from exercises.lesson_03 import check\n\n\n{answer}\n\nprint(check(output_size))"
    )
    assert run(attempt) == "Right.\n"
    said = run("-m", "cudnn_ctypes", "lookup", "cudnnConvolutionForward")
    assert "examples/02_convolution_raw.py" in said
