"""What ends or stops cuDNN ends a helper process: it is told, kept, and heeded by later builds."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from programs import printed, run_program

import cudnn_ctypes as cudnn
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.driver_stub import stub
from cudnn_ctypes.commands.doctor import child as doctor
from cudnn_ctypes.graph.backend import warden
from cudnn_ctypes.graph.engines import building as warded
from cudnn_ctypes.graph.engines.building import OnlyThere, build_plan
from cudnn_ctypes.graph.engines.judging import verdict as kept
from cudnn_ctypes.graph.lower.faults import Faults
from cudnn_ctypes.raw import load

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CUDNN_CTYPES_WARDEN", raising=False)


def product(rows: int = 8, **options: Any) -> cudnn.Graph:
    graph = cudnn.Graph("product", io_data_type="float16", **options)
    a, b = graph.tensor((1, rows, 64), name="a"), graph.tensor((1, 64, 32), name="b")
    graph.relu(graph.matmul(a, b)).set_output(name="y")
    return graph


# --- questions ------------------------------------------------------------------------------------


def pid() -> int:
    return os.getpid()


def end(number: int, *, choice: cudnn.EngineChoice | None = None, mode: str = "") -> None:
    warden.step("asking something", choice=choice, mode=mode)
    print("the last words")
    os.kill(os.getpid(), number)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def fail() -> None:
    raise KeyError("no such thing")


def environment() -> dict[str, str]:
    return dict(os.environ)


def driver_is_stub() -> bool:
    from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver

    return ensure_driver().is_stub


def test_no_driver_is_loaded_where_all_libraries_of_cudnn_are_loaded_at_once(tmp_path):
    # As where the loader finds another cuDNN. The engines are linked against the driver.
    (tmp_path / "libcuda.so.1").write_bytes(stub(13000))
    program = """
        from pathlib import Path
        from cudnn_ctypes.graph.backend import warden
        from cudnn_ctypes.raw import load
        load()
        own = Path("/proc/self/maps")
        for maps in (own.read_text(), warden.ask(Path.read_text, own)):
            print("libcudnn_engines" in maps, "/libcuda.so.1" in maps)
    """
    lines = printed(program, environment={"LD_LIBRARY_PATH": f"{tmp_path}:elsewhere"})
    assert lines == ["True True", "True False"]


def driver_files() -> list[str]:
    paths = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.exists()]
    return [path for path in paths if path.startswith("/dev/nvidia")]


def test_questions_share_a_process_that_uses_no_gpu():
    first = warden.ask(pid)
    assert first == warden.ask(pid) != os.getpid()
    assert warden.ask(driver_is_stub)
    assert warden.ask(environment)["CUDNN_CTYPES_WARDEN"] == "0"


def test_an_exception_is_raised_here():
    with pytest.raises(KeyError, match="no such thing"):
        warden.ask(fail)


def test_the_end_of_a_process_is_told_and_the_next_question_has_another():
    before = warden.ask(pid)
    with pytest.raises(warden.Death) as caught:
        warden.ask(end, signal.SIGSEGV)
    death = caught.value
    told = (death.step.text, death.signal, death.message, death.from_outside)
    assert told == ("asking something", "SIGSEGV", "the last words", False)
    assert warden.ask(pid) != before


def test_a_step_that_takes_too_long_is_a_death():
    with cudnn.use_warden(seconds=0.2), pytest.raises(warden.Death) as caught:
        warden.ask(sleep, 60)
    assert caught.value.signal == "hang"


@pytest.mark.soak
def test_a_process_that_somebody_kills_is_replaced():
    idle = warden.ask(pid)
    os.kill(idle, signal.SIGKILL)
    assert warden.ask(pid) != idle


@pytest.mark.soak
def test_a_process_that_somebody_kills_twice_in_the_middle_is_told(h200):
    with pytest.raises(warden.Death) as caught:
        warden.ask(end, signal.SIGTERM)
    assert caught.value.from_outside
    expansion = product().expansion(h200)
    crash = kept.keep_crash(expansion, h200, caught.value)
    assert "SIGTERM" in str(crash)
    assert kept.kept_verdicts(expansion, h200) == kept.NOTHING


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup has it ignored
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_the_question_and_its_process(interruptible):
    idle = warden.ask(pid)
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        warden.ask(sleep, 60)
    with pytest.raises(ProcessLookupError):
        os.kill(idle, 0)
    assert warden.ask(pid) != idle


def test_a_fork_has_processes_of_its_own_and_leaves_its_parents():
    idle = warden.ask(pid)
    fork = multiprocessing.get_context("fork")
    there, here = fork.Pipe()
    child = fork.Process(target=lambda: there.send(warden.ask(pid)))
    child.start()
    assert here.poll(60)
    assert here.recv() != idle
    child.join(60)
    assert child.exitcode == 0
    assert warden.ask(pid) == idle


def test_it_ends_with_its_parent_even_in_the_middle():
    program = """
        import os, threading, time
        from cudnn_ctypes.graph.backend import warden
        print(warden.ask(os.getpid), flush=True)
        threading.Thread(target=warden.ask, args=(time.sleep, 60), daemon=True).start()
        time.sleep(0.5)
        os._exit(0)
    """
    number = int(run_program(program).stdout)
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the helper process is still there")


# --- graphs ---------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("device", ["h200", "handle"])
def test_a_plan_is_the_same_as_without_it(device, request):
    device = request.getfixturevalue(device)
    with product() as one, product() as other:
        here = one.build(device, warden=False)
        there = other.build(device, warden=True)
        chosen = {name: value for name, value in there.config.knobs.items() if value != -1}
        assert (there.config.engine.index, chosen) == (here.config.engine.index, here.config.knobs)
        assert there.workspace_size == here.workspace_size
        assert there.uids == here.uids


def test_refusals_and_explanations_are_the_same(h200):
    graph = cudnn.Graph(io_data_type="float16")
    graph.reduction(graph.tensor((4, 64, 128)), "add", axes=(2,)).set_output()
    texts = []
    for each in (False, True):
        with pytest.raises(Exception, match=r"float16|FLOAT") as caught:
            graph.build(h200, warden=each, program=False)
        texts.append((type(caught.value), caught.value.messages))
        texts.append(graph.explain(h200, warden=each).as_dict())
    assert texts[:2] == texts[2:]


def test_it_is_chosen_by_argument_then_program_then_environment(monkeypatch):
    def asked(warden_: Any = None, default: bool = False) -> bool:
        with warden.asking(warden_, default=default) as wanted:
            assert warden.active() is wanted
        return wanted

    assert (asked(), asked(default=True), warden.active()) == (False, True, False)
    for value, wanted in (("1", True), ("0", False)):
        monkeypatch.setenv("CUDNN_CTYPES_WARDEN", value)
        found = asked(), asked(False), asked(True), warden.active()
        assert found == (wanted, False, True, wanted)
        with cudnn.use_warden(not wanted):
            assert (asked(), asked(wanted), warden.active()) == (not wanted, wanted, not wanted)
    monkeypatch.setenv("CUDNN_CTYPES_WARDEN", "yes")
    with pytest.raises(ValueError, match="CUDNN_CTYPES_WARDEN='yes': expected 1 or 0"):
        asked()
    with pytest.raises(TypeError, match="warden"):
        asked("yes")


def one_row() -> cudnn.Graph:
    graph = cudnn.Graph(io_data_type="bfloat16")
    q, o, do = (graph.tensor((1, 1, 1, 64), name=name) for name in ("q", "o", "do"))
    k, v = (graph.tensor((1, 1, 128, 64), name=name) for name in "kv")
    stats = graph.tensor((1, 1, 1, 1), name="stats", data_type="float32")
    for each in graph.sdpa_backward(q, k, v, o, do, stats, attn_scale=0.125):
        each.set_output()
    return graph


@pytest.mark.soak
def test_a_graph_that_ends_cudnn_is_an_error_now_and_for_each_later_build(h200, capsys, tmp_path):
    graph = one_row()
    if not graph.explain(h200).refusal:
        pytest.skip("this cuDNN answers")
    modes = ("a", "b", "fallback")
    with pytest.raises(cudnn.CrashError, match="cuDNN ended the process with SIG"):
        # As if no row of faults knew it.
        warded.plan_of(
            graph.expansion(h200), h200, modes, selection=cudnn.Selection(), faults=Faults()
        )
    for each in (None, True):
        with pytest.raises(cudnn.CrashError) as caught:
            graph.build(h200, warden=each)
        error = pickle.loads(pickle.dumps(caught.value))
        assert error.signal.startswith("SIG")
        assert error.step
        assert cudnn.Graph.from_json(error.graph).to_json() == graph.to_json()
    assert "cuDNN ended the process with SIG" in graph.explain(h200, warden=False).refusal
    assert [each.kind for each in cudnn.PlanCache().entries()] == ["crash"]
    assert main(["cache"]) == 0
    assert "SIG" in capsys.readouterr().out
    found = doctor.known_faults()
    assert found["crashes"] == 1
    assert "SIG" in found["newest"]


def dies_in_mode_a(*arguments: Any, selection: cudnn.Selection, **options: Any) -> str:
    if "a" not in selection.kept.heeded(Faults()).modes:
        end(signal.SIGSEGV, mode="a")
    return warded._plan_text(*arguments, selection=selection, **options)


def dies_in_the_first_engine(*arguments: Any, selection: cudnn.Selection, **options: Any) -> str:
    if not selection.kept.fault(FIRST):
        end(signal.SIGFPE, choice=FIRST)
    return warded._plan_text(*arguments, selection=selection, **options)


FIRST = cudnn.EngineChoice(7, {"tile_m": 1})


@pytest.mark.parametrize(
    "question", [pytest.param(dies_in_mode_a, marks=pytest.mark.soak), dies_in_the_first_engine]
)
def test_the_rest_is_asked_and_later_builds_pass_over_what_died(question, h200):
    graph = product()
    options = {"selection": cudnn.Selection(), "dynamic": False}
    text = warded.asked(question, graph.expansion(h200), h200, ("a", "fallback"), **options)
    assert "operationGraph" in text
    (crash,) = kept.kept_verdicts(graph.expansion(h200), h200).crashes
    assert crash.mode == "a" or crash.choice == FIRST
    if crash.mode:
        told = graph.explain(h200, warden=False)
        assert "SIGSEGV while asking something" in told.refused_modes["a"]
        assert "a" not in {place.split()[0] for row in told for place in row.proposed_by}
    else:
        with pytest.raises(cudnn.CrashError, match="SIGFPE"):
            graph.build(h200, config=FIRST)
    # Of other sizes this process does not ask either, and the warden does.
    larger = product(16)
    assert kept.kept_verdicts(larger.expansion(h200), h200).crashes == (crash,)
    with cudnn.use_warden():
        assert kept.kept_verdicts(larger.expansion(h200), h200).crashes == ()
        assert kept.kept_verdicts(graph.expansion(h200), h200).crashes == (crash,)


def always_dies(*arguments: Any, **options: Any) -> str:
    raise AssertionError(end(signal.SIGABRT))


@pytest.mark.soak
def test_several_graphs_are_compiled_at_once_and_one_death_stops_no_other(monkeypatch):
    ask = warded.asked

    def asked(function, expansion, *rest, **options):
        dies = expansion.tensors[0].dims == (1, 24, 64)
        return ask(always_dies if dies else function, expansion, *rest, **options)

    monkeypatch.setattr(warded, "asked", asked)
    results = cudnn.compile_graphs([product(8), product(24), product(16)], "H200", jobs=2)
    assert [each.error is None for each in results] == [True, False, True]
    assert isinstance(results[1].error, cudnn.CrashError)
    assert "SIGABRT" in str(results[1].error)


def test_what_asks_the_gpu_itself_is_built_here_after_it_was_asked_there(h200, monkeypatch):
    asked = []
    built = []

    def text(*arguments, only_here, **options):
        asked.append(only_here)
        return ""

    def build(*arguments, **options):
        built.append("only_here" in options)
        return build_plan(*arguments, **options)

    monkeypatch.setattr(warded, "is_absent", lambda device: False)
    monkeypatch.setattr(warded, "asked", text)
    monkeypatch.setattr(warded, "build_plan", build)
    with product() as graph:
        graph.build(h200, warden=True)
    assert (asked, built) == ([True], [False])


tells_of_cublas = pytest.mark.skipif(
    load().version < 91500, reason="engines do not tell of cuBLASLt"
)


@tells_of_cublas
@pytest.mark.parametrize("config", [None, cudnn.EngineChoice(0)])
def test_a_graph_with_an_engine_that_asks_the_gpu_is_left_to_it(config, h200):
    with pytest.raises(OnlyThere):  # engine 0 of products is of cuBLASLt
        build_plan(product().expansion(h200), h200, ["a"], config=config, only_here=True)
    build_plan(rectified().expansion(h200), h200, ["a"], only_here=True).close()


def rectified() -> cudnn.Graph:
    """A graph without an engine of cuBLASLt."""
    graph = cudnn.Graph("rectified", io_data_type="float16")
    graph.relu(graph.tensor((8, 64, 32))).set_output()
    return graph


@pytest.mark.gpu
@pytest.mark.parametrize("described", [rectified, pytest.param(product, marks=tells_of_cublas)])
def test_a_gpu_gets_the_same_plan_from_a_warden_and_its_own_crashes_are_known(described):
    with cudnn.Handle() as handle, described() as one, described() as other:
        here = one.build(handle, warden=False)
        there = other.build(handle, warden=True)
        assert there.config.engine.index == here.config.engine.index
        assert there.workspace_size == here.workspace_size
        told, asked = (one.explain(handle, warden=each) for each in (False, True))
        assert [row.state for row in told] == [row.state for row in asked]
        assert warden.ask(driver_files) == []  # so it has no context, which takes 0.5 GB
        with cudnn.DeviceProperties.from_device(handle=handle) as properties:
            death = warden.Death(warden.Step("asking heuristics a", "a"), "SIGSEGV", "")
            kept.keep_crash(one.expansion(properties), properties, death)
        assert kept.kept_verdicts(one.expansion(handle), handle).crashes


@pytest.mark.soak
def test_a_kernel_cache_and_dynamic_shapes_are_built_here_after_they_were_there(h200):
    from cudnn_ctypes import KernelCache

    with product() as graph, KernelCache() as cache:
        plan = graph.build(h200, kernel_cache=cache, warden=True)
        assert plan.workspace_size >= 0
