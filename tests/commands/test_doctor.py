"""The doctor: its report here, and what it says of environments that are faked."""

from __future__ import annotations

import enum
import functools
import json
import os
import platform
import re
import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from programs import fake_cudnn, fake_library, run_command

from cudnn_ctypes import DeviceProperties, Graph, Handle, __version__, raw
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.commands import doctor
from cudnn_ctypes.commands.doctor import Finding, child
from cudnn_ctypes.evidence.known_faults import known_faults
from cudnn_ctypes.graph.engines.cache.plan_cache import PlanCache
from cudnn_ctypes.graph.lower.faults import SEARCHED
from cudnn_ctypes.porting.run import library
from cudnn_ctypes.runtime import cuda


def run(*words: str, **environment: str) -> Any:
    command = (sys.executable, "-m", "cudnn_ctypes", *words)
    return run_command(*command, **{"COLUMNS": "200", **environment})


def report(**environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = run("doctor", "--json", **environment)
    findings = {f"{f['section']}: {f['name']}": f for f in json.loads(done.stdout)}
    return done.returncode, findings


@functools.cache
def report_here() -> tuple[int, dict[str, dict[str, str]]]:
    """The report of this machine, made once: it starts a program for each question."""
    return report()


def test_here():
    code, findings = report_here()
    assert code == 0
    assert "239 functions" in findings["cuDNN: symbols"]["value"]
    purposes = {name: each for name, each in findings.items() if each["section"] == doctor.PURPOSES}
    works = {each["name"] for each in purposes.values() if each["state"] == "ok"}
    assert works >= {"compile for other GPUs", "learn without a GPU", "watch a program"}
    assert len(purposes) == 5
    loaded, values = raw.load(), {each["name"]: each["value"] for each in findings.values()}
    assert values["version"] == f"{loaded.version_text}, for CUDA {loaded.cuda_major}"
    assert values["compile for other GPUs"].endswith("for an H200")
    suffix = "-cu12" if loaded.cuda_major == 12 else ""
    for name, package in (("nvrtc", "nvidia-cuda-nvrtc"), ("cublasLt", "nvidia-cublas")):
        version, path = values[f"lib{name}.so.{loaded.cuda_major}"].split(", ")
        if "site-packages/nvidia" in path:
            assert f"{doctor._version(package + suffix)}.".startswith(f"{version}.")
    assert all(f["advice"] for f in findings.values() if f["state"] == "problem")


def test_what_is_found_is_kept_after_ctrl_c(monkeypatch, capsys):
    def answers(names):
        yield {**TestAnswers.LIBRARY}
        yield {"error": "none"}
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "_answers", answers)
    assert main(["doctor", "--json"]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)[0]["name"] == "libcudnn"
    assert err == ""


def _dying(note):
    def probe(name):
        print("cuDNN logs")
        if name == "ends":
            os.abort()
        if name == "silent":
            print("not a word")
            os._exit(1)
        return {"probe": name}

    return probe


@pytest.mark.soak
def test_a_crash_is_an_answer_and_the_next_probe_is_asked():
    answers = list(doctor._answers(["first", "ends", "second", "silent", "last"], _dying))
    assert [each.get("probe") for each in answers] == ["first", None, "second", None, "last"]
    assert answers[1]["error"] == "the process crashed with SIGABRT"
    assert answers[3]["error"].endswith("not a word")


def test_missing_library(tmp_path):
    code, findings = report(CUDNN_CTYPES_LIBRARY=str(tmp_path / "libcudnn.so.9"))
    assert code == 1
    assert findings["cuDNN: libcudnn"]["state"] == "problem"
    assert "pip install" in findings["cuDNN: libcudnn"]["advice"]


