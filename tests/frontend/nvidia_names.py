"""The names of NVIDIA's front end: stored facts, and those of the installed version."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT

TABLE = json.loads(Path(__file__).with_name("names.json").read_text())


def installed_table() -> dict[str, Any]:
    """What ``tools/frontend_names.py`` says of the installed front end; skips without one."""
    return told_by_nvidias(str(ROOT / "tools" / "frontend_names.py"))


@functools.cache
def told_by_nvidias(program: str) -> dict[str, Any]:
    """The JSON that a program prints with NVIDIA's front end; skips without one.

    It is looked for in this environment, and in that whose Python CUDNN_FRONTEND_PYTHON names. It
    runs in a process of its own: it loads a cuDNN.
    """
    python = os.environ.get("CUDNN_FRONTEND_PYTHON")
    spec = importlib.util.find_spec("cudnn")
    if python is None and (spec is None or not spec.submodule_search_locations):
        pytest.skip("nvidia-cudnn-frontend is not installed (or name CUDNN_FRONTEND_PYTHON)")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    libraries = importlib.util.find_spec("nvidia.cudnn")
    if python is None:
        environment["PYTHONPATH"] = str(Path(spec.origin or "").parents[1]) if spec else ""
    elif libraries is not None:
        folder = Path(next(iter(libraries.submodule_search_locations or ()))) / "lib"
        environment["LD_LIBRARY_PATH"] = str(folder)
    told = subprocess.run(
        [python or sys.executable, program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if told.returncode:
        pytest.skip(f"the front end cannot be looked at: {told.stderr[-300:]}")
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def names_of(table: dict[str, Any]) -> set[str]:
    """All names: of the module, with a point of its classes and enums, in brackets arguments."""
    found = {*table["constants"], *table["functions"], *table["kernels"], *table["modules"]}
    found |= {f"{module}.{name}" for module, names in table["exports"].items() for name in names}
    for enum, members in table["enums"].items():
        found |= {enum, *(f"{enum}.{member}" for member in members)}
    for function, overloads in table["functions"].items():
        found |= {f"{function}({name})" for name in _arguments(overloads)}
    for cls, members in table["classes"].items():
        found.add(cls)
        for member, overloads in members.items():
            found.add(f"{cls}.{member}")
            found |= {f"{cls}.{member}({name})" for name in _arguments(overloads or [])}
    for method, builder in table["builders"].items():
        found.add(f"pygraph.{method}")
        arguments = (*builder["places"], *builder["keywords"])
        found |= {f"pygraph.{method}({name})" for name in arguments}
    return found


def _arguments(overloads: list[dict[str, Any]]) -> set[str]:
    """By name; those that can be given by their place only have none."""
    given = {name for each in overloads for name, *_ in each["parameters"]}
    return {name for name in given if not name.startswith("arg")}
