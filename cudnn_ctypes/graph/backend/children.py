"""Child processes that carry out cases one by one: a case that ends its child ends nothing else.

The parent sends a case and waits; the child notes what it is about to do, and answers. The parent
ends a child that is silent for too long; a child whose memory grows too much ends itself, and one
whose parent has ended ends, too. A child is a fork of its parent or, where the parent uses a GPU, a
fresh interpreter.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe
from typing import Any, Generic, NoReturn, TypeVar

from ...raw.library import linux
from ...raw.process import in_child

Case = TypeVar("Case")
Note = Callable[[Any], None]

_ADDRESS_SPACE = 16 << 30  # bytes that a child may map beyond its parent's
_BEGINNING = 60.0  # seconds that a child may take to begin
_TAIL = 2000  # characters of what a dead child printed


class Spent(Exception):
    """Raised by a case that leaves its process unusable: its result is the text, a fresh child
    goes on behind it.
    """


@dataclass(frozen=True)
class Outcome(Generic[Case]):
    """The outcome of one case, with the last thing that it noted.

    Of a case that ended its child the result is the signal's name, "hang", "memory" or "exit" with
    the code, and the end of what the child printed is there.
    """

    case: Case
    result: Any
    died: bool = False
    note: Any = ""
    printed: str = ""


class Child(Generic[Case]):
    """A process that carries out one case after the other.

    - `prepare`: called once in the child, with a function that takes notes; returns the function
      that carries out a case.
    - `megabytes`: growth of the child's own memory, in one case, that counts as a fault: pages of
      files are not counted, nor what comes back from the swap space.
    - `maps_a_gpu`: whether the cases may reserve addresses for all memory of a GPU, as CUDA's pools
      do: then what a child may map has no limit.
    - `fresh`: whether it is a new interpreter, which `prepare` and cases reach by pickle. A fork of
      a process that uses CUDA cannot use it.
    - `environment`: of a fresh child; by default this process's.
    """

    def __init__(
        self,
        prepare: Callable[[Note], Callable[[Case], Any]],
        *,
        megabytes: int = 1024,
        maps_a_gpu: bool = False,
        fresh: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        life = prepare, megabytes << 20, resource.RLIM_INFINITY if maps_a_gpu else _ADDRESS_SPACE
        self.ready: bool = False
        self.cases: int = 0
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._printed.close)
        self._here, there = Pipe()
        sys.stdout.flush()
        if fresh:
            self.pid: int = _started(there, self._printed.fileno(), environment)
        else:
            self.pid = os.fork()
            if self.pid == 0:
                self._here.close()
                for stream in (1, 2):
                    os.dup2(self._printed.fileno(), stream)
                _live(there, *life)
        there.close()
        _children.add(self)
        if fresh:
            with contextlib.suppress(OSError):  # it has ended: the first case tells
                self._here.send(sys.path)
                self._here.send((_live, life))

    def perform(
        self, case: Case, seconds: float = 60, noted: Note = lambda note: None
    ) -> Outcome[Case]:
        """The outcome of a case; a child that is silent for so many `seconds` hangs.

        Raises RuntimeError if it ends before its first case.
        """
        note: Any = ""
        self.cases += 1
        try:
            self._here.send(case)
            while self._here.poll(seconds if self.ready else max(seconds, _BEGINNING)):
                kind, content = self._here.recv()
                if kind == "ready":
                    self.ready = True
                elif kind == "note":
                    note = content
                    noted(note)
                else:
                    if kind == "spent":
                        self.end()
                    return Outcome(case, content, note=note)
            end = self.end() and "hang"
        except (EOFError, OSError):
            end = self.end(kill=False)
        if not self.ready:
            raise RuntimeError(f"a child ended before its first case: {end}\n{self._tail}")
        return Outcome(case, end, True, note, self._tail)

    @property
    def ended(self) -> bool:
        return not self.pid

    def end(self, *, kill: bool = True) -> str:
        """End it, and return how it ended: "" if it was no fault."""
        if self.ended:
            return ""
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._here.close()
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:  # the program waits for all children
            status = 0
        self.pid = 0
        self._printed.seek(0)
        self._tail: str = self._printed.read().decode("utf-8", "replace").strip("\0")[-_TAIL:]
        self._printed.close()
        return _end(status)

    def forget(self) -> None:
        """In a fork of the parent: the child is not this process's."""
        self._here.close()
        self._printed.close()
        self.pid = 0


