"""The commands by name, and the parser of their arguments."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import Any, NoReturn

from . import __version__

__all__ = ["COMMANDS", "command_module", "command_parser"]

COMMANDS = {
    "bench": "time every algorithm and engine for a shape or a graph, against the GPU's limits",
    "cache": "what the plan cache on disk holds; clear it, or merge results of autotuning",
    "compile": "compile graphs for a GPU that need not be there",
    "completion": "print a script with which bash or zsh complete these commands",
    "demo": "filter a picture with cuDNN, every step shown and checked",
    "devices": "GPUs whose names can be given instead of one, and which graphs compile for them",
    "doctor": "what is installed, what works, and what to do about the rest",
    "examples": "programs and notebooks that teach cuDNN, in reading order; copy them",
    "explain": "every engine for a graph, on a GPU that need not be there, and why not",
    "judge": "execute every engine of a graph, and compare each with the reference in float64",
    "lookup": "what a name of cuDNN means, or what replaced it; also words, statuses, misspellings",
    "port": "what becomes of a C, C++ or CUDA program: names that are gone, faults, kernels",
    "trace": "run a program and show its C calls; sum them up, look for NaN, compare two runs",
}
"""The commands' summaries. A command's module has `add_arguments(parser)` and `main(arguments)`."""


# Modules with other names than their commands: ``cudnn_ctypes.trace`` is a function, and an
# installed wheel has the examples themselves in cudnn_ctypes/examples/.
_MODULES = {
    "completion": "completion_command",
    "examples": "examples_command",
    "port": "porting.command",
    "trace": "introspect.trace_command",
}


def command_module(command: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f".{_MODULES.get(command, command)}", __package__)


class _Parser(argparse.ArgumentParser):
    """A parser that suggests a command for a misspelled one."""

    word = ""

    def error(self, message: str) -> NoReturn:
        if self.word and self.word not in COMMANDS and not self.word.startswith("-"):
            from .arguments import suggestion

            message += suggestion(self.word, COMMANDS)
        super().error(message)


def command_parser(commands: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the options of `commands`; modules of other commands are not imported."""
    parser = _Parser(prog="cudnn-ctypes", description="All of cuDNN's C API from Python.")
    parser.word = commands[0] if commands else ""
    parser.add_argument("--version", action="version", version=f"cudnn-ctypes {__version__}")
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = parsers.add_parser(name, help=summary, description=summary)
        if name in commands:
            command_module(name).add_arguments(command)
    return parser
