"""What a launch's key says of another library's memory on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeCuda

from cudnn_ctypes.runtime.launching.likeness import NoKey, look


class Exporter:
    """An array on a GPU made of host memory, with ``__cuda_array_interface__``."""

    def __init__(self, array: np.ndarray[Any, Any], stream: int | None = None) -> None:
        self.array = array
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, not self.array.flags.writeable),
            "strides": self.array.strides,
            "stream": self.stream,
        }


def test_keys_of_other_libraries(fake_cuda: FakeCuda) -> None:
    launcher = SimpleNamespace(stream=5)
    array = np.zeros((2, 4, 6), np.float32)
    part, pointer = look(Exporter(array, stream=7), launcher)
    assert pointer.value == array.ctypes.data
    assert [entry for entry in fake_cuda.log if entry[0] in ("record", "wait")] == [
        ("record", 7),
        ("wait", 5),
    ]
    assert look(Exporter(array.copy()), launcher)[0] == part
    readonly = array.copy()
    readonly.flags.writeable = False
    others = (array.astype(np.int32), array[:, ::2], array.reshape(2, 6, 4), readonly)
    parts = {look(Exporter(other), launcher)[0] for other in others}
    assert len(parts) == 4
    assert part not in parts


def test_what_cannot_be_imported_has_no_key(fake_cuda: FakeCuda) -> None:
    for array in (np.zeros(3, np.float32)[::-1], np.zeros(3, np.uint16)):
        with pytest.raises(NoKey):
            look(Exporter(array), SimpleNamespace(stream=None))


@pytest.mark.parametrize("value", [0.0, float("nan"), 1.5, np.float32(2), np.dtype("f4"), np.int8])
def test_numbers_and_types(value: Any) -> None:
    assert look(value) == look(value)
    assert look(value)[0] not in (look(3.5)[0], look(-0.0)[0])
