"""Faults of one engine, planted in the children of a judge on the reference device."""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Handle
from cudnn_ctypes.graph.engines.judging import judging
from cudnn_ctypes.graph.engines.judging.trial import Task
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import cudnnBackendAttributeName_t as Name
from cudnn_ctypes.reference.device import backend_execution

from ...cases import image

__all__ = ["FAULTS", "PlantedTask", "layer", "plant"]


def layer(x: tuple[int, ...] = (2, 16, 6, 6), filters: int = 16) -> Graph:
    """A convolution of float16 channels last: some of its engines are precompiled."""
    graph = Graph("layer", io_data_type="float16")
    w = image(graph, "w", (filters, x[1], 3, 3))
    graph.conv_fprop(image(graph, "x", x), w, padding=1).set_output(name="y")
    return graph


def plant(monkeypatch: pytest.MonkeyPatch, fault: str, engine: int | None = None) -> None:
    """Let what children execute have a fault, by default in every engine."""
    monkeypatch.setattr(judging, "Task", functools.partial(PlantedTask, fault=fault, engine=engine))


@dataclass(frozen=True)
class PlantedTask(Task):
    """A task in whose children one engine has a fault.

    Attributes
    ----------
    fault : str
        One of `FAULTS`.
    engine : int, optional
        By default every one.
    """

    fault: str = "wrong"
    engine: int | None = None

    def begin(self) -> Handle:
        backend_execution.execute = self.faulty(backend_execution.execute)
        return super().begin()

    def faulty(self, execute: Callable[..., None]) -> Callable[..., None]:
        """`execute` with the fault."""

        def executed(plan: Any, pack: Any, workspace_size: int) -> None:
            execute(plan, pack, workspace_size)
            if self.engine in (None, _engine(plan)):
                uids = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)
                addresses = pack.all(Name.CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
                workspace = pack.one(Name.CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
                pointers = dict(zip(uids, addresses, strict=True))
                tensors = {each.name: each for each in self.graph.tensors}
                x, y = (pointers[tensors[name].uid] for name in "xy")
                FAULTS[self.fault](x, y, int(np.prod(tensors["y"].dims)), workspace)

        return executed


def _engine(plan: Any) -> int:
    config = plan.one(Name.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
    engine = config.one(Name.CUDNN_ATTR_ENGINECFG_ENGINE)
    return int(engine.one(Name.CUDNN_ATTR_ENGINE_GLOBAL_INDEX))


def _halves(address: int, count: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_uint16 * count).from_address(address)).view(np.float16)


def _wrong(x: int, y: int, count: int, workspace: Any) -> None:
    _halves(y, count)[5] += 1


def _nan(x: int, y: int, count: int, workspace: Any) -> None:
    _halves(y, count)[3] = np.nan


def _unwritten(x: int, y: int, count: int, workspace: Any) -> None:
    ctypes.memset(y + 2 * 7, 0xFF, 2)


def _behind(x: int, y: int, count: int, workspace: Any) -> None:
    ctypes.memset(y + 2 * count + 6, 0, 2)


def _changing(x: int, y: int, count: int, workspace: Any) -> None:
    _calls.append(0)
    values = _halves(y, count)
    values[0] = np.nextafter(values[0], np.float16(100 if len(_calls) % 2 else -100))


def _ends(x: int, y: int, count: int, workspace: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hangs(x: int, y: int, count: int, workspace: Any) -> None:
    time.sleep(600)


_calls: list[int] = []

FAULTS: dict[str, Callable[[int, int, int, Any], None]] = {
    "wrong": _wrong,
    "NaN": _nan,
    "unwritten": _unwritten,
    "behind": _behind,
    "changing": _changing,
    "ends": _ends,
    "hangs": _hangs,
}
"""What becomes of y, a packed tensor of float16, or of the memory beside it."""
