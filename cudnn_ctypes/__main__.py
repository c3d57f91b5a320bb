"""The command line: ``python -m cudnn_ctypes COMMAND``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["main"]

# Modules with `add_arguments(parser)` and `main(arguments)`, by command.
_COMMANDS = {
    "cache": "what the plan cache on disk holds; clear it, or merge results of autotuning",
    "compile": "compile graphs for a GPU that need not be there",
    "demo": "filter a photograph with cuDNN, every step shown and checked",
    "devices": "GPUs whose names can be given instead of one, and which graphs compile for them",
    "doctor": "what is installed, what works, and what to do about the rest",
    "examples": "programs and notebooks that teach cuDNN, in reading order; copy them",
    "explain": "every engine for a graph, on a GPU that need not be there, and why not",
    "lookup": "what a name of cuDNN means, or what replaced it; also words, statuses, misspellings",
    "port": "what becomes of a C, C++ or CUDA program: names that are gone, faults, kernels",
    "trace": "run a program and show its C calls; sum them up, look for NaN, compare two runs",
}


# Where the module is called otherwise: ``cudnn_ctypes.trace`` is a function, and the examples
# themselves are in cudnn_ctypes/examples/ where a wheel was installed.
_MODULES = {
    "examples": "examples_command",
    "port": "porting.command",
    "trace": "introspect.trace_command",
}


def _module(command: str) -> Any:
    return importlib.import_module(f".{_MODULES.get(command, command)}", __package__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="cudnn-ctypes", description="All of cuDNN's C API from Python."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name in words:  # the others are not imported
            _module(name).add_arguments(command)
    parsed = parser.parse_args(words)
    module = _module(parsed.command)
    try:
        status = int(module.main(parsed))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads this has enough, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
