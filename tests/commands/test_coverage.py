"""The coverage table: every C function has a user or a reason, and the record of GPU runs holds."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from gpu_coverage import write

import cudnn_ctypes
from cudnn_ctypes import raw
from cudnn_ctypes.commands.doctor.coverage import REASONS, Row, gpu_runs, table


@functools.cache
def rows() -> dict[str, Row]:
    """Made when the first test asks: it reads the source of the whole package."""
    return {row.function: row for row in table()}


@pytest.mark.soak
def test_there_is_a_row_for_each_function():
    assert list(rows()) == list(raw.FUNCTIONS)


@pytest.mark.soak
def test_every_function_has_a_user_or_a_reason():
    assert [row.function for row in rows().values() if not row.used_by and not row.reason] == []


@pytest.mark.soak
def test_reasons_are_not_stale():
    assert [name for name in REASONS if name not in rows() or rows()[name].used_by] == []


@pytest.mark.parametrize(
    ("function", "user"),
    [
        ("cudnnCreate", "Handle"),
        ("cudnnSetTensor4dDescriptor", "TensorDescriptor.set_4d"),
        # through a table of functions, a base class and a private helper
        ("cudnnFindConvolutionForwardAlgorithmEx", "ConvolutionForward"),
        ("cudnnOpsVersionCheck", "check_sublibraries"),
        ("cudnnMakeFusedOpsPlan", "FusedOpsPlan.make"),
        ("cudnnGnnMhaGatBackward", "gnn_mha_gat_backward"),
        ("cudnnBackendExecute", "BoundPlan"),
        ("cudnnBackendPopulateCudaGraph", "NativeGraph"),
    ],
)
def test_users(function, user):
    assert user in rows()[function].used_by


def test_users_exist():
    """Each user is a public name, or a method or property of one."""
    public = vars(cudnn_ctypes)
    for name in (*cudnn_ctypes.__all__, *cudnn_ctypes.legacy.__all__):
        public = {**public, name: getattr(cudnn_ctypes, name, None)}
    for row in rows().values():
        for user in row.used_by:
            home, _, method = user.partition(".")
            found = public.get(home) or getattr(cudnn_ctypes.runtime, home, None)
            assert found is not None, user
            assert not method or hasattr(found, method), user


def test_what_the_reference_device_does_not_carry_out():
    """There are no CUDA graphs."""
    missing = [row.function for row in rows().values() if row.reference_device == "no"]
    assert missing == ["cudnnBackendPopulateCudaGraph", "cudnnBackendUpdateCudaGraph"]


def test_what_the_reference_device_leaves_to_cudnn():
    """Descriptors are cuDNN's own; their plans are executed in NumPy."""
    assert rows()["cudnnBackendFinalize"].reference_device == "cuDNN itself"
    assert rows()["cudnnBackendExecute"].reference_device == "NumPy"


# --- recording ----------------------------------------------------------------------------------


def run(**changes: Any) -> dict[str, Any]:
    made = {
        "gpu": "H200",
        "driver": "580.1",
        "cudnn": "9.19.0",
        "succeeded": ["cudnnCreate"],
        "refused": {},
        "missing": [],
    }
    return {**made, **changes}


def test_records_add_up(tmp_path):
    path = tmp_path / "runs.json"
    write(path, run(refused={"cudnnDestroy": ["A"], "cudnnIm2Col": ["B"]}))
    write(path, run(cudnn="9.14.0", missing=["cudnnGnnAggSimpleForward"]))
    write(path, run(succeeded=["cudnnDestroy"], refused={"cudnnIm2Col": ["C"]}))
    older, newer = gpu_runs(path)
    assert (older.cudnn, newer.cudnn) == ("9.14.0", "9.19.0")
    assert older.missing == {"cudnnGnnAggSimpleForward"}
    assert newer.succeeded == {"cudnnCreate", "cudnnDestroy"}
    assert newer.refused == {"cudnnIm2Col": ("B", "C")}
    assert json.loads(path.read_text())["runs"][0]["gpu"] == "H200"
    assert gpu_runs(tmp_path / "none.json") == []


@pytest.mark.gpu
def test_this_gpu_has_a_name():
    from gpu_coverage import this_gpu

    assert all(this_gpu().values())
