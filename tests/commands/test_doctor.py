"""The doctor: its report here, and what it says of environments that are faked."""

from __future__ import annotations

import enum
import functools
import json
import os
import platform
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
    assert values["found by"] == loaded.source
    assert values["version"] == f"{loaded.version_text}, for CUDA {loaded.cuda_major}"
    assert values["Ops sublibrary"] == f"belongs to {loaded.version_text}"
    assert "libcudnn_ops.so.9" in values["libraries beside it"].split(", ")
    assert values["compile for other GPUs"].endswith("for an H200")
    suffix = "-cu12" if loaded.cuda_major == 12 else ""
    for name, package in (("nvrtc", "nvidia-cuda-nvrtc"), ("cublasLt", "nvidia-cublas")):
        version, path = values[f"lib{name}.so.{loaded.cuda_major}"].split(", ")
        if "site-packages/nvidia" in path:
            assert f"{doctor._version(package + suffix)}.".startswith(f"{version}.")
    assert all(f["advice"] for f in findings.values() if f["state"] == "problem")


def test_findings_come_one_by_one(monkeypatch):
    """What is asked later has not been asked when the first finding is there."""
    asked = []

    def answers(names):
        for name in names:
            asked.append(name)
            yield {**TestAnswers.LIBRARY} if name == "library" else {"error": "none"}

    monkeypatch.setattr(doctor, "_answers", answers)
    findings = doctor.examine()
    assert next(findings).name == "libcudnn"
    assert "gpus" not in asked
    assert [finding.name for finding in findings][-1] == "watch a program"
    assert tuple(asked) == doctor.PROBES


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


@pytest.mark.soak
def test_old_library(tmp_path):
    code, findings = report(CUDNN_CTYPES_LIBRARY=str(fake_cudnn(tmp_path, version=8907)))
    assert code == 1
    assert "this is cuDNN 8.9" in findings["cuDNN: libcudnn"]["value"]


