"""Run the blocks of a page, given as JSON in a file; print what each of them printed, as JSON.

Runs by itself, in a process of its own.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

FAILED = "\0"
SHELL = f'set -eo pipefail; python() {{ "{sys.executable}" "$@"; }}\n'


def run_python(source: str, line: int, namespace: dict[str, Any]) -> tuple[str, bool]:
    """What a block prints, an exception's text included, and whether it came to its end."""
    name = f"<line {line}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            exec(compile(ast.parse(source, name), name, "exec"), namespace)
        except Exception as error:
            kind = type(error)
            home = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            print(f"{home}{kind.__qualname__}: {error}")
            return printed.getvalue(), False
    return printed.getvalue(), True


def run_shell(source: str) -> tuple[str, bool]:
    done = subprocess.run(
        ["bash", "-c", SHELL + source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode == 0


def main(task: Path) -> list[str | None]:
    page = types.ModuleType("page")
    sys.modules["page"] = page
    results: list[str | None] = []
    blocks = json.loads(task.read_text())
    for block in blocks:
        if block["language"] == "python":
            output, succeeded = run_python(block["source"], block["line"], page.__dict__)
        else:
            output, succeeded = run_shell(block["source"])
        results.append(output if succeeded else FAILED + output)
        if not succeeded and block["expected"] is None:
            break
    return results + [None] * (len(blocks) - len(results))


printed = json.dumps(main(Path(sys.argv[1])))
os.write(1, printed.encode())
