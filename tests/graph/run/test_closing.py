"""Plans that are closed while another thread executes them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import pytest

from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.graph.backend import execution
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.run import variant_packs

from ..families import CASES
from .executions import made_up_handle


class Calls:
    """Takes the place of the C functions of an execution; the last one waits."""

    def __init__(self, log: list[str]) -> None:
        self.running, self.may_return = threading.Event(), threading.Event()
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * 3)

        def execute(*_: int) -> int:
            self.running.set()
            self.may_return.wait(30)
            log.append("executed")
            return 0

        self.cudnnBackendExecute = prototype(execute)

    def cudnnBackendInitialize(self, *_: Any) -> int:
        return 0

    cudnnBackendSetAttribute = cudnnBackendFinalize = cudnnBackendInitialize


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("way", ["plan", "graph", "bound"])
def test_a_plan_is_destroyed_after_the_execution(
    way: str, owned: bool, h200: DeviceProperties, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    calls = Calls(log)
    for module in (execution, variant_packs):
        monkeypatch.setattr(module, "bare", calls)
    monkeypatch.setattr(execution, "watched", ())
    owner = made_up_handle()
    handle: Any = owner if owned else owner._as_parameter_
    graph = CASES["convolution"].graph()
    plan = graph.build(h200)
    destroy = plan.descriptor._destroy
    monkeypatch.setattr(plan.descriptor, "_destroy", lambda: (log.append("destroyed"), destroy()))
    memory = {tensor.uid or 0: 1 << 20 for tensor in (*graph.inputs, *graph.outputs)}
    ways: dict[str, Callable[[], None]] = {
        "plan": lambda: plan.execute(handle, memory, 1 << 30),
        "graph": lambda: graph.execute(memory, 1 << 30, handle=handle),
        "bound": plan.bind(handle, memory, 1 << 30),
    }
    thread = threading.Thread(target=ways[way])
    thread.start()
    assert calls.running.wait(30)
    (graph if way == "graph" else plan).close()
    with pytest.raises(ClosedError):
        plan.execute(handle, memory, 1 << 30)
    log.append("closed")
    calls.may_return.set()
    thread.join(30)
    ways["bound"].close()  # type: ignore[attr-defined]
    graph.close()
    owner.close()
    assert log == ["closed", "executed", "destroyed"]
