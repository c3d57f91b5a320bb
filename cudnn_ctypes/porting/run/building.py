"""Compiling C, C++ and CUDA programs against cuDNN's headers, for the reference device or a GPU."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

from ... import raw
from ...evidence.files import CommandError
from ..source import text_of
from .kernels import CUDA_NAME, missing_functions
from .library import HERE, compile_c, compiler, headers, library, missing_headers
from .old_names import header, names_old
from .sources import for_the_host, has_kernels

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu")
"""Of source files."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)

_WHEELS = {
    "cufft": "nvidia-cufft-cu12",
    "cusparse": "nvidia-cusparse-cu12",
    "cusolver": "nvidia-cusolver-cu12",
    "nvtx3/": "nvidia-nvtx-cu12",
    "nccl": "nvidia-nccl-cu12",
    "cudnn_frontend": "nvidia-cudnn-frontend",
}
"""The wheel of a header, by the beginning of its name."""

_CPP_HEADER = re.compile(r"fatal error: [a-z]+: No such|unknown type name .namespace")
"""What a compiler says of a file in C that includes a header of C++, which is then C++."""

_MISTAKES = {
    "cudaDeviceProp.* has no member": "CUDA 13 took clockRate and others from cudaDeviceProp: ask "
    "cudaDeviceGetAttribute, or use headers of CUDA 12 (pip install nvidia-cuda-runtime-cu12)",
    "include both cublas.h and cublas_v2.h": "cuBLAS since 12 refuses this: remove cublas.h, whose "
    "functions have no handle",
}
"""What the compiler says of a program that was written for an older CUDA, and what helps."""


def build(
    files: Sequence[Path],
    output: Path,
    *,
    includes: Sequence[Path] = (),
    options: Sequence[str] = (),
    for_gpu: bool = False,
) -> None:
    """Compile and link a program.

    - `files`: sources in C, C++ and CUDA.
    - `output`: the program.
    - `includes`: folders with headers of the program.
    - `options`: further options for the compiler, as ``-DN=3`` and ``-lm``.
    - `for_gpu`: whether kernels are compiled by nvcc, instead of for the host.

    Raises CommandError if a file cannot be read, a compiler is missing, or it fails; the message
    has what to do.
    """
    for file in files:
        if file.suffix.lower() not in SUFFIXES:
            raise CommandError(f"{file}: expected a file that ends in {', '.join(SUFFIXES)}")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        copies = _Copies(Path(work), [each.absolute() for each in includes])
        sources = [copies.add(each.absolute()) for each in files]
        with_nvcc = for_gpu and copies.has_kernels
        if with_nvcc and shutil.which("nvcc") is None:
            raise CommandError("the kernels need nvcc: install the CUDA toolkit")
        try:
            if with_nvcc:
                _with_nvcc(files, output, includes, [*copies.old, *options])
            else:
                _for_the_host(sources, output, copies, options, for_gpu)
        except CommandError as error:
            raise CommandError(f"{error}{_advice(str(error))}") from None


def _for_the_host(
    sources: Sequence[Path], output: Path, copies: _Copies, options: Sequence[str], for_gpu: bool
) -> None:
    common = ["-g", "-O1", "-w", "-pthread", *copies.old, *copies.includes]
    common += [f"-I{each}" for each in headers()]
    common += ["-idirafter", str(HERE / "include"), f"-ffile-prefix-map={copies.work}="]
    linked = [each for each in options if each.startswith(("-l", "-L", "-Wl"))]
    compiled = [each for each in options if each not in linked]
    kernels = ["-include", str(HERE / "include" / "cudnn_ctypes_kernels.h")]
    objects = []
    for number, source in enumerate(sources):
        objects.append(str(copies.work / f"{number}.o"))
        rest = [*compiled, "-c", str(source), "-o", objects[-1]]
        if source.suffix == ".c" and "-xc++" not in compiled:
            try:
                compile_c([compiler("c"), "-x", "c", *common, *rest])
                continue
            except CommandError as error:
                if not _CPP_HEADER.search(str(error)):
                    raise
        is_cuda = source.suffix == ".cu" or copies.has_kernels
        more = kernels if is_cuda else ["-include", "cuda_runtime.h"]  # as nvcc does
        compile_c([compiler("c++"), "-x", "c++", *common, *more, *rest])
    libraries = [*map(str, _libraries()), str(library()), *(_driver() if for_gpu else ())]
    compiled = [each for each in compiled if not each.startswith("-x")]
    linker = [compiler("c++"), *objects, "-o", str(output), "-pthread", *linked, *compiled]
    linker += ["-Wl,--as-needed", *libraries, "-lm", "-ldl"]
    try:
        compile_c(linker)
    except CommandError as error:
        names = set(re.findall(r"undefined reference to `(\w+)'", str(error)))
        if for_gpu or not names or not all(map(CUDA_NAME.fullmatch, names)):
            raise
        missing = copies.work / "missing.o"
        missing.with_suffix(".c").write_text(missing_functions(names))
        compile_c([compiler("c"), "-w", "-c", str(missing.with_suffix(".c")), "-o", str(missing)])
        compile_c([*linker, str(missing), str(library())])


