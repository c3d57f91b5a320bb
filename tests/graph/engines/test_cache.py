"""The plan cache: what it finds again, what it tells apart, and what it survives."""

from __future__ import annotations

import json
import os
import random
import re
import tracemalloc
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.engines.cache import cached_building
from cudnn_ctypes.graph.engines.cache import plan_cache as cache_key_module
from cudnn_ctypes.graph.engines.cache.entry_folder import ENVIRONMENT_VARIABLE
from cudnn_ctypes.graph.engines.cache.plan_cache import (
    CacheKeys,
    Request,
    as_cache,
    important_properties,
)
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.faults import Faults
from cudnn_ctypes.graph.run.stored_plan import sealed, unsealed
from cudnn_ctypes.raw import cudnnStatus_t
from tools import bench_cache

from ..damage import damages, sample
from ..families import CASES

CONVOLUTION, FUSED = CASES["convolution"], CASES["matmul + bias + gelu"]


@pytest.fixture
def builds(monkeypatch):
    """Counts the plans that cuDNN was asked for."""
    counter = Mock(wraps=cached_building.build_plan)
    monkeypatch.setattr(cached_building, "build_plan", counter)
    return counter


def _built(device: Any, cache: Any, case: Any = CONVOLUTION, **options: Any) -> int:
    """Build and close; the engine."""
    with case.graph() as graph:
        return int(graph.build(device, cache=cache, **options).config.choice.engine)


def _files(cache: cudnn.PlanCache) -> list[Path]:
    return sorted(cache.folder.iterdir()) if cache.folder.is_dir() else []


# --- finding again --------------------------------------------------------------------------------


def test_the_second_build_compiles_nothing(a100, cache, builds):
    with FUSED.graph() as first, FUSED.graph() as second:
        built = first.build(a100, cache=cache)
        assert builds.call_count == 1
        loaded = second.build(a100, cache=cache.folder)
        assert builds.call_count == 1
        kernels = [json.loads(plan.to_json())["engine"]["payload"] for plan in (built, loaded)]
        assert kernels[0] == kernels[1]
        assert loaded.uids == built.uids
        assert second.workspace_size == first.workspace_size
        assert second.plan is loaded
    assert len(_files(cache)) == 1


# --- telling apart --------------------------------------------------------------------------------

_REQUESTS: dict[str, dict[str, Any]] = {
    "heuristics": {"heuristics": "fallback"},
    "a limit of the workspace": {"workspace_limit": 1 << 20},
    "a limit in the selection": {"selection": cudnn.Selection(workspace_limit=1 << 22)},
    "notes": {"selection": cudnn.Selection(forbid="winograd")},
    "determinism": {"selection": cudnn.Selection(deterministic=True)},
    "excluded engines": {"selection": cudnn.Selection(without_engines=[3])},
    "multiprocessors": {"sm_count": 54},
    "changing shapes": {"override_shapes": True},
}


@pytest.mark.soak
def test_each_request_has_its_plan(a100, cache, builds):
    requests = {**_REQUESTS, "an engine": {"config": cudnn.EngineChoice(_built(a100, cache))}}
    done = 1
    for what, options in requests.items():
        try:
            first = _built(a100, cache, **options)
        except (cudnn.NotSupportedError, cudnn.SymbolNotFoundError):  # nothing is stored either
            builds.call_count = done
            continue
        done += 1
        assert builds.call_count == done, what
        assert _built(a100, cache, **options) == first, what
        assert builds.call_count == done, what
    assert done > 6
    assert len(_files(cache)) == done


def _key(graph: Graph, device: Any, **options: Any) -> str:
    request = Request(options.pop("selection", cudnn.Selection()), **options)
    keys = CacheKeys(graph.expansion(device), important_properties(device))
    return keys.plan(request).file_name


def test_gpus_libraries_and_tf32_are_told_apart(a100, monkeypatch):
    graph = CONVOLUTION.graph()
    keys = [_key(graph, a100)]
    with DeviceProperties.preset("H100") as h100, a100.replace(multiProcessorCount=66) as half:
        keys += [_key(graph, h100), _key(graph, half)]
    with monkeypatch.context() as patch:
        patch.setenv("NVIDIA_TF32_OVERRIDE", "0")
        keys.append(_key(graph, a100))
    with monkeypatch.context() as patch:
        patch.setattr(cache_key_module, "__version__", "0.0.1")
        keys.append(_key(graph, a100))
    library = cache_key_module.raw.load()
    with monkeypatch.context() as patch:
        patch.setattr(library, "version", library.version - 1)
        keys.append(_key(graph, a100))
    with monkeypatch.context() as patch:
        patch.setattr(library, "has_precompiled_engines", not library.has_precompiled_engines)
        keys.append(_key(graph, a100))
    assert len(set(keys)) == len(keys) == 7
    with a100.replace(pciDeviceId=99, cudaDeviceId=5, totalGlobalMem=1 << 36) as elsewhere:
        assert _key(graph, elsewhere) == keys[0]


