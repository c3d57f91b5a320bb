"""What is wrong with a shared library is told before the loader gets it; small ones are written."""

from __future__ import annotations

import ctypes
import os
import re
import struct
from pathlib import Path

import pytest
from programs import fake_library, run_program

from cudnn_ctypes import raw
from cudnn_ctypes.raw.library import elf


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return fake_library(tmp_path, "libone.so.9", one=1, two=0x12345678)


def test_a_library_without_functions_hands_on_those_that_it_needs(library: Path) -> None:
    ctypes.CDLL(str(library))
    alias = elf.shared_object("libone.so.9.5", needed=["libone.so.9"])
    elf.load_from_memory(alias, "libone.so.9.5")
    assert ctypes.CDLL("libone.so.9.5").two() == 0x12345678


def test_every_cut_of_a_written_library_is_seen(library: Path) -> None:
    content = library.read_bytes()
    for size in range(len(content)):
        library.write_bytes(content[:size])
        assert elf.defect(library), f"{size} of {len(content)} bytes"


def test_cuts_of_a_real_library_are_seen(tmp_path: Path) -> None:
    content = raw.load().path.read_bytes()
    file = tmp_path / "libcudnn.so.9"
    for size in [*range(0, len(content), 997), len(content) - 1]:
        file.write_bytes(content[:size])
        assert elf.defect(file), f"{size} of {len(content)} bytes"


@pytest.mark.parametrize(
    ("offset", "replacement", "says"),
    [
        (0, b"PK\3\4", "invalid ELF header: this is no shared library"),
        (4, b"\1", "built for another machine: this one takes 64-bit little-endian libraries"),
        (5, b"\2", "built for another machine: this one takes 64-bit little-endian libraries"),
        (18, struct.pack("<H", 243), "built for machine 243, and this Python for "),
        (18, struct.pack("<H", 183 ^ 62 ^ elf.built_for()), "built for (aarch64|x86-64), and this"),
        (16, struct.pack("<H", 1), "this is no shared library"),  # an object file
        (16, struct.pack("<H", 2), "this is no shared library"),  # a program
        (56, struct.pack("<H", 0), "this is no shared library"),  # without segments
        (32, struct.pack("<Q", 1 << 62), "the file is cut off: it holds"),
        (40, struct.pack("<QIHHHHH", 1 << 40, 0, 64, 56, 4, 64, 9), "the file is cut off"),
    ],
)
def test_headers_of_other_files(library: Path, offset: int, replacement: bytes, says: str) -> None:
    content = bytearray(library.read_bytes())
    content[offset : offset + len(replacement)] = replacement
    library.write_bytes(content)
    assert re.match(says, elf.defect(library)), elf.defect(library)


def test_a_blank_end(library: Path) -> None:
    """As an interrupted copy leaves it that had reserved its space."""
    content = library.read_bytes()
    library.write_bytes(content[:-100] + bytes(100))
    assert elf.defect(library) == "the file is damaged: parts of it are blank"


def test_what_is_no_file(tmp_path: Path) -> None:
    assert elf.defect(tmp_path) == "this is a directory"
    assert elf.defect(tmp_path / "nothing") == "No such file or directory"
    (tmp_path / "link").symlink_to("/nowhere/libcudnn.so.9")
    reason = "a link to /nowhere/libcudnn.so.9, which does not exist"
    assert elf.defect(tmp_path / "link") == reason
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "Too many levels of symbolic links" in elf.defect(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    assert elf.defect(tmp_path / "pipe") == "this is no file"


def test_an_unreadable_file(library: Path) -> None:
    library.chmod(0)
    for folder in library.parents[:3]:
        folder.chmod(0o755)
    program = """
        import os, sys
        from pathlib import Path
        from cudnn_ctypes.raw.library import elf
        if os.getuid() == 0:
            os.setuid(65534)
        print(elf.defect(Path(sys.argv[1])))
    """
    assert run_program(program, str(library)).stdout == "Permission denied\n"
