"""Probes that load libcudnn, run in a child process so that a crash is harmless.

They only report facts, which the doctor judges.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any


def library() -> dict[str, Any]:
    """Report the library, its symbols, and the versions of its parts."""
    from cudnn_ctypes import raw

    loaded = raw.load()
    missing = {
        name: function.since
        for name, function in raw.FUNCTIONS.items()
        if loaded.optional_symbol(name) is None
    }
    parts = {}
    for part in ("Graph", "Ops", "Cnn", "Adv", "SubquadraticOps"):
        check = raw.FUNCTIONS[f"cudnn{part}VersionCheck"]
        if check.__name__ not in missing:
            parts[part] = check.unchecked().name
    directory = loaded.path.parent
    return {
        "path": str(loaded.path),
        "source": loaded.source,
        "passed_over": loaded.passed_over,
        "version": loaded.version_text,
        "cuda_major": loaded.cuda_major,
        "cudart": raw.cudnnGetCudartVersion(),
        "files": sorted(file.name for file in directory.glob("libcudnn*.so.9")),
        "functions": len(raw.FUNCTIONS),
        "missing": missing,
        "parts": parts,
    }


def known_faults() -> dict[str, Any]:
    """Count the rows of known faults that hold here, and the graphs that ended a warden."""
    from cudnn_ctypes import raw
    from cudnn_ctypes.evidence.known_faults import known_faults
    from cudnn_ctypes.graph.engines.cache.plan_cache import PlanCache
    from cudnn_ctypes.graph.lower.faults import SEARCHED
    from cudnn_ctypes.runtime import cuda

    capability = cuda.first_capability() or None
    library = raw.load()
    small = not library.has_precompiled_engines
    count = len(known_faults(library.version, capability, small=small))
    try:
        crashes = [each for each in PlanCache().entries() if each.kind == "crash"]
    except (ValueError, OSError):
        crashes = []
    newest = max(crashes, key=lambda each: each.made, default=None)
    text = newest and f"{newest.operations} on {newest.device}: {newest.graph}"
    return {
        "count": count,
        "gpu": bool(capability),
        "searched": SEARCHED,
        "crashes": len(crashes),
        "newest": text,
    }


def compute() -> dict[str, Any]:
    """Compute a convolution on a new handle's device."""
    import numpy as np

    from cudnn_ctypes import ConvolutionDescriptor, DeviceTensor, Handle, convolution_forward

    image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    kernel = np.ones((1, 1, 3, 3), np.float32)
    with (
        Handle() as made,
        DeviceTensor.from_numpy(image) as x,
        DeviceTensor.from_numpy(kernel) as w,
        ConvolutionDescriptor(padding=1) as conv,
        convolution_forward(made, x, w, conv) as y,
    ):
        right = bool(y.numpy()[0, 0, 1, 1] == 54)
        return {"done": f"{made!r} computes a convolution", "right": right}


def learn() -> dict[str, Any]:
    """Compute the convolution on the reference device."""
    from cudnn_ctypes import use_reference_device

    use_reference_device()
    return compute()


def compile_elsewhere() -> dict[str, Any]:
    """Compile a graph for a GPU that need not be here."""
    from cudnn_ctypes import Graph

    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((2, 64, 64)), graph.tensor((2, 64, 64))
    graph.relu(graph.matmul(a, b)).set_output()
    with graph.build("H200", cache=False) as plan:
        return {"done": f"{plan!r} for an H200"}


def port() -> dict[str, Any]:
    """Look for what ``run``, ``build`` and ``port --translate`` need."""
    from importlib.util import find_spec

    from cudnn_ctypes.porting.run.library import compiler, missing_headers

    if headers := missing_headers():
        return {"error": "; ".join(headers)}
    names = [compiler("c"), compiler("c++")]
    if find_spec("tree_sitter") is None:
        return {"error": "port --translate lacks tree-sitter: pip install 'cudnn-ctypes[porting]'"}
    return {"done": f"with {' and '.join(names)}"}


def watch() -> dict[str, Any]:
    """Hear a call through cuDNN's log."""
    from cudnn_ctypes import TensorDescriptor, log_messages

    with log_messages("info") as messages:
        TensorDescriptor((1, 3, 4, 4)).close()
    if not messages:
        return {"error": "cuDNN logs nothing of a call"}
    return {"done": f"cuDNN tells {messages[0].function}"}


def cuda_libraries() -> dict[str, Any]:
    """Report the NVRTC and cuBLAS that cuDNN would load."""
    from cudnn_ctypes import raw
    from cudnn_ctypes.raw.library.loaded import cuda_library_files, cudnn_files
    from cudnn_ctypes.raw.library.nvrtc import compilation_failure

    raw.load().load_cuda_libraries()
    files = {str(file): "" for file in cuda_library_files()}
    failures: dict[str, str] = {}
    for file in files:
        name = file.rsplit("/", 1)[1]
        if name.startswith("libnvrtc.so"):
            major, minor = ctypes.c_int(), ctypes.c_int()
            nvrtc = ctypes.CDLL(file)
            nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
            files[file] = f"{major.value}.{minor.value}"
            if failure := compilation_failure(nvrtc):
                failures[file] = failure
        elif name.startswith("libcublasLt.so"):
            get_version = ctypes.CDLL(file).cublasLtGetVersion
            get_version.restype = ctypes.c_size_t
            number = get_version()
            files[file] = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    cudnn = [str(file) for file in cudnn_files()]
    return {"files": files, "cudnn": cudnn, "compilation_failures": failures}


def gpus() -> dict[str, Any]:
    """Report the driver and its GPUs."""
    from cuda.bindings import driver
    from cuda.core import Device

    (status,) = driver.cuInit(0)
    if int(status) != 0:
        return {"error": f"cuInit gave {status.name}"}
    _, version = driver.cuDriverGetVersion()
    _, count = driver.cuDeviceGetCount()
    found, capabilities = [], []
    for ordinal in range(count):
        device = Device(ordinal)
        _, memory = driver.cuDeviceTotalMem(ordinal)
        capability = device.compute_capability
        capabilities.append(10 * capability.major + capability.minor)
        found.append(
            f"{device.name}, compute capability {capability.major}.{capability.minor}, "
            f"{memory / 2**30:.0f} GiB"
        )
    text = f"{version // 1000}.{version % 1000 // 10}"
    return {"driver": text, "gpus": found, "capabilities": capabilities}


PROBES: dict[str, Callable[[], dict[str, Any]]] = {
    probe.__name__: probe
    for probe in (
        library,
        known_faults,
        gpus,
        cuda_libraries,
        compute,
        compile_elsewhere,
        learn,
        port,
        watch,
    )
}


def _report(probe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return probe()
    except Exception as error:  # every error is a finding
        return {"error": str(error), "type": type(error).__name__}


def prepared(note: Callable[[Any], None]) -> Callable[[str], dict[str, Any]]:
    """The function that answers a probe by its name, in the child."""
    return lambda name: _report(PROBES[name])