@pytest.mark.soak
def test_every_graph_has_a_key_of_its_own(a100):
    """Also after it went through JSON, and under other names."""
    keys = {}
    for name, case in CASES.items():
        graph = case.graph()
        try:
            key = _key(graph, a100)
        except ValueError:  # not for this version
            continue
        assert _key(graph, a100) == key
        copy = Graph.from_json(graph.to_json())
        assert _key(copy, a100) == key, name
        keys.setdefault(key, []).append(name)
        for number, tensor in enumerate(graph.tensors):
            tensor.name = f"another {number}"
        assert _key(graph, a100) == key, name
    assert len(keys) > 200
    for names in keys.values():
        first = CASES[names[0]].graph()
        first.validate()
        shown = [(t.dims, t.strides, t.data_type) for t in first.tensors]
        for other in names[1:]:  # the same graph under two names in the list
            graph = CASES[other].graph()
            graph.validate()
            assert [(t.dims, t.strides, t.data_type) for t in graph.tensors] == shown, names


# --- what cannot be loaded ------------------------------------------------------------------------


def _entry(cache: cudnn.PlanCache) -> tuple[Path, dict[str, Any]]:
    (path,) = _files(cache)
    return path, json.loads(unsealed(path.read_text(), "entry"))


def _write(path: Path, entry: Any) -> None:
    path.write_text(sealed(json.dumps(entry, separators=(",", ":"))))


