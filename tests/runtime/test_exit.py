"""The end of a process: what is left is freed once, in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from programs import ROOT, run_program

# What a program leaves, and what it prints.
PROGRAMS = {
    "buffers and views": (
        """
        from cudnn_ctypes import use_reference_device; use_reference_device()
        from cudnn_ctypes.runtime import DeviceBuffer
        kept = DeviceBuffer(16); view = kept.view(4); cycle = [kept]; cycle.append(cycle)
        """,
        "",
    ),
    "tensors": (
        """
        from cudnn_ctypes import use_reference_device; use_reference_device()
        from cudnn_ctypes.raw import host_blocks
        from cudnn_ctypes.runtime import DeviceTensor
        kept = [DeviceTensor.empty((4,), "float32") for _ in range(3)]
        free = host_blocks.Block.free
        host_blocks.Block.free = lambda block: print("freed") or free(block)
        """,
        "freed\n" * 3,
    ),
    "blocks that an allocator keeps": (
        """
        import atexit; atexit.register(lambda: print(fake.used))  # the last
        from fake_cuda import FakeCuda
        from cudnn_ctypes.runtime import allocation, cuda
        fake = FakeCuda()
        fake.context = 0
        cuda.driver, cuda.core = (lambda: fake), (lambda: fake.core)
        allocator = allocation.Allocator(0, keeps=True)
        first, second = allocator.allocate_each([16, 32])
        del first
        cycle = [second, allocator]; cycle.append(cycle)
        print(fake.used)
        """,
        "1024\n0\n",
    ),
    "tensors lent and borrowed": (
        """
        import torch; from cudnn_ctypes.runtime import *
        from cudnn_ctypes import use_reference_device
        use_reference_device()
        tensor = DeviceTensor.zeros((4, 4), "bfloat16")
        capsule = tensor.__dlpack__(); theirs = torch.from_dlpack(tensor)
        ours = as_tensor(torch.ones(3)); cycle = [ours, theirs]; cycle.append(cycle)
        del tensor
        """,
        "",
    ),
}
SLOW = pytest.param("tensors lent and borrowed", marks=pytest.mark.soak)  # it imports PyTorch


@pytest.mark.parametrize("left", [*list(PROGRAMS)[:-1], SLOW])
def test_what_is_left_is_freed_in_silence(left: str) -> None:
    program, prints = PROGRAMS[left]
    if "torch" in program:
        pytest.importorskip("torch")
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    flags = () if "torch" in program else ("-X", "dev")
    done = run_program(program, flags=flags, environment={"PYTHONPATH": path})
    assert (done.stdout, done.stderr) == (prints, "")
