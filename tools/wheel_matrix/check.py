"""What works in the environment of the Python that runs this file: ``python -I check.py``.

It prints JSON: ``versions`` of packages, ``cudnn`` and ``exports`` of the library that is found,
and ``steps``: by name "ok" or the beginning of the error. It imports only what the wheel brings.
With ``--strict`` the exit status is 1 unless every step is "ok".
"""

from __future__ import annotations

import importlib
import json
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any

PACKAGES = ("cudnn-ctypes", "numpy", "ml_dtypes", "cuda-core", "cuda-bindings", "rich")


def library() -> None:
    """A library is found, and it loads."""
    from cudnn_ctypes import raw

    raw.load()


def legacy_descriptors() -> None:
    """Descriptors of the legacy API are the library's own."""
    from cudnn_ctypes import TensorDescriptor

    with TensorDescriptor((2, 3, 4, 5), "float16") as descriptor:
        _equal(descriptor.shape, (2, 3, 4, 5))


def graph_descriptors() -> None:
    """Descriptors of the graph API are the library's own."""
    from cudnn_ctypes import raw

    descriptor = raw.cudnnBackendDescriptor_t()
    kind = raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR
    raw.cudnnBackendCreateDescriptor(kind, descriptor)
    raw.cudnnBackendDestroyDescriptor(descriptor)


def legacy_on_the_reference_device() -> None:
    """A convolution of layer 2, carried out in NumPy."""
    import numpy as np

    from cudnn_ctypes import ConvolutionDescriptor, DeviceTensor, Handle, convolution_forward

    x, w = np.ones((1, 1, 4, 4), "float32"), np.ones((1, 1, 3, 3), "float32")
    with Handle() as handle, ConvolutionDescriptor() as convolution:
        tensors = DeviceTensor.from_numpy(x), DeviceTensor.from_numpy(w)
        y = convolution_forward(handle, *tensors, convolution).numpy()
    _equal(y.ravel().tolist(), [9.0] * 4)


def graph_on_the_reference_device() -> None:
    """A graph of layer 3, validated by the library and carried out in NumPy."""
    import numpy as np

    from cudnn_ctypes import DeviceTensor, Graph, Handle

    with Handle() as handle, Graph(io_data_type="float32") as graph:
        a, b = (graph.tensor((1, 2, 4), name=name) for name in "ab")
        graph.mul(a, b).set_output(name="y")
        graph.build(handle)
        values = np.full((1, 2, 4), 3, "float32")
        memory = {name: DeviceTensor.from_numpy(values) for name in "aby"}
        graph.execute(memory)
        _equal(memory["y"].numpy().ravel().tolist(), [9.0] * 8)


def compiling_for_an_h200() -> None:
    """A graph of layer 3, compiled without a GPU."""
    from cudnn_ctypes import Graph

    with Graph(io_data_type="float16", compute_data_type="float32") as graph:
        a, b = graph.tensor((1, 64, 64), name="a"), graph.tensor((1, 64, 64), name="b")
        graph.matmul(a, b).set_output(name="c")
        graph.build("H200")


def cuda_python() -> None:
    """The modules and names of CUDA Python that GPU programs need."""
    core = importlib.import_module("cuda.core")
    for name in ("Buffer", "Device", "EventOptions", "LaunchConfig", "Program", "Stream", "launch"):
        getattr(core, name)
    for module in ("driver", "nvrtc", "runtime"):
        importlib.import_module(f"cuda.bindings.{module}")


def doctor() -> None:
    """The doctor ends by itself, whatever it finds."""
    command = [sys.executable, "-I", "-m", "cudnn_ctypes", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "Traceback" in done.stderr or done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


STEPS: tuple[Callable[[], None], ...] = (
    library,
    legacy_descriptors,
    graph_descriptors,
    legacy_on_the_reference_device,
    graph_on_the_reference_device,
    compiling_for_an_h200,
    cuda_python,
    doctor,
)


def _equal(actual: Any, expected: Any) -> None:
    if actual != expected:
        raise RuntimeError(f"{actual} instead of {expected}")


def _tried(step: Callable[[], None]) -> str:
    try:
        step()
    except Exception as error:
        lines = str(error).strip().splitlines() or ["no text"]
        reason = " ".join(line.strip() for line in lines[:2] if line)
        reason = re.sub(r"lib/python[\d.]+/", "lib/python3/", reason.replace(sys.prefix, "..."))
        return f"{type(error).__name__}: {reason}"
    return "ok"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def main() -> None:
    import cudnn_ctypes

    warnings.simplefilter("ignore")
    cudnn_ctypes.use_reference_device()
    steps = {step.__name__: _tried(step) for step in STEPS}
    found: dict[str, Any] = {"cudnn": 0, "exports": [], "path": ""}
    if steps["library"] == "ok":
        loaded = cudnn_ctypes.raw.load()
        names = cudnn_ctypes.raw.FUNCTIONS
        exports = [name for name in names if loaded.optional_symbol(name) is not None]
        found = {"cudnn": loaded.version, "exports": exports, "path": str(loaded.path)}
    versions = {name: version for name in PACKAGES if (version := _version(name))}
    versions["python"] = platform.python_version()
    print(json.dumps({**found, "versions": versions, "steps": steps}))
    if "--strict" in sys.argv and set(steps.values()) != {"ok"}:
        sys.exit(1)


if __name__ == "__main__":
    main()
