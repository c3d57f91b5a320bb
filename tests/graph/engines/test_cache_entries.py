"""A folder of files that processes share: whole files, bounds, and who may write there."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes import EngineChoice, Handle, PlanCache, Selection
from cudnn_ctypes.graph import DeviceProperties, Graph
from cudnn_ctypes.graph.engines.cache import cached_building
from cudnn_ctypes.graph.engines.cache import plan_cache as known_gpus
from cudnn_ctypes.graph.engines.cache.cached_building import keep_tuning
from cudnn_ctypes.graph.engines.cache.entry_folder import EntryFolder
from cudnn_ctypes.graph.engines.cache.plan_cache import device_properties
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement, Settings
from cudnn_ctypes.graph.lower.faults import Faults
from cudnn_ctypes.graph.run.stored_plan import sealed, unsealed
from cudnn_ctypes.raw.library import linux

from ..damage import accident, damages, raised, sample
from ..families import CASES

PLENTY = 1 << 30


def _aged(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_is_written_is_read(tmp_path):
    folder = EntryFolder(tmp_path / "a" / "b", PLENTY)
    assert folder.read("x.json") is None
    assert folder.files() == []
    assert folder.clear() == 0
    folder.write("x.json", "é 1")
    folder.write("x.json", "é 2")
    assert folder.read("x.json") == "é 2"
    (file,) = folder.files()
    assert (file.name, file.size) == ("x.json", 4)
    folder.remove("x.json")
    folder.remove("x.json")
    assert folder.read("x.json") is None


def test_it_is_made_for_the_user_alone(tmp_path):
    before = os.umask(0)
    try:
        EntryFolder(tmp_path / "new", PLENTY).write("x.json", "1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "x.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_refused(mode, tmp_path):
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    tmp_path.chmod(mode)
    for call in (
        lambda: folder.read("x.json"),
        lambda: folder.write("x.json", "2"),
        folder.files,
        folder.clear,
    ):
        with pytest.raises(ValueError, match=f"cache: others can write .*chmod go-w {tmp_path}"):
            call()
    tmp_path.chmod(0o755)
    assert folder.read("x.json") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path):
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(ValueError, match="belongs to user 12345"):
        folder.read("x.json")


def test_a_file_that_others_can_write_is_not_read(tmp_path):
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    (tmp_path / "x.json").chmod(0o666)
    assert folder.read("x.json") is None
    folder.write("x.json", "2")
    assert folder.read("x.json") == "2"


def test_what_is_no_file_is_not_read(tmp_path):
    folder = EntryFolder(tmp_path / "cache", PLENTY)
    folder.write("x.json", "1")
    (tmp_path / "elsewhere").write_text("2")
    (tmp_path / "cache" / "link.json").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "cache" / "folder.json").mkdir()
    os.mkfifo(tmp_path / "cache" / "pipe.json")
    assert folder.read("link.json") is None
    assert folder.read("pipe.json") is None
    assert folder.read("folder.json") is None
    assert [file.name for file in folder.files()] == ["x.json"]
    folder.write("link.json", "3")
    assert (tmp_path / "elsewhere").read_text() == "2"


def test_bytes_that_are_no_text_are_damage(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
    assert EntryFolder(tmp_path, PLENTY).read("x.json") == ""


def test_unfinished_files_are_no_entries_and_go_in_time(tmp_path):
    folder = EntryFolder(tmp_path, PLENTY)
    (tmp_path / "x.json.1.part").write_text("1")
    (tmp_path / "y.json.2.part").write_text("2")
    _aged(tmp_path / "x.json.1.part", 7200)
    folder.write("z.json", "3")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["y.json.2.part", "z.json"]
    assert folder.clear() == 2
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_nothing(tmp_path):
    folder = EntryFolder(tmp_path, PLENTY)
    (tmp_path / "x.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        folder.write("x.json", "1")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


_LETTERS, _LENGTH = "abcd", 300_000


def _write_and_read(path: str, letter: str) -> set[str]:
    """What this process, and others, wrote."""
    folder = EntryFolder(Path(path), PLENTY)
    seen = set()
    for _ in range(30):
        folder.write("x.json", letter * _LENGTH)
        seen.add(folder.read("x.json") or "")
    return seen


@pytest.mark.soak
def test_writers_at_once_leave_one_of_their_files_whole(tmp_path):
    with ProcessPoolExecutor(4) as executor:
        found = executor.map(_write_and_read, [str(tmp_path)] * 4, _LETTERS)
        seen = set().union(*found)
    assert seen <= {letter * _LENGTH for letter in _LETTERS}
    assert len(seen) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_a_write_does_not_look_at_all_files(tmp_path, monkeypatch):
    looks = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or scan(path))
    folder = EntryFolder(tmp_path, 2_000)
    for number in range(20):
        folder.write(f"{number}.json", "0123456789")
    assert len(looks) == 1
    for number in range(20, 240):
        folder.write(f"{number}.json", "0123456789")
    assert len(folder.files()) == 200
    assert folder.read("239.json")
    assert not folder.read("0.json")


# --- results of autotuning in the plan cache: which builds use them ------------------------------


CASE = CASES["convolution"]


def _rows(device: Any) -> list[Any]:
    """Configs of different engines that work, in the order of the heuristics."""
    with CASE.graph() as graph:
        usable = graph.explain(device, ["a"]).usable
    by_engine = {row.engine: row for row in reversed(usable)}
    return sorted(by_engine.values(), key=usable.index)


def _measurement(row: Any, us: float, state: str = "measured") -> Measurement:
    notes = tuple(sorted((*row.numerical_notes, *row.behavior_notes)))
    return Measurement(
        row.engine, row.knobs, "a 1", state, (float(us),) * 2, workspace=row.workspace, notes=notes
    )


def _tuned(*measurements: Measurement, cold: bool = True) -> Autotuning:
    best = min((m for m in measurements if m.state == "measured"), key=lambda m: m.median)
    settings = Settings(runs=2, cold_cache=cold)
    return Autotuning("graph", "NVIDIA H200", "9.28.0", measurements, best, settings)


def _keep(
    cache: PlanCache, device: Any, tuned: Autotuning, selection: Selection | None = None
) -> None:
    """As ``Graph.autotune`` does on a GPU."""
    with CASE.graph() as graph:
        plan = graph.build(device, config=tuned.best)
        expansion = graph.expansion(device)
        keep_tuning(cache, expansion, device, tuned, plan, selection=selection or Selection())


def _built(cache: Any, device: Any, **options: Any) -> int:
    with CASE.graph() as graph:
        return int(graph.build(device, cache=cache, **options).config.choice.engine)


def test_builds_take_the_fastest_config(h200, cache):
    first, second, third, *_ = _rows(h200)
    assert _built(cache, h200) == first.engine
    _keep(cache, h200, _tuned(_measurement(first, 9), _measurement(third, 5)))
    assert _built(cache, h200) == third.engine
    assert _built(cache, h200, heuristics="fallback") == third.engine
    assert _built(cache, h200, config=EngineChoice(second.engine)) == second.engine
    assert _built(False, h200) == first.engine
    with DeviceProperties.preset("H100") as h100:
        assert _built(cache, h100) == _built(False, h100)
    # A later result takes the place of the first.
    _keep(cache, h200, _tuned(_measurement(second, 4), _measurement(third, 5)))
    assert _built(cache, h200) == second.engine


def test_a_selection_takes_the_fastest_that_meets_it(h200, cache):
    first, second, third, *_ = _rows(h200)
    _keep(
        cache, h200, _tuned(_measurement(first, 9), _measurement(second, 7), _measurement(third, 5))
    )
    without = Selection(without_engines=[third.engine])
    assert _built(cache, h200, selection=without) == second.engine
    # A result of its own comes first.
    _keep(cache, h200, _tuned(_measurement(first, 3)), without)
    assert _built(cache, h200, selection=without) == first.engine
    assert _built(cache, h200) == third.engine
    # Notes and workspace are known from the measurements, so nothing is compiled in vain.
    measured = _measurement(third, 5)
    unwanted = Selection(forbid=[measured.notes[0]])
    names = [cached_building._unwanted(measured, unwanted)]
    assert names == [f"has the note {measured.notes[0]}"]
    limited = Measurement(0, {}, "", "measured", (1.0,), workspace=2)
    assert "workspace" in cached_building._unwanted(limited, Selection(workspace_limit=1))


def test_what_was_dropped_or_is_faulty_is_passed_over(h200, cache, monkeypatch):
    first, second, third, *_ = _rows(h200)
    slow = _measurement(first, 9)
    _keep(cache, h200, _tuned(_measurement(third, 5), _measurement(second, 1, "dropped"), slow))
    monkeypatch.setattr(
        cached_building, "graph_faults", lambda *_, **__: Faults({third.engine: "it is wrong"})
    )
    assert _built(cache, h200) == first.engine


def test_a_config_that_there_is_not_is_passed_over(h200, cache):
    first, second, *_ = _rows(h200)
    wrong = Measurement(second.engine, {"no_such_knob": 1}, "", "measured", (1.0,))
    far = Measurement(9999, {}, "", "measured", (2.0,))
    tuned = _tuned(wrong, far, _measurement(second, 5))
    with CASE.graph() as graph:
        plan = graph.build(h200)
        keep_tuning(
            cache, graph.expansion(h200), h200, tuned, plan, selection=Selection(engines=[0])
        )
        keep_tuning(cache, graph.expansion(h200), h200, tuned, plan, selection=Selection())
    for file in cache.folder.glob("plan-*"):
        file.unlink()  # of a choice that cannot be built
    assert first.engine != second.engine
    assert _built(cache, h200) == second.engine


# --- between machines -----------------------------------------------------------------------------


def test_results_travel(h200, cache, tmp_path):
    first, second, third, *_ = _rows(h200)
    there = PlanCache(tmp_path / "there")
    _keep(there, h200, _tuned(_measurement(first, 9), _measurement(third, 5)))
    _keep(there, h200, _tuned(_measurement(second, 5)), Selection(deterministic=True))
    text = there.export_tunings()
    assert "cudnnVersion" not in text
    assert cache.merge_tunings(text) == 2
    assert _built(cache, h200) == third.engine
    assert _built(cache, h200, selection=Selection(deterministic=True)) == second.engine
    assert PlanCache(tmp_path / "empty").merge_tunings(cache.export_tunings()) == 2
    assert cache.export_tunings() == text


def test_results_for_one_key_become_one(h200, cache, tmp_path):
    first, second, third, *_ = _rows(h200)
    there = PlanCache(tmp_path / "there")
    _keep(cache, h200, _tuned(_measurement(first, 9), _measurement(second, 3)))
    _keep(there, h200, _tuned(_measurement(first, 8), _measurement(third, 5)))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == second.engine
    (joined,) = (entry["tuning"].value for entry in cache.every("tuning"))
    times = {each["engine"]: each["times"][0] for each in joined["measurements"]}
    assert times == {first.engine: 8, second.engine: 3, third.engine: 5}
    # One with a warm cache cannot be compared: the newer stays.
    _keep(there, h200, _tuned(_measurement(third, 1), cold=False))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == third.engine
    _keep(cache, h200, _tuned(_measurement(first, 9)))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == first.engine


def test_a_damaged_export_is_refused_whole(h200, cache, tmp_path):
    there = PlanCache(tmp_path / "there")
    first, second, *_ = _rows(h200)
    _keep(there, h200, _tuned(_measurement(first, 9)))
    _keep(there, h200, _tuned(_measurement(second, 9)), Selection(deterministic=True))
    stored = json.loads(there.export_tunings())
    for number in (0, 1):
        broken = json.loads(json.dumps(stored))
        broken["tunings"][number]["tuning"]["best"] = 7
        with pytest.raises(ValueError, match=rf"tunings\[{number}\].tuning.best: expected the pl"):
            cache.merge_tunings(json.dumps(broken))
        assert cache.entries() == []
    for text, says in (
        ("[]", "expected an object"),
        ('{"format": 1, "version": 1}', "expected 'c"),
    ):
        with pytest.raises(ValueError, match=f"tunings: {says}"):
            cache.merge_tunings(text)
    for damage in sample(damages(stored), 150, seed=4):
        text = json.dumps(damage.done_to(stored))
        error = raised(lambda text=text: cache.merge_tunings(text))
        assert error is None or (isinstance(error, ValueError) and not accident(error)), damage
    cache.entries()
    _built(cache, h200)


# --- GPUs that the plan cache knows from an earlier process ---------------------------------------


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
def gpu(monkeypatch):
    return _Gpu(monkeypatch)


def test_a_second_process_does_not_read_them(gpu, cache):
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
        lambda gpu: setattr(linux, "_DRIVER_FILES", (Path("/none"), Path(__file__))),
        lambda gpu: setattr(known_gpus.raw.load(), "version", 99900),
        lambda gpu: setattr(known_gpus.raw.load(), "path", Path("/opt/libcudnn.so.9")),
    ],
    ids=["GPU", "CUDA", "a part of it", "driver", "cuDNN", "library"],
)
def test_another_gpu_driver_or_library_is_read_anew(change, gpu, cache, monkeypatch):
    library = known_gpus.raw.load()
    for owner, name in ((linux, "_DRIVER_FILES"), (library, "version"), (library, "path")):
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
def test_what_is_no_properties_of_a_gpu_is_read_anew(value, gpu, cache):
    gpu.properties(cache)
    _rewritten(cache, "properties", value)
    assert gpu.properties(cache) == VALUES
    assert gpu.readings == 2
    assert gpu.properties(cache) == VALUES
    assert gpu.readings == 2


@pytest.mark.gpu
def test_the_gpu_here_is_read_once(cache, monkeypatch):
    read = known_gpus._read
    readings = []

    def counted(handle):
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
