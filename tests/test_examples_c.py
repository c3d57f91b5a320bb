"""The C that stands beside Python in the examples compiles, and makes the same calls."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from programs import ROOT

from tools.generate.include import compiler, include_flags, wheel_include

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

HEAD = """
#include <cuda_runtime.h>
#include <cudnn.h>
#define CHECK(call) do { if ((call) != CUDNN_STATUS_SUCCESS) return 1; } while (0)
int main(void) {
"""


def blocks(text: str) -> list[str]:
    """Comments that are C: blocks that end with a semicolon or a brace; "#" alone ends a block."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if comment := re.match(r"\s*# (.*)", line):
            found[-1].append(comment[1])
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines and re.search(r"[;}](\s*/\*.*\*/)?$", lines[-1])]


def with_c() -> dict[str, str]:
    """The C of each example that has some."""
    texts = {path.stem: "\n".join(blocks(path.read_text())) for path in EXAMPLES}
    return {name: text for name, text in texts.items() if "cudnn" in text}


def raw_calls(text: str) -> list[str]:
    """The functions of layer 1 that a program calls, in the order of its lines."""
    calls = [
        (node.lineno, node.func.attr)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "raw"
        and node.func.attr.startswith("cudnn")
        and not node.func.attr.endswith("_t")
    ]
    return [name for _, name in sorted(calls)]


def test_there_is_c_beside_python() -> None:
    assert len(with_c()) >= 6


@pytest.mark.parametrize("name", with_c())
def test_compiles(name: str, tmp_path: Path) -> None:
    try:
        command = [compiler(), *include_flags(wheel_include("nvidia.cudnn"))]
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    program = tmp_path / f"{name}.c"
    program.write_text(HEAD + with_c()[name] + "\nreturn 0;\n}\n")
    flags = ["-std=c11", "-fsyntax-only", "-Werror", "-Wno-uninitialized"]
    done = subprocess.run([*command, *flags, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", with_c())
def test_makes_the_same_calls_as_python(name: str) -> None:
    python = raw_calls((ROOT / "examples" / f"{name}.py").read_text())
    assert re.findall(r"\b(cudnn\w+)\(", with_c()[name]) == python


def test_a_mistake_in_c_is_noticed(tmp_path: Path) -> None:
    text = "# Prose about cudnnCreate(&handle).\nx = 1\n# cudnnHandle_t h;\n# cudnnCreate(h);\n"
    assert blocks(text) == ["cudnnHandle_t h;\ncudnnCreate(h);"]
