"""Which libcudnn is loaded, from where, and what is said when there is none or the wrong one."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from programs import fake_cudnn, other_library, printed, run_program

from cudnn_ctypes import LibraryNotFoundError, raw
from cudnn_ctypes.raw import library, process

LOADED = """
from cudnn_ctypes import raw
found = raw.load()
print(found.path, found.source, found.version_text, sep="\\n")
"""


def refusal(source: str, **options: Any) -> str:
    """The last words of a program that fails."""
    done = run_program(source, check=False, **options)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


class TestChosenByTheEnvironment:
    def test_a_file(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=91903)
        lines = printed(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert lines == [str(file), "CUDNN_CTYPES_LIBRARY", "9.19.3"]

    def test_a_directory(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path)
        lines = printed(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(tmp_path)})
        assert lines[:2] == [str(file), "CUDNN_CTYPES_LIBRARY"]

    def test_it_outranks_what_is_loaded(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path / "chosen", version=91903)
        loaded = fake_cudnn(tmp_path / "loaded", version=92000)
        program = f"import ctypes; ctypes.CDLL({str(loaded)!r})\n{LOADED}"
        lines = printed(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert lines == [str(file), "CUDNN_CTYPES_LIBRARY", "9.19.3"]

    def test_a_relative_path_is_refused(self, tmp_path: Path) -> None:
        fake_cudnn(tmp_path)
        environment = {"CUDNN_CTYPES_LIBRARY": "libcudnn.so.9"}
        text = refusal(LOADED, environment=environment, folder=tmp_path)
        assert "LibraryNotFoundError" in text
        assert "must be an absolute path of libcudnn.so.9 or of the directory" in text

    def test_a_path_that_does_not_exist_is_not_replaced(self, tmp_path: Path) -> None:
        missing = tmp_path / "libcudnn.so.9"
        text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(missing)})
        assert f"CUDNN_CTYPES_LIBRARY: {missing}" in text
        assert "pathfinder" not in text
        assert "pip install 'cudnn-ctypes[cu12]'" in text
        assert "python -m cudnn_ctypes doctor" in text

    def test_an_empty_directory(self, tmp_path: Path) -> None:
        text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(tmp_path)})
        assert str(tmp_path / "libcudnn.so.9") in text

    def test_another_library(self, tmp_path: Path) -> None:
        import _ctypes

        text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": _ctypes.__file__})
        assert "exports no cudnnGetVersion: it is not a cuDNN library" in text


class TestOldLibrary:
    def test_cudnn_8_is_refused(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=8907)
        text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert "this is cuDNN 8.9.7, and cuDNN 9 is needed" in text

    def test_a_missing_symbol_names_the_version_that_has_it(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=90100)
        program = """
            from cudnn_ctypes import SymbolNotFoundError, raw
            print(raw.load().version)
            for call in (raw.cudnnCausalConv1dForward, raw.cudnnCausalConv1dForward.unchecked):
                try:
                    call(*[None] * 5, 1, 1, 1, 1, 0, 0)
                except SymbolNotFoundError as error:
                    print(error)
        """
        version, *texts = printed(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert version == "90100"
        since = raw.cudnnCausalConv1dForward.since
        assert (
            texts
            == [
                f"cudnnCausalConv1dForward needs cuDNN {since}; loaded is 9.1.0 from {file} "
                "(CUDNN_CTYPES_LIBRARY). Install a newer cuDNN."
            ]
            * 2
        )

    def test_a_symbol_that_a_reduced_build_lacks(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=92800)
        program = """
            from cudnn_ctypes import raw
            raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
        """
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert "SymbolNotFoundError: cudnnCreateTensorDescriptor is in cuDNN's headers" in text
        assert "install the full nvidia-cudnn wheel" in text

    def test_what_the_library_has_still_works(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=90100, statuses="cudnnGetProperty=0")
        program = """
            from ctypes import c_int
            from cudnn_ctypes import raw
            print(raw.cudnnGetVersion(), raw.cudnnGetProperty(0, c_int()).name)
        """
        lines = printed(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert lines == ["90100 CUDNN_STATUS_SUCCESS"]


class TestAlreadyLoaded:
    def test_a_framework_s_library_is_used(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=91002)
        lines = printed(f"import ctypes; ctypes.CDLL({str(file)!r})\n{LOADED}")
        assert lines == [str(file), "already loaded in this process", "9.10.2"]

    def test_the_installed_library_loaded_by_somebody_else(self) -> None:
        path = raw.load().path
        lines = printed(f"import ctypes; ctypes.CDLL({str(path)!r})\n{LOADED}")
        assert lines[:2] == [str(path), "already loaded in this process"]

    def test_an_old_one_does_not_stop_the_search(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=8907)
        done = run_program(f"import ctypes; ctypes.CDLL({str(file)!r})\n{LOADED}", check=False)
        if done.returncode == 0:  # there is a newer one elsewhere
            assert str(file) not in done.stdout
        else:
            assert "this is cuDNN 8.9.7" in done.stderr


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without cuDNN."""
    import cuda.pathfinder as pathfinder

    def refuse(name: str) -> None:
        raise pathfinder.DynamicLibNotFoundError(f"no {name} anywhere")

    monkeypatch.delenv("CUDNN_CTYPES_LIBRARY", raising=False)
    monkeypatch.setattr(pathfinder, "load_nvidia_dynamic_lib", refuse)
    monkeypatch.setattr(library, "cudnn_files", list)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.mark.usefixtures("nothing_installed")
