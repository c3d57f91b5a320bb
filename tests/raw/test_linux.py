"""What Linux tells of this process, and that nothing is refused where it does not tell."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest
from programs import run_program

from cudnn_ctypes import raw
from cudnn_ctypes.raw.library import elf, linux, loaded


def test_an_address_of_a_function_leads_to_its_library():
    address = ctypes.cast(raw.load().cdll.cudnnGetVersion, ctypes.c_void_p).value
    symbol = linux.symbol_at(address)
    assert symbol.name == "cudnnGetVersion"
    assert Path(symbol.file) == raw.load().path.resolve()
    (here,) = (each for each in linux.mappings() if each.start <= address < each.end)
    assert (Path(here.file), here.permissions) == (Path(symbol.file), "r-xp")
    assert linux.symbol_at(1) is None


def test_own_memory_grows_and_mapped_files_are_none_of_it():
    mapped, own = linux.memory()
    held = b"x" * (64 << 20)
    after = linux.memory()
    assert after[0] - mapped >= len(held) - (1 << 20)
    assert after[1] - own >= len(held) // 2
    assert 0 < own < mapped


@pytest.fixture
def no_proc(monkeypatch, tmp_path):
    for module in (linux, elf):
        monkeypatch.setattr(module, "PROC", tmp_path / "proc")


def test_without_proc_it_is_said_that_nothing_is_known(no_proc, monkeypatch):
    assert (list(linux.mappings()), linux.memory()) == ([], None)
    assert raw.load().path in loaded.cudnn_files()  # the loader tells these
    assert linux.environment() == dict(os.environ)
    assert elf.built_for.__wrapped__() == elf.built_for()
    monkeypatch.setattr(linux, "_DRIVER_FILES", ())
    assert linux.driver() == ""


WITHOUT_PROC = """
from pathlib import Path
from cudnn_ctypes.raw.library import elf, linux
elf.PROC = linux.PROC = Path("/none")

import numpy as np
import cudnn_ctypes as c
from cudnn_ctypes.reference.device import memory

memory._advise = lambda: None  # the list of mappings is asked then
graph = c.Graph(io_data_type="float16", compute_data_type="float32")
a, b = (graph.tensor((1, 64, 64), name=name) for name in "ab")
graph.matmul(a, b).set_output(name="y")
with c.use_warden():
    assert "engine" in repr(graph.build("H200"))
values = np.ones(4, "float32")
with c.use_reference_device(), c.Handle() as handle:
    x = c.TensorDescriptor((1, 1, 1, 4), "float32")
    c.raw.cudnnScaleTensor(handle, x, values.ctypes.data, 3.0)
print(values, linux.memory())
"""


@pytest.mark.soak
def test_without_proc_programs_run():
    assert run_program(WITHOUT_PROC).stdout == "[3. 3. 3. 3.] None\n"
