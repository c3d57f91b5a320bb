"""The stand-in for the driver's library."""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Iterator

import pytest
from programs import run_program

from cudnn_ctypes.absent_gpu import driver_stub
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.raw.library import elf, loaded

without_driver = pytest.mark.skipif(
    not driver_stub.ensure_driver().is_stub, reason="there is an NVIDIA driver here"
)


@without_driver
def test_the_stub_is_what_libcuda_is_found_as() -> None:
    assert driver_stub.ensure_driver() is driver_stub.ensure_driver()
    assert loaded.driver_present()


@pytest.mark.thinned(2)
@without_driver
@pytest.mark.parametrize("memory_files", [True, False])
def test_no_symbol_is_missed_no_gpu_is_found_and_nothing_is_written(tmp_path, memory_files):
    """Also with a home and a cache that cannot be written, and without files in memory."""
    program = """
        import os, sys
        def forbidden(*_):
            raise PermissionError(1, "forbidden")
        if sys.argv[1] == "False":
            os.memfd_create = forbidden
        from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
        from cudnn_ctypes import Handle, NotInitializedError
        DeviceProperties.preset('H200').close()
        try: Handle()
        except NotInitializedError: print('no GPU')
    """
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), "/proc/nowhere")
    environment = {**nowhere, "PATH": "/nowhere", "TMPDIR": str(tmp_path)}
    done = run_program(program, str(memory_files), environment=environment)
    assert (done.stdout, done.stderr) == ("no GPU\n", "")
    assert list(tmp_path.iterdir()) == []


def test_the_real_driver_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_stub, "_driver", None)
    monkeypatch.setattr(loaded, "driver_present", lambda: True)
    monkeypatch.setattr(driver_stub, "_load_stub", lambda: pytest.fail("made a stub"))
    assert not driver_stub.ensure_driver().is_stub


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """The stub under another name, so that a driver is not hidden."""
    content = driver_stub.stub(13010).replace(b"libcuda.so.1", b"libcuda.tst1")
    return elf.load_from_memory(content, "libcuda.tst1")


class TestFunctions:
    """The functions that this machine executes."""

    def test_the_version(self, library: ctypes.CDLL) -> None:
        version = ctypes.c_int(-1)
        assert library.cuDriverGetVersion(ctypes.byref(version)) == 0
        assert version.value == 13010

    def test_there_is_no_device(self, library: ctypes.CDLL) -> None:
        count = ctypes.c_int(-1)
        assert library.cuDeviceGetCount(ctypes.byref(count)) == 0
        assert count.value == 0
        assert {library[name]() for name in driver_stub._REFUSING} == {100}

    def test_kernels_load(self, library: ctypes.CDLL) -> None:
        for name in driver_stub._LOADING:
            loaded = ctypes.c_void_p(-1)
            assert library[name](ctypes.byref(loaded)) == 0
            assert loaded.value == 16
        assert {library[name]() for name in driver_stub._SILENT} == {0}

    def test_errors_have_a_text(self, library: ctypes.CDLL) -> None:
        for name in driver_stub._NAMING:
            text = ctypes.c_char_p()
            assert library[name](100, ctypes.byref(text)) == 0
            assert text.value == b"no NVIDIA driver"

    def test_functions_are_found_by_name(self, library: ctypes.CDLL) -> None:
        for name in ("cuInit", "cuKernelGetFunction", "cuGetProcAddress_v2"):
            address = ctypes.cast(library[name], ctypes.c_void_p).value
            for status, found, code in self._look_up(library, name):
                assert (code, status, found) == (0, 0, address)

    @pytest.mark.parametrize("name", ["", "cuIni", "cuInit_", "cuInit_v9"])
    def test_a_name_that_is_not_there(self, library: ctypes.CDLL, name: str) -> None:
        for status, found, code in self._look_up(library, name):
            assert (code, status, found) == (500, 0, None)

    @staticmethod
    def _look_up(library: ctypes.CDLL, name: str) -> Iterator[tuple[int, int | None, int]]:
        for status in (ctypes.c_int(-1), None):
            out = ctypes.c_void_p(-1)
            reference = None if status is None else ctypes.byref(status)
            flags = ctypes.c_uint64()
            arguments = (name.encode(), ctypes.byref(out), 12000, flags)
            code = library.cuGetProcAddress_v2(*arguments, reference)
            yield (0 if status is None else status.value), out.value, code
            code = library.cuGetProcAddress(*arguments)
            yield 0, out.value, code


class TestOtherMachines:
    def test_every_machine_gets_a_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in elf.MACHINES:
            monkeypatch.setattr(elf, "built_for", lambda number=number: number)
            content = driver_stub.stub(12090)
            assert struct.unpack_from("<H", content, 18) == (number,)

    def test_instructions_with_numbers_for_arm(self) -> None:
        """As the manual encodes them."""
        code = driver_stub.MACHINE_CODE["aarch64"]
        ret, stored = "c0035fd6", "00008052 c0035fd6"
        assert code.constant(100) == bytes.fromhex(f"800c8052 {ret}")  # mov w0, #100
        # mov w1, #0x2345; movk w1, #1, lsl 16; str w1, [x0]
        assert code.store_number(0x12345) == bytes.fromhex(f"a1688452 2100a072 010000b9 {stored}")
        assert code.store_pointer() == bytes.fromhex(f"01028052 010000f9 {stored}")
        for distance, adr in ((-64, "02feff10"), (6, "22000050"), (0xFFFFF, "e2ff7f70")):
            assert code.store_address(distance) == bytes.fromhex(f"{adr} 220000f9 {stored}")
        assert code.look_up(-8)[:4].hex() == "c9ffff10"  # adr x9, #-8
        assert code.look_up_with_status(0)[8:] == code.look_up(-8)

    def test_a_machine_without_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(elf, "built_for", lambda: 243)
        with pytest.raises(NoDeviceError, match="there is one for x86-64 and aarch64"):
            driver_stub.stub(12090)


def test_the_machine_is_known() -> None:
    names = {"x86_64": "x86-64", "aarch64": "aarch64"}
    assert elf.MACHINES[elf.built_for()] == names[platform.machine()]
