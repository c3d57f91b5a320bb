"""The C library that compiled programs load: written from the declarations, compiled once, kept."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...evidence.files import CommandError
from ...graph.engines.cache.entry_folder import user_folder
from ...raw.headers import include_folder
from ...raw.library.loaded import STAND_INS
from ..cudart import cudaDeviceProp
from .signatures import Signature, signatures

HERE = Path(__file__).parent

_NAME, _KERNELS = "libcudnn_ctypes_program.so", "libcudnn_ctypes_kernels.so"

_SONAMES = (
    *(f"libcudnn.so.{n}" for n in range(5, 10)),
    *(f"libcudnn_{part}.so.9" for part in ("graph", "ops", "cnn", "adv")),
    *(f"libcudnn_{p}_{m}.so.8" for p in ("ops", "cnn", "adv") for m in ("infer", "train")),
    *(f"libcudart.so.{n}" for n in ("8.0", "9.0", "9.1", "9.2", "10.0", "10.1", "10.2", "11.0")),
    *(f"lib{name}.so.{n}" for name in ("cudart", "cublas") for n in (12, 13)),
    *(f"libcublas.so.{n}" for n in ("8.0", "9.0", "9.1", "9.2", "10", "10.0", "10.2", "11")),
    *(f"libcurand.so.{n}" for n in ("8.0", "9.0", "9.1", "9.2", "10.0", "10")),
)
"""The names under which programs load the libraries."""


def compiled(text: str, names: Sequence[str], work: Callable[[Path], None]) -> Path:
    """The folder among the user's caches with what is compiled from a text, once.

    - `text`: all that the files depend on.
    - `names`: the files; the last one shows that all are there.
    - `work`: compiles them into a folder.

    Raises CommandError if the user has no home, or `work` raises it.
    """
    try:
        folders = user_folder() / "programs"
    except RuntimeError:
        raise CommandError(
            "this user has no home for what is compiled: set XDG_CACHE_HOME to a folder"
        ) from None
    folder = folders / hashlib.sha256(text.encode()).hexdigest()[:16]
    if not (folder / names[-1]).exists():
        folders.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folders) as part:
            work(Path(part))
            folder.mkdir(exist_ok=True)
            for name in names:
                Path(part, name).replace(folder / name)
    return folder


def library() -> Path:
    """The library, compiled if it is not in the cache.

    Raises CommandError if there is no C compiler, or this Python has no shared library.
    """
    texts = sources()
    written = [(HERE / name).read_text() for name in ("library.c", "registered_kernels.c")]
    text = "".join((*texts.values(), *written, *map(str, headers())))
    work = functools.partial(_compile, texts)
    return compiled(text, (_KERNELS, _NAME), work) / _NAME


def registered_kernels(built: Path) -> Path:
    """The library beside `built` that takes the kernels which nvcc compiled, on no GPU."""
    return built.with_name(_KERNELS)


def stand_ins(built: Path) -> Path:
    """A folder with links to the library under all names of NVIDIA's libraries."""
    folder = built.parent / STAND_INS
    folder.mkdir(exist_ok=True)
    for name in _SONAMES:
        link = folder / name
        if not link.is_symlink():
            part = folder / f"{name}.{os.getpid()}"
            part.symlink_to(built)
            part.replace(link)
    return folder


def _compile(texts: dict[str, str], work: Path) -> None:
    for name, text in texts.items():
        (work / name).write_text(text)
    command = [compiler("c"), "-O2", "-shared", "-fPIC", "-w"]
    options = ["-fvisibility=hidden", f"-I{HERE}", *(f"-I{each}" for each in headers())]
    options.append(f"-Wl,--version-script={work / 'versions'}")
    files = [str(work / name) for name in texts if name.endswith(".c")]
    compile_c([*command, *options, *files, "-o", str(work / _NAME), "-ldl", "-lpthread"])
    compile_c([*command, str(HERE / "registered_kernels.c"), "-o", str(work / _KERNELS)])


def compile_c(command: Sequence[str]) -> None:
    """Run a compiler.

    Raises CommandError with what the compiler says, if it fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(f"{command[0]} failed:\n{done.stderr.strip()}")
    sys.stderr.write(done.stderr)


_COMPILERS = {"c": ("CC", "gcc", "clang", "cc"), "c++": ("CXX", "g++", "clang++", "c++")}


def compiler(language: str) -> str:
    """The user's compiler of "c" or "c++".

    Raises CommandError if there is none.
    """
    variable, *names = _COMPILERS[language]
    named = [os.environ[variable]] if os.environ.get(variable) else names
    found = next((each for each in named if shutil.which(each)), None)
    if found is None:
        tried = ", ".join(named)
        raise CommandError(f"no compiler of {language} ({tried}); install one: apt install g++")
    return found


# --- headers -------------------------------------------------------------------------------------

_WHEELS = {
    "cuda_runtime_api.h": ("cuda_runtime", "cudart", "nvidia-cuda-runtime-cu12"),
    "crt/host_defines.h": ("cuda_nvcc", "nvcc", "nvidia-cuda-nvcc-cu12"),
    "cublas_v2.h": ("cublas", "cublas", "nvidia-cublas-cu12"),
    "nvrtc.h": ("cuda_nvrtc", "nvrtc", "nvidia-cuda-nvrtc-cu12"),
}
"""A header of each wheel, the wheel's folder, its name for cuda.pathfinder, and its own."""


