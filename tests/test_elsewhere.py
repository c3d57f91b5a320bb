"""What works where cuDNN is not: a process that takes itself for one of macOS or Windows.

It lacks CUDA Python and the modules and functions that the system lacks, and a text that is read in
the system's own encoding is an error. Nothing ran on the systems themselves.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from programs import ROOT

SYSTEM = """
import contextlib, ctypes, io, os, pathlib, subprocess, sys, tempfile, warnings
import importlib.machinery, importlib.util
import numpy, rich.console

class Finder:
    finders = [*sys.meta_path]
    find_distributions = staticmethod(importlib.machinery.PathFinder.find_distributions)

    def find_spec(self, name, path=None, target=None):
        if name not in MODULES:
            specs = (each.find_spec(name, path, target) for each in self.finders)
            return next((spec for spec in specs if spec), None)

PLATFORM = sys.argv[1]
MODULES = {"cuda", "nvidia"}
if PLATFORM == "win32":
    MODULES |= {"fcntl", "resource", "pwd", "grp", "termios"}
FUNCTIONS = "memfd_create sched_getaffinity pidfd_open"
if PLATFORM == "win32":
    FUNCTIONS += " fork geteuid getuid register_at_fork sysconf O_NOFOLLOW O_CLOEXEC O_DIRECTORY"
for name in MODULES:
    sys.modules.pop(name, None)
for name in FUNCTIONS.split():
    if hasattr(os, name):
        delattr(os, name)
sys.meta_path[:] = [Finder()]
sys.platform = PLATFORM
warnings.filterwarnings("error", category=EncodingWarning, module="cudnn_ctypes")

def output(*arguments):
    from cudnn_ctypes.__main__ import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*arguments]) == 0
    return out.getvalue()

"""
GRAPH = """
from cudnn_ctypes import Graph
graph = Graph(io_data_type="float16", compute_data_type="float32")
a, b = (graph.tensor((1, 64, 64), name=name) for name in "ab")
graph.relu(graph.matmul(a, b)).set_output(name="c")
graph.validate()
"""
WORKS = f"""
import cudnn_ctypes; assert "cuda.core" not in sys.modules
{GRAPH}
assert Graph.from_json(graph.to_json()).to_json() == graph.to_json()
assert "matmul" in graph.to_svg()
assert "CUDNN_STATUS" in output("lookup", "cudnnStatus_t")
assert "convDesc" in output("lookup", "cudnnConvolutionForward")
assert "Softmax" in output("examples", "7")
if importlib.util.find_spec("tree_sitter"):
    program = pathlib.Path("program.c")
    program.write_text("int f(void) {{ return cudnnGetVersion(); }}", encoding="utf-8")
    assert "cudnnGetVersion" in output("port", "program.c")
"""


def run(platform, program, folder):
    """The finished process of a program on a simulated system."""
    command = [sys.executable, "-X", "warn_default_encoding", "-c", SYSTEM + program, platform]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.soak
@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_what_needs_no_library_works(platform, tmp_path):
    """Importing, describing, pictures, looking up, examples and porting, one after the other."""
    done = run(platform, WORKS, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.thinned(4)
@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize(("platform", "way"), [("darwin", "virtual machine"), ("win32", "WSL 2")])
def test_loading_tells_the_way_to_a_linux(platform, way, reference, tmp_path):
    chosen = "cudnn_ctypes.use_reference_device()\n" if reference else ""
    made = 'cudnn_ctypes.TensorDescriptor((2, 3, 4, 5), "float32")'
    done = run(platform, f"import cudnn_ctypes\n{chosen}{made}", tmp_path)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("cudnn_ctypes.errors.LibraryNotFoundError: cuDNN is loaded on Linux")
    assert way in last
