"""C calls as machine code: what C receives, what is returned, when the slow way is taken."""

from __future__ import annotations

import ctypes
import gc
import platform
import shutil
import subprocess
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.runtime.launching import machine_code
from cudnn_ctypes.runtime.launching.likeness import NoKey, look
from cudnn_ctypes.runtime.launching.machine_code import fixed_call, function_of_calls
from tools.machine_code.__main__ import MACHINES, assembled

machine_code_only = pytest.mark.skipif(
    not machine_code.is_available(), reason="no machine code here"
)


P, D, I64 = ctypes.c_void_p, ctypes.c_double, ctypes.c_int64


class Callee:
    """A C function that notes its arguments and returns a status."""

    def __init__(self, *types: Any) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.status = 0
        self.function = ctypes.CFUNCTYPE(ctypes.c_int, *types)(self._call)
        self.symbol = ctypes.CDLL(None)._FuncPtr(ctypes.cast(self.function, P).value)

    def _call(self, *arguments: Any) -> int:
        self.seen.append(arguments)
        return self.status


def function_of(calls: list[Any], **options: Any) -> Callable[[], Any]:
    settings: dict[str, Any] = {"slow": lambda: "slow", "failed": hex, **options}
    function = function_of_calls(calls, **settings)
    assert function is not None
    return function


class Held:
    """Stands in for `Pointers`: notes how many calls ran when it was told to let go."""

    def __init__(self, *arguments: Any) -> None:
        self.closed, self.busy, self.arguments = ctypes.c_ssize_t(), ctypes.c_ssize_t(), arguments
        self.told: list[int] = []

    def let_go(self) -> None:
        self.told.append(self.busy.value)


@machine_code_only
def test_all_arguments_reach_c():
    callee = Callee(P, ctypes.c_int, P, D, *[I64] * 9, D, ctypes.c_int)
    numbers = [I64(1 << 40 | i) for i in range(9)]
    given = [P(1 << 47), -7, P(None), D(0.1), *numbers, D(-2.5), 1 << 30]
    (call,) = [fixed_call(callee.symbol, given, {3: D, 13: D})]
    launch = function_of([call], result=(result := object()))
    for _ in range(3):
        assert launch() is result
    expected = (1 << 47, -7, None, 0.1, *(each.value for each in numbers), -2.5, 1 << 30)
    assert callee.seen == [expected] * 3


@machine_code_only
def test_a_bad_status_names_the_call_and_ends_the_sequence():
    callees = [Callee(P) for _ in range(3)]
    launch = function_of([fixed_call(each.symbol, [P(5)]) for each in callees])
    assert launch() is None
    callees[1].status = 3000
    assert launch() == hex(1 << 32 | 3000)
    assert [len(each.seen) for each in callees] == [2, 2, 1]

    def failed(told):
        raise ValueError(told & 0xFFFFFFFF)

    with pytest.raises(ValueError, match="3000"):
        function_of([fixed_call(callees[1].symbol, [P(5)])], failed=failed)()


@machine_code_only
def test_words_that_are_not_zero_send_it_the_slow_way():
    callee, held, names = Callee(P), [Held(), Held()], set()
    call = fixed_call(callee.symbol, [P(5)])
    launch = function_of([call], pointers=held, empty=[names], result="made")
    assert launch() == "made"
    held[1].closed.value = 1 << 40
    assert launch() == "slow"
    held[1].closed.value = 0
    names.add("cudnnX")
    assert launch() == "slow"
    names.clear()
    assert launch() == "made"
    assert len(callee.seen) == 2
    pointer = P(1)
    launch = function_of([call], pointers=[Held(pointer)])
    assert launch() is None
    pointer.value = None
    assert launch() == "slow"


@machine_code_only
def test_what_is_closed_during_the_call_is_told_after_it():
    held, seen = Held(), []

    def close(argument):
        seen.append(held.busy.value)
        held.closed.value = 1
        return 0

    function = ctypes.CFUNCTYPE(ctypes.c_int, P)(close)
    symbol = ctypes.CDLL(None)._FuncPtr(ctypes.cast(function, P).value)
    launch = function_of([fixed_call(symbol, [P(5)])], pointers=[held], result="made")
    assert launch() == "made"
    assert (seen, held.told) == ([1], [0])
    assert launch() == "slow"


