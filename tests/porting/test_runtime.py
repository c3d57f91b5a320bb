"""What translated programs import, against the C library of this machine."""

from __future__ import annotations

import ctypes
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudnn_ctypes.porting import runtime
from cudnn_ctypes.porting.runtime import (
    Pointer,
    Scope,
    Struct,
    Vector,
    array,
    bytes_at,
    cast,
    copied,
    difference,
    divide,
    expf,
    fclose,
    fgetc,
    float32,
    fopen,
    formatted,
    fprintf,
    int8,
    int_div,
    int_mod,
    is_null,
    memcpy,
    memset,
    offset,
    same,
    sizeof,
    sscanf,
    string,
    strlen,
    uint32,
)

libc = ctypes.CDLL(None)


def c_formatted(layout: str, value: object) -> str:
    buffer = ctypes.create_string_buffer(400)
    libc.snprintf(buffer, 400, layout.encode(), value)
    return buffer.value.decode()


@pytest.mark.parametrize("layout", ["%d", "%5d|", "%-6d|", "%+d", "%05d", "%x", "%u", "%o", "%c"])
@pytest.mark.parametrize("number", [7, 65, 123456])
def test_integers_print_as_in_c(layout, number):
    assert formatted(layout, number) == c_formatted(layout, ctypes.c_int(number))


@pytest.mark.parametrize("layout", ["%f", "%.3f", "%10.2e|", "%g", "%-12g|", "%+.1f", "%.0f", "%G"])
@settings(max_examples=60)
@given(number=st.floats())
def test_floating_point_numbers_print_as_in_c(layout, number):
    expected = c_formatted(layout, ctypes.c_double(number))
    if not math.isnan(number):  # C may print a sign of NaN
        assert formatted(layout, number) == expected


@given(st.integers(-(2**31) + 1, 2**31 - 1), st.integers(-1000, 1000).filter(bool))
def test_division_rounds_towards_zero(left, right):
    assert int_div(left, right) == math.trunc(Fraction(left, right))
    assert int_mod(left, right) == int(math.fmod(left, right))


def test_widths_wrap():
    assert (int8(200), uint32(-1), uint32(2**32 + 5)) == (-56, 4294967295, 5)


def test_division_of_doubles_by_zero():
    assert divide(1.0, 0.0) == math.inf
    assert divide(1.0, -0.0) == -math.inf
    assert math.isnan(divide(0.0, 0.0))


@given(st.floats(-80, 80, width=32))
def test_functions_of_float_are_those_of_the_c_library(number):
    libm = ctypes.CDLL("libm.so.6")
    libm.expf.restype, libm.expf.argtypes = ctypes.c_float, [ctypes.c_float]
    result = expf(number)
    assert type(result) is np.float32
    assert result == np.float32(libm.expf(number))


@pytest.mark.parametrize("element", [ctypes.c_float, ctypes.c_int, ctypes.c_double])
def test_pointers_count_in_elements(element):
    memory = array(element, 6, values=[1, 2, 3, 4, 5, 6])
    p = Pointer(memory, 2)
    assert (p[0], (p + 1)[0], (p - 2)[0]) == (3, 4, 1)
    p[1] = 40
    assert memory[3] == 40
    assert difference(p + 3, p, element) == 3
    assert same(offset(memory, 2, element), p)
    with pytest.raises(IndexError, match="element 6 of host memory with 6 elements"):
        p[4]
    with pytest.raises(IndexError):
        p[-3]


def test_an_array_of_arrays_is_one_memory():
    matrix = array(ctypes.c_int, 2, 3, values=[[1, 2, 3], [4, 5]])
    p = Pointer(matrix)
    assert [p[i] for i in range(6)] == [1, 2, 3, 4, 5, 0]
    p[5] = 9
    assert matrix[1][2] == 9


def test_memory_is_read_as_another_type():
    memory = array(ctypes.c_float, 2, values=[1.0, -2.5])
    words = cast(memory, ctypes.c_uint32)
    assert [hex(one) for one in words] == ["0x3f800000", "0xc0200000"]
    words[0] = 0
    assert memory[0] == 0


