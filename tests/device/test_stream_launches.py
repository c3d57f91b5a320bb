"""Launches of functions that take a stream: where their memory comes from, in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeCuda, FakeStream

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor
from cudnn_ctypes.legacy import stream_launcher


def test_results_of_zeros_are_filled_on_the_stream(
    fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: dict[Any, Any] = {}
    monkeypatch.setattr(stream_launcher, "_plans", plans)
    launches: list[tuple[Any, ...]] = []

    def empty(stream: Any, *arguments: Any) -> int:
        launches.append((stream.value, *(getattr(a, "value", a) for a in arguments)))
        return 0

    stream = FakeStream(55)
    graph = cudnn.GnnCscGraph.from_edges([3, 0, 2, 1, 2], [1, 0, 1, 1, 0])
    doutput = DeviceTensor.from_numpy(np.ones((2, 4), np.float32))
    given: dict[str, Any] = {"doutput": doutput, "node_feat_dim": 4, "stream": stream}

    with cudnn.bind(cudnn.gnn_agg_simple_backward, graph, **given):  # which launches nothing
        (plan,) = plans.values()
        plan.calls = [call._replace(symbol=empty) for call in plan.calls]
        plan.connect()
    with cudnn.bind(cudnn.gnn_agg_simple_backward, graph, **given) as bound:
        dnodes = bound.result.dnode_features
        for _ in range(2):
            dnodes.fill(7)
            fake_cuda.log.clear()
            bound()
            assert fake_cuda.log == [("fill", 55)]
            assert not dnodes.numpy().any()
            stream_pointer, _, doutput_pointer, _, dnodes_pointer, *_ = launches.pop()
            assert (stream_pointer, doutput_pointer, dnodes_pointer) == (
                55,
                doutput.ptr,
                dnodes.ptr,
            )
    fake_cuda.log.clear()
    made = cudnn.gnn_agg_simple_backward(graph, **given)
    assert fake_cuda.log == [("allocate", 0, 55), ("fill", 55)]
    assert launches.pop()[4] == made.dnode_features.ptr
    made.dnode_features.close()

    fake_cuda.context = 1  # another device: another plan
    with cudnn.bind(cudnn.gnn_agg_simple_backward, graph, **given):
        assert len(plans) == 2
    assert "stream 0x37" in repr(stream_launcher.StreamLauncher(stream))