@pytest.mark.parametrize("what", ["nothing", "a part", "another byte", "no text", "other JSON"])
def test_damaged_entries_are_built_anew_in_place(what, a100, cache, builds):
    _built(a100, cache)
    (path,) = _files(cache)
    content = path.read_bytes()
    place = random.Random(3).randrange(len(content))
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    damaged = {
        "nothing": b"",
        "a part": content[: len(content) // 2],
        "another byte": flipped,
        "no text": b"\xff\xfe" + content,
        "other JSON": b'{"a": [1, 2]}',
    }
    path.write_bytes(damaged[what])
    assert [each.kind for each in cache.entries()] == ["damaged"]
    _built(a100, cache)
    assert builds.call_count == 2
    assert [each.kind for each in cache.entries()] == ["plan"]
    _built(a100, cache)
    assert builds.call_count == 2


def test_an_entry_that_is_too_large_is_not_read(a100, cache):
    _built(a100, cache)
    (path,) = _files(cache)
    with path.open("r+b") as file:
        file.truncate(3 << 30)  # zeros that take no room on the disk
    tracemalloc.start()
    assert [each.kind for each in cache.entries()] == ["damaged"]
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    _built(a100, cache)
    assert [each.kind for each in cache.entries()] == ["plan"]


def test_an_entry_of_another_key_is_not_taken(a100, cache, builds):
    _built(a100, cache)
    (path,) = _files(cache)
    _built(a100, cache, workspace_limit=1 << 30)
    (other,) = (each for each in _files(cache) if each != path)
    other.write_bytes(path.read_bytes())
    _built(a100, cache, workspace_limit=1 << 30)
    assert builds.call_count == 3


@pytest.mark.soak
def test_sealed_damage_is_taken_or_built_anew(a100, cache, builds):
    """Changes with a checksum that fits: in the entry, and in cuDNN's part of it."""
    engine = _built(a100, cache)
    path, entry = _entry(cache)
    plan = json.loads(entry["plan"])
    members = {name: value for name, value in entry.items() if name != "plan"}
    changed = [
        each.done_to(members) | {"plan": entry["plan"]}
        for each in sample(damages(members), 60, seed=1)
    ]
    inner = sample(damages(plan, ("1", "3", "-5", "CUDNN_X")), 60, seed=2)
    changed += [{**entry, "plan": json.dumps(each.done_to(plan))} for each in inner]
    changed += [{**entry, "plan": value} for value in (None, 1, "", "{}", "[" * 100_000)]
    for each in changed:
        _write(path, each)
        cache.entries()
        with CONVOLUTION.graph() as graph:
            assert graph.build(a100, cache=cache).workspace_size >= 0
    assert builds.call_count > len(changed) / 3
    path.unlink()
    assert _built(a100, cache) == engine


def test_engines_that_are_found_faulty_later_are_not_loaded(a100, cache, builds, monkeypatch):
    engine = _built(a100, cache)
    faults = Faults({engine: "wrong numbers"})
    monkeypatch.setattr(cached_building, "graph_faults", lambda *_, **__: faults)
    assert _built(a100, cache) != engine
    assert builds.call_count == 2
    for _ in range(2):  # but it can be asked for
        assert _built(a100, cache, config=cudnn.EngineChoice(engine)) == engine
    assert builds.call_count == 3


def test_graphs_that_are_found_faulty_later_are_refused(a100, cache, monkeypatch):
    """Also where an engine is asked for and its plan is stored."""
    choice = cudnn.EngineChoice(_built(a100, cache))
    assert _built(a100, cache, config=choice) == choice.engine

    def faulty(*arguments, **options):
        status = cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED
        raise cudnn.NotSupportedError("Graph.build", status, messages=["it is computed wrong"])

    monkeypatch.setattr(cached_building, "graph_faults", faulty)
    for options in ({}, {"config": choice}):
        with pytest.raises(cudnn.NotSupportedError, match="it is computed wrong"):
            _built(a100, cache, **options)


def test_a_disk_that_fails_stops_no_build(a100, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="plan cache in .*file/plans cannot be used: Not a dir"):
        _built(a100, tmp_path / "file" / "plans")


def test_a_folder_that_others_can_write_stops_the_build(a100, tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(ValueError, match="cache: others can write to the folder"):
        _built(a100, tmp_path)


# --- which cache ----------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches"


def test_a_user_without_a_home_must_name_a_folder(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ValueError, match="cache: this user has no home: give a folder, or set"):
        as_cache(True)


@pytest.mark.usefixtures("home")
def test_the_environment_chooses(tmp_path, monkeypatch):
    standard = cudnn.PlanCache().folder
    for value, folder in (
        ("", None),
        ("0", None),
        ("1", standard),
        (str(tmp_path / "x"), tmp_path / "x"),
        ("~/plans", Path.home() / "plans"),
    ):
        monkeypatch.setenv(ENVIRONMENT_VARIABLE, value)
        found = as_cache(None)
        assert (found and found.folder) == folder
        assert as_cache(False) is None
    assert cudnn.PlanCache().folder == Path.home() / "plans"
    for value in ("yes", "plans", "./plans"):
        monkeypatch.setenv(ENVIRONMENT_VARIABLE, value)
        with pytest.raises(ValueError, match=re.escape(f"={value!r}: expected 1")):
            as_cache(None)


def test_plans_that_cannot_be_stored(a100, cache, monkeypatch):
    """An argument is refused; the environment does not concern them."""
    with pytest.raises(ValueError, match="cache: a plan with a kernel_cache is not kept on disk"):
        _built(a100, cache, FUSED, kernel_cache=cudnn.KernelCache())
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(cache.folder))
    with cudnn.KernelCache() as kernels:
        _built(a100, None, FUSED, kernel_cache=kernels)
    with cudnn.use_reference_device(), cudnn.Handle() as handle, CONVOLUTION.graph() as graph:
        with pytest.raises(ValueError, match="without_engine: cache would choose or keep"):
            graph.build(handle, without_engine=True, cache=True)
        for off in (None, False):
            graph.build(handle, without_engine=True, cache=off)
    assert _files(cache) == []


# --- looking --------------------------------------------------------------------------------------


def test_entries_tell_what_they_hold(a100, cache):
    engine = _built(a100, cache)
    _built(a100, cache, FUSED)
    os.utime(_files(cache)[0], (0, 0))
    recent, old = cache.entries()
    assert old.used == 0 < recent.used
    (entry,) = (each for each in (recent, old) if "conv" in each.operations)
    assert (entry.kind, entry.device, entry.graph) == ("plan", "NVIDIA A100-SXM4-80GB", "graph")
    assert entry.engine.startswith(f"engine {engine}")
    assert entry.cudnn == cache_key_module.raw.load().version
    assert entry.size == (cache.folder / entry.file_name).stat().st_size
    assert entry.made > 1.7e9
    assert cache.clear() == 2
    assert cache.entries() == []
    assert repr(cache) == f"PlanCache({str(cache.folder)!r})"


def test_it_is_bounded(a100, tmp_path):
    _built(a100, tmp_path / "a")
    size = cudnn.PlanCache(tmp_path / "a").entries()[0].size
    cache = cudnn.PlanCache(tmp_path / "b", limit=2 * size + size // 2)
    for limit in (None, 1 << 30, 1 << 31, 1 << 32):
        _built(a100, cache, workspace_limit=limit)
    assert len(cache.entries()) == 2
    assert sum(each.size for each in cache.entries()) <= cache.limit


# --- on a GPU -------------------------------------------------------------------------------------


@pytest.mark.gpu
class TestOnAGpu:
    def test_second_processes_load_instead_of_compiling(self, tmp_path, capsys):
        """Shows what it takes them, with ``pytest -s``."""
        bench_cache.main([str(tmp_path)])  # exits if one of them compiles
        with capsys.disabled():
            print(capsys.readouterr().out)