def headers() -> list[Path]:
    """The folders with the headers of cuDNN, cuBLAS and the CUDA runtime, as far as they exist."""
    return list(dict.fromkeys(each for _, each in _found() if each is not None))


def missing_headers() -> list[str]:
    """What a program may include and this machine lacks, each with the command that installs it."""
    return [
        f"{header} is not here: pip install "
        f"{_WHEELS[header][2] if header in _WHEELS else 'nvidia-cudnn-cu12'}"
        for header, folder in _found()
        if folder is None
    ]


def _found() -> Iterator[tuple[str, Path | None]]:
    cudnn = include_folder()
    yield "cudnn.h", cudnn
    for header, (folder, library, _) in _WHEELS.items():
        wheels = [cudnn.parents[1] / each / "include" for each in (folder, "cu13")] if cudnn else []
        beside = (each for each in wheels if (each / header).is_file())
        yield header, next(beside, None) or _elsewhere(library)


def _elsewhere(library: str) -> Path | None:
    """The folder of headers that CUDA's pathfinder finds: conda's, CUDA_HOME's, the system's."""
    from cuda import pathfinder

    find = getattr(pathfinder, "find_nvidia_header_directory", None)  # since 1.3
    found = find(library) if find else None
    return Path(found) if found else None


# --- the sources ---------------------------------------------------------------------------------


def sources() -> dict[str, str]:
    """The files of the library that are written from the declarations."""
    return {"functions.c": _functions(), "properties.c": _properties(), "versions": _versions()}


def _functions() -> str:
    names = ",\n".join(f'    "{each}"' for each in signatures())
    bodies = "\n".join(_body(i, each) for i, each in enumerate(signatures().values()))
    return f"""\
#define LIBPYTHON {json.dumps(str(_libpython()))}
#define PYTHONHOME {json.dumps(sys.base_prefix)}
#define START {json.dumps(_start())}
static const char *const names[] = {{
{names}
}};
static void *table[sizeof names / sizeof *names];
#include "library.c"
{bodies}
"""


def _body(index: int, signature: Signature) -> str:
    arguments = ", ".join(f"a{i}" for i in range(len(signature.types)))
    call = f"(({signature.c_type})entry({index}))({arguments});"
    head, end = (
        ("", "") if signature.result is None else ("__auto_type result = ", " return result;")
    )
    return (
        f"EXPORT {signature.c_definition} {{\n"
        f"    void *before = caller;\n    caller = __builtin_return_address(0);\n"
        f"    {head}{call}\n    caller = before;{end}\n}}"
    )


def _properties() -> str:
    """A table of the members of C's cudaDeviceProp: name, offset and size."""
    names = [name for name, _ in cudaDeviceProp._fields_]
    gone = ("clockRate", "memoryClockRate")  # in CUDA 13
    table = "".join(f"    MEMBER({each})\n" for each in names if each not in gone)
    old = "".join(f"    MEMBER({each})\n" for each in gone)
    return f"""\
#include <stddef.h>
struct member {{ const char *name; size_t offset, size; }};
#if __has_include(<cuda_runtime_api.h>) && __has_include(<crt/host_defines.h>)
#include <cuda_runtime_api.h>
#define SIZE(m) sizeof(((struct cudaDeviceProp *)0)->m)
#define MEMBER(m) {{ #m, offsetof(struct cudaDeviceProp, m), SIZE(m) }},
#if CUDART_VERSION < 13000
#define OLD \\
{old.rstrip().replace(chr(10), " " + chr(92) + chr(10))}
#else
#define OLD
#endif
__attribute__((visibility("default"))) struct member cudnn_ctypes_properties[64] = {{
    OLD
{table}}};
#else
__attribute__((visibility("default"))) struct member cudnn_ctypes_properties[64];
#endif
"""


def _versions() -> str:
    """The symbol versions of NVIDIA's libraries, which the loader looks for."""
    return "".join(f"{each} {{ }};\n" for each in _SONAMES)


def _start() -> str:
    """The Python program with which the library begins, a format of three numbers."""
    root = str(HERE.parents[2])
    sites = [each for each in sys.path if each.endswith("-packages") and os.path.isdir(each)]
    code = f"""\
import sys, site
resolver, end, owns = %ld, %ld, %d
if sys.version_info[:2] != {sys.version_info[:2]!r}:
    sys.exit("cudnn-ctypes: this process runs Python %%d.%%d, and the library was made for "
             "{sys.version_info[0]}.{sys.version_info[1]}" %% sys.version_info[:2])
if owns:
    sys.argv = ["program"]
    for each in {sites!r}:
        site.addsitedir(each)
if {root!r} not in sys.path:
    sys.path.insert(0, {root!r})
from cudnn_ctypes.porting.run.process import start
start(resolver, end, bool(owns))
"""
    return f"exec({code!r}, {{}})\n"  # not among the names of a program in Python


def _libpython() -> Path:
    """The shared library of this Python."""
    folder = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    version = f"libpython{sys.version_info[0]}.{sys.version_info[1]}.so"
    places = (folder, folder / (sysconfig.get_config_var("MULTIARCH") or ""))
    found = [file for each in places for file in sorted(each.glob(f"{version}*"))]
    if not found:
        raise CommandError(
            f"{sys.executable} has no shared library {version} in {folder}, which the library of "
            f"compiled programs needs: install it (apt install libpython3-dev), or use a Python of "
            f"uv or conda"
        )
    return found[-1]
