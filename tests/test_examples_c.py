"""The C beside Python, in comments of the examples and as programs in c/, makes the same calls."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import ROOT

from tools.generate.include import compiler, include_flags, wheel_include

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PROGRAMS = sorted((ROOT / "examples" / "c").glob("*.c"))

LIBRARIES = {"cudnn": "libcudnn.so.*", "cuda_runtime": "libcudart.so.*"}

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
    ends = re.compile(r"[;}](\s*/\*.*\*/)?$")
    return ["\n".join(lines) for lines in found if lines and ends.search(lines[-1])]


def with_c() -> dict[str, str]:
    """The C of each example that has some."""
    texts = {path.stem: "\n".join(blocks(path.read_text())) for path in EXAMPLES}
    return {name: text for name, text in texts.items() if "cudnn" in text}


def raw_calls(text: str) -> list[str]:
    """The functions of layer 1 that a program calls, in the order of its lines."""
    calls = [
        (node.lineno, match[1])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and (match := re.fullmatch(r"raw\.(cudnn\w+?)(\.unchecked)?", ast.unparse(node.func)))
        and not match[1].endswith("_t")
    ]
    return [name for _, name in sorted(calls)]


def test_there_is_c_beside_python() -> None:
    assert len(with_c()) >= 6
    assert PROGRAMS


def compile_c(program: Path, *flags: object) -> None:
    try:
        command = [compiler(), *include_flags(wheel_include("nvidia.cudnn"))]
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    command += ["-std=c11", "-Wall", "-Wextra", "-Werror", str(program), *map(str, flags)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", with_c())
def test_comments_make_the_calls_of_python_and_compile(name: str, tmp_path: Path) -> None:
    python = raw_calls((ROOT / "examples" / f"{name}.py").read_text())
    assert re.findall(r"\b(cudnn\w+)\(", with_c()[name]) == python
    program = tmp_path / f"{name}.c"
    program.write_text(HEAD + with_c()[name] + "\nreturn 0;\n}\n")
    compile_c(program, "-fsyntax-only", "-Wno-uninitialized", "-Wno-maybe-uninitialized")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_use_the_functions_that_python_uses_and_compile(program: Path) -> None:
    python = raw_calls((ROOT / "examples" / f"{program.stem}.py").read_text())
    used = set(re.findall(r"\b(cudnn[A-Z]\w+)\(", program.read_text()))
    assert used - {"cudnnGetErrorString"} == set(python)
    compile_c(program, "-fsyntax-only")


@pytest.mark.gpu
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_what_python_prints(program: Path, tmp_path: Path) -> None:
    try:
        folders = [wheel_include(f"nvidia.{name}").parent / "lib" for name in LIBRARIES]
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    libraries = [
        next(folder.glob(pattern))
        for folder, pattern in zip(folders, LIBRARIES.values(), strict=True)
    ]
    compile_c(program, "-o", tmp_path / "program", *libraries)
    paths = os.pathsep.join(map(str, folders))
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": paths,
        "PYTHONPATH": str(ROOT),
        "CUDNN_CTYPES_DEVICE": "cuda",
    }
    numbers: list[list[str]] = []
    for command in (
        [tmp_path / "program"],
        [sys.executable, ROOT / "examples" / f"{program.stem}.py"],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        numbers.append(re.findall(r"^[\d ]+$", done.stdout, re.M))
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) == 4


def test_a_mistake_in_c_is_noticed(tmp_path: Path) -> None:
    text = "# Prose about cudnnCreate(&handle).\nx = 1\n# cudnnHandle_t h;\n# cudnnCreate(h);\n"
    assert blocks(text) == ["cudnnHandle_t h;\ncudnnCreate(h);"]
