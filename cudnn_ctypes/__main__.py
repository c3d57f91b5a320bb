"""The command line: ``python -m cudnn_ctypes COMMAND``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .commands import command_module, command_parser

__all__ = ["main"]

_INTERRUPTED = 130  # a shell's exit status for a program that SIGINT ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = command_parser(words).parse_args(words)
        status = int(command_module(parsed.command).main(parsed))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:  # finished results are printed or written already
        return _INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for instance, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
