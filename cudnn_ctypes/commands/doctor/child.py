"""Probes that load libcudnn, run in a child process so that a crash is harmless.

``python -m cudnn_ctypes.commands.doctor.child PROBE`` prints one JSON object. The probes only
report facts; the module `probes` judges them.
"""

from __future__ import annotations

import ctypes
import json
import sys
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


def descriptors() -> dict[str, Any]:
    """Set a descriptor and read it back."""
    from cudnn_ctypes import TensorDescriptor

    with TensorDescriptor((1, 3, 4, 4)) as descriptor:
        return {"descriptor": repr(descriptor)}


def handle() -> dict[str, Any]:
    """Create a handle, and compute a convolution with it."""
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
        return {"handle": repr(made), "convolution": right}


def graph() -> dict[str, Any]:
    """Finalize a backend descriptor, for which the graph API needs the driver's library."""
    from cudnn_ctypes import raw

    tensor = raw.cudnnBackendDescriptor_t()
    raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor)
    for name, kind, values in (
        ("UNIQUE_ID", "INT64", [1]),
        ("BYTE_ALIGNMENT", "INT64", [16]),
        ("DIMENSIONS", "INT64", [1, 8, 4, 4]),
        ("STRIDES", "INT64", [128, 16, 4, 1]),
        ("DATA_TYPE", "DATA_TYPE", [raw.CUDNN_DATA_FLOAT]),
    ):
        element = ctypes.c_int64 if kind == "INT64" else ctypes.c_int
        raw.cudnnBackendSetAttribute(
            tensor,
            raw.cudnnBackendAttributeName_t[f"CUDNN_ATTR_TENSOR_{name}"],
            raw.cudnnBackendAttributeType_t[f"CUDNN_TYPE_{kind}"],
            len(values),
            (element * len(values))(*values),
        )
    raw.cudnnBackendFinalize(tensor)
    raw.cudnnBackendDestroyDescriptor(tensor)
    return {"finalized": True}


def cuda_libraries() -> dict[str, Any]:
    """Report the NVRTC and cuBLAS that cuDNN would load."""
    from cudnn_ctypes import raw
    from cudnn_ctypes.raw.loaded_libraries import cuda_library_files, cudnn_files
    from cudnn_ctypes.raw.nvrtc import compilation_failure

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
    probe.__name__: probe for probe in (library, descriptors, handle, graph, cuda_libraries, gpus)
}


def _report(probe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return probe()
    except Exception as error:  # every error is a finding
        return {"error": str(error), "type": type(error).__name__}


if __name__ == "__main__":
    print(json.dumps(_report(PROBES[sys.argv[1]])))
