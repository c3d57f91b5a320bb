"""``doctor``: what is installed, what works, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ... import __version__
from ...graph.backend.children import Outcome, outcomes
from ..options import Output, Steps, add_force, add_json, child_variables, steps, write_text
from .child import prepared

if TYPE_CHECKING:
    from rich.text import Text


State = Literal["ok", "missing", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the report.

    - `state` ("ok", "missing", "problem"): "missing": absent, but not always needed (a GPU, say).
    - `advice`: the remedy for a state other than "ok".
    """

    section: str
    name: str
    value: str
    state: State = "ok"
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


_SECTION = "packages"
_NAMES = (
    "cudnn-ctypes",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-cudnn-jit-cu12",
    "nvidia-cudnn-jit-cu13",
    "nvidia-cublas-cu12",
    "nvidia-cublas",
    "nvidia-cuda-nvrtc-cu12",
    "nvidia-cuda-nvrtc",
    "cuda-bindings",
    "cuda-core",
    "cuda-pathfinder",
    "numpy",
    "ml_dtypes",
    "torch",
)
_NEEDED = ("cuda-core", "cuda-pathfinder", "numpy", "ml_dtypes")


def packages(loaded_version: str | None, loaded_path: str | None) -> Iterator[Finding]:
    """Findings: versions of packages; packages that own the same files or overwrote another's."""
    versions = {name: version for name in _NAMES if (version := _version(name))}
    for name in _NAMES:
        if name in versions:
            yield Finding(_SECTION, name, versions[name])
        elif name in _NEEDED:
            yield Finding(_SECTION, name, "not installed", "problem", f"pip install {name}")
    both = [name for name in ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13") if name in versions]
    if len(both) == 2:
        yield Finding(
            _SECTION,
            "mixed install",
            " and ".join(f"{name} {versions[name]}" for name in both),
            "problem",
            "both write nvidia/cudnn/lib, and the later one has overwritten the other: uninstall "
            "both, then install the one for your CUDA",
        )
    if len(both) == 1 and "nvidia/cudnn/lib" in (loaded_path or "") and loaded_version:
        (name,) = both
        if not versions[name].startswith(loaded_version):
            yield Finding(
                _SECTION,
                "mixed install",
                f"{name} {versions[name]}, but its library says {loaded_version}",
                "problem",
                f"another package has overwritten its files: pip install --force-reinstall {name}",
            )
    yield from _torch(versions)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _torch(versions: dict[str, str]) -> Iterator[Finding]:
    """A finding about the cuDNN package that PyTorch's metadata requires."""
    if "torch" not in versions:
        return
    for requirement in metadata.requires("torch") or ():
        wanted = re.match(r"(nvidia-cudnn-cu\d+)\s*\(?==\s*([\w.]+)", requirement)
        if not wanted:
            continue
        name, version = wanted.groups()
        if versions.get(name) == version:
            yield Finding(_SECTION, "cuDNN of torch", f"{name} {version}")
        else:
            yield Finding(
                _SECTION,
                "cuDNN of torch",
                f"torch {versions['torch']} wants {name} {version}, installed is "
                f"{versions.get(name, 'none')}",
                "problem",
                f"import torch before the first cuDNN call, so that both use one library, or "
                f"pip install {name}=={version}",
            )


def search_path(loaded_path: str | None) -> Iterator[Finding]:
    """Findings about directories on LD_LIBRARY_PATH with cuDNN libraries."""
    entries = [entry for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    holding = [entry for entry in entries if any(Path(entry).glob("libcudnn*.so*"))]
    if len(set(map(os.path.realpath, holding))) > 1:
        yield Finding(
            _SECTION,
            "LD_LIBRARY_PATH",
            ", ".join(holding),
            "problem",
            "several of its directories hold cuDNN: keep one, or sublibraries of one load into "
            "another",
        )
    elif holding:
        value = f"cuDNN in {holding[0]}"
        home = Path(loaded_path).parent if loaded_path else Path(holding[0])
        if os.path.realpath(home) != os.path.realpath(holding[0]):
            value += f", not used: the libraries come from {home}"
        yield Finding(_SECTION, "LD_LIBRARY_PATH", value)


_TIMEOUT = 300  # seconds; loading 1 GB of libraries from a cold disk takes a while
_MEGABYTES = 1 << 20  # of a child: what is loaded may be large

_NO_GPU = (
    "without an NVIDIA GPU and its driver, use the reference device: "
    "cudnn_ctypes.use_reference_device() or CUDNN_CTYPES_DEVICE=reference"
)
_TO_PORT = "install what is named; the rest of the package needs none of it"
_REPORT = "please report this message"
_UNSEARCHED = (
    "CUDNN_CTYPES_CHECK=first has builds try an engine that is new here before they take it"
)
_CRASHED = "`python -m cudnn_ctypes cache --clear` forgets them, plans too"
_INSTALL = "pip install 'cudnn-ctypes[cu12]' (or [cu13])"
_REDUCED = (
    "the nvidia-cudnn-jit wheels hold the graph API only: for the legacy API install the full "
    "nvidia-cudnn wheel"
)


def _answers(
    probes: Sequence[str], prepare: Callable[..., Any] = prepared
) -> Generator[dict[str, Any], None, None]:
    """The answers of probes, in their order and as soon as they come, from a child process.

    A probe's crash or silence is an answer too; another child goes on after it.
    """
    environment = {**child_variables(), "CUDNN_CTYPES_DEVICE": "cuda"}
    run = outcomes(
        probes,
        prepare,
        seconds=_TIMEOUT,
        fresh=True,
        maps_a_gpu=True,
        megabytes=_MEGABYTES,
        environment=environment,
    )
    with closing(run):
        for each in run:
            yield {"error": _ending(each)} if each.died else each.result


def _ending(outcome: Outcome[str]) -> str:
    if outcome.result in ("hang", "SIGKILL"):
        return f"no answer within {_TIMEOUT} s, or killed"
    if outcome.result.startswith("SIG"):
        return f"the process crashed with {outcome.result}"
    return outcome.printed.strip() or "no answer"


def examine(progress: Steps | None = None) -> Iterator[Finding]:
    """Yield all findings in reading order, each as soon as it is known."""
    answers = _answers(PROBES)

    def ask(probe: str) -> dict[str, Any]:
        if progress is not None:
            progress.begin(probe.replace("_", " "))
        answer = next(answers)
        if progress is not None:
            progress.advance()
        return answer

    with closing(answers):
        library, faults = ask("library"), ask("known_faults")
        yield from _library(library)
        if "error" not in library:
            yield from _known_faults(faults, library["version"])
        gpus, libraries = ask("gpus"), ask("cuda_libraries")
        yield from _gpus(gpus)
        if "error" not in library:
            yield from _cuda_libraries(libraries, library["cuda_major"])
        yield from packages(library.get("version"), library.get("path"))
        yield from search_path(library.get("path"))
        if "error" in library:
            yield Finding(PURPOSES, "anything with cuDNN", "libcudnn", "problem", _INSTALL)
            return
        for probe, purpose in _PURPOSES.items():
            yield purpose.finding(ask(probe))


def _library(answer: dict[str, Any]) -> Iterator[Finding]:
    section = "cuDNN"
    if "error" in answer:
        yield Finding(section, "libcudnn", answer["error"], "problem", _INSTALL)
        return
    yield Finding(section, "libcudnn", answer["path"])
    yield Finding(section, "found by", answer["source"])
    for passed_over in answer["passed_over"]:
        yield Finding(
            section, "not loaded", passed_over, "problem", "install it again, or remove it"
        )
    yield Finding(section, "version", f"{answer['version']}, for CUDA {answer['cuda_major']}")
    runtime = answer["cudart"]
    yield Finding(section, "CUDA runtime inside", f"{runtime // 1000}.{runtime % 1000 // 10}")
    yield Finding(section, "libraries beside it", ", ".join(answer["files"]))
    for part, status in answer["parts"].items():
        if status == "CUDNN_STATUS_SUCCESS":
            yield Finding(section, f"{part} sublibrary", f"belongs to {answer['version']}")
        elif status.endswith("SUBLIBRARY_UNAVAILABLE"):
            yield Finding(section, f"{part} sublibrary", "not here", "missing", _REDUCED)
        else:
            yield Finding(
                section,
                f"{part} sublibrary",
                status,
                "problem",
                "its file is missing or of another version: uninstall every nvidia-cudnn package "
                "and install one again",
            )
    yield from _symbols(answer)


def _symbols(answer: dict[str, Any]) -> Iterator[Finding]:
    missing: dict[str, str] = answer["missing"]
    present = answer["functions"] - len(missing)
    summary = f"{present} of {answer['functions']} functions of the headers"
    if not missing:
        yield Finding("cuDNN", "symbols", summary)
        return
    by_version: dict[str, list[str]] = {}
    for name, since in missing.items():
        by_version.setdefault(since, []).append(name)
    versions = sorted(by_version, key=lambda text: [int(part) for part in text.split(".")])
    advice = f"cuDNN {versions[-1]} or newer has all of them"
    yield Finding("cuDNN", "symbols", summary, "missing", advice)
    for since in versions:
        names = ", ".join(by_version[since])
        yield Finding("cuDNN", f"not here, since {since}", names, "missing")


def _gpus(answer: dict[str, Any]) -> Iterator[Finding]:
    section = "CUDA"
    if "error" in answer:
        yield Finding(section, "driver", answer["error"], "missing", _NO_GPU)
        return
    yield Finding(section, "driver", f"supports CUDA {answer['driver']}")
    if not answer["gpus"]:
        yield Finding(section, "GPU", "none", "missing", _NO_GPU)
    for index, gpu in enumerate(answer["gpus"]):
        yield Finding(section, f"GPU {index}", gpu)


def _cuda_libraries(answer: dict[str, Any], cuda_major: int) -> Iterator[Finding]:
    section = "CUDA"
    if "error" in answer:
        yield Finding(section, "NVRTC and cuBLAS", answer["error"], "problem", _INSTALL)
        return
    for soname, purpose, package in (
        (f"libnvrtc.so.{cuda_major}", "compiling fused graphs", "nvidia-cuda-nvrtc"),
        (f"libcublasLt.so.{cuda_major}", "matrix products", "nvidia-cublas"),
    ):
        suffix = "-cu12" if cuda_major == 12 else ""
        found = [(file, text) for file, text in answer["files"].items() if soname in file]
        if found:
            file, text = found[0]
            described = f"{text}, {file}" if text else file
            if failure := answer["compilation_failures"].get(file):
                yield Finding(
                    section,
                    soname,
                    f"{described}, cannot compile: {failure}",
                    "problem",
                    f"pip install --force-reinstall {package}{suffix}",
                )
            else:
                yield Finding(section, soname, described)
        else:
            yield Finding(
                section,
                soname,
                "not found",
                "problem",
                f"cuDNN needs it for {purpose}: pip install {package}{suffix}",
            )
    directories = {str(Path(file).parent) for file in answer["cudnn"]}
    if len(directories) > 1:
        yield Finding(
            section,
            "mixed install",
            f"cuDNN libraries from {', '.join(sorted(directories))} in one process",
            "problem",
            "keep one of them; remove the others from LD_LIBRARY_PATH",
        )


def _known_faults(answer: dict[str, Any], version: str) -> Iterator[Finding]:
    section = "cuDNN"
    if "error" in answer:
        yield Finding(section, "known faults", answer["error"], "problem", _REPORT)
        return
    place = "on GPU 0" if answer["gpu"] else "on some GPU"
    text = f"{answer['count']} of cuDNN {version} {place}, heeded; doctor --faults lists them"
    yield Finding(section, "known faults", text)
    if version.rpartition(".")[0] not in answer["searched"]:
        text = f"compared on a GPU with cuDNN {', '.join(answer['searched'])}, not with {version}"
        yield Finding(section, "random graphs", text, "missing", _UNSEARCHED)
    if answer["crashes"]:
        text = (
            f"{answer['crashes']} forms of graphs, which builds refuse or pass over; the newest: "
        )
        yield Finding(section, "crashes", text + answer["newest"], "missing", _CRASHED)


@dataclass(frozen=True)
class _Purpose:
    """A thing that a person wants to do, and what helps where it cannot be done."""

    name: str
    state: State
    advice: str

    def finding(self, answer: dict[str, Any]) -> Finding:
        if "SUBLIBRARY_UNAVAILABLE" in answer.get("error", ""):
            return Finding(PURPOSES, self.name, _first_lines(answer["error"]), "missing", _REDUCED)
        if "error" in answer:
            text = _first_lines(answer["error"])
            return Finding(PURPOSES, self.name, text, self.state, self.advice)
        if not answer.get("right", True):
            text = f"{answer['done']}, with wrong numbers"
            return Finding(PURPOSES, self.name, text, "problem", _REPORT)
        return Finding(PURPOSES, self.name, answer["done"])


PURPOSES = "what can be done here"
"""The section of findings that tell whether something works."""

_PURPOSES = {
    "compute": _Purpose("compute on a GPU", "missing", _NO_GPU),
    "compile_elsewhere": _Purpose("compile for other GPUs", "missing", _INSTALL),
    "learn": _Purpose("learn without a GPU", "problem", _REPORT),
    "port": _Purpose("run and port C and C++", "missing", _TO_PORT),
    "watch": _Purpose("watch a program", "problem", _REPORT),
}

PROBES = ("library", "known_faults", "gpus", "cuda_libraries", *_PURPOSES)
"""All probes, in the order in which they are asked."""


def _first_lines(text: str) -> str:
    """The status and cuDNN's reason, without the arguments and the hint."""
    return "\n".join(text.splitlines()[:2])


_STYLES = {"ok": "green", "missing": "yellow", "problem": "bold red"}
_NAME = 26  # columns of a finding's name; longer names are not cut
_STATE = max(map(len, _STYLES))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes doctor``."""
    add_json(parser)
    parser.add_argument(
        "--report",
        action="store_true",
        help="print all in one block, with the system and the variables that matter, to be pasted "
        "into a report of a bug",
    )
    parser.add_argument(
        "--coverage", action="store_true", help="which part of the package uses which C function"
    )
    parser.add_argument(
        "--faults",
        action="store_true",
        help="the known faults of the loaded cuDNN on this machine's GPU, and what is done about "
        "each; without a GPU on all, without cuDNN of all",
    )
    parser.add_argument(
        "--save-device",
        type=Output,
        metavar="FILE",
        help="write the properties of this machine's GPU to a .json file, to be given elsewhere "
        "wherever a GPU is wanted (build, explain, compile --device FILE)",
    )
    add_force(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the report; 0 unless the C API cannot be loaded, or a file cannot be written."""
    if arguments.save_device:
        return _save_device(arguments.save_device, force=arguments.force)
    if arguments.coverage:
        return _print_coverage(as_json=arguments.json)
    if arguments.faults:
        return _print_faults(as_json=arguments.json)
    shown = not (arguments.json or arguments.report)
    findings: list[Finding] = []
    try:
        with steps("examining", len(PROBES)) as progress:
            for finding in examine(progress):
                if shown:
                    _tell(progress, finding, findings)
                findings.append(finding)
    finally:  # after Ctrl-C too
        if arguments.json:
            print(json.dumps([finding.as_dict() for finding in findings], indent=2))
        elif arguments.report:
            print(report(findings))
    if shown:
        _advise(findings)
    return 0 if any(f.name == "libcudnn" and f.state == "ok" for f in findings) else 1


def _save_device(output: Output, *, force: bool) -> int:
    from ...graph.backend.device_properties import DeviceProperties

    path = output.file("gpu.json", ".json")  # the ending tells files from names of GPUs
    with DeviceProperties.from_device() as here:
        write_text(path, here.to_json() + "\n", force=force)
        print(f"{path}: {here!r}, {here.source}")
    return 0


def _print_coverage(*, as_json: bool) -> int:
    from .coverage import print_table, table

    rows = table()
    if as_json:
        print(json.dumps([row.as_dict() for row in rows], indent=2))
    else:
        print_table(rows)
    return 0


def _print_faults(*, as_json: bool) -> int:
    from ...errors import LibraryNotFoundError
    from ...evidence.known_faults import known_faults
    from ...raw.library import load
    from ...runtime import cuda

    try:
        library = load()
        version, small = library.version, not library.has_precompiled_engines
    except LibraryNotFoundError:
        version, small = None, True
    rows = known_faults(version, cuda.first_capability() or None, small=small)
    if as_json:
        print(json.dumps([{"name": row.name, **row.facts} for row in rows], indent=2))
    else:
        print("\n\n".join(f"{row.name}\n{row}" for row in rows))
    return 0


def _tell(progress: Steps, finding: Finding, before: Sequence[Finding]) -> None:
    """Print a finding as one unwrapped line, so paths stay whole."""
    from rich.text import Text

    if not before or before[-1].section != finding.section:
        progress.tell(Text(f"{'' if not before else chr(10)}{finding.section}", "bold"))
    progress.tell(_line(finding))


def _line(finding: Finding) -> Text:
    from rich.text import Text

    further = "\n" + " " * (_NAME + _STATE + 6)
    return Text.assemble(
        f"  {finding.name:{_NAME}}  ",
        (f"{_state(finding):{_STATE}}", _STYLES[finding.state]),
        f"  {finding.value.replace(chr(10), further)}",
    )


def _state(finding: Finding) -> str:
    """Yes or no of a purpose, else the state's own word."""
    if finding.section == PURPOSES:
        return "yes" if finding.state == "ok" else "no"
    return finding.state


def _advise(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print()
    advice = {f.advice: f for f in findings if f.advice and f.state != "ok"}
    for text, finding in advice.items():
        console.print(Text.assemble((finding.name, _STYLES[finding.state]), f": {text}"))
    works = [finding.name for finding in findings if _state(finding) == "yes"]
    if not any(finding.state == "problem" for finding in findings):
        console.print(Text(f"No problem found. You can {', '.join(works)}.", "green"))


_PREFIXES = ("CUDNN", "CUDA_", "NVIDIA_", "LD_", "PYTORCH_CUDA")


def report(findings: Sequence[Finding]) -> str:
    """A block of Markdown: the system, the environment, the findings by section, advice.

    Examples
    --------
    >>> from cudnn_ctypes.commands.doctor import examine, report
    >>> print(report(list(examine())))  # doctest: +SKIP
    """
    return "\n".join(["```text", *_lines(findings), "```"])


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"cudnn-ctypes {__version__}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"{python}, {sys.executable}"
    yield f"{platform.platform()}, {platform.machine()}"
    variables = [name for name in sorted(os.environ) if name.startswith(_PREFIXES)]
    yield from (f"{name}={os.environ[name]}" for name in variables)
    for section in dict.fromkeys(finding.section for finding in findings):
        yield f"\n{section}"
        for finding in findings:
            if finding.section == section:
                value = finding.value.replace("\n", "\n      ")
                mark = "" if finding.state == "ok" else f"[{finding.state}] "
                yield f"  {finding.name}: {mark}{value}"