class TestAnswers:
    """What the answers of the probes mean."""

    LIBRARY: ClassVar[dict[str, Any]] = {
        "path": "/x/nvidia/cudnn/lib/libcudnn.so.9",
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

    HEEDED, FORMS = (
        ", heeded; doctor --faults lists them",
        ("forms of graphs, which builds refuse or pass over; the newest:"),
    )
    CUDA: ClassVar = {"files": {}, "cudnn": ["/x/libcudnn.so.9"], "compilation_failures": {}}

    def test_all_findings(self, monkeypatch):
        answers = {
            "library": self.LIBRARY,
            "known_faults": {"count": 7, "gpu": True, "crashes": 2, "newest": "relu on A: ended"},
            "gpus": {"driver": "13.0", "gpus": ["H100, 80 GiB", "A10, 16 GiB"]},
            "cuda_libraries": {**self.CUDA, "files": {"/x/libcublasLt.so.13": "1.2"}},
            "compute": {"done": "it computes", "right": True},
            "compile_elsewhere": {"error": "SUBLIBRARY_UNAVAILABLE"},
            "learn": {"done": "it computes", "right": False},
            "port": {"error": "status\nreason\narguments"},
            "watch": {"done": "it tells"},
        }
        monkeypatch.setattr(doctor, "_answers", lambda probes: (answers[each] for each in probes))
        monkeypatch.setattr(doctor, "packages", lambda version, path: [])
        monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
        findings = [*doctor.examine()]
        assert [(f.section, f.name, f.value, f.state) for f in findings] == [
            ("cuDNN", "libcudnn", "/x/nvidia/cudnn/lib/libcudnn.so.9", "ok"),
            ("cuDNN", "found by", "somewhere", "ok"),
            ("cuDNN", "not loaded", *self.LIBRARY["passed_over"], "problem"),
            ("cuDNN", "version", "9.14.0, for CUDA 13", "ok"),
            ("cuDNN", "CUDA runtime inside", "13.2", "ok"),
            ("cuDNN", "libraries beside it", "libcudnn.so.9, libcudnn_ops.so.9", "ok"),
            ("cuDNN", "Graph sublibrary", "belongs to 9.14.0", "ok"),
            ("cuDNN", "Ops sublibrary", "not here", "missing"),
            ("cuDNN", "Cnn sublibrary", self.LIBRARY["parts"]["Cnn"], "problem"),
            ("cuDNN", "symbols", "236 of 239 functions of the headers", "missing"),
            ("cuDNN", "not here, since 9.9.0", "cudnnB", "missing"),
            ("cuDNN", "not here, since 9.22.0", "cudnnA, cudnnC", "missing"),
            ("cuDNN", "known faults", f"7 of cuDNN 9.14.0 on GPU 0{self.HEEDED}", "ok"),
            ("cuDNN", "crashes", f"2 {self.FORMS} relu on A: ended", "missing"),
            ("CUDA", "driver", "supports CUDA 13.0", "ok"),
            ("CUDA", "GPU 0", "H100, 80 GiB", "ok"),
            ("CUDA", "GPU 1", "A10, 16 GiB", "ok"),
            ("CUDA", "libnvrtc.so.13", "not found", "problem"),
            ("CUDA", "libcublasLt.so.13", "1.2, /x/libcublasLt.so.13", "ok"),
            (doctor.PURPOSES, "compute on a GPU", "it computes", "ok"),
            (doctor.PURPOSES, "compile for other GPUs", "SUBLIBRARY_UNAVAILABLE", "missing"),
            (doctor.PURPOSES, "learn without a GPU", "it computes, with wrong numbers", "problem"),
            (doctor.PURPOSES, "run and port C and C++", "status\nreason", "missing"),
            (doctor.PURPOSES, "watch a program", "it tells", "ok"),
        ]
        advice = {f.name: f.advice for f in findings if f.advice}
        wanting = {f.name for f in findings if f.state != "ok" and "since" not in f.name}
        assert advice.keys() == wanting
        assert "uninstall every nvidia-cudnn package" in advice["Cnn sublibrary"]
        assert advice["symbols"].startswith("cuDNN 9.22.0 or newer")
        assert advice["libnvrtc.so.13"].endswith("graphs: pip install nvidia-cuda-nvrtc")
        assert "full nvidia-cudnn wheel" in advice["Ops sublibrary"]
        assert advice["compile for other GPUs"] == advice["Ops sublibrary"]
        assert advice["learn without a GPU"] == "please report this message"
        answers["gpus"] = {"driver": "13.0", "gpus": []}
        answers["known_faults"] = {"count": 7, "gpu": False, "crashes": 0, "newest": None}
        found = {f.name: f for f in doctor.examine()}
        assert found["known faults"].value == f"7 of cuDNN 9.14.0 on some GPU{self.HEEDED}"
        assert "crashes" not in found
        assert (found["GPU"].value, found["GPU"].state) == ("none", "missing")
        assert "use the reference device" in found["GPU"].advice

    def test_what_is_printed(self, monkeypatch, capsys):
        """Sections, aligned and unwrapped lines, each piece of advice once; a report's block."""
        path = f"/x/{'long/' * 20}libcudnn.so.9"
        findings = [
            Finding("cuDNN", "libcudnn", path),
            Finding("cuDNN", "symbols", "5 of 239", "missing", "take a newer one"),
            Finding("cuDNN", "crashes", "one\ntwo", "missing", "take a newer one"),
            Finding(doctor.PURPOSES, "compute", "no GPU", "missing"),
            Finding(doctor.PURPOSES, "watch", "it tells"),
            Finding(doctor.PURPOSES, "learn", "it learns"),
        ]
        monkeypatch.setattr(doctor, "examine", lambda progress: iter(findings))
        assert main(["doctor"]) == 0
        lines = [
            "cuDNN",
            f"  {'libcudnn':26}  ok       {path}",
            f"  {'symbols':26}  missing  5 of 239",
            f"  {'crashes':26}  missing  one",
            f"{'':39}two",
            "",
            doctor.PURPOSES,
            f"  {'compute':26}  no       no GPU",
            f"  {'watch':26}  yes      it tells",
            f"  {'learn':26}  yes      it learns",
            "",
            "crashes: take a newer one",
        ]
        last = "No problem found. You can watch, learn."
        assert capsys.readouterr().out.splitlines() == [*lines, last]
        findings[0] = Finding("cuDNN", "libcudnn", "none", "problem", "get it")
        assert main(["doctor"]) == 1
        assert capsys.readouterr().out.splitlines()[-2:] == ["libcudnn: get it", lines[-1]]
        for name in [name for name in os.environ if name.startswith(doctor._PREFIXES)]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("CUDNN_LOGDEST_DBG", "stderr")
        assert main(["doctor", "--report"]) == 1
        first, package, _, system, *rest = capsys.readouterr().out.splitlines()
        assert (first, package) == ("```text", f"cudnn-ctypes {__version__}")
        assert platform.machine() in system
        assert rest == [
            "CUDNN_LOGDEST_DBG=stderr",
            "",
            "cuDNN",
            "  libcudnn: [problem] none",
            "  symbols: [missing] 5 of 239",
            "  crashes: [missing] one",
            "      two",
            "",
            doctor.PURPOSES,
            "  compute: [missing] no GPU",
            "  watch: it tells",
            "  learn: it learns",
            "```",
        ]

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

    @pytest.mark.parametrize("capability", [0, 90])
    def test_known_faults_and_crashes(self, monkeypatch, capability):
        entries = [
            SimpleNamespace(kind=kind, made=made, operations=f"{made}", device="A", graph="ended")
            for kind, made in (("crash", 2), ("crash", 3), ("plan", 4), ("crash", 1))
        ]
        monkeypatch.setattr(PlanCache, "entries", lambda cache: entries)
        monkeypatch.setattr(cuda, "first_capability", lambda: capability)
        answer = child.known_faults()
        count = len(known_faults(raw.load().version, capability or None))
        assert answer.pop("count") == count > 0
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
    @staticmethod
    def fake(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
        found = {name.replace("_", "-"): version for name, version in versions.items()}
        needed = dict.fromkeys(("cuda-core", "cuda-pathfinder", "numpy", "ml_dtypes"), "1.0")
        monkeypatch.setattr(doctor, "_version", {**needed, **found}.get)
        monkeypatch.setattr(
            doctor.metadata, "requires", lambda _: ["nvidia-cudnn-cu13 (==9.19.0.56) ; linux"]
        )

    @staticmethod
    def problems(version: str = "9.28.0") -> list[Finding]:
        findings = doctor.packages(version, "/x/nvidia/cudnn/lib/libcudnn.so.9")
        return [finding for finding in findings if finding.state == "problem"]

    def test_one_wheel(self, monkeypatch):
        self.fake(monkeypatch, nvidia_cudnn_cu12="9.28.0.42")
        assert self.problems() == []

    def test_two_wheels(self, monkeypatch):
        self.fake(monkeypatch, nvidia_cudnn_cu12="9.28.0.42", nvidia_cudnn_cu13="9.19.0.56")
        (problem,) = self.problems()
        assert "uninstall" in problem.advice

    def test_an_overwritten_wheel(self, monkeypatch):
        self.fake(monkeypatch, nvidia_cudnn_cu12="9.20.0.1")
        (problem,) = self.problems()
        assert "--force-reinstall nvidia-cudnn-cu12" in problem.advice

    def test_torch_wants_another(self, monkeypatch):
        self.fake(monkeypatch, nvidia_cudnn_cu12="9.28.0.42", torch="2.11.0")
        (problem,) = self.problems()
        assert "nvidia-cudnn-cu13 9.19.0.56" in problem.value

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
