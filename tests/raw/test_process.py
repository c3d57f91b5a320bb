"""process: forked children find the locks of the package free."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import pytest
from programs import run_program

import cudnn_ctypes
from cudnn_ctypes.raw import process

FORKS = """
import os, signal, sys, threading, time, warnings
from cudnn_ctypes import ConvolutionDescriptor, DeviceTensor, Graph, Handle
from cudnn_ctypes import convolution_forward, use_reference_device
from cudnn_ctypes.raw import process

warnings.simplefilter("ignore")
use_reference_device()
graph = Graph(io_data_type="float32")
a, b = (graph.tensor((1, 16, 16), name=name) for name in "ab")
graph.matmul(a, b).set_output(name="y")

def build():
    with Handle() as handle, graph.replaced() as other:
        other.build(handle)

def run():
    operands = [DeviceTensor.full((1, 16, 16), 1, "float32") for _ in "ab"]
    with Handle() as handle:
        return graph.run(dict(zip("ab", operands)), handle=handle)["y"].numpy()

def convolve():
    x = DeviceTensor.full((1, 4, 8, 8), 1, "float32")
    w = DeviceTensor.full((4, 4, 3, 3), 1, "float32")
    with Handle() as handle, ConvolutionDescriptor(1) as conv:
        return convolution_forward(handle, x, w, conv).numpy()

def allocate():
    DeviceTensor.full((64, 64), 1, "float32").close()

works = {each.__name__: each for each in (build, run, convolve, allocate)}
for each in works.values():
    each()
over = False

def load(work):
    while not over:
        work()

for loading, rounds in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    over, waited = False, 0
    threads = [threading.Thread(target=load, args=[works[loading]]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(rounds):
        child = os.fork()
        if not child:
            signal.alarm(20)  # a child that waits for a lock is ended, and counted
            for work in (run, convolve, allocate) if loading != "build" else (run,):
                work()
            os._exit(len(process._products))
        waited += os.waitpid(child, 0)[1] != 0
    over = True
    for thread in threads:
        thread.join()
    print(loading, waited, len(process._products), process._threads_before)
"""


@pytest.mark.soak
@pytest.mark.parametrize("loading", ["allocate", "build"])
def test_children_that_are_forked_while_threads_work_compute(loading: str) -> None:
    assert run_program(FORKS, loading, "6").stdout == f"{loading} 0 0 0\n"


HELD = """
import os, signal, threading
from cudnn_ctypes.raw import process
from cudnn_ctypes.reference import blas

def hold():
    with other, mine, blas.products_of(1):
        held.set()
        over.wait()

other, mine = process.new_lock(), process.new_reentrant_lock()
held, over = threading.Event(), threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
own = process.new_reentrant_lock()
with own:
    child = os.fork()
if not child:
    signal.alarm(20)
    with other, mine, own:
        os._exit(len(process._products))
print(os.waitpid(child, 0)[1])
over.set()
"""


def test_locks_of_other_threads_are_free_in_a_child() -> None:
    assert run_program(HELD).stdout == "0\n"


def test_interrupted_and_abandoned_products_give_blas_its_threads_back() -> None:
    with pytest.raises(KeyboardInterrupt), process.one_blas_thread(), process.one_blas_thread():
        raise KeyboardInterrupt
    assert not process._threads_before
    abandoned = process.one_blas_thread()
    abandoned.__enter__()
    assert process._threads_before or process._blas_threads() is None
    del abandoned
    gc.collect()
    assert not process._threads_before
    assert not process._products


def test_every_lock_of_the_package_is_known_here() -> None:
    package = Path(cudnn_ctypes.__file__).parent
    makes = re.compile(r"threading\.(R?Lock|Condition|Semaphore|Barrier)\b(?!\s*=)")
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(makes.pattern + r"\(", path.read_text("utf-8"))
    }
    assert found == {"raw/process.py"}


@pytest.mark.parametrize("early", [True, False])
def test_functions_of_atexit_see_what_is_open_or_closed(early: bool) -> None:
    """Registered before this package they are called after its clean-up, else before it."""
    done = run_program(f"""
        import atexit
        early = {early}
        def late():
            for each in owners:
                print(each.closed, end=" ")
                try:
                    address(each)
                    print("usable")
                except ClosedError as error:
                    print(error)
        if early:
            atexit.register(late)
        from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, TensorDescriptor, raw
        from cudnn_ctypes import use_reference_device
        from cudnn_ctypes.errors import ClosedError
        use_reference_device()
        if not early:
            atexit.register(late)
        def address(owner):
            if isinstance(owner, Handle):
                return owner.stream_pointer
            return owner.ptr if hasattr(owner, "nbytes") else owner._as_parameter_
        owners = [Handle(), TensorDescriptor((1, 2, 3, 4)), DeviceBuffer(16)]
        owners += [DeviceTensor.empty((4,), "float32"), owners[2].view(4)]
    """)
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    for line in lines:
        assert line.startswith("True") and "is closed" in line if early else line == "False usable"
