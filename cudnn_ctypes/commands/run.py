"""``run``: run a compiled program as it is, without a GPU or watched on one."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..evidence.files import CommandError
from ..porting.run.building import SUFFIXES, build
from ..porting.run.launching import environment
from .options import Output, file_name

EPILOG = """\
examples:
  python -m cudnn_ctypes run ./train --epochs 1
  python -m cudnn_ctypes run conv.cpp
  python -m cudnn_ctypes run --nan --stats ./train
  python -m cudnn_ctypes run --device reference:B200 --strict ./train
  python -m cudnn_ctypes run --device gpu --stats python train.py

Options stand before the program; what follows it are its own arguments. A source file is compiled
first, as by build. The program gets C's statuses; what is known about a mistake goes to stderr,
once for each line of the program, which it has by debug information (-g).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes run``."""
    parser.add_argument(
        "--device",
        default="reference",
        metavar="DEVICE",
        help="reference (the default), reference:B200 (with the engines of a B200), or gpu",
    )
    parser.add_argument("--trace", action="store_true", help="show each call on stderr")
    parser.add_argument("--nan", action="store_true", help="name the first call that gives NaN")
    parser.add_argument("--stats", action="store_true", help="sum up by C function at the end")
    parser.add_argument("--json", type=Output, metavar="FILE", help="write records of the calls")
    parser.add_argument("--py", type=Output, metavar="FILE", help="write the run in Python")
    parser.add_argument("--c", type=file_name, metavar="FOLDER", help="write the run in C")
    parser.add_argument(
        "--strict", action="store_true", help="reading memory that was never written is an error"
    )
    parser.add_argument(
        "--guard-pages", action="store_true", help="a stray access to memory ends the process"
    )
    parser.add_argument("program", help="a program, or its source file in C, C++ or CUDA")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the program's own arguments"
    )


def main(arguments: argparse.Namespace) -> int:
    """Become the program, whose exit status this is; 2 if it cannot be started."""
    program = _program(arguments)
    variables = environment(
        program,
        device=arguments.device,
        recordings=_recordings(arguments),
        checks=[name for name in ("strict", "guard_pages") if getattr(arguments, name)],
    )
    sys.stdout.flush()
    os.execve(program, [str(program), *arguments.arguments], variables)


def _program(arguments: argparse.Namespace) -> Path:
    name = arguments.program
    if Path(name).suffix.lower() in SUFFIXES:
        folder = tempfile.mkdtemp(prefix="cudnn_ctypes_")
        _remove_at_the_end(folder)
        output = Path(folder, Path(name).stem)
        build([Path(name)], output, for_gpu=arguments.device == "gpu")
        return output
    found = shutil.which(name) if os.sep not in name else name
    if found is None or not Path(found).is_file():
        raise CommandError(f"{name}: there is no such program")
    if not os.access(found, os.X_OK):
        raise CommandError(f"{name}: this file is no program that can be started")
    return Path(found)


def _remove_at_the_end(folder: str) -> None:
    """Have a folder removed as soon as this process, and the program that it becomes, have ended.

    The program has one end of a pipe open, which its end closes.
    """
    waiting, held = os.pipe()
    script = 'exec 3<&0; (read -r _ <&3; rm -r -- "$1") >/dev/null 2>&1 &'
    subprocess.run(
        ["/bin/sh", "-c", script, "sh", folder],
        stdin=waiting,
        start_new_session=True,
        env={"PATH": os.defpath},
    )
    os.close(waiting)
    os.set_inheritable(held, True)


def _recordings(arguments: argparse.Namespace) -> list[str]:
    """The recording, as CUDNN_CTYPES_TRACE names it."""
    found = [name for name in ("nan", "stats") if getattr(arguments, name)]
    found += ["1"] if arguments.trace else []
    for name, ending in (("json", ".json"), ("py", ".py")):
        output = getattr(arguments, name)
        if output is not None:
            found.append(str(output.file(f"calls{ending}", ending).absolute()))
    if arguments.c is not None:
        found.append(f"{arguments.c.absolute()}/")
    return found
