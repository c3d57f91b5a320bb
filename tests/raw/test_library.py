"""Which libcudnn is loaded, from where, and what is said when there is none or the wrong one."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import fake_cudnn, fake_library, printed, run_program

from cudnn_ctypes import LibraryNotFoundError, raw
from cudnn_ctypes.raw import library
from cudnn_ctypes.raw.library import ENVIRONMENT_VARIABLE, loaded

LOADED = """
from cudnn_ctypes import raw
found = raw.load()
print(found.path, found.source, found.version_text, sep="\\n")
"""


@pytest.fixture(autouse=True)
def _no_library_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    raw.load()  # the one that it names, for the tests that compare with that
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


def refusal(source: str, **options: Any) -> str:
    """The last words of a program that fails."""
    done = run_program(source, check=False, **options)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


class TestChosenByTheEnvironment:
    def test_a_file_or_its_directory(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=91903)
        for chosen in (file, tmp_path):
            lines = printed(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(chosen)})
            assert lines == [str(file), "CUDNN_CTYPES_LIBRARY", "9.19.3"]

    def test_another_one_in_the_process_is_refused_with_both_paths(self, tmp_path: Path) -> None:
        chosen = fake_cudnn(tmp_path / "chosen", version=91903)
        loaded = fake_cudnn(tmp_path / "loaded", version=92000)
        program = f"import ctypes; ctypes.CDLL({str(loaded)!r})\n{LOADED}"
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(chosen)})
        assert f"LibraryNotFoundError: two cuDNN libraries in one process: {loaded} is" in text
        assert f"the chosen {chosen}. Keep one:" in text

    @pytest.mark.parametrize("link", [os.symlink, os.link])
    def test_the_one_in_the_process_may_be_chosen_through_a_link(self, tmp_path, link):
        loaded = fake_cudnn(tmp_path / "loaded", version=92000)
        (tmp_path / "links").mkdir()
        link(loaded, tmp_path / "links" / loaded.name)
        program = f"import ctypes; ctypes.CDLL({str(loaded)!r})\n{LOADED}"
        environment = {"CUDNN_CTYPES_LIBRARY": str(tmp_path / "links")}
        assert printed(program, environment=environment)[2] == "9.20.0"

    def test_a_sublibrary_is_refused(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, name="libcudnn_graph.so.9")
        text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert "this is a sublibrary: libcudnn.so.9 is the main library" in text

    def test_a_relative_path_is_refused(self, tmp_path: Path) -> None:
        fake_cudnn(tmp_path)
        environment = {"CUDNN_CTYPES_LIBRARY": "libcudnn.so.9"}
        text = refusal(LOADED, environment=environment, folder=tmp_path)
        assert "LibraryNotFoundError" in text
        assert "must be an absolute path of libcudnn.so.9 or of the directory" in text

    def test_a_path_that_does_not_exist_is_not_replaced(self, tmp_path: Path) -> None:
        missing = tmp_path / "libcudnn.so.9"
        for chosen in (missing, tmp_path):
            text = refusal(LOADED, environment={"CUDNN_CTYPES_LIBRARY": str(chosen)})
            assert f"CUDNN_CTYPES_LIBRARY: {missing}" in text
            assert "pathfinder" not in text
            assert "pip install 'cudnn-ctypes[cu12]'" in text
            assert "python -m cudnn_ctypes doctor" in text

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
        said = f"needs cuDNN {raw.cudnnCausalConv1dForward.since}; loaded is 9.1.0 from {file} "
        said += "(CUDNN_CTYPES_LIBRARY). Install a newer cuDNN."
        assert texts == [f"cudnnCausalConv1dForward {said}"] * 2

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
        file = fake_cudnn(tmp_path, version=90100, cudnnGetProperty=0)
        program = """
            from ctypes import c_int
            from cudnn_ctypes import raw
            print(raw.cudnnGetVersion(), raw.cudnnGetProperty(0, c_int()).name)
        """
        lines = printed(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert lines == ["90100 CUDNN_STATUS_SUCCESS"]


class TestAlreadyLoaded:
    def test_a_framework_s_library_is_used(self, tmp_path: Path) -> None:
        installed, fake = raw.load(), fake_cudnn(tmp_path, version=91002)
        for file, version in ((fake, "9.10.2"), (installed.path, installed.version_text)):
            lines = printed(f"import ctypes; ctypes.CDLL({str(file)!r})\n{LOADED}")
            assert lines == [str(file), "already loaded in this process", version]

    def test_an_old_one_does_not_stop_the_search(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, version=8907, name="libcudnn.so.8")
        lines = printed(f"import ctypes; ctypes.CDLL({str(file)!r})\n{LOADED}")
        assert lines == printed(LOADED)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without cuDNN."""
    for name in ("CUDNN_CTYPES_LIBRARY", "CONDA_PREFIX", "CUDNN_PATH", "CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(loaded, "cudnn_files", list)
    monkeypatch.setattr(loaded, "loader_files", lambda: iter(()))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def put_in_wheels(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have `folder` hold the wheels' package ``nvidia``."""
    spec = importlib.machinery.ModuleSpec("nvidia", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)


@pytest.mark.usefixtures("nothing_installed")
class TestSearch:
    def test_the_message_lists_the_places_and_what_to_do(self) -> None:
        with pytest.raises(LibraryNotFoundError) as caught:
            library._find()
        lines = str(caught.value).splitlines()
        assert lines == [
            "no usable cuDNN 9 library found. Tried:",
            "  - already loaded in this process: none",
            "  - nvidia-cudnn wheel (nvidia/cudnn/lib): not installed",
            "  - CONDA_PREFIX: none",
            "  - the dynamic loader: finds none",
            "  - CUDNN_PATH, CUDA_PATH, CUDA_HOME: none",
            "  - nvidia-cudnn-jit wheel (nvidia/cudnn_jit/lib): not installed",
            "Install one: `pip install 'cudnn-ctypes[cu12]'` (or [cu13] for CUDA 13), or set "
            "CUDNN_CTYPES_LIBRARY to the absolute path of libcudnn.so.9; `python -m cudnn_ctypes "
            "doctor` shows what is there.",
        ]

    def test_never_the_current_directory(self, tmp_path, monkeypatch):
        file = fake_cudnn(tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(loaded, "loader_files", lambda: iter([Path(file.name)]))
        monkeypatch.setenv("CUDA_HOME", ".")
        with pytest.raises(LibraryNotFoundError):
            library._find()

    def test_the_places_in_their_order(self, tmp_path, monkeypatch):
        """The best place first; each is taken away in turn, and the next one has its turn."""
        put_in_wheels(monkeypatch, tmp_path)
        files = [
            fake_cudnn(tmp_path / "cudnn" / "lib"),
            fake_cudnn(tmp_path / "conda" / "lib"),
            fake_cudnn(tmp_path / "system"),
            fake_cudnn(tmp_path / "own" / "lib64"),
            fake_cudnn(tmp_path / "cuda" / "lib"),
            fake_cudnn(tmp_path / "cudnn_jit" / "lib"),
        ]
        monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
        monkeypatch.setenv("CUDNN_PATH", str(tmp_path / "own"))
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
        monkeypatch.setattr(loaded, "loader_files", lambda: iter([files[2]]))
        for file in files:
            assert next(library.candidates([]))[1] == file
            if file is files[2]:
                monkeypatch.setattr(loaded, "loader_files", lambda: iter(()))
            file.unlink()


class TestWheels:
    """In a process where nothing but the wheels below a folder is there."""

    ONLY_WHEELS = """
        import importlib.machinery, importlib.util, sys
        from cudnn_ctypes.raw.library import loaded
        loaded.loader_files = lambda: iter(())
        spec = importlib.machinery.ModuleSpec("nvidia", None, is_package=True)
        spec.submodule_search_locations = sys.argv[1:]
        importlib.util.find_spec = lambda name: spec
        from cudnn_ctypes import raw
        found = raw.load()
        print(found.path, found.source, found.version_text, found.cuda_major, sep="\\n")
        print(*found.passed_over, sep="\\n")
    """

    def test_the_small_one(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path / "cudnn_jit" / "lib", version=92700)
        source = "nvidia-cudnn-jit wheel (nvidia/cudnn_jit/lib)"
        lines = [str(file), source, "9.27.0", "12", ""]
        assert printed(self.ONLY_WHEELS, str(tmp_path)) == lines

    def test_a_broken_file_is_passed_over_and_named(self, tmp_path: Path) -> None:
        good = fake_cudnn(tmp_path / "cudnn_jit" / "lib")
        broken = fake_cudnn(tmp_path / "cudnn" / "lib")
        broken.write_bytes(broken.read_bytes()[:-1])
        path, *_, passed_over = printed(self.ONLY_WHEELS, str(tmp_path))
        assert path == str(good)
        assert f"{broken}: the file is cut off: it holds" in passed_over

    def test_of_two_places_the_first(self, tmp_path: Path) -> None:
        first, second = (fake_cudnn(tmp_path / n / "cudnn" / "lib", version=90000) for n in "ab")
        lines = printed(self.ONLY_WHEELS, str(tmp_path / "a"), str(tmp_path / "b"))
        assert lines[0] == str(first)
        assert str(second) not in lines


def test_the_current_directory_with_the_real_search(tmp_path: Path) -> None:
    fake_cudnn(tmp_path, version=99900)
    done = run_program(LOADED, folder=tmp_path, check=False)
    assert "9.99.0" not in done.stdout
    assert str(tmp_path) not in done.stdout


USED = """
from ctypes import c_int64
from cudnn_ctypes import BackendDescriptor, SymbolNotFoundError, raw
from cudnn_ctypes.raw.library import loaded
print(raw.cudnnGetVersion())
for create, type in (
    (raw.cudnnCreateTensorDescriptor, raw.cudnnTensorDescriptor_t),
    (raw.cudnnCreateConvolutionDescriptor, raw.cudnnConvolutionDescriptor_t),
    (raw.cudnnCreateRNNDescriptor, raw.cudnnRNNDescriptor_t),
):
    try:
        print(create.unchecked(type()).name)
    except SymbolNotFoundError:
        print("SymbolNotFoundError")
"""
FINALIZED = """
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
DeviceProperties.preset("H200").close()
"""
MAPPED = """
print(*loaded.cudnn_files(), sep="\\n")
"""


CHOSEN = {name: value for name, value in os.environ.items() if name == ENVIRONMENT_VARIABLE}


def mapped(program: str, **environment: str) -> tuple[list[str], set[Path]]:
    """What a program prints before the first path, and the cuDNN libraries that it has then."""
    lines = printed(program + MAPPED, environment={**CHOSEN, **environment})
    return (
        [line for line in lines if not line.startswith("/")],
        {Path(line) for line in lines if line.startswith("/")},
    )


@pytest.fixture(scope="module")
def home() -> Path:
    """The folder of the installed cuDNN."""
    folder = raw.load().path.parent
    if not (folder / "libcudnn_ops.so.9").exists():
        pytest.skip("this cuDNN is one file, or a reduced one")
    return folder


class TestSublibraries:
    """Another cuDNN within the loader's reach: the right names, and nothing inside."""

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize("names", ["{}.so.9", "{}.so.9.{minor}.{patch}", "{}.so.9.{minor}"])
    def test_of_the_same_directory_whatever_the_path_offers(self, home, tmp_path, names):
        """cuDNN asks for the long names first."""
        minor, patch = raw.load().version // 100 % 100, raw.load().version % 100
        sublibraries = {file.name.split(".so")[0] for file in home.glob("libcudnn_*.so.9")}
        for part in sublibraries:
            fake_library(tmp_path, names.format(part, minor=minor, patch=patch))
        words, files = mapped(USED + FINALIZED, LD_LIBRARY_PATH=f"{tmp_path}:/nowhere")
        assert words == [str(raw.load().version), *["CUDNN_STATUS_SUCCESS"] * 3]
        assert {file.parent for file in files} == {home}
        assert {file.name for file in files} >= {f"{part}.so.9" for part in sublibraries}

    def test_what_the_chosen_one_lacks_is_not_taken_from_elsewhere(self, home, tmp_path):
        for part in ("", "_graph", "_engines_runtime_compiled"):
            (tmp_path / f"libcudnn{part}.so.9").symlink_to(home / f"libcudnn{part}.so.9")
        chosen = {"CUDNN_CTYPES_LIBRARY": str(tmp_path), "LD_LIBRARY_PATH": str(home)}
        words, files = mapped(USED + FINALIZED, **chosen)
        status = "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"
        assert words[1:] == ["SymbolNotFoundError" if raw.load().version < 91700 else status] * 3
        assert {file.name for file in files} == {file.name for file in tmp_path.iterdir()}

    @pytest.mark.parametrize("version", [91600, 91700])
    def test_a_function_of_an_absent_sublibrary_is_not_called_where_that_ends_the_process(
        self, tmp_path: Path, version: int
    ) -> None:
        fake_cudnn(tmp_path, version=version, cudnnCreateTensorDescriptor=3007)
        fake_library(tmp_path, "libcudnn_graph.so.9")
        program = """
            from cudnn_ctypes import SymbolNotFoundError, raw
            try:
                raw.cudnnCreateTensorDescriptor.unchecked(raw.cudnnTensorDescriptor_t())
            except SymbolNotFoundError as error:
                print(error)
            else:
                print("called")
        """
        (line,) = printed(program, environment={"CUDNN_CTYPES_LIBRARY": str(tmp_path)})
        if version < 91700:
            assert "is in libcudnn_ops.so.9, which this build lacks" in line
            assert "install the full nvidia-cudnn wheel" in line
        else:
            assert line == "called"

    def test_a_link_to_the_main_library_leads_to_the_others(self, home, tmp_path):
        link = tmp_path / "libcudnn.so.9"
        link.symlink_to(home / "libcudnn.so.9")
        words, files = mapped(USED, CUDNN_CTYPES_LIBRARY=str(link))
        assert words == [str(raw.load().version), *["CUDNN_STATUS_SUCCESS"] * 3]
        assert {file.parent for file in files} == {home}

    def test_engines_stay_unloaded_without_need(self, home: Path) -> None:
        _, files = mapped(USED)
        assert {file.name for file in files} == {
            f"libcudnn{part}.so.9" for part in ("", "_graph", "_ops", "_cnn", "_adv")
        }

    def test_a_sublibrary_of_another_one_that_came_first(self, home: Path, tmp_path: Path) -> None:
        other = fake_library(tmp_path, "libcudnn_ops.so.9")
        program = f"import ctypes; ctypes.CDLL({str(other)!r})\n{USED}"
        text = refusal(program, environment=CHOSEN)
        assert f"two cuDNN libraries in one process: {other} is loaded" in text
        assert f"{home / other.name} belongs to the chosen {home / 'libcudnn.so.9'}" in text

    def test_another_main_library_that_comes_later(self, home: Path, tmp_path: Path) -> None:
        other = fake_cudnn(tmp_path)
        program = f"""
            import ctypes
            from cudnn_ctypes import raw
            raw.cudnnGetVersion()
            ctypes.CDLL({str(other)!r})
            raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
        """
        assert f"two cuDNN libraries in one process: {other} is loaded" in refusal(program)


class TestLoaderFiles:
    def test_of_the_path_that_the_process_began_with(self, tmp_path, monkeypatch):
        file = fake_library(tmp_path, "libcudnn_ops.so.9.1.0")
        program = """
            import os
            os.environ["LD_LIBRARY_PATH"] = "/elsewhere"
            from cudnn_ctypes.raw.library import loaded
            print(loaded.library_path(), next(loaded.loader_files()))
        """
        lines = printed(program, environment={"LD_LIBRARY_PATH": f"/nowhere;{tmp_path}:"})
        assert lines == [f"['/nowhere', '{tmp_path}', ''] {file}"]

    def test_without_a_path(self) -> None:
        program = "from cudnn_ctypes.raw.library import loaded; print(loaded.library_path())"
        assert printed(program) == ["[]"]


class TestBrokenInstall:
    """Each would end the process with a signal in the loader, or give a bare status."""

    @pytest.fixture
    def copy(self, home: Path, tmp_path: Path) -> Path:
        """A folder with links to all libraries."""
        for file in home.glob("libcudnn*.so.9"):
            (tmp_path / file.name).symlink_to(file)
        return tmp_path

    @staticmethod
    def cut(file: Path, size: int) -> Path:
        with file.open("rb") as whole:
            content = whole.read(size)
        file.unlink()
        file.write_bytes(content)
        return file

    def refused(self, folder: Path) -> str:
        return refusal(USED, environment={"CUDNN_CTYPES_LIBRARY": str(folder)})

    def test_the_copy_works(self, copy: Path, home: Path) -> None:
        words, _ = mapped(USED, CUDNN_CTYPES_LIBRARY=str(copy))
        assert words == [str(raw.load().version), *["CUDNN_STATUS_SUCCESS"] * 3]

    def test_the_main_library_alone(self, home: Path, tmp_path: Path) -> None:
        shutil.copy(home / "libcudnn.so.9", tmp_path)
        text = self.refused(tmp_path)
        assert f"{tmp_path} holds the main library alone, without libcudnn_graph.so.9" in text

    @pytest.mark.thinned(12)
    @pytest.mark.parametrize("name", ["libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_cnn.so.9"])
    @pytest.mark.parametrize("size", [0, 40, 5000, 70000])
    def test_a_truncated_file(self, copy: Path, name: str, size: int) -> None:
        file = self.cut(copy / name, size)
        text = self.refused(copy)
        assert "LibraryNotFoundError" in text
        assert str(file) in text
        assert ("the file is empty" if size == 0 else "the file is cut off: it") in text

    @pytest.mark.soak
    def test_the_doctor_says_so_too(self, copy: Path) -> None:
        file = self.cut(copy / "libcudnn_ops.so.9", 70000)
        program = "from cudnn_ctypes.__main__ import main; raise SystemExit(main(['doctor']))"
        environment = {"CUDNN_CTYPES_LIBRARY": str(copy), "COLUMNS": "300"}
        done = run_program(program, environment=environment, check=False)
        assert done.returncode == 1
        assert f"{file}, which belongs to it: the file is cut off" in done.stdout
        assert "SIG" not in done.stdout

    def test_cuda_s_libraries_beside_it(self, home: Path, tmp_path: Path) -> None:
        folder = tmp_path / "cudnn" / "lib"
        folder.parent.mkdir()
        folder.symlink_to(home)
        broken = tmp_path / "cuda_nvrtc" / "lib" / f"libnvrtc.so.{raw.load().cuda_major}"
        fake_library(broken.parent, broken.name)
        self.cut(broken, 100)
        program = "from cudnn_ctypes import raw; raw.cudnnCreate(raw.cudnnHandle_t())"
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(folder)})
        assert f"{broken}, which cuDNN would load: the file is cut off" in text


def test_the_builtins_of_nvrtc_are_loaded_with_it(home: Path, tmp_path: Path) -> None:
    """NVRTC of CUDA 13.0 does not look for them beside itself."""
    (tmp_path / "cudnn").mkdir()
    (tmp_path / "cudnn" / "lib").symlink_to(home)
    major = raw.load().cuda_major
    folder = tmp_path / "cuda_nvrtc" / "lib"
    fake_library(folder, f"libnvrtc.so.{major}")
    file = fake_library(folder, f"libnvrtc-builtins.so.{major}.0")
    program = """
        from pathlib import Path
        from cudnn_ctypes import raw
        raw.load().load_cuda_libraries()
        print(Path("/proc/self/maps").read_text())
    """
    environment = {"CUDNN_CTYPES_LIBRARY": str(tmp_path / "cudnn" / "lib")}
    assert str(file) in "\n".join(printed(program, environment=environment))


class TestMixedInstall:
    def test_a_version_mismatch_says_what_to_do(self, tmp_path: Path) -> None:
        file = fake_cudnn(tmp_path, cudnnCreateTensorDescriptor=1002)
        program = """
            from cudnn_ctypes import raw
            raw.cudnnCreateTensorDescriptor(raw.cudnnTensorDescriptor_t())
        """
        text = refusal(program, environment={"CUDNN_CTYPES_LIBRARY": str(file)})
        assert "NotInitializedError: cudnnCreateTensorDescriptor returned" in text
        assert "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (1002)" in text
        assert f"the libcudnn files in {tmp_path} belong to different cuDNN versions" in text
        assert "uninstall every nvidia-cudnn package" in text


def test_version_text() -> None:
    assert library.version_text(92800) == "9.28.0"
    assert library.version_text(91002) == "9.10.2"
    assert library._version_number("9.10.2") == 91002


def version_of(text: str) -> int:
    major, minor, patch = map(int, text.split("."))
    return major * 10000 + minor * 100 + patch


def test_the_library_exports_what_is_declared():
    library = ctypes.CDLL(str(raw.load().path))
    version = raw.cudnnGetVersion()
    for name, function in raw.FUNCTIONS.items():
        assert hasattr(library, name) == (version_of(function.since) <= version), name


def test_the_library_exports_nothing_else():
    if raw.cudnnGetVersion() != raw.CUDNN_VERSION:
        pytest.skip(f"layer 1 declares {raw.CUDNN_VERSION}, loaded is {raw.cudnnGetVersion()}")
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm")
    command = [nm, "-D", "--defined-only", "--format=posix", str(raw.load().path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[0].split("@")[0] for line in printed.splitlines()}
    backdoors = {f"cudnn{name}" for name in ("GetBackdoor", "SetBackdoor", "SetBackdoorEx")}
    internal = {"cudnnGetRNNDropoutLocationsInternal", *backdoors}  # declared in no header
    assert {name for name in symbols if name.startswith("cudnn")} == set(raw.FUNCTIONS) | internal


def test_what_is_collected_while_a_sublibrary_is_loaded_is_destroyed():
    program = """
        from cudnn_ctypes import raw
        from cudnn_ctypes.raw.library import Sublibraries

        filters = raw.cudnnFilterDescriptor_t()
        raw.cudnnCreateFilterDescriptor(filters)
        prepare = Sublibraries.prepare

        def collecting(self, header):
            Sublibraries.prepare = prepare
            raw.cudnnDestroyFilterDescriptor(filters)  # for the first time, as a finalizer does
            prepare(self, header)

        Sublibraries.prepare = collecting
        raw.cudnnCreateConvolutionDescriptor(raw.cudnnConvolutionDescriptor_t())
        print("done")
    """
    assert run_program(program, timeout=60).stdout == "done\n"
