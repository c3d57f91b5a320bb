"""``build``: compile a C, C++ or CUDA program, for the reference device or a GPU."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..porting.run.building import build
from .options import file_name

EPILOG = """\
examples:
  python -m cudnn_ctypes build conv.cpp -o conv
  python -m cudnn_ctypes build main.cu layers.cu -I include -D N=64 -o train
  python -m cudnn_ctypes build main.cpp -fopenmp -std=c++20

Other options are the compiler's. Kernels are compiled for the host: the threads of a grid run one
after the other. With --device gpu nvcc compiles them. Names of cuDNN 2 to 8 that cuDNN 9 dropped
are declared.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes build``."""
    parser.add_argument(
        "files", nargs="+", type=file_name, metavar="FILE", help="a C, C++ or CUDA file"
    )
    parser.add_argument(
        "-o", "--output", type=file_name, metavar="PROGRAM", help="default: the first file's name"
    )
    for letter, what in (("I", "FOLDER"), ("D", "NAME"), ("L", "FOLDER"), ("l", "LIBRARY")):
        parser.add_argument(
            f"-{letter}",
            dest=f"option_{letter}",
            action="append",
            default=[],
            metavar=what,
            help="as for a compiler; may be repeated",
        )
    parser.add_argument(
        "--device", choices=("reference", "gpu"), default="reference", help="where kernels run"
    )
    parser.set_defaults(compiler_options=[])


def main(arguments: argparse.Namespace) -> int:
    """Compile the program."""
    output = arguments.output or Path(arguments.files[0].stem)
    build(
        arguments.files,
        output,
        includes=[Path(each) for each in arguments.option_I],
        options=[
            *(
                f"-{each}{value}"
                for each in "DLl"
                for value in getattr(arguments, f"option_{each}")
            ),
            *arguments.compiler_options,
        ],
        for_gpu=arguments.device == "gpu",
    )
    return 0