def _with_nvcc(
    files: Sequence[Path], output: Path, includes: Sequence[Path], options: Sequence[str]
) -> None:
    folders = [f"-I{each}" for each in (*includes, *headers()[:1])]
    libraries = [str(each) for each in _libraries() if "cudart" not in each.name]
    libraries += ["--as-needed", str(library())]  # for functions that cuDNN 9 dropped
    found = [option for each in libraries for option in ("-Xlinker", each)]
    places = [f"-rpath={Path(each).parent}" for each in libraries[:-2]]
    found += [option for each in (*places, *_driver()) for option in ("-Xlinker", each)]
    nvcc = ["nvcc", "-g", "-w", "-cudart", "shared", "-x", "cu", *folders]
    compile_c([*nvcc, *options, *map(str, files), "-o", str(output), *found])


def _libraries() -> list[Path]:
    """The libraries that a program names as those it needs: cuDNN's, the runtime's, cuBLAS's."""
    cudnn = Path(raw.load().path)
    found = [cudnn]
    for name in ("cudart", "cublas"):
        places = [
            *cudnn.parents[2].glob(f"*/lib/lib{name}.so.*"),
            *cudnn.parent.glob(f"lib{name}.so.*"),
        ]
        found += sorted(places)[:1]
    return found


def _driver() -> list[str]:
    """The option that links a program with CUDA's driver, where it is installed."""
    name = find_library("cuda")
    return [f"-l:{name}"] if name else []


def _advice(text: str) -> str:
    """What installs a header that the compiler does not find."""
    lines = missing_headers()
    for name in re.findall(r"fatal error: ([\w./]+): No such file", text):
        wheel = next((each for key, each in _WHEELS.items() if name.startswith(key)), None)
        lines += [f"{name} is not here: pip install {wheel}"] if wheel else []
    lines += [advice for words, advice in _MISTAKES.items() if re.search(words, text)]
    return "".join(f"\n{each}" for each in dict.fromkeys(lines))


class _Copies:
    """The program's files with kernels as calls, at the same places below a folder.

    Headers that its files include are copied too: a copy includes the copies beside it.

    - `includes`: the compiler's options to find copies, and then the program's own folders.
    - `old`: its options for a program that uses names of an older cuDNN.
    """

    def __init__(self, work: Path, includes: Sequence[Path]) -> None:
        self.work = work
        self._folders = list(includes)
        self._known: dict[Path, Path] = {}
        self.includes = [f"-I{each}" for each in (*map(self._place, includes), *includes)]
        self.old: list[str] = []
        self.has_kernels = False

    def _place(self, path: Path) -> Path:
        return self.work / path.relative_to(path.anchor)

    def add(self, path: Path) -> Path:
        """Copy a file and what it includes; its copy."""
        path = Path(os.path.normpath(path))
        if path in self._known:
            return self._known[path]
        copy = self._known[path] = self._place(path)
        text = text_of(path)
        for quoted, bracketed in _INCLUDE.findall(text):
            beside = (path.parent,) if quoted else ()
            for folder in (*beside, *self._folders):
                if (folder / (quoted or bracketed)).is_file():
                    self.add(folder / (quoted or bracketed))
                    break
        if has_kernels(text):
            self.has_kernels = True
            try:
                text = for_the_host(text)
            except ValueError as error:
                raise CommandError(f"{path}: {error}") from None
        if not self.old and names_old(text):
            file = self.work / "old_names.h"
            file.write_text(header())
            self.old = ["-include", str(file)]
        self.includes += [f"-iquote{path.parent}"] * (f"-iquote{path.parent}" not in self.includes)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(f'#line 1 "{path}"\n{text}', encoding="utf-8")
        return copy