class TestSearch:
    def test_the_message_lists_the_places_and_what_to_do(self) -> None:
        with pytest.raises(LibraryNotFoundError) as caught:
            library._find()
        lines = str(caught.value).splitlines()
        assert lines == [
            "no usable cuDNN 9 library found. Tried:",
            "  - already loaded in this process: none",
            "  - cuda.pathfinder (wheels, conda, system): no cudnn anywhere",
            "  - nvidia-cudnn-jit wheel (nvidia/cudnn_jit/lib): not installed",
            "Install one: `pip install 'cudnn-ctypes[cu12]'` (or [cu13] for CUDA 13), or set "
            "CUDNN_CTYPES_LIBRARY to the absolute path of libcudnn.so.9; `python -m cudnn_ctypes "
            "doctor` shows what is there.",
        ]

    def test_never_the_current_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake_cudnn(tmp_path)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(LibraryNotFoundError):
            library._find()

    def test_the_small_wheel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = fake_cudnn(tmp_path / "cudnn_jit" / "lib", version=92700)
        spec = importlib.machinery.ModuleSpec("nvidia", None, is_package=True)
        spec.submodule_search_locations = [str(tmp_path)]
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
        found = library._find()
        assert (found.path, found.source, found.version) == (file, "nvidia-cudnn-jit wheel", 92700)
        assert found.cuda_major == 12

    def test_a_broken_file_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "libcudnn.so.9"
        file.write_text("no library " * 100)
        monkeypatch.setenv("CUDNN_CTYPES_LIBRARY", str(file))
        with pytest.raises(LibraryNotFoundError, match=r"libcudnn\.so\.9: .*invalid ELF header"):
            library._find()


def test_the_current_directory_with_the_real_search(tmp_path: Path) -> None:
    fake_cudnn(tmp_path, version=99900)
    done = run_program(LOADED, folder=tmp_path, check=False)
    assert "9.99.0" not in done.stdout
    assert str(tmp_path) not in done.stdout


MAPPED = """
from ctypes import c_size_t
from cudnn_ctypes import raw
from cudnn_ctypes.raw import process
raw.load()._prepare("cudnn_adv.h")
d = raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
print(*process.cudnn_files(), sep="\\n")
"""


class TestSublibraries:
    def test_of_the_same_directory_whatever_the_path_offers(self, tmp_path: Path) -> None:
        home = raw.load().path.parent
        sublibraries = [file.name for file in home.glob("libcudnn_*.so.9")]
        if not sublibraries:
            pytest.skip("this cuDNN is one file")
        for name in sublibraries:
            other_library(tmp_path, name)
        environment = {
            "LD_LIBRARY_PATH": f"{tmp_path}{os.pathsep}/nowhere",
            "CUDNN_CTYPES_LIBRARY": str(home),
        }
        files = {Path(line) for line in printed(MAPPED, environment=environment)}
        assert {file.parent for file in files} == {home}
        expected = {"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9"}
        assert expected & set(sublibraries) <= {file.name for file in files}

    def test_engines_stay_unloaded_without_need(self) -> None:
        assert not any("engines_precompiled" in line for line in printed(MAPPED))

    def test_another_directory_on_the_library_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here, other, empty = tmp_path / "here", tmp_path / "other", tmp_path / "empty"
        for folder in (here, other, empty):
            folder.mkdir()
        (here / "libcudnn.so.9").touch()
        (other / "libcudnn_ops.so.9").touch()
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{here}:{empty}::{other}:{other}")
        assert process.elsewhere_on_library_path(here) == [other]


class TestMixedInstall:
    def test_a_version_mismatch_says_what_to_do(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, statuses="cudnnCreateTensorDescriptor=1002")
        program = """
            from cudnn_ctypes import raw
            raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
        """
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert "NotInitializedError: cudnnCreateTensorDescriptor returned" in text
        assert "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (1002)" in text
        assert f"the libcudnn files in {tmp_path} belong to different cuDNN versions" in text
        assert "uninstall every nvidia-cudnn package" in text

    def test_two_directories_are_named(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path / "one", statuses="cudnnCreateTensorDescriptor=1002")
        other = other_library(tmp_path / "two", "libcudnn_ops.so.9")
        program = f"""
            import ctypes
            ctypes.CDLL({str(other)!r})
            from cudnn_ctypes import raw
            raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
        """
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert f"from 2 places are loaded together ({file.parent}, {other.parent})" in text
        assert "remove the others from LD_LIBRARY_PATH" in text


def test_version_text() -> None:
    assert library.version_text(92800) == "9.28.0"
    assert library.version_text(91002) == "9.10.2"
    assert library._version_number("9.10.2") == 91002
