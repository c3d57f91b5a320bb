"""A folder of files that processes share: whole files, bounds, and who may write there."""

from __future__ import annotations

import os
import stat
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from cudnn_ctypes.graph.engines.cache.entry_folder import EntryFolder

PLENTY = 1 << 30


def _aged(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path / "a" / "b", PLENTY)
    assert folder.read("x.json") is None
    assert folder.files() == []
    assert folder.clear() == 0
    folder.write("x.json", "é 1")
    folder.write("x.json", "é 2")
    assert folder.read("x.json") == "é 2"
    (file,) = folder.files()
    assert (file.name, file.size) == ("x.json", 4)
    folder.remove("x.json")
    folder.remove("x.json")
    assert folder.read("x.json") is None


def test_it_is_made_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        EntryFolder(tmp_path / "new", PLENTY).write("x.json", "1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "x.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_refused(mode: int, tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    tmp_path.chmod(mode)
    for call in (
        lambda: folder.read("x.json"),
        lambda: folder.write("x.json", "2"),
        folder.files,
        folder.clear,
    ):
        with pytest.raises(ValueError, match=f"cache: others can write .*chmod go-w {tmp_path}"):
            call()
    tmp_path.chmod(0o755)
    assert folder.read("x.json") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(ValueError, match="belongs to user 12345"):
        folder.read("x.json")


def test_a_file_that_others_can_write_is_not_read(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, PLENTY)
    folder.write("x.json", "1")
    (tmp_path / "x.json").chmod(0o666)
    assert folder.read("x.json") is None
    folder.write("x.json", "2")
    assert folder.read("x.json") == "2"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path / "cache", PLENTY)
    folder.write("x.json", "1")
    (tmp_path / "elsewhere").write_text("2")
    (tmp_path / "cache" / "link.json").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "cache" / "folder.json").mkdir()
    os.mkfifo(tmp_path / "cache" / "pipe.json")
    assert folder.read("link.json") is None
    assert folder.read("pipe.json") is None
    assert folder.read("folder.json") is None
    assert [file.name for file in folder.files()] == ["x.json"]
    folder.write("link.json", "3")
    assert (tmp_path / "elsewhere").read_text() == "2"


def test_bytes_that_are_no_text_are_damage(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
    assert EntryFolder(tmp_path, PLENTY).read("x.json") == ""


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, 30)
    for number, name in enumerate(("a", "b", "c")):
        folder.write(f"{name}.json", 10 * name)
        _aged(tmp_path / f"{name}.json", 100 - number)
    assert folder.read("b.json", use=False) == 10 * "b"
    assert folder.read("a.json") == 10 * "a"  # now used last
    folder.write("d.json", 10 * "d")
    assert {file.name for file in folder.files()} == {"a.json", "c.json", "d.json"}
    folder.write("e.json", 31 * "e")  # alone too much
    assert sum(file.size for file in folder.files()) <= 30
    assert folder.read("e.json") is None


def test_unfinished_files_are_no_entries_and_go_in_time(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, PLENTY)
    (tmp_path / "x.json.1.part").write_text("1")
    (tmp_path / "y.json.2.part").write_text("2")
    _aged(tmp_path / "x.json.1.part", 7200)
    folder.write("z.json", "3")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["y.json.2.part", "z.json"]
    assert folder.clear() == 2
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = EntryFolder(tmp_path, PLENTY)
    (tmp_path / "x.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        folder.write("x.json", "1")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


_LETTERS, _LENGTH = "abcd", 300_000


def _write_and_read(path: str, letter: str) -> set[str]:
    """What this process, and others, wrote."""
    folder = EntryFolder(Path(path), PLENTY)
    seen = set()
    for _ in range(30):
        folder.write("x.json", letter * _LENGTH)
        seen.add(folder.read("x.json") or "")
    return seen


def test_writers_at_once_leave_one_of_their_files_whole(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as executor:
        found = executor.map(_write_and_read, [str(tmp_path)] * 4, _LETTERS)
        seen: set[str] = set().union(*found)
    assert seen <= {letter * _LENGTH for letter in _LETTERS}
    assert len(seen) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_a_write_does_not_look_at_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or scan(path))
    folder = EntryFolder(tmp_path, 10_000)
    for number in range(100):
        folder.write(f"{number}.json", "0123456789")
    assert len(looks) == 1
    for number in range(100, 1200):
        folder.write(f"{number}.json", "0123456789")
    assert len(folder.files()) == 1000
    assert folder.read("1199.json")
    assert not folder.read("0.json")