LIBRARY = "/x/nvidia/cudnn/lib/libcudnn.so.9"
ALL = f"""\
cuDNN
  libcudnn                    ok       {LIBRARY}
  found by                    ok       somewhere
  not loaded                  problem  wheel: /x/libcudnn.so.9: the file is cut off
  version                     ok       9.14.0, for CUDA 13
  CUDA runtime inside         ok       13.2
  libraries beside it         ok       libcudnn.so.9, libcudnn_ops.so.9
  Graph sublibrary            ok       belongs to 9.14.0
  Ops sublibrary              missing  not here
  Cnn sublibrary              problem  CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH
  symbols                     missing  236 of 239 functions of the headers
  not here, since 9.9.0       missing  cudnnB
  not here, since 9.22.0      missing  cudnnA, cudnnC
  known faults                ok       7 of cuDNN 9.14.0 on GPU 0, heeded; \
doctor --faults lists them
  random graphs               missing  compared on a GPU with cuDNN 9.19, 9.28, not with 9.14.0
  crashes                     missing  2 forms of graphs, which builds refuse or pass over; \
the newest: relu

CUDA
  driver                      ok       supports CUDA 13.0
  GPU 0                       ok       H100, 80 GiB
  GPU 1                       ok       A10, 16 GiB
  libnvrtc.so.13              problem  not found
  libcublasLt.so.13           ok       1.2, /x/libcublasLt.so.13

what can be done here
  compute on a GPU            yes      it computes
  compile for other GPUs      no       SUBLIBRARY_UNAVAILABLE
  learn without a GPU         no       it learns, with wrong numbers
  run and port C and C++      no       status
                                       reason
  watch a program             yes      it tells"""


