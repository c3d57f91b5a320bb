"""``pytest --record-gpu-coverage[=FILE]``: note which C functions GPU tests call on the GPU.

While a test with the mark ``gpu`` runs, every call that reaches libcudnn is noted with its status.
A test that passes adds them to the record of this GPU and this cuDNN in FILE, by default the one
that the package ships. Records of several sessions add up; delete the file to start afresh.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.commands.doctor.coverage import RECORD
from cudnn_ctypes.raw.function import binding, watched
from cudnn_ctypes.raw.library import load

OPTION = "--record-gpu-coverage"


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        nargs="?",
        const=str(RECORD),
        default=None,
        metavar="FILE",
        help="note which C functions the GPU tests call",
    )


def configure(config: pytest.Config) -> None:
    if config.getoption(OPTION) is not None:
        config.pluginmanager.register(Recorder(Path(config.getoption(OPTION))), "gpu-coverage")


class Recorder:
    """Notes calls, and writes them at the end of the session."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls: set[tuple[str, str]] | None = None  # of the running test; None: not noted
        self.succeeded: set[str] = set()
        self.refused: dict[str, set[str]] = {}
        for name in raw.FUNCTIONS:
            self._listen(name)

    def _listen(self, name: str) -> None:
        """Put a listener in the C function's place."""
        bound = binding(name)
        returns_status = bound.result_type is raw.cudnnStatus_t

        @functools.cache
        def native() -> Any:
            return type(bound).native.func(bound)  # the C function itself

        def call(*arguments: Any) -> Any:
            result = native()(*arguments)
            if self.calls is not None:
                ok = not returns_status or result == 0
                self.calls.add((name, "" if ok else raw.cudnnStatus_t(result).name))
            return result

        vars(bound)["native"] = call
        bound.rebind()
        watched.add(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if not item.get_closest_marker("gpu"):
            return (yield)
        self.calls = set()
        try:
            result = yield
            self._keep(self.calls)
        finally:
            self.calls = None
        return result

    def _keep(self, calls: set[tuple[str, str]]) -> None:
        """The calls of a test that passed."""
        for name, status in calls:
            if status:
                self.refused.setdefault(name, set()).add(status)
            else:
                self.succeeded.add(name)

    def pytest_sessionfinish(self) -> None:
        if self.succeeded or self.refused:
            write(self.path, self._record())

    def _record(self) -> dict[str, Any]:
        library = load()
        return {
            **this_gpu(),
            "cudnn": library.version_text,
            "succeeded": sorted(self.succeeded),
            "refused": {name: sorted(statuses) for name, statuses in self.refused.items()},
            "missing": sorted(n for n in raw.FUNCTIONS if library.optional_symbol(n) is None),
        }


def this_gpu() -> dict[str, str]:
    """Name and driver of the current GPU."""
    from cuda.core import Device

    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        text = ""
    version = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", text)
    return {"gpu": Device(0).name, "driver": version[1] if version else "unknown"}


def write(path: Path, run: dict[str, Any]) -> None:
    """Add a run to the file, to what was recorded with the same GPU, driver and cuDNN."""
    runs = json.loads(path.read_text())["runs"] if path.exists() else []
    keys = ("gpu", "driver", "cudnn")
    for other in [one for one in runs if all(one[key] == run[key] for key in keys)]:
        runs.remove(other)
        run["succeeded"] = sorted({*run["succeeded"], *other["succeeded"]})
        for name, statuses in other["refused"].items():
            run["refused"][name] = sorted({*run["refused"].get(name, ()), *statuses})
    run["refused"] = {
        name: statuses
        for name, statuses in sorted(run["refused"].items())
        if name not in run["succeeded"]
    }
    runs.append(run)
    runs.sort(key=lambda one: tuple(one[key] for key in keys))
    path.write_text(json.dumps({"runs": runs}, indent=1) + "\n")
