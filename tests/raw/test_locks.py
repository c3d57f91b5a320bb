"""raw.locks: forked children find the locks of the package free."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import run_program

import cudnn_ctypes

FORKS = """
import os, signal, sys, threading, time, warnings
import numpy as np
from cudnn_ctypes import ConvolutionDescriptor, DeviceTensor, Graph, Handle
from cudnn_ctypes import convolution_forward, use_reference_device
from cudnn_ctypes.reference import blas

warnings.simplefilter("ignore")
use_reference_device()
graph = Graph(io_data_type="float32")
a, b = (graph.tensor((1, 16, 16), name=name) for name in "ab")
graph.matmul(a, b).set_output(name="y")

def convolve():
    x = DeviceTensor.full((1, 4, 8, 8), 1, "float32")
    w = DeviceTensor.full((4, 4, 3, 3), 1, "float32")
    with Handle() as handle, ConvolutionDescriptor(1) as conv:
        return convolution_forward(handle, x, w, conv).numpy()

def run():
    operands = [DeviceTensor.full((1, 16, 16), 1, "float32") for _ in "ab"]
    with Handle() as handle:
        return graph.run(dict(zip("ab", operands)), handle=handle)["y"].numpy()

def allocate():
    DeviceTensor.full((64, 64), 1, "float32").close()

def multiply():
    blas.product(np.ones((8, 8)), np.ones((8, 8)))

convolve(), run()
over = False

def load(work):
    while not over:
        work()

works = (convolve, run, allocate, multiply)
threads = [threading.Thread(target=load, args=[each]) for each in works]
for thread in threads:
    thread.start()
waited = 0
for number in range(25):
    child = os.fork()
    if not child:
        signal.alarm(20)  # a child that waits for a lock is ended, and counted
        for each in works:
            each()
        os._exit(len(blas._inside))
    waited += os.waitpid(child, 0)[1] != 0
over = True
for thread in threads:
    thread.join()
print(waited, blas._inside)
"""


def test_children_that_are_forked_while_threads_compute_compute_too() -> None:
    assert run_program(FORKS).stdout == "0 []\n"


HELD = """
import os, signal, threading
from cudnn_ctypes.raw import locks
from cudnn_ctypes.reference import blas

def hold():
    with other, mine, blas.products_of(1):
        held.set()
        over.wait()

other, mine = locks.new_lock(), locks.new_reentrant_lock()
held, over = threading.Event(), threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
own = locks.new_reentrant_lock()
with own:
    child = os.fork()
if not child:
    signal.alarm(20)
    with other, mine, own:
        os._exit(len(blas._inside))
print(os.waitpid(child, 0)[1])
over.set()
"""


def test_locks_of_other_threads_are_free_in_a_child() -> None:
    assert run_program(HELD).stdout == "0\n"


def test_every_lock_of_the_package_is_known_here() -> None:
    package = Path(cudnn_ctypes.__file__).parent
    makes = re.compile(r"threading\.(R?Lock|Condition|Semaphore|Barrier)\b(?!\s*=)")
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(makes.pattern + r"\(", path.read_text("utf-8"))
    }
    assert found == {"raw/locks.py"}


@pytest.mark.parametrize("early", [True, False])
def test_functions_of_atexit_see_what_is_closed(early: bool) -> None:
    done = run_program(f"""
        import atexit
        from cudnn_ctypes import TensorDescriptor
        early = {early}
        def late():
            print(descriptor.closed)
        if early:
            atexit.register(late)
        descriptor = TensorDescriptor((1, 2, 3, 4))
        if not early:
            atexit.register(late)
    """)
    assert done.stdout == f"{early}\n"