class TestAnswers:
    """What the answers of the probes mean."""

    LIBRARY: ClassVar[dict[str, Any]] = {
        "path": LIBRARY,
        "source": "somewhere",
        "passed_over": ["wheel: /x/libcudnn.so.9: the file is cut off"],
        "version": "9.14.0",
        "cuda_major": 13,
        "cudart": 13020,
        "files": ["libcudnn.so.9", "libcudnn_ops.so.9"],
        "functions": 239,
        "missing": {"cudnnA": "9.22.0", "cudnnB": "9.9.0", "cudnnC": "9.22.0"},
        "parts": {
            "Graph": "CUDNN_STATUS_SUCCESS",
            "Ops": "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
            "Cnn": "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
        },
    }

    SEARCHED: ClassVar = ["9.19", "9.28"]
    FAULTS: ClassVar = {
        "count": 7,
        "gpu": True,
        "searched": SEARCHED,
        "crashes": 2,
        "newest": "relu",
    }
    CUDA: ClassVar = {"files": {}, "cudnn": ["/x/libcudnn.so.9"], "compilation_failures": {}}

    def test_all_that_is_printed(self, monkeypatch, capsys):
        """Each finding as soon as it is known, on a line; then each piece of advice once."""
        answers = {
            "library": self.LIBRARY,
            "known_faults": self.FAULTS,
            "gpus": {"driver": "13.0", "gpus": ["H100, 80 GiB", "A10, 16 GiB"]},
            "cuda_libraries": {**self.CUDA, "files": {"/x/libcublasLt.so.13": "1.2"}},
            "compute": {"done": "it computes", "right": True},
            "compile_elsewhere": {"error": "SUBLIBRARY_UNAVAILABLE"},
            "learn": {"done": "it learns", "right": False},
            "port": {"error": "status\nreason\narguments"},
            "watch": {"done": "it tells"},
        }

        def ask(probes):
            for probe in probes:
                printed.append(capsys.readouterr().out)
                yield answers[probe]

        printed: list[str] = []
        monkeypatch.setattr(doctor, "_answers", ask)
        monkeypatch.setattr(doctor, "packages", lambda version, path: [])
        for name in [name for name in os.environ if name.startswith(doctor._PREFIXES)]:
            monkeypatch.delenv(name)
        assert main(["doctor"]) == 0
        assert "libcudnn" in printed[2]
        text, _, advice = "".join([*printed, capsys.readouterr().out]).rpartition("\n\n")
        assert text == ALL
        told = dict(line.split(": ", 1) for line in advice.splitlines())
        assert [*told] == [
            *("not loaded", "compile for other GPUs", "Cnn sublibrary", "symbols"),
            *("random graphs", "crashes"),
            *("libnvrtc.so.13", "learn without a GPU", "run and port C and C++"),
        ]
        assert "uninstall every nvidia-cudnn package" in told["Cnn sublibrary"]
        assert "full nvidia-cudnn wheel" in told["compile for other GPUs"]
        assert told["symbols"].startswith("cuDNN 9.22.0 or newer")
        assert told["libnvrtc.so.13"].endswith("graphs: pip install nvidia-cuda-nvrtc")
        assert told["learn without a GPU"] == "please report this message"

        answers["gpus"] = {"driver": "13.0", "gpus": []}
        faults = {**self.FAULTS, "gpu": False, "searched": ["9.14"], "crashes": 0}
        answers["known_faults"] = faults
        monkeypatch.setenv("CUDNN_LOGDEST_DBG", "stderr")
        assert main(["doctor", "--report"]) == 0
        first, package, _, system, *rest = capsys.readouterr().out.splitlines()
        assert (first, package) == ("```text", f"cudnn-ctypes {__version__}")
        assert platform.machine() in system
        assert rest[:4] == ["CUDNN_LOGDEST_DBG=stderr", "", "cuDNN", f"  libcudnn: {LIBRARY}"]
        assert rest[15:20] == [
            "  known faults: 7 of cuDNN 9.14.0 on some GPU, heeded; doctor --faults lists them",
            *("", "CUDA", "  driver: supports CUDA 13.0", "  GPU: [missing] none"),
        ]
        assert rest[-4:] == [
            *("  run and port C and C++: [missing] status", "      reason"),
            *("  watch a program: it tells", "```"),
        ]

        doctor._advise([Finding(doctor.PURPOSES, each, "") for each in ("watch", "learn")])
        assert capsys.readouterr().out == "\nNo problem found. You can watch, learn.\n"

    @pytest.mark.soak
    def test_nvrtc_cannot_compile(self, tmp_path):
        """As without its builtins: it loads, and gives a status for each kernel."""
        loaded = raw.load()
        (tmp_path / "cudnn").mkdir()
        (tmp_path / "cudnn" / "lib").symlink_to(loaded.path.parent)
        nvrtc = {"Version": 0, "CreateProgram": 0, "CompileProgram": 6, "GetProgramLogSize": 0}
        nvrtc |= {"GetProgramLog": 0, "GetErrorString": 0}
        folder, soname = tmp_path / "cuda_nvrtc" / "lib", f"libnvrtc.so.{loaded.cuda_major}"
        file = fake_library(folder, soname, **{f"nvrtc{name}": nvrtc[name] for name in nvrtc})
        _, findings = report(CUDNN_CTYPES_LIBRARY=str(tmp_path / "cudnn" / "lib"))
        finding = findings[f"CUDA: {soname}"]
        assert finding["state"] == "problem"
        assert finding["value"] == f"0.0, {file}, cannot compile: status 6"
        assert finding["advice"].startswith("pip install --force-reinstall nvidia-cuda-nvrtc")

    def test_libraries_from_two_places(self):
        answer = {**self.CUDA, "cudnn": ["/x/libcudnn.so.9", "/y/libcudnn_ops.so.9"]}
        findings = [f for f in doctor._cuda_libraries(answer, 12) if f.name == "mixed install"]
        assert "/x, /y" in findings[0].value


