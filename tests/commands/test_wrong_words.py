"""What commands are given and cannot take: one line says why, and nothing is written."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path

import pytest

from cudnn_ctypes import Graph
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver

EMPTY = "expected the name of a file or folder, got ''"
DASH = "got '-': use /dev/stdin or /dev/stdout"
FITTING = "matmul 2x3 3x5"
LONG = f"{'x' * 300}.py"

# In a folder where a.json and b/a.json are graphs, said.log is a log without any, a.c is a program,
# and link.py leads nowhere.
WRONG = [
    ("bench pooling 2x2", "expected one of attention, convolution"),
    ("bench convolutoin", "did you mean 'convolution'?"),
    ("bench matmul 2x3 4x5", "do not fit together"),
    ("bench none.json", "none.json: it cannot be read"),
    ("bench none.json --type bfloat16", "none.json has no --type"),
    ("bench none.json 2x3", "a stored graph has its shapes; leave out 2x3"),
    ("bench a.json --device h200 --judge", "--judge and --plot need the GPU itself"),
    ("bench matmul 2x3x3x5 2x3x3x5", "expected two matrices MxK and KxN"),
    ("bench convolution 1x2x8x8x8 4x2x3x3x3", "--layout NHWC is for two spatial dimensions"),
    (f"bench {FITTING} --causal", "matmul has no --causal"),
    (f"bench {FITTING} --device Z1", "Z1"),
    (f"bench {FITTING} --device ''", "no preset for ''"),
    (f"bench {FITTING} --type float17", "Did you mean 'float16'"),
    (f"bench {FITTING} --padding -1", "--padding: expected a number from 0, got '-1'"),
    (f"bench {FITTING} --plot x", "x: expected a name that ends in .png or .svg or .pdf\n"),
    ("cache --clear --export a.json", "cache: --clear goes alone"),
    ("cache --export ''", EMPTY),
    (f"cache --export {LONG}", "File name too long"),
    ("cache --export link.py", "link.py: this is a link to a file that is not there"),
    ("cache --export -", DASH),
    ("case replay none.json", "cannot be read"),
    ("case replay said.log", "no case"),
    ("case replay said.log -o x", "writes nothing"),
    ("case replay said.log --bench", "--bench goes with save"),
    ("case save said.log", "needs -o"),
    ("case save said.log -o x.json", "no graph and no call"),
    ("case save said.log -o x.json --bench", "--bench needs a GPU"),
    ("compare a.json loaded", "expected --device, or --judge"),
    ("compare a.json loaded --judge --device h200", "expected --device, or --judge"),
    ("compare a.json loaded --bisect --device h200", "takes two versions"),
    ("compare none.json loaded --device h200", "it cannot be read"),
    ("compare a.c loaded --device h200", "the JSON is damaged"),
    ("cache --merge none.json", "none.json: it cannot be read"),
    ("cache --merge a.json", "cache: a.json: "),
    ("compile a.json", "required: --device"),
    ("compile '' --device T4", EMPTY),
    ("compile . --device T4", "compile: .: it cannot be read: Is a directory"),
    ("compile none.json --device T4", "none.json: it cannot be read: No such file or directory"),
    ("compile a.json --device none.json", "none.json: it cannot be read: No such file"),
    ("compile a.json --device a.json", "a.json: these are no device properties"),
    ("compile a.json --device B9", "no preset for 'B9'"),
    ("compile a.json --device T4 -j 0", "expected a number from 1, got '0'"),
    ("compile a.json --device T4 --heuristics c", "invalid choice: 'c'"),
    ("compile a.json --device T4 -o a.json/x", "a.json: this is a file, and a folder is wanted"),
    ("compile a.json b/a.json --device T4 -o x", "two plans would be written to x"),
    (
        "compile a.json b/a.json --device T4 -o a.json",
        "--output a.json: several plans need a folder",
    ),
    pytest.param(
        *("compile a.json --device here", "there is no NVIDIA GPU here"),
        marks=pytest.mark.skipif(not ensure_driver().is_stub, reason="there is a driver"),
    ),
    ("demo -o ''", EMPTY),
    ("demo -o -", DASH),
    ("demo --device reference -o x", "x: expected a name that ends in .png\n"),
    ("demo --device reference -o x.txt", "x.txt: expected a name that ends in .png\n"),
    ("devices B20", "no preset for 'B20'; did you mean"),
    ("devices none.json", "none.json: it cannot be read"),
    ("docter", "did you mean 'doctor'?"),
    ("doctor --save-device x.txt", "x.txt: expected a name that ends in .json\n"),
    ("examples 'no such'", "none is called 'no such'"),
    ("examples --copy ''", EMPTY),
    (f"examples --copy {LONG}", "File name too long"),
    ("examples --copy -", DASH),
    ("explain '' --device T4", EMPTY),
    ("explain a.json --device H2000", "no preset for 'H2000'; did you mean 'h200'"),
    ("explain a.json --device T4 --forbid nondet", "forbid: there is no note 'nondet'"),
    ("explain a.json --device T4 --heuristics c", "heuristics: expected one of"),
    ("explain a.json#2 --device T4", "a.json: it has 1 graphs, and no #2"),
    ("explain said.log --device T4", "said.log: it has no graph; a log has them with"),
    ("port ''", EMPTY),
    ("port none.cu", "none.cu: it cannot be read"),
    ("port none.log -o x.py", "it cannot be read"),
    ("port a.c -o a.py", "port: -o/--output goes with --translate"),
    ("port --translate a.c -o x.txt", "x.txt: expected a name that ends in .py\n"),
    (f"port --translate a.c -o {LONG}", "File name too long"),
    ("port --translate a.c -o link.py", "link.py: this is a link to a file that is not there"),
    ("port --translate --c x a.c", "--c writes the calls of a log, and --translate those of C"),
    ("run a.json", "a.json: there is no such program"),
    ("run ./a.json", "a.json: this file is no program that can be started"),
    ("trace", "trace: expected a program"),
    ("trace ''", "trace: expected a program"),
    ("trace b", "this is a folder"),
    ("trace none.py", "trace: none.py: there is no such file"),
    ("trace --c a.json/x a.c", "trace: a.json/x: it cannot be made: Not a directory"),
    ("trace --diff a.json said.log", "trace: a.json: this is no trace"),
    ("trace --diff a.json b.json --stats", "--stats is for a run"),
    ("trace --first -1 a.c", "trace: first: expected an int, at least 0, got -1"),
    ("trace --read ''", EMPTY),
    ("trace --read none.json", "trace: none.json: No such file"),
    ("trace --read a.json b.py", "'b.py' is for a run"),
    ("watch none.py", "there is no such file"),
    ("watch no-such-program", "there is no such program"),
]


@functools.cache
def product() -> str:
    graph = Graph(io_data_type="float16")
    graph.matmul(graph.tensor((1, 64, 64)), graph.tensor((1, 64, 64))).set_output()
    return graph.to_json()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    for name in ("a.json", "b/a.json"):
        Path(name).write_text(product())
    Path("said.log").write_text("I! CuDNN (v92800 42) function cudnnGetVersion() called:\n")
    Path("a.c").write_text("int main(void) { return 3; }\n")
    Path("link.py").symlink_to("none/a.py")
    return tmp_path


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_a_line_says_what_is_wrong(line, says, folder, capsys):
    if line.startswith("port"):
        pytest.importorskip("tree_sitter")
    before = sorted(folder.rglob("*"))
    try:
        status = main(shlex.split(line))
    except SystemExit as error:
        status = error.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert says in err
    assert sorted(folder.rglob("*")) == before
