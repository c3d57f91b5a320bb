"""Cases in child processes: a child works through them until one ends it, the next goes on behind.

A child tells its parent through a pipe what became of each case, so the case that ended a child is
known. The parent ends a child that takes too long; a child whose memory grows too much ends itself.
A child is a fork of its parent or, where the parent uses a GPU, a fresh interpreter.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, NoReturn, TypeVar

__all__ = ["Outcome", "Spent", "outcomes", "work"]

Case = TypeVar("Case")
Note = Callable[[str], None]

_ADDRESS_SPACE = 16 << 30  # bytes that a child may map beyond its parent's
_TAIL = 2000  # characters of what a dead child printed
_LONGEST = 60_000  # characters of one result or note


class Spent(Exception):
    """Raised by a case that leaves its process unusable: its result is the text, a fresh child
    goes on behind it.
    """


@dataclass(frozen=True)
class Outcome(Generic[Case]):
    """The outcome of one case.

    Attributes
    ----------
    result : str
        What the case returned; of a case that ended its child the signal's name, "hang",
        "memory" or "exit" with the code.
    died : bool
        Whether it ended its child.
    note : str
        The last thing that the case noted before it ended its child.
    printed : str
        The end of what the dead child printed.
    """

    case: Case
    result: str
    died: bool = False
    note: str = ""
    printed: str = ""


def outcomes(
    cases: Sequence[Case],
    prepare: Callable[[Note], Callable[[Case], str]],
    *,
    seconds: float = 60,
    megabytes: int = 1024,
    maps_a_gpu: bool = False,
    fresh: bool = False,
) -> Iterator[Outcome[Case]]:
    """Run `cases` in child processes, in order.

    Parameters
    ----------
    cases : sequence
    prepare : callable
        Called once in each child; returns the function that runs one case and says in a word what
        became of it. Its argument takes notes: what a case is about to do, for `Outcome.note`.
    seconds : float
        After which a case counts as hanging.
    megabytes : int
        Growth of the child's own memory, in one case, that counts as a fault: pages of files are
        not counted, nor what comes back from the swap space.
    maps_a_gpu : bool
        Whether the cases may reserve addresses for all memory of a GPU, as CUDA's pools do: then
        what a child may map has no limit.
    fresh : bool
        Whether each child is a new interpreter, which cases and `prepare` reach by pickle. A fork
        of a process that uses CUDA cannot use it.

    Yields
    ------
    Outcome
        One for each case, as soon as it is known.

    Raises
    ------
    RuntimeError
        If a child ends before its first case.
    """
    done = 0
    while done < len(cases):
        reading, writing = os.pipe()
        with tempfile.TemporaryFile() as printed:
            sys.stdout.flush()
            room = resource.RLIM_INFINITY if maps_a_gpu else _ADDRESS_SPACE
            life = (cases, done, prepare, megabytes << 20, room, writing)
            if fresh:
                child = _started(life, writing, printed)
            else:
                child = os.fork()
                if child == 0:
                    os.close(reading)
                    work(*life, printed.fileno())
            os.close(writing)
            ready, note, hangs = False, "", False
            try:
                for kind, text in _journal(reading, seconds):
                    if kind == "ready":
                        ready = True
                    elif kind == "note":
                        note = text
                    elif kind == "late":
                        hangs = True
                        os.kill(child, signal.SIGKILL)
                    else:
                        yield Outcome(cases[done], text)
                        done, note = done + 1, ""
            except BaseException:  # the caller wants no more
                os.kill(child, signal.SIGKILL)
                raise
            finally:
                os.close(reading)
                _, status = os.waitpid(child, 0)
            end = _end(status, hangs)
            if not ready:
                raise RuntimeError(f"a child ended before its first case: {end}\n{_tail(printed)}")
            if end and done < len(cases):
                yield Outcome(cases[done], end, True, note, _tail(printed))
                done += 1


_BEGIN = """\
import os, pickle, sys
with open(sys.argv[1], "rb") as file:
    os.unlink(sys.argv[1])
    sys.path[:] = pickle.load(file)
    work, life = pickle.load(file)
work(*life, 1)
"""


def _started(life: tuple[Any, ...], journal: int, printed: BinaryIO) -> int:
    """Start a new interpreter, which imports what its parent can; return its number."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        pickle.dump(sys.path, file)
        pickle.dump((work, life), file)
    try:
        words = [sys.executable, "-c", _BEGIN, file.name]
        # Its exit is waited for by number, as that of a fork is.
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            pass_fds=(journal,),
        )
    except BaseException:
        os.unlink(file.name)
        raise
    process.returncode = 0
    return process.pid


def work(
    cases: Sequence[Case],
    start: int,
    prepare: Callable[[Note], Callable[[Case], str]],
    limit: int,
    room: int,
    journal: int,
    printed: int,
) -> NoReturn:
    """The child's life: it never returns, and runs none of its parent's clean-up."""
    code = _EXIT_BROKEN
    try:
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def tell(kind: str, text: str) -> None:
            os.write(journal, f"{kind} {text[:_LONGEST]}".replace("\n", " ").encode() + b"\n")

        perform = prepare(lambda text: tell("note", text))
        # After the preparation: CUDA reserves addresses for all memory of the GPU and the host.
        if room != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_AS, (_mapped() + room, resource.RLIM_INFINITY))
        tell("ready", "")
        for case in cases[start:]:
            before = _own()
            try:
                result = perform(case)
            except Spent as spent:
                tell("done", str(spent))
                code = 0
                break
            if _own() - before > limit:
                code = _EXIT_MEMORY
                break
            tell("done", result)
        else:
            code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    os._exit(code)


_EXIT_BROKEN, _EXIT_MEMORY = 97, 98


def _mapped() -> int:
    """Bytes of this process's addresses."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _own() -> int:
    """Bytes of memory that belong to no file, also those that were swapped out."""
    with open("/proc/self/status", "rb") as file:
        lines = [line.split() for line in file]
    return 1024 * sum(int(line[1]) for line in lines if line[0] in (b"RssAnon:", b"VmSwap:"))


def _journal(reading: int, seconds: float) -> Iterator[tuple[str, str]]:
    """A child's messages, as kind and text; once "late" when it is silent for too long."""
    rest = b""
    deadline = time.monotonic() + seconds
    while True:
        remaining = deadline - time.monotonic()
        if not select.select([reading], [], [], max(remaining, 0))[0]:
            yield "late", ""
            return
        data = os.read(reading, 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            kind, _, text = line.decode("utf-8", "replace").partition(" ")
            if kind != "note":
                deadline = time.monotonic() + seconds
            yield kind, text


def _end(status: int, hangs: bool) -> str:
    """How a child ended: "" if it worked through its cases."""
    if hangs:
        return "hang"
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    code = os.WEXITSTATUS(status)
    return "memory" if code == _EXIT_MEMORY else f"exit {code}" if code else ""


def _tail(printed: BinaryIO) -> str:
    printed.seek(0)
    return printed.read().decode("utf-8", "replace")[-_TAIL:]