class TestProbes:
    """What is asked in the child."""

    @pytest.mark.needs("cudnnGnnMhaGatV2Forward")
    def test_the_library(self):
        loaded, parts = raw.load(), ("Graph", "Ops", "Cnn", "Adv", "SubquadraticOps")
        answer = child.library()
        files = answer.pop("files")
        assert files == sorted(files)
        assert {"libcudnn.so.9", "libcudnn_graph.so.9"} <= {*files}
        assert answer == {
            "path": str(loaded.path),
            "source": loaded.source,
            "passed_over": loaded.passed_over,
            "version": loaded.version_text,
            "cuda_major": loaded.cuda_major,
            "cudart": raw.cudnnGetCudartVersion(),
            "functions": 239,
            "missing": {},
            "parts": dict.fromkeys(parts, "CUDNN_STATUS_SUCCESS"),
        }

    def test_purposes(self, reference_device, monkeypatch):
        answer = child.prepared(print)
        computed = answer("compute")
        assert re.fullmatch("<?Handle.*reference.* computes a convolution", computed.pop("done"))
        assert computed == {"right": True}
        assert answer("watch") == {"done": "cuDNN tells cudnnCreateTensorDescriptor"}
        monkeypatch.setattr(child, "PROBES", {"port": lambda: {}[0]})
        assert answer("port") == {"error": "0", "type": "KeyError"}

    @pytest.mark.parametrize("capability", [0, 90])
    def test_known_faults_and_crashes(self, monkeypatch, capability):
        entries = [
            SimpleNamespace(kind=kind, made=made, operations=f"{made}", device="A", graph="ended")
            for kind, made in (("crash", 2), ("crash", 3), ("plan", 4), ("crash", 1))
        ]
        monkeypatch.setattr(PlanCache, "entries", lambda cache: entries)
        monkeypatch.setattr(cuda, "first_capability", lambda: capability)
        answer = child.known_faults()
        whole = raw.load().has_precompiled_engines
        count = len(known_faults(raw.load().version, capability or None, small=not whole))
        assert (answer.pop("count"), answer.pop("searched")) == (count, SEARCHED)
        assert count > 0
        assert answer == {"gpu": capability == 90, "crashes": 3, "newest": "3 on A: ended"}
        entries[:] = entries[2:3]
        answer = child.known_faults()
        assert (answer["crashes"], answer["newest"]) == (0, None)

    def test_gpus(self, monkeypatch):
        success, no_device = enum.IntEnum("Status", {"SUCCESS": 0, "NO_DEVICE": 100})
        begun = [success]
        driver = SimpleNamespace(
            cuInit=lambda flags: begun,
            cuDriverGetVersion=lambda: (0, 12090),
            cuDeviceGetCount=lambda: (0, 2),
            cuDeviceTotalMem=lambda ordinal: (0, (80 << 30, 1 << 34)[ordinal]),
        )
        devices = [
            SimpleNamespace(name=name, compute_capability=SimpleNamespace(major=major, minor=minor))
            for name, major, minor in (("H100", 9, 0), ("A10", 8, 6))
        ]
        monkeypatch.setattr("cuda.core.Device", devices.__getitem__)
        monkeypatch.setattr("cuda.bindings.driver", driver, raising=False)
        gpus = ["H100, compute capability 9.0, 80 GiB", "A10, compute capability 8.6, 16 GiB"]
        assert child.gpus() == {"driver": "12.9", "gpus": gpus, "capabilities": [90, 86]}
        begun[:] = [no_device]
        assert child.gpus() == {"error": "cuInit gave NO_DEVICE"}

    def test_what_programs_need(self, monkeypatch):
        missing, here = ["no cudnn.h", "no stddef.h"], {"tree_sitter": object()}
        monkeypatch.setattr(library, "missing_headers", lambda: missing)
        monkeypatch.setattr(library, "compiler", {"c": "gcc", "c++": "g++"}.__getitem__)
        monkeypatch.setattr("importlib.util.find_spec", here.get)
        assert child.port() == {"error": "no cudnn.h; no stddef.h"}
        missing.clear()
        assert child.port() == {"done": "with gcc and g++"}
        here.clear()
        assert "lacks tree-sitter: pip install" in child.port()["error"]


