"""cudart.DevicePointer: counting as C does."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_float, c_int

import pytest

from cudnn_ctypes.porting.cudart import DevicePointer


def test_adding_counts_elements() -> None:
    p = DevicePointer(c_double, 0x1000)
    assert (p + 2).value == (2 + p).value == 0x1010
    assert (p - 1).value == 0xFF8
    assert (p + 5) - (p + 2) == 3
    assert (p + 1).ctype is c_double
    p += 1
    assert p == 0x1008


def test_it_agrees_with_ctypes_pointers() -> None:
    """What ctypes computes for an index, for types of several sizes."""
    for ctype in (ctypes.c_char, ctypes.c_short, c_int, c_double, c_float * 3):
        array = (ctype * 4)()
        p = DevicePointer(ctype, ctypes.addressof(array))
        for index in range(4):
            expected = ctypes.addressof(ctypes.cast(array, ctypes.POINTER(ctype * 1))[index])
            assert (p + index).value == expected


def test_without_a_type_bytes_count() -> None:
    assert (DevicePointer(address=0x10) + 3).value == 0x13
    assert ((DevicePointer * 2)()[1] + 1).value == 1  # as ctypes makes them in an array


def test_casting() -> None:
    p = DevicePointer(c_float, 0x1000).cast(c_double)
    assert (p + 1).value == 0x1008


def test_comparing() -> None:
    p = DevicePointer(c_float, 0x1000)
    assert p == DevicePointer(c_int, 0x1000)
    assert p == ctypes.c_void_p(0x1000)
    assert p != p + 1
    assert p < p + 1 <= p + 1
    assert DevicePointer(c_float) == None  # noqa: E711 - C's p == NULL
    assert not DevicePointer(c_float)
    assert p
    assert len({p, DevicePointer(c_float, 0x1000)}) == 1


def test_pointers_to_different_types_have_no_distance() -> None:
    with pytest.raises(TypeError, match="different types"):
        DevicePointer(c_float, 8) - DevicePointer(c_double, 0)


@pytest.mark.parametrize("wrong", [1.5, "1", None])
def test_only_integers_are_added(wrong: object) -> None:
    with pytest.raises(TypeError):
        DevicePointer(c_float, 8) + wrong
    with pytest.raises(TypeError, match="index"):
        DevicePointer(c_float, 8)[wrong]


def test_the_type_is_one_of_ctypes() -> None:
    with pytest.raises(TypeError, match="expected a ctypes type"):
        DevicePointer(float)
