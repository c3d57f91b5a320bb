"""The folder of a recorded C program: the program, its data, a Makefile and a README."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .c_program import CProgram
from .recorded_on import RecordedOn
from .recording import Recording

__all__ = ["write_c"]

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

run: {name}
\t./{name}

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


def write_c(recording: Recording, folder: str | os.PathLike[str], program: str) -> None:
    """Write a recorded program as a C program that stands alone.

    Parameters
    ----------
    recording : Recording
    folder
        Is made if there is none; the program is called like it.
    program : str
        What was recorded.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    folder = Path(folder)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for old in data.glob("*.bin"):  # of an earlier recording
        old.unlink()
    written = CProgram(recording.finished())
    facts = RecordedOn.now().as_dict()
    facts |= {"program": program.replace("*/", "* /"), "name": _name(folder)}
    (folder / f"{facts['name']}.c").write_text(written.text(facts))
    (folder / "Makefile").write_text(_MAKEFILE.format(**facts))
    facts |= {
        "calls": str(written.calls),
        "data": _about_data(recording),
        "left_out": _about_left_out(recording),
    }
    (folder / "README.md").write_text(_README.format(**facts))
    for name, contents in recording.data.items():
        (data / f"{name}.bin").write_bytes(contents.tobytes())


def _name(folder: Path) -> str:
    return re.sub(r"\W+", "_", folder.resolve().name) or "replay"


def _about_data(recording: Recording) -> str:
    if not recording.data:
        return ""
    return (
        "- data/ has the bytes that the program, or kernels of others, had put on the device, and\n"
        "  those that the calls wrote (expected...), with which it compares what it finds.\n"
    )


def _about_left_out(recording: Recording) -> str:
    lines = [f"  - {' '.join(reason.split())}\n" for reason in dict.fromkeys(recording.skipped)]
    return "".join(["- Left out are\n", *lines]) if lines else ""
