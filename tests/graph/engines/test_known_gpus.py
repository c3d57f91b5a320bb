"""GPUs that the plan cache knows from an earlier process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes import Handle, PlanCache, use_reference_device
from cudnn_ctypes.graph import DeviceProperties, Graph
from cudnn_ctypes.graph.engines.cache import cached_building
from cudnn_ctypes.graph.engines.cache import key as known_gpus
from cudnn_ctypes.graph.engines.cache.key import device_properties, important_properties
from cudnn_ctypes.graph.run.stored_plan import sealed, unsealed

from ..families import CASES

VALUES: dict[str, Any] = {"deviceName": "NVIDIA X", "deviceVer": 900, "multiProcessorCount": 132}


class _Gpu:
    """A GPU that is not there: what cuda.core tells of it, and how often cuDNN was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.readings = 0
        self.values = dict(VALUES)
        self.cuda = 13000
        self.device = SimpleNamespace(
            device_id=0,
            name="NVIDIA X",
            uuid="1-2",
            properties=SimpleNamespace(multiprocessor_count=132),
        )
        self.handle: Any = SimpleNamespace(device=self.device, on_reference_device=False)
        monkeypatch.setattr(known_gpus.DeviceProperties, "from_device", self._read)
        monkeypatch.setattr(known_gpus.cuda, "call", lambda name: self.cuda)
        monkeypatch.setattr(known_gpus, "_here", {})

    @contextmanager
    def _read(self, *, handle: Any) -> Iterator[Any]:
        assert handle is self.handle
        self.readings += 1
        yield SimpleNamespace(to_json=lambda: json.dumps(self.values))

    def properties(self, plans: PlanCache | None) -> dict[str, Any]:
        """As a new process sees them."""
        known_gpus._here.clear()
        return device_properties(self.handle, plans)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> _Gpu:
    return _Gpu(monkeypatch)


@pytest.fixture
def cache(tmp_path: Path) -> PlanCache:
    return PlanCache(tmp_path / "plans")


def test_a_second_process_does_not_read_them(gpu: _Gpu, cache: PlanCache) -> None:
    for _ in range(3):
        assert gpu.properties(cache) == VALUES
    assert gpu.readings == 1
    assert gpu.properties(None) == VALUES
    assert device_properties(gpu.handle) == VALUES  # of this process
    assert gpu.readings == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda gpu: setattr(gpu.device, "uuid", "1-3"),
        lambda gpu: setattr(gpu, "cuda", 13010),
        lambda gpu: setattr(gpu.device.properties, "multiprocessor_count", 66),
        lambda gpu: setattr(known_gpus, "_DRIVER_FILES", (Path("/none"), Path(__file__))),
        lambda gpu: setattr(known_gpus.raw.load(), "version", 99900),
        lambda gpu: setattr(known_gpus.raw.load(), "path", Path("/opt/libcudnn.so.9")),
    ],
    ids=["GPU", "CUDA", "a part of it", "driver", "cuDNN", "library"],
)
def test_another_gpu_driver_or_library_is_read_anew(
    change: Any, gpu: _Gpu, cache: PlanCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = known_gpus.raw.load()
    for owner, name in ((known_gpus, "_DRIVER_FILES"), (library, "version"), (library, "path")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back afterwards
    gpu.properties(cache)
    change(gpu)
    gpu.values["multiProcessorCount"] = 66
    assert gpu.properties(cache)["multiProcessorCount"] == 66
    assert gpu.readings == 2
    assert len(cache.entries()) == 2


def _rewritten(cache: PlanCache, member: str, value: Any) -> None:
    (path,) = cache.folder.iterdir()
    entry = json.loads(unsealed(path.read_text(), "entry"))
    path.write_text(sealed(json.dumps({**entry, member: value})))


@pytest.mark.parametrize("value", [None, [], {}, {"deviceName": None}, {"deviceVer": 900}])
def test_what_is_no_properties_of_a_gpu_is_read_anew(
    value: Any, gpu: _Gpu, cache: PlanCache
) -> None:
    gpu.properties(cache)
    _rewritten(cache, "properties", value)
    assert gpu.properties(cache) == VALUES
    assert gpu.readings == 2
    assert gpu.properties(cache) == VALUES
    assert gpu.readings == 2


def test_damage_is_read_anew(gpu: _Gpu, cache: PlanCache) -> None:
    gpu.properties(cache)
    (path,) = cache.folder.iterdir()
    path.write_bytes(path.read_bytes().replace(b"132", b"133", 1))
    assert gpu.properties(cache) == VALUES
    assert gpu.readings == 2


def test_they_are_shown(gpu: _Gpu, cache: PlanCache) -> None:
    gpu.properties(cache)
    (entry,) = cache.entries()
    assert (entry.kind, entry.device) == ("device", "NVIDIA X")
    assert entry.cudnn == known_gpus.raw.load().version
    assert entry.graph == entry.operations == entry.engine == ""
    assert cache.export_tunings().count("NVIDIA X") == 0
    assert cache.clear() == 1


def test_where_a_gpu_is_plugged_in_is_unimportant(gpu: _Gpu, cache: PlanCache) -> None:
    gpu.values |= {"pciDeviceId": 3, "cudaDeviceId": 1, "totalGlobalMem": 5, "source": "measured"}
    assert important_properties(gpu.handle, cache) == VALUES


def test_building_asks_the_cache_of_the_plans(
    h200: DeviceProperties, cache: PlanCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def properties(device: Any, plans: Any = None) -> dict[str, Any]:
        asked.append(plans)
        return important_properties(device, plans)

    monkeypatch.setattr(cached_building, "important_properties", properties)
    with CASES["convolution"].graph() as graph:
        graph.build(h200, cache=cache)
    assert asked == [cache]


def test_the_reference_device_is_not_kept(cache: PlanCache) -> None:
    for name in ("H200", "B200"):
        with use_reference_device(device=name), Handle() as handle:
            assert device_properties(handle, cache)["deviceName"] == f"NVIDIA {name}"
    assert not cache.folder.exists()


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
def test_the_gpu_here_is_read_once(cache: PlanCache, monkeypatch: pytest.MonkeyPatch) -> None:
    read = known_gpus._read
    readings: list[Any] = []

    def counted(handle: Handle) -> dict[str, Any]:
        readings.append(handle)
        return read(handle)

    monkeypatch.setattr(known_gpus, "_read", counted)
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((4, 32, 32), name="x")).set_output(name="y")
    with Handle() as handle, graph:
        for _ in range(2):
            monkeypatch.setattr(known_gpus, "_here", {})
            graph.build(handle, cache=cache)
        assert len(readings) == 1
        assert device_properties(handle, cache) == read(handle)
    assert sorted(each.kind for each in cache.entries()) == ["device", "plan"]
