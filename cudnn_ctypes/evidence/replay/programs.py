"""The programs that a trace writes from its recording."""

from __future__ import annotations

import os
import sys

from ..session import listen, stop
from .c_folder import CFolder
from .python_program import write_python
from .recording import Recording
from .steps import Step

__all__ = ["Programs"]


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
