"""Shared by all tests: skipping what needs a GPU, and choosing the device."""

from __future__ import annotations

import collections
import gc
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Read when NumPy and PyTorch are loaded, here and in programs that tests start: tests run beside
# one another, and threads of matrix products that wait for one another take several times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Hundreds of tests start programs, which would compile the package's source each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import error_report
import gpu_coverage
import pytest

from cudnn_ctypes import Graph, raw, use_reference_device
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.origins import SINCE


def pytest_addoption(parser: pytest.Parser) -> None:
    gpu_coverage.add_option(parser)
    text = "of the soak tests each N-th, from the K-th on"
    parser.addoption("--part", metavar="K/N", default="0/1", help=text)


def pytest_configure(config: pytest.Config) -> None:
    gpu_coverage.configure(config)
    sys.dont_write_bytecode = False  # so that further runs need not compile the tests again
    gc.disable()  # until all tests are collected: they stay, so there is little garbage
    # Whatever a test, or what it tests, does wrong with the reference device's memory is an error.
    mode.strict = mode.guard_pages = True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _thin(items)
    _leave_out_soak_tests(config, items)
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if on_gpu and (reason := mode.why_no_gpu()):
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {reason}"))


def _thin(items: list[pytest.Item]) -> None:
    """Mark with ``soak`` all but each n-th case of a test that is marked ``thinned(n)``.

    Cases for a GPU and others are counted apart. Those with a parameter in `always` stay.
    """
    numbers: collections.Counter[tuple[str, bool]] = collections.Counter()
    for item in items:
        marker = item.get_closest_marker("thinned")
        if marker is None:
            continue
        (every,), always = marker.args, marker.kwargs.get("always", ())
        kind = item.nodeid.partition("[")[0], item.get_closest_marker("gpu") is not None
        number, numbers[kind] = numbers[kind], numbers[kind] + 1
        parameters = item.callspec.params.values()  # type: ignore[attr-defined]
        if number % every and not (always and any(each in always for each in parameters)):
            item.add_marker(pytest.mark.soak)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that is marked ``needs`` where the loaded cuDNN is older."""
    for marker in item.iter_markers("needs"):
        (name,) = marker.args
        function = raw.FUNCTIONS.get(name)
        since = SINCE[name] if function is None else function.since
        if outdated := raw.load().outdated(name, since):
            pytest.skip(outdated)


def _leave_out_soak_tests(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Unless -m chooses tests, or one is named: then all but the part that is asked for."""
    soak = [item for item in items if item.get_closest_marker("soak")]
    if config.option.markexpr or any("::" in argument for argument in config.args):
        first, every = map(int, config.option.part.split("/"))
        soak = [item for number, item in enumerate(soak) if number % every != first]
    if left_out := {id(item) for item in soak}:
        config.hook.pytest_deselected(items=soak)
        items[:] = [item for item in items if id(item) not in left_out]


def pytest_collection_finish() -> None:
    """Have the garbage collector look at what tests make, not at the tests themselves."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process half of the files, so that few run the fixtures of a module twice.

    One that is done takes tests over from the other.
    """
    if config.option.dist != "load":
        return None  # as was chosen
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture
def reference_device() -> Iterator[None]:
    """Memory on the host while the test runs."""
    with use_reference_device():
        yield


@pytest.fixture
def without_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the reference device graphs are built without an engine, which takes long to compile.

    For tests of what graphs compute, and of how they are described and called.
    """
    build = Graph.build

    def without(graph: Graph, device: Any, *arguments: Any, **options: Any) -> Any:
        if getattr(device, "on_reference_device", False):
            options.setdefault("without_engine", True)
        return build(graph, device, *arguments, **options)

    monkeypatch.setattr(Graph, "build", without)


@pytest.fixture
def gpu_device() -> Iterator[None]:
    """Memory on the GPU while the test runs, whatever the environment says."""
    with use_reference_device(False):
        yield


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, as the oracle of a test."""
    module = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache: all processes of pytest-xdist compile the library of programs once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


@pytest.fixture
def report(request: pytest.FixtureRequest) -> error_report.Report:
    """How exact the tests of this session are, printed at its end."""
    return error_report.report_of(request.config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a process that pytest-xdist started: hand the report over."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["report"] = pickle.dumps(error_report.report_of(session.config))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the report of a process that pytest-xdist started; one that died has none."""
    if written := getattr(node, "workeroutput", {}).get("report"):
        error_report.report_of(node.config).add(pickle.loads(written))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The largest errors, and every reason for skipping once with the number of tests."""
    error_report.write(terminalreporter, config)
    reasons = collections.Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
    )
    if reasons:
        terminalreporter.section("skipped")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5}  {reason}")
