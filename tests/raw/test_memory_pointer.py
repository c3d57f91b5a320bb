"""raw.memory: what is taken for device memory, and what is refused."""

from __future__ import annotations

import array
import ctypes
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, Handle, TensorDescriptor, raw, use_reference_device
from cudnn_ctypes.raw.memory import memory_pointer

ADDRESS = 0x7F0000001000


class WithParameter:
    def __init__(self, parameter: object) -> None:
        self._as_parameter_ = parameter


class WithInterface:
    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (2,), "typestr": "<f4"}


class OnDevice:
    """Host memory of NumPy that claims another DLPack device."""

    def __init__(self, device_type: int) -> None:
        self.array = np.zeros(3, np.float32)
        self.device_type = device_type
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, 0

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> object:
        self.streams.append(stream)
        return self.array.__dlpack__()


HOST_OBJECTS = [np.zeros(3, np.float32), np.float32(1), np.zeros(3).ctypes, [1.0, 2.0], (1.0,)]
HOST_OBJECTS += [b"1234", bytearray(4), memoryview(b"1234"), array.array("f", [1])]
HOST_OBJECTS += [(ctypes.c_float * 3)(), ctypes.c_float(1)]


@pytest.mark.parametrize("value", HOST_OBJECTS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("device", ["gpu_device", "reference_device"])
def test_host_memory_is_refused_and_the_way_out_named(request, device, value):
    request.getfixturevalue(device)
    with pytest.raises(TypeError) as caught:
        memory_pointer(value, "dy")
    assert str(caught.value).startswith("dy: host memory (")
    assert "copy it with DeviceTensor.from_numpy(dy)" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "text",
        1.5,
        True,
        raw.CUDNN_DATA_FLOAT,
        {},
        object(),
        raw.cudnnTensorDescriptor_t(),
        WithParameter(raw.cudnnTensorDescriptor_t()),
    ],
)
def test_what_is_no_memory_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"^w: expected device memory"):
        memory_pointer(value, "w")


class OwnParameter:
    def __getattr__(self, name: str) -> OwnParameter:
        return self

    def __call__(self, *arguments: object, **options: object) -> OwnParameter:
        return self


@pytest.mark.parametrize("value", [Handle, DeviceTensor, OwnParameter(), MagicMock()], ids=type)
def test_classes_and_mocks(reference_device: None, value: object) -> None:
    """ctypes follows ``_as_parameter_`` until the stack ends."""
    with pytest.raises(TypeError, match=r"^x: expected device memory"):
        memory_pointer(value, "x")
    with use_reference_device(), Handle() as handle, TensorDescriptor((2, 3), "float32") as desc:
        arguments = {"handle": handle, "algo": 0, "mode": 0, "alpha": 1, "xDesc": desc, "x": None}
        arguments |= {"beta": 0, "yDesc": desc, "y": None}
        for name in ("handle", "alpha", "xDesc", "x", "yDesc", "y"):
            with pytest.raises(TypeError, match=name):
                raw.cudnnSoftmaxForward(*{**arguments, name: value}.values())
    with pytest.raises(TypeError):
        raw.cudnnCreate(value)
    with pytest.raises((TypeError, ValueError), match=r"dimA|OwnParameter"):
        raw.cudnnSetTensorNdDescriptor(raw.cudnnTensorDescriptor_t(), 0, 1, value, value)


@pytest.mark.parametrize("device_type", [2, 13])
def test_dlpack_on_cuda(gpu_device: None, device_type: int) -> None:
    exporter = OnDevice(device_type)
    assert memory_pointer(exporter, "x") == exporter.array.ctypes.data
    assert exporter.streams == [-1]


@pytest.mark.parametrize("device_type", [1, 3, 10])
def test_dlpack_elsewhere_is_refused_on_cuda(gpu_device: None, device_type: int) -> None:
    with pytest.raises(TypeError, match=f"x: host memory .* on DLPack device type {device_type}"):
        memory_pointer(OnDevice(device_type), "x")


def test_dlpack_on_the_reference_device(reference_device: None) -> None:
    exporter = OnDevice(1)
    assert memory_pointer(exporter, "x") == exporter.array.ctypes.data
    assert exporter.streams == [None]
    with pytest.raises(TypeError, match="the reference device is active"):
        memory_pointer(OnDevice(2), "x")


def test_an_exporter_from_before_dlpack_1(reference_device: None) -> None:
    class Old(OnDevice):
        def __dlpack__(self, *, stream: int | None = None) -> object:  # type: ignore[override]
            return self.array.__dlpack__()

    exporter = Old(1)
    assert memory_pointer(exporter, "x") == exporter.array.ctypes.data


def test_a_consumed_capsule_is_refused() -> None:
    from cudnn_ctypes.raw.dlpack import managed_tensor

    capsule = np.zeros(3).__dlpack__()
    np.from_dlpack(Exporter((1, 0), capsule))
    with pytest.raises(BufferError, match="nobody has consumed"):
        managed_tensor(capsule)
    with pytest.raises(BufferError, match="expected a DLPack capsule"):
        managed_tensor(object())


class Exporter:
    def __init__(self, device: Any, capsule: Any = None) -> None:
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self) -> Any:
        if self.device is KeyError:
            raise KeyError("no device")
        return self.device

    def __dlpack__(self, **_: object) -> Any:
        if self.capsule is KeyError:
            raise KeyError("no capsule")
        return self.capsule


@pytest.mark.parametrize(
    "value", [Exporter(None), Exporter(KeyError), Exporter((1, 0)), Exporter((1, 0), KeyError)]
)
def test_exporters_that_fail(reference_device: None, value: object) -> None:
    with pytest.raises(TypeError, match=r"^x: (Exporter.__dlpack.*raised|expected a DLPack)"):
        memory_pointer(value, "x")


@pytest.mark.parametrize("interface", [{}, {"data": None}, {"data": ("a", True)}, 3])
def test_interfaces_without_an_address(gpu_device: None, interface: object) -> None:
    value = WithInterface(ADDRESS)
    value.__cuda_array_interface__ = interface  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"^x: the __cuda_array_interface__ of this .* no address"):
        memory_pointer(value, "x")