class TestPackages:
    @pytest.mark.parametrize(
        ("wheels", "says"),
        [
            ({"nvidia-cudnn-cu12": "9.28.0.42"}, ""),
            (
                {"nvidia-cudnn-cu12": "9.28.0.42", "nvidia-cudnn-cu13": "9.19.0.56"},
                "uninstall both",
            ),
            ({"nvidia-cudnn-cu12": "9.20.0.1"}, "--force-reinstall nvidia-cudnn-cu12"),
            ({"nvidia-cudnn-cu12": "9.28.0.42", "torch": "2.11.0"}, "nvidia-cudnn-cu13 9.19.0.56"),
        ],
    )
    def test_wheels(self, monkeypatch, wheels, says):
        needed = dict.fromkeys(("cuda-core", "cuda-pathfinder", "numpy", "ml_dtypes"), "1.0")
        requires = ["nvidia-cudnn-cu13 (==9.19.0.56) ; linux"]
        monkeypatch.setattr(doctor, "_version", {**needed, **wheels}.get)
        monkeypatch.setattr(doctor.metadata, "requires", lambda _: requires)
        findings = doctor.packages("9.28.0", "/x/nvidia/cudnn/lib/libcudnn.so.9")
        problems = [f"{each.value}: {each.advice}" for each in findings if each.state == "problem"]
        assert len(problems) == bool(says)
        assert says in "".join(problems)

    def test_search_path(self, monkeypatch, tmp_path):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "libcudnn_ops.so.9").touch()
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/a:{tmp_path}/b")
        (finding,) = doctor.search_path(None)
        assert finding.state == "problem"
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/a")
        (finding,) = doctor.search_path(f"{tmp_path}/a/libcudnn.so.9")
        assert finding.value == f"cuDNN in {tmp_path}/a"
        (finding,) = doctor.search_path(f"{tmp_path}/b/libcudnn.so.9")
        assert f"not used: the libraries come from {tmp_path}/b" in finding.value


@pytest.mark.soak
def test_the_c_api_loads_from_a_small_wheel(tmp_path):
    """Most of the legacy API is not there."""
    fake_cudnn(tmp_path, version=92800, cudnnGetProperty=0)
    code, findings = report(CUDNN_CTYPES_LIBRARY=str(tmp_path))
    assert code == 0
    assert findings["cuDNN: symbols"]["value"] == "5 of 239 functions of the headers"
    assert findings["cuDNN: libcudnn"]["state"] == "ok"
    assert findings[f"{doctor.PURPOSES}: learn without a GPU"]["state"] != "ok"


class TestSavingTheGpu:
    @pytest.mark.soak
    @pytest.mark.skipif(not ensure_driver().is_stub, reason="there is an NVIDIA driver here")
    def test_without_a_gpu(self, tmp_path):
        done = run("doctor", "--save-device", str(tmp_path / "gpu.json"))
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "there is no NVIDIA GPU here" in line
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_and_nothing_overwritten(self, tmp_path, reference_device, capsys):
        words = ("doctor", "--save-device", f"{tmp_path}/new/")
        assert main([*words]) == 0
        file = tmp_path / "new" / "gpu.json"
        with DeviceProperties(file) as saved, DeviceProperties.preset("H200") as preset:
            assert saved == preset
            assert saved.source == "measured"
        file.write_text("mine")
        assert (main([*words]), file.read_text()) == (2, "mine")
        assert "--force" in capsys.readouterr().err
        assert main([*words, "--force"]) == 0
        assert json.loads(file.read_text())

    @pytest.mark.gpu
    def test_of_the_gpu_here(self, tmp_path):
        path = tmp_path / "gpu.json"
        assert run("doctor", "--save-device", str(path), CUDNN_CTYPES_DEVICE="cuda").returncode == 0
        with DeviceProperties(path) as saved, DeviceProperties.from_device() as here:
            assert saved == here
            assert saved.source == here.source == "measured"
            assert not saved.filled
        with Graph(io_data_type="float16") as graph, Handle() as handle:
            graph.matmul(graph.tensor((2, 64, 64)), graph.tensor((2, 64, 64))).set_output()
            text = graph.build(path).to_json()
            graph.load_plan(text, handle)