@machine_code_only
def test_other_threads_run_meanwhile():
    """C waits for them, which it could not with the GIL."""
    entered, leave = threading.Event(), threading.Event()

    def wait(argument):
        entered.set()
        return 0 if leave.wait(20) else 1

    function = ctypes.CFUNCTYPE(ctypes.c_int, P)(wait)
    symbol = ctypes.CDLL(None)._FuncPtr(ctypes.cast(function, P).value)
    launch = function_of([fixed_call(symbol, [P(5)])])
    thread = threading.Thread(target=launch)
    thread.start()
    assert entered.wait(20)
    leave.set()
    thread.join()


@machine_code_only
def test_what_it_keeps_goes_with_it():
    class Kept:
        pass

    callee, kept = Callee(P), Kept()
    gone = weakref.ref(kept)
    launch = function_of([fixed_call(callee.symbol, [P(5)])], kept=kept)
    del kept
    gc.collect()
    launch()
    assert gone() is not None
    del launch
    gc.collect()
    assert gone() is None


@machine_code_only
def test_the_variable_switches_it_off(monkeypatch):
    callee = Callee(P)
    call = fixed_call(callee.symbol, [P(5)])
    assert call is not None
    monkeypatch.setenv(machine_code.ENVIRONMENT_VARIABLE, "0")
    machine_code.is_available.cache_clear()
    try:
        made = function_of_calls([call], slow=list, failed=hex)
        assert made is None
    finally:
        monkeypatch.undo()
        machine_code.is_available.cache_clear()


@machine_code_only
def test_no_page_is_writable_and_executable():
    def writable():
        lines = Path("/proc/self/maps").read_text().splitlines()
        return [line.split()[0] for line in lines if "wx" in line.split()[1]]

    callee = Callee(P)
    call = fixed_call(callee.symbol, [P(5)])
    before = writable()  # of ctypes' own callbacks
    launch = function_of([call])
    assert writable() == before
    launch()


RUNS = """\
save first second restore incref 104 0 0
save first second restore long failed decref 66 100000bb8 0
save first restore long failed decref 66 5 0
save first second restore late decref incref 104 0 0
slow 55 0 0
slow 55 0 0
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_the_code_is_what_its_assembly_says_and_runs(machine: str, tmp_path: Path) -> None:
    code = machine_code.code(machine)
    try:
        assert assembled(machine) == code
    except FileNotFoundError as error:
        pytest.skip(str(error))
    native = machine == platform.machine()
    compiler = "gcc" if native else f"{machine}-linux-gnu-gcc"
    if not (shutil.which(compiler) and (native or shutil.which(f"qemu-{machine}"))):
        pytest.skip(f"there is no {compiler} or no emulator")
    source, program = Path(__file__).with_name("launch.c"), tmp_path / "launch"
    subprocess.run([compiler, "-D_GNU_SOURCE", "-static", source, "-o", program], check=True)
    (tmp_path / "code").write_bytes(code)
    words = [program, tmp_path / "code", str(machine_code._REGISTERS[machine])]
    words = words if native else [f"qemu-{machine}", *words]
    assert subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout == RUNS


# --- what a launch's key says of another library's memory on a GPU --------------------------------


class Exporter:
    """An array on a GPU made of host memory, with ``__cuda_array_interface__``."""

    def __init__(self, array: np.ndarray[Any, Any], stream: int | None = None) -> None:
        self.array = array
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "stream": self.stream}


def test_keys_of_other_libraries(fake_cuda):
    launcher = SimpleNamespace(stream=5)
    array = np.zeros((2, 4, 6), np.float32)
    part, pointer = look(Exporter(array, stream=7), launcher)
    assert pointer.value == array.ctypes.data
    waits = [entry for entry in fake_cuda.log if entry[0] in ("record", "wait")]
    assert waits == [("record", 7), ("wait", 5)]
    assert look(Exporter(array.copy()), launcher)[0] == part
    readonly = array.copy()
    readonly.flags.writeable = False
    others = (array.astype(np.int32), array[:, ::2], array.reshape(2, 6, 4), readonly)
    parts = {look(Exporter(other), launcher)[0] for other in others}
    assert len(parts) == 4
    assert part not in parts


def test_what_cannot_be_imported_has_no_key(fake_cuda):
    for array in (np.zeros(3, np.float32)[::-1], np.zeros(3, np.uint16)):
        with pytest.raises(NoKey):
            look(Exporter(array), SimpleNamespace(stream=None))


@pytest.mark.parametrize("value", [0.0, float("nan"), 1.5, np.float32(2), np.dtype("f4"), np.int8])
def test_numbers_and_types(value):
    assert look(value) == look(value)
    assert look(value)[0] not in (look(3.5)[0], look(-0.0)[0])
