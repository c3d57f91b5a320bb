"""Which status a call gets, against what cuDNN 9.14 and 9.19 gave on an H200: they agreed in all.

The file holds, by function and status, the calls of `statuses` by their names.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudnn_ctypes import Handle, use_reference_device

from .statuses import GROUPS, Bench

MEASURED = json.loads(Path(__file__).with_name("statuses_cudnn_9_19_h200.json").read_text())

# cuDNN reads doubles from operands that hold none: refused on the reference device.
UNSAFE = {
    f"cudnnOpTensor {operation}: {a} to DOUBLE in DOUBLE"
    for operation in ("ADD", "SQRT")
    for a in ("BFLOAT16", "INT8", "INT32", "UINT8")
}
# How many indices the blocks of a large reduction leave is cuDNN's affair.
SIZES = {
    f"sizes of a reduction: (64, 3, 128, 128) to (1, 1, 1, 1) {operator} indices 1"
    for operator in ("MAX", "ADD")
}


def measured() -> dict[str, str]:
    return {
        f"{function}: {about}": status
        for function, statuses in MEASURED.items()
        for status, calls in statuses.items()
        for about in calls
    }


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.errors.DeviceMemoryWarning")
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("where", ["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_as_measured(where: str, group: str) -> None:
    expected = measured()
    different = {}
    with use_reference_device(where == "reference"), Handle() as handle, Bench(handle) as bench:
        for name, call in GROUPS[group](bench):
            if where == "gpu" or name not in UNSAFE | SIZES:
                # What memory that is shared holds afterwards is another question.
                with use_reference_device(where == "reference", strict="in place" not in name):
                    status = call()
                if status != expected[name]:
                    different[name] = (status, expected[name])
    assert not different


def test_the_calls_are_those_of_the_file() -> None:
    with use_reference_device(), Handle() as handle, Bench(handle) as bench:
        names = [name for calls in GROUPS.values() for name, _ in calls(bench)]
    assert len(names) == len(set(names)) > 2000
    assert set(names) == set(measured())
