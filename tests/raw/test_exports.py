"""The functions that layer 1 declares are those that the shared library exports."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import pytest

from cudnn_ctypes import raw

# Exported, and declared in no header.
INTERNAL = {
    "cudnnGetBackdoor",
    "cudnnGetRNNDropoutLocationsInternal",
    "cudnnSetBackdoor",
    "cudnnSetBackdoorEx",
}


def version_of(text: str) -> int:
    major, minor, patch = map(int, text.split("."))
    return major * 10000 + minor * 100 + patch


def test_the_library_exports_what_is_declared():
    library = ctypes.CDLL(str(raw.load().path))
    version = raw.cudnnGetVersion()
    for name, function in raw.FUNCTIONS.items():
        assert hasattr(library, name) == (version_of(function.since) <= version), name


def test_the_library_exports_nothing_else():
    if raw.cudnnGetVersion() != raw.CUDNN_VERSION:
        pytest.skip(f"layer 1 declares {raw.CUDNN_VERSION}, loaded is {raw.cudnnGetVersion()}")
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm")
    command = [nm, "-D", "--defined-only", "--format=posix", str(raw.load().path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[0].split("@")[0] for line in printed.splitlines()}
    exported = {name for name in symbols if name.startswith("cudnn")}
    assert exported == set(raw.FUNCTIONS) | INTERNAL
