"""porting.source: programs as trees, and what stands beside the tree."""

import importlib

import pytest

from cudnn_ctypes.evidence.files import CommandError
from cudnn_ctypes.porting import source
from cudnn_ctypes.porting.source import Include, Macro, parse, parse_text

pytest.importorskip("tree_sitter")

PROGRAM = """\
#include <cudnn.h>
#include "layer.h"
/* Two lines
 * of text. */
#define N 4          // how many
#define CHECK(call, ...) \\
    do { if ((call) != 0) /* bad */ exit(1); } while (0)
__global__ void scale(float *x, int n) { x[threadIdx.x] *= n; }
int main() {
    scale<<<1, N>>>(x, 2);
    CHECK(cudnnCreate(&handle));
}
"""


def test_what_the_tree_does_not_say():
    program = parse_text(PROGRAM)
    assert program.includes == [Include(1, "cudnn.h", True), Include(2, "layer.h", False)]
    assert program.macros == {
        "N": Macro("N", None, "4", 5),
        "CHECK": Macro("CHECK", ("call", "..."), "do { if ((call) != 0) exit(1); } while (0)", 6),
    }


@pytest.mark.parametrize(
    ("name", "code", "language"),
    [
        ("a.c", "int class = 1; int *new = &class;", "c"),
        ("a.cpp", "template <class T> struct A { T x; };", "cpp"),
        ("a.cu", "template <class T> __global__ void f(T x) { f<<<1, 2>>>(x); }", "cuda"),
        ("a.c", "int f() { k<<<1, 2>>>(x); }", "cuda"),
        ("a.h", "class MY_API A final : public B { int x; };", "cuda"),
    ],
)
def test_the_language(tmp_path, name, code, language):
    path = tmp_path / name
    path.write_text(code)
    program = parse(path)
    assert program.language == language
    assert program.root.errors == []


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        parse(tmp_path / "none.cu")
    path = tmp_path / "a.out"
    for code in (b"\x7fELF\0\0", b"int x;\n" * 1000 + b"\0"):
        path.write_bytes(code)
        with pytest.raises(CommandError, match="no text"):
            parse(path)
    with pytest.raises(CommandError, match="/dev/zero: it has more than 64 MiB"):
        parse("/dev/zero")


def test_without_tree_sitter(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    source._parser.cache_clear()
    with pytest.raises(CommandError, match=r"pip install 'cudnn-ctypes\[porting\]'"):
        parse_text("int x;")
