"""Descriptors; and a C compiler that knows the cuDNN headers, layer 1's oracle."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw.headers import HEADERS
from tests.reference.raw_program import Descriptors
from tools.generate.include import compiler, include_flags, wheel_include


@dataclass(frozen=True)
class HeaderCompiler:
    """Compiles C that includes all cuDNN headers."""

    command: tuple[str, ...]
    folder: Path
    scratch: Path

    def _source(self, code: str) -> Path:
        path = self.scratch / "program.c"
        includes = [*HEADERS, "stdio.h", "stddef.h"]
        path.write_text("".join(f"#include <{name}>\n" for name in includes) + code)
        return path

    def run(self, statements: str) -> list[str]:
        """The lines that a main function of these statements prints."""
        source = self._source(f"int main(void) {{\n{statements}\nreturn 0;\n}}\n")
        program = self.scratch / "program"
        subprocess.run([*self.command, str(source), "-o", str(program)], check=True)
        printed = subprocess.run([str(program)], check=True, capture_output=True, text=True)
        return printed.stdout.splitlines()

    def errors(self, declarations: str) -> str:
        """What the compiler says against these declarations; empty if it accepts them."""
        flags = ["-fsyntax-only", "-Wall", "-Werror"]
        source = str(self._source(declarations))
        done = subprocess.run([*self.command, *flags, source], capture_output=True, text=True)
        return done.stderr

    def preprocessed(self) -> str:
        """What the cuDNN headers declare, without comments and macros."""
        command = [*self.command, "-E", str(self._source(""))]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        kept: list[str] = []
        inside = False
        for line in text.splitlines():
            if line.startswith("#"):
                inside = str(self.folder) in line
            elif inside:
                kept.append(line)
        return "\n".join(kept)


@pytest.fixture(scope="session")
def header_compiler(tmp_path_factory: pytest.TempPathFactory) -> HeaderCompiler:
    try:
        folder = wheel_include("nvidia.cudnn")
        command = (compiler(), *include_flags(folder))
    except (FileNotFoundError, ImportError) as reason:
        pytest.skip(f"needs a C compiler, the cuDNN headers and those of CUDA: {reason}")
    return HeaderCompiler(command, folder, tmp_path_factory.mktemp("c"))


@pytest.fixture
def new() -> Iterator[Callable[..., Any]]:
    """What creates a descriptor of a type of C; it is destroyed after the test."""
    with contextlib.closing(Descriptors()) as descriptors:
        yield descriptors.new


@pytest.fixture
def x(new: Callable[..., Any]) -> Any:
    """A tensor descriptor, not set."""
    return new(raw.cudnnTensorDescriptor_t)