def test_copies_stay_within_their_memory():
    target, source = array(ctypes.c_int, 2), array(ctypes.c_int, 3, values=[1, 2, 3])
    memcpy(target, Pointer(source, 1), 8)
    assert list(target) == [2, 3]
    with pytest.raises(IndexError, match="memcpy: 12 bytes of host memory with 8"):
        memcpy(target, source, 12)
    memset(target, 255, 4)
    assert list(target) == [-1, 3]
    assert bytes(bytes_at(Pointer(source, 2))) == b"\3\0\0\0"


def test_null_pointers():
    assert is_null(None)
    assert is_null(ctypes.c_void_p())
    assert not is_null(array(ctypes.c_float, 1))
    assert not is_null("text")


class Header(Struct):
    fields = {"tag": ctypes.c_byte, "size": ctypes.c_int, "data": (ctypes.c_float, 2)}  # noqa: RUF012


def test_structs_lie_in_memory_as_in_c():
    header = Header(1, 2, [3.0, 4.0])
    assert sizeof(Header) == 16
    packed = bytes(header.packed_bytes())
    assert packed == b"\1\0\0\0\2\0\0\0" + np.array([3, 4], np.float32).tobytes()
    other = Header()
    other.unpack_bytes(packed)
    assert (other.tag, other.size, list(other.data)) == (1, 2, [3.0, 4.0])


def test_structs_are_copied_with_their_arrays():
    header = Header(1, 2, [3.0, 4.0])
    other = copied(header)
    other.data[0], other.size = 30, 20
    assert (header.data[0], header.size) == (3.0, 2)


def test_vectors_grow_and_are_copied():
    v = Vector(ctypes.c_float)
    for number in range(10):
        v.push_back(float32(number))
    w = copied(v)
    w[0] = 5
    assert (v.size(), v[0], v.back(), w[0]) == (10, 0, 9, 5)
    assert type(v[1]) is np.float32
    v.resize(12, 7)
    assert (v[11], v.size()) == (7, 12)
    with pytest.raises(IndexError, match="element 12 of a vector of 12"):
        v[12]


def test_scanning_reads_numbers_and_words():
    number, real, word = ctypes.c_int(), ctypes.c_float(), array(ctypes.c_byte, 8)
    assert sscanf(" 12,3.5 abc", "%d,%f %s", number, real, word) == 3
    assert (number.value, real.value, strlen(word)) == (12, 3.5, 3)
    assert sscanf("", "%d", number) == -1
    assert sscanf("x", "%d", number) == 0


def test_scanning_writes_within_its_memory():
    word, number = array(ctypes.c_byte, 4), ctypes.c_int()
    assert sscanf("abcdefgh", "%s", word) == 1
    assert string(word) == "abc"
    with pytest.raises(IndexError, match="%ld: 8 bytes into host memory of 4"):
        sscanf("1", "%ld", number)
    with pytest.raises(TypeError, match="expected memory for it"):
        sscanf("1 2", "%d %d", number)


def test_a_closed_file_is_refused(tmp_path):
    file = fopen(str(tmp_path / "a.txt"), "w")
    fprintf(file, "%d", 7)
    fclose(file)
    assert (tmp_path / "a.txt").read_text() == "7"
    for closed in (fclose, fgetc, lambda file: fprintf(file, "x")):
        with pytest.raises(ValueError, match="expected an open file"):
            closed(file)


def test_objects_of_a_scope_are_destroyed_in_reverse_order():
    destroyed = []

    class Thing:
        def __init__(self, name):
            self.name = name

        def destroy(self):
            destroyed.append(self.name)

    def block():
        with Scope() as scope:
            scope(Thing("first"))
            scope(Thing("second"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    assert destroyed == ["second", "first"]


def test_all_names_are_documented():
    for name in runtime.NAMES:
        thing = getattr(runtime, name)
        if callable(thing) and not isinstance(thing, type(np.float32)):
            assert thing.__doc__, name
