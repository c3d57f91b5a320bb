"""The command that lists the examples, and copies them to where they can be changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .example_files import copy, examples, folder

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes examples``."""
    parser.add_argument(
        "name", nargs="?", help="a number or a part of a name: what these examples teach"
    )
    parser.add_argument("--copy", type=Path, metavar="DIR", help="copy all of them into a folder")


def main(arguments: argparse.Namespace) -> int:
    """List, show or copy; 2 if that cannot be done."""
    try:
        if arguments.copy is not None:
            written = copy(arguments.copy)
            print(f"{len(written)} files in {arguments.copy}; begin with README.md")
            return 0
        if arguments.name is not None:
            return _show(arguments.name)
        return _list()
    except BrokenPipeError:
        raise  # the command line knows what to do about it
    except OSError as error:
        print(f"examples: {error}", file=sys.stderr)
        return 2


def _list() -> int:
    print(f"In reading order; README.md says who should read what. They are in {folder()}\n")
    notebooks = False
    for example in examples():
        if example.path.suffix == ".ipynb" and not notebooks:
            notebooks = True
            print("\nNotebooks, with exercises; they need no GPU\n")
        print(f"  {example.path.stem:32} {example.title}")
    print("\nexamples NAME says more about one; examples --copy DIR copies all of them")
    return 0


def _show(name: str) -> int:
    chosen = [each for each in examples() if name.lower() in str(each.path).lower()]
    for example in chosen:
        print(f"{folder() / example.path}\n\n{example.title}\n")
        if example.about:
            print(f"{example.about}\n")
    if not chosen:
        print(f"examples: none is called {name!r}", file=sys.stderr)
        return 2
    return 0