_children: weakref.WeakSet[Child[Any]] = weakref.WeakSet()


def _forget_children() -> None:
    for each in list(_children):
        if not each.ended:
            each.forget()
    _children.clear()


in_child(_forget_children)


def outcomes(
    cases: Sequence[Case],
    prepare: Callable[[Note], Callable[[Case], Any]],
    *,
    seconds: float = 60,
    **options: Any,
) -> Generator[Outcome[Case], None, None]:
    """Run `cases` in child processes, in order: behind a case that ends its child another goes on.

    Each outcome comes as soon as it is known; the other parameters and errors are those of `Child`.
    """

    def prepared(note: Note) -> Callable[[int], Any]:
        perform = prepare(note)
        return lambda place: perform(cases[place])

    child: Child[Any] | None = None
    # A fork has the cases already, and they need not be such that can be pickled.
    fresh = options.get("fresh", False)
    try:
        for place in range(len(cases)):
            if child is None or child.ended:
                child = Child(prepare if fresh else prepared, **options)
            case = cases[place]
            yield replace(child.perform(case if fresh else place, seconds), case=case)
    finally:  # also if the caller wants no more
        if child is not None:
            child.end()


_BEGIN = """\
import sys
from multiprocessing.connection import Connection
there = Connection(int(sys.argv[1]))
sys.path[:] = there.recv()
live, life = there.recv()
live(there, *life)
"""


def _started(there: Connection, printed: int, environment: Mapping[str, str] | None) -> int:
    """Start a new interpreter, which imports what its parent can; return its number."""
    # Its exit is waited for by number, as that of a fork is. A terminal's signals are the parent's.
    process = subprocess.Popen(
        [sys.executable, "-c", _BEGIN, str(there.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=printed,
        pass_fds=(there.fileno(),),
        start_new_session=True,
        env=environment,
    )
    process.returncode = 0
    return process.pid


def _live(
    there: Connection, prepare: Callable[[Note], Callable[[Any], Any]], limit: int, room: int
) -> NoReturn:
    """The child's life: it never returns, and runs none of its parent's clean-up."""
    code = _EXIT_BROKEN
    try:
        sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        threading.Thread(target=_end_with_the_parent, args=(there,), daemon=True).start()
        perform = prepare(lambda note: there.send(("note", note)))
        # After the preparation: CUDA reserves addresses for all memory of the GPU and the host.
        if room != resource.RLIM_INFINITY and (taken := linux.memory()):
            resource.setrlimit(resource.RLIMIT_AS, (taken[0] + room, resource.RLIM_INFINITY))
        there.send(("ready", None))
        while True:
            case = there.recv()
            os.ftruncate(1, 0)
            os.lseek(1, 0, os.SEEK_SET)
            before = linux.memory()
            try:
                result = perform(case)
            except Spent as spent:
                there.send(("spent", str(spent)))
                code = 0
                break
            after = linux.memory()
            if before and after and after[1] - before[1] > limit:
                code = _EXIT_MEMORY
                break
            there.send(("done", result))
    except BaseException:
        import traceback

        traceback.print_exc()
    os._exit(code)


def _end_with_the_parent(there: Connection) -> None:
    """End this process, whatever C function it is in, once the other end of the pipe is closed."""
    poll = select.poll()
    poll.register(there.fileno(), 0)
    poll.poll()
    os._exit(0)


_EXIT_BROKEN, _EXIT_MEMORY = 97, 98


def _end(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    code = os.WEXITSTATUS(status)
    return "memory" if code == _EXIT_MEMORY else f"exit {code}"
