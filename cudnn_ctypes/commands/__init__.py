"""The commands, each a module or folder in here, and the parser of their arguments.

The docstring of a command's module begins with its name and summary, which are read without
importing it. It has `add_arguments(parser)` and `main(arguments)`, which returns the exit status;
most have an `EPILOG`, which stands below their help.
An error of the user, one of ``options.USER_ERRORS``, is printed in one line, and the status is 2.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from .. import __version__


def _summaries() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(__path__):
        file = f"{module.name}/__init__.py" if module.ispkg else f"{module.name}.py"
        text = (pkgutil.get_data(__name__, file) or b"").decode()
        if begin := re.match(rf'"""``{module.name}``: (.+?)\.?(?:"""|\n\n)', text, re.DOTALL):
            yield module.name, " ".join(begin[1].split())


COMMANDS = dict(_summaries())
"""The commands' summaries."""


def command_module(command: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f".{command}", __name__)


class _Parser(argparse.ArgumentParser):
    """A parser that suggests a command for a misspelled one, and takes words as compilers do.

    Files may follow options. Unknown options go into the list ``compiler_options`` of a command
    that has one.
    """

    word = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, left = super().parse_known_args(args, namespace)
        for name, begins in (("files", False), ("compiler_options", True)):
            words = [each for each in left if each.startswith("-") is begins]
            if isinstance(known := getattr(found, name, None), list):
                known += map(type(known[0]) if known else str, words)
                left = [each for each in left if each not in words]
        return found, left

    def error(self, message: str) -> NoReturn:
        if self.word and self.word not in COMMANDS and not self.word.startswith("-"):
            from ..arguments import suggestion

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
            module = command_module(name)
            if hasattr(module, "EPILOG"):
                command.epilog = module.EPILOG
                command.formatter_class = argparse.RawDescriptionHelpFormatter
            module.add_arguments(command)
    return parser


_READ = {"bench", "compile", "explain", "judge", "lookup", "port"}


@contextmanager
def standard_input(words: Sequence[str]) -> Iterator[list[str]]:
    """The words of a command that reads files, with a file of the standard input for "-"."""
    reads = words and (words[0] in _READ or (words[0] == "trace" and "--read" in words))
    if not reads or "-" not in words:
        yield list(words)
        return
    with tempfile.TemporaryDirectory(prefix="cudnn_ctypes_") as folder:
        file = Path(folder, "standard input")
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield [str(file) if word == "-" else word for word in words]
