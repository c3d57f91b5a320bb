"""Launches of functions that take a stream: where their memory comes from, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeCuda, FakeStream

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor
from cudnn_ctypes.raw import gpus
from cudnn_ctypes.runtime.launching import bound, plan, stream_launcher
from cudnn_ctypes.runtime.launching.likeness import Plans

EDGES = [3, 0, 2, 1, 2], [1, 0, 1, 1, 0]


@pytest.fixture
def plans(fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[Any, Any]]:
    """The plans of functions that take a stream, of which there is none yet."""
    allocators: dict[int, Any] = {}
    monkeypatch.setattr(stream_launcher, "_plans", plans := Plans())
    monkeypatch.setattr(stream_launcher, "_allocators", allocators)
    for module in (bound, plan):  # a handle of the reference device may live
        monkeypatch.setattr(module, "watched", ())
    yield plans
    for each in allocators.values():
        each.close()


@pytest.fixture
def driver(fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The addresses to which all GPUs have access."""
    reachable: set[int] = set()
    driver = SimpleNamespace(
        current=lambda: fake_cuda.context, accessible=lambda address: address in reachable
    )
    monkeypatch.setattr(gpus, "driver", lambda: driver)
    return reachable


def operands(stream: Any = None) -> dict[str, Any]:
    """Of `gnn_agg_simple_backward`, on the current GPU."""
    return {
        "graph": cudnn.GnnCscGraph.from_edges(*EDGES),
        "doutput": DeviceTensor.from_numpy(np.ones((2, 4), np.float32)),
        "node_feat_dim": 4,
        "stream": stream,
    }


def without_cudnn(plans: dict[Any, Any], launches: list[tuple[Any, ...]]) -> None:
    """Have the one plan note the arguments for C instead of calling it."""

    def empty(stream: Any, *arguments: Any) -> int:
        launches.append((stream.value, *(getattr(a, "value", a) for a in arguments)))
        return 0

    (made,) = plans.values()
    made.calls = [call._replace(symbol=empty) for call in made.calls]
    made.compile()


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
@pytest.mark.parametrize(("stream", "allocations"), [(None, 0), (1, 0), (55, 3)])
def test_memory_of_results_serves_others_on_the_legacy_default_stream(
    fake_cuda: FakeCuda, plans: dict[Any, Any], stream: Any, allocations: int
) -> None:
    given = operands(stream if stream is None else FakeStream(stream))
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given):
        without_cudnn(plans, launches := [])
    fake_cuda.log.clear()
    addresses = {cudnn.gnn_agg_simple_backward(**given).dnode_features.ptr for _ in range(3)}
    assert {launch[4] for launch in launches} == addresses
    assert [kind for kind, *_ in fake_cuda.log].count("allocate") == allocations
    if not allocations:
        first, second = (cudnn.gnn_agg_simple_backward(**given) for _ in range(2))
        assert first.dnode_features.ptr != second.dnode_features.ptr


def test_the_legacy_default_streams_of_two_gpus_have_memory_of_their_own(
    fake_cuda: FakeCuda, plans: dict[Any, Any]
) -> None:
    for ordinal in (0, 1, 0):
        fake_cuda.context = ordinal
        launcher = stream_launcher.StreamLauncher(None)
        assert launcher.allocator.device_id == ordinal
        assert launcher.allocator is stream_launcher.StreamLauncher(None).allocator


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
def test_memory_of_another_gpu_is_refused(
    fake_cuda: FakeCuda, plans: dict[Any, Any], driver: set[int]
) -> None:
    there = operands()
    fake_cuda.context = 1
    here = operands()
    for _ in range(2):
        for name, said in (("doutput", "doutput"), ("graph", r"graph\.offsets")):
            with pytest.raises(
                ValueError, match=f"^{said} is memory of GPU 0, to which GPU 1, the"
            ):
                cudnn.bind(cudnn.gnn_agg_simple_backward, **{**here, name: there[name]})
    assert not plans
    driver.add(there["doutput"].ptr)  # peer access
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **{**here, "doutput": there["doutput"]}):
        assert len(plans) == 1


@pytest.mark.needs("cudnnGnnAggSimpleBackward")
def test_results_of_zeros_are_filled_on_the_stream(
    fake_cuda: FakeCuda, plans: dict[Any, Any]
) -> None:
    stream = FakeStream(55)
    given = operands(stream)
    doutput = given["doutput"]
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given):  # which launches nothing
        without_cudnn(plans, launches := [])
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **given) as bound:
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
    made = cudnn.gnn_agg_simple_backward(**given)
    assert fake_cuda.log == [("allocate", 0, 55), ("fill", 55)]
    assert launches.pop()[4] == made.dnode_features.ptr
    made.dnode_features.close()

    fake_cuda.context = 1  # another device: another plan
    with cudnn.bind(cudnn.gnn_agg_simple_backward, **operands(stream)):
        assert len(plans) == 2
    assert "stream 0x37" in repr(stream_launcher.StreamLauncher(stream))
