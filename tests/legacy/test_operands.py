"""How operands are imported and described, which every operation of layer 2 relies on."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, FilterDescriptor, Handle, TensorDescriptor
from cudnn_ctypes.legacy.operand_memory import check_memory
from cudnn_ctypes.legacy.operands import Operands

IMAGE, FILTERS = (2, 4, 6, 5), (8, 4, 3, 3)


def empty(shape: tuple[int, ...], layout: str = "NCHW") -> DeviceTensor:
    return DeviceTensor.empty(shape, "float32", layout=layout)


class TestLayout:
    """One layout for all operands whose strides fit two: that of those which fit only one."""

    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_the_one_that_is_decided_decides(self, reference_handle: Handle, layout: str) -> None:
        other = "NHWC" if layout == "NCHW" else "NCHW"
        given: dict[str, Any] = {
            "x": (empty((2, 1, 6, 5), other), None),
            "w": (empty((8, 1, 3, 3), other), None),
            "y": (empty((2, 8, 4, 3), layout), None),
        }
        with Operands(reference_handle, **given) as operands:
            assert operands.layout == layout
            x_desc = operands.describe("x")
            w_desc = operands.describe_filter("w")
            assert x_desc == TensorDescriptor((2, 1, 6, 5), layout=layout)
            assert w_desc.layout == layout
        assert x_desc.closed
        assert w_desc.closed

    def test_where_none_is_decided_the_first_one_is_taken_as_it_was_made(
        self, reference_handle: Handle
    ) -> None:
        x, w = empty((2, 1, 6, 5), "NHWC"), empty((8, 1, 3, 3), "NCHW")
        with Operands(reference_handle, x=(x, None), w=(w, None)) as operands:
            assert operands.layout == "NHWC"

    def test_descriptors_count_too(self, reference_handle: Handle) -> None:
        x, w = empty((2, 1, 6, 5)), empty((8, 1, 3, 3))
        with FilterDescriptor((8, 1, 3, 3), layout="NHWC") as desc:
            with Operands(reference_handle, x=(x, None), w=(w, desc)) as operands:
                assert operands.layout == "NHWC"
            assert not desc.closed

    def test_strides_that_fit_none(self, reference_handle: Handle) -> None:
        x = DeviceTensor.empty((2, 3, 4, 5), "float32", strides=(1000, 200, 40, 2))
        with Operands(reference_handle, x=(x, None)) as operands:
            assert operands.layout is None
            assert operands.describe("x").strides == x.strides


class TestResults:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_have_the_layout_of_the_operands(self, reference_handle: Handle, layout: str) -> None:
        with Operands(reference_handle, x=(empty(IMAGE, layout), None), y=(None, None)) as operands:
            made = operands.make("y", (2, 8, 4, 3), "float16")
            assert made.layout == layout
            assert operands.describe("y").layout == layout
            assert operands.memory("y")._as_parameter_ is made
        assert not made.closed

    def test_are_closed_when_something_fails(self, reference_handle: Handle) -> None:
        made: list[DeviceTensor] = []
        operands = Operands(reference_handle, x=(empty(IMAGE), None), y=(None, None))

        def fail() -> None:
            with operands:
                made.append(operands.make("y", (2, 8, 4, 3), "float16"))
                raise RuntimeError("something")

        with pytest.raises(RuntimeError, match="something"):
            fail()
        assert made[0].closed


class TestMemory:
    def test_the_exact_size_is_enough(self, reference_handle: Handle) -> None:
        with TensorDescriptor(IMAGE) as desc, DeviceBuffer(960) as buffer:
            given = check_memory("x", buffer, desc, reference_handle)
            assert (given.name, given._as_parameter_, given.written) == ("x", buffer, False)
            desc.set_4d("NCHW", "float32", 2, 4, 6, 6)
            with pytest.raises(ValueError, match=r"^x: 960 bytes are too small .* 1152 bytes"):
                check_memory("x", buffer, desc, reference_handle)

    def test_addresses_pass(self, reference_handle: Handle) -> None:
        with TensorDescriptor(IMAGE) as desc:
            given = check_memory("x", 0x1000, desc, reference_handle, written=True)
            assert (given._as_parameter_, given.written) == (0x1000, True)
