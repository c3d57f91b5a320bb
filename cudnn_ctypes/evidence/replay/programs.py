"""The files of recorded programs: a Python program, or a folder with C."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ...arguments import file_path
from ...raw import headers, library, mode
from ..session import listen, stop
from .c_program import CProgram
from .python_program import write_python
from .recording import Recording
from .steps import Bytes, Step

__all__ = ["Programs"]


@dataclass(frozen=True)
class RecordedOn:
    """The facts of the environment, as text."""

    version: str
    cudnn: str
    device: str
    cuda_home: str
    cudnn_include: str
    cudnn_lib: str

    @classmethod
    def now(cls) -> RecordedOn:
        """The facts of this process."""
        from ... import __version__

        loaded = library.load()
        include = headers.include_folder()
        return cls(
            __version__,
            loaded.version_text,
            _device(),
            os.environ.get("CUDA_HOME", "/usr/local/cuda"),
            "/usr/include" if include is None else str(include),
            str(Path(loaded.path).parent),
        )

    def as_dict(self) -> dict[str, str]:
        """The facts by name."""
        return asdict(self)


def _device() -> str:
    if mode.runtime.on_host:
        return "the reference device"
    with suppress(Exception):  # a trace never stops a program
        from ...runtime.device import current_device

        device = current_device()
        return f"an {device.name}" if device.name[0] in "AEIOU" else str(device.name)
    return "an unknown device"


_MAKEFILE = """\
# make builds the program, make run runs it. Where the headers and libraries are:
CUDA_HOME ?= {cuda_home}
CUDA_INCLUDE ?= $(CUDA_HOME)/include
CUDA_LIB ?= $(firstword $(wildcard $(CUDA_HOME)/lib64) $(CUDA_HOME)/lib)
CUDNN_INCLUDE ?= {cudnn_include}
CUDNN_LIB ?= {cudnn_lib}

CC ?= cc
CFLAGS ?= -O1 -Wall
INCLUDES = -I$(CUDNN_INCLUDE) -I$(CUDA_INCLUDE)
CUDART = $(firstword $(wildcard $(CUDA_LIB)/libcudart.so $(CUDA_LIB)/libcudart.so.*))
LIBRARIES = $(CUDNN_LIB)/libcudnn.so.9 $(CUDART) -Wl,-rpath,$(CUDNN_LIB),-rpath,$(CUDA_LIB) -lm

{name}: {name}.c
\t$(CC) -std=c99 $(CFLAGS) $(INCLUDES) $< -o $@ $(LIBRARIES)

# Where cuDNN looks for NVRTC and cuBLAS, if not beside itself.
PATHS = $(CUDNN_LIB):$(CUDA_LIB)$${{LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}}

run: {name}
\tLD_LIBRARY_PATH=$(PATHS) ./{name}

clean:
\trm -f {name}

.PHONY: run clean
"""

_README = """\
# {name}

The cuDNN calls of {program} as a C program, recorded by cudnn_ctypes {version}
with cuDNN {cudnn} on {device}.

    make run CUDNN_INCLUDE=... CUDNN_LIB=... CUDA_HOME=...

The variables are the folders of cudnn.h, of libcudnn.so.9, and of CUDA; the Makefile says what they
are without them. The program finds its data where it is run in this folder.

- {name}.c makes the calls in their order, {calls} in all; comments name the lines of the program.
{data}{left_out}
The exit status is 0 if all is as it was recorded, 1 if something differs, and 2 if a call fails
that did not.
"""


class CFolder:
    """A folder to which a program is written, repeatedly if necessary.

    Parameters
    ----------
    folder
        The path; it is created if missing. The program has the folder's name.
    program : str
        The name of the recorded program.
    """

    def __init__(self, folder: str | os.PathLike[str], program: str) -> None:
        self._folder, self._program = file_path("c", folder), program
        self._written: set[str] | None = None  # names of the data already written

    def write(self, steps: list[Step], data: Mapping[str, Bytes], left_out: Iterable[str]) -> None:
        """Write the program.

        Parameters
        ----------
        steps, data
            The steps and data of a `Recording`.
        left_out : iterable of str
            Calls that the program lacks, with reasons.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        folder = self._folder
        self._write_data(data)
        written = CProgram(steps)
        facts = RecordedOn.now().as_dict()
        facts |= {"program": self._program.replace("*/", "* /"), "name": _name(folder)}
        (folder / f"{facts['name']}.c").write_text(written.text(facts))
        (folder / "Makefile").write_text(_MAKEFILE.format(**facts))
        facts |= {
            "calls": str(written.calls),
            "data": _ABOUT_DATA if data else "",
            "left_out": _about(left_out),
        }
        (folder / "README.md").write_text(_README.format(**facts))

    def _write_data(self, data: Mapping[str, Bytes]) -> None:
        folder = self._folder / "data"
        folder.mkdir(parents=True, exist_ok=True)
        if self._written is None:
            self._written = set()
            for old in folder.glob("*.bin"):  # data of an earlier recording
                old.unlink()
        for name in data.keys() - self._written:
            (folder / f"{name}.bin").write_bytes(data[name].tobytes())
            self._written.add(name)


def _name(folder: Path) -> str:
    return re.sub(r"\W+", "_", folder.resolve().name) or "replay"


_ABOUT_DATA = """\
- data/ has the bytes that the program, or kernels of others, had put on the device, and
  those that the calls wrote (expected...), with which it compares what it finds.
"""


def _about(left_out: Iterable[str]) -> str:
    lines = [f"  - {' '.join(reason.split())}\n" for reason in left_out]
    return "".join(["- Left out are\n", *lines]) if lines else ""


class Programs:
    """The Python and C programs of one recording, written at its end.

    Parameters
    ----------
    py : path, optional
        The file of the Python program.
    c : path, optional
        The folder of the C program.
    program : str
        The name of the recorded program; default: the running one.
    first : int, optional
        The number of calls; default: all.
    flush : bool
        Whether to write before each call too, in case it ends the process.
    """

    def __init__(
        self,
        py: str | os.PathLike[str] | None,
        c: str | os.PathLike[str] | None,
        program: str = "",
        first: int | None = None,
        flush: bool = False,
    ) -> None:
        self._program = program or os.path.basename(sys.argv[0]) or "a program"
        self._py, self._c = py, None if c is None else CFolder(c, self._program)
        self._recording, self._first = Recording(first, self._write if flush else None), first
        self._is_open = False

    @property
    def left_out(self) -> list[str]:
        """Calls that cannot be recorded, with reasons, each once."""
        return [*dict.fromkeys(self._recording.skipped)]

    def start(self) -> None:
        """Record from now on."""
        if self._first != 0:
            listen(self._recording)
        self._is_open = True

    def finish(self) -> None:
        """Stop recording and write the programs; a second call does nothing.

        Raises
        ------
        OSError
            If the programs cannot be written.
        """
        if not self._is_open:
            return
        self._is_open = False
        stop(self._recording)
        self._write(self._recording.finished())

    def _write(self, steps: list[Step]) -> None:
        data = self._recording.data
        if self._py is not None:
            write_python(steps, data, self._py, self._program)
        if self._c is not None:
            self._c.write(steps, data, self.left_out)
