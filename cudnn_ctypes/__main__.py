"""The command line: ``python -m cudnn_ctypes COMMAND``."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from .commands import command_module, command_parser, standard_input

_INTERRUPTED, _BROKEN_PIPE = 130, 141  # a shell's statuses of programs that these signals ended
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as by `>&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open until the end)
    command = ""
    try:
        with standard_input(words) as given:
            parsed = command_parser(given).parse_args(given)
            command = parsed.command
            status = int(command_module(command).main(parsed))
            sys.stdout.flush()
            return status
    except KeyboardInterrupt:  # finished results are printed or written already
        return _INTERRUPTED
    except BrokenPipeError:  # the reader, `head` for instance, has closed the pipe
        _discard_output()
        return _BROKEN_PIPE
    except Exception as error:
        if not isinstance(error, OSError) or error.errno not in _NO_SPACE or error.filename:
            print(f"{command}: {_told(error, command)}", file=sys.stderr)
            return 2
        _discard_output()
        print(f"cudnn-ctypes: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 1


def _told(error: Exception, command: str) -> str:
    """An error of the user in one line; other errors are bugs, and get a traceback."""
    from .commands.options import USER_ERRORS

    if isinstance(error, USER_ERRORS):
        return str(error).removeprefix(f"{command}: ")
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    raise error


def _discard_output() -> None:
    """Send the rest of the output nowhere: Python writes it at exit, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
