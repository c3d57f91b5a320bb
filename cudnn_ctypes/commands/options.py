"""Parts shared by the commands: files, the choice of a GPU, errors of users, progress."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ..errors import CudnnError, LibraryNotFoundError, NoDeviceError, SymbolNotFoundError
from ..evidence.files import CommandError

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text

    from ..evidence.found import Evidence
    from ..graph.graph import Graph

USER_ERRORS = (
    CommandError,
    ValueError,
    NoDeviceError,
    LibraryNotFoundError,
    CudnnError,
    SymbolNotFoundError,
    ImportError,  # of a package that is optional
)
"""Errors that a command prints as one line; other exceptions are bugs and get a traceback."""


@dataclass(frozen=True)
class Output:
    """A command's output path: a file, or a folder if it ends in "/" or is an existing folder.

    - `text`: the path as written by the user; a Path would lose the "/" at the end.
    """

    text: str

    def __post_init__(self) -> None:
        file_name(self.text)

    @property
    def path(self) -> Path:
        return Path(self.text)

    @property
    def is_folder(self) -> bool:
        return self.text.endswith(os.sep) or os.path.isdir(self.text)

    def file(self, name: str, *endings: str) -> Path:
        """The file to write; in a folder it has the name `name`.

        Raises CommandError if its name has none of the `endings`, of which there are any.
        """
        path = self.path / name if self.is_folder else self.path
        if endings and path.suffix.lower() not in endings and not _is_no_file(path):
            raise CommandError(f"{path}: expected a name that ends in {' or '.join(endings)}")
        return path

    def __str__(self) -> str:
        return self.text


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file; missing parent folders are created.

    Raises CommandError if the file exists and `force` is false, or it cannot be written.
    """
    write_bytes(path, text.encode(), force=force)


def write_bytes(path: Path, data: bytes, *, force: bool = False) -> None:
    """Write a binary file; see `write_text`."""
    make_folder(path.parent)
    try:
        with path.open("wb" if force or _is_no_file(path) else "xb") as file:
            file.write(data)
    except OSError as error:
        if isinstance(error, FileExistsError):
            if path.is_symlink() and not os.path.exists(path):
                raise CommandError(f"{path}: this is a link to a file that is not there") from None
            raise _there_already(path) from None
        raise CommandError(f"{path}: it cannot be written: {error.strerror}") from None


def make_folder(path: Path) -> None:
    """Make a folder with its parents, unless it is there.

    Raises CommandError.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise CommandError(f"{path}: this is a file, and a folder is wanted") from None
    except OSError as error:
        raise CommandError(f"{path}: it cannot be made: {error.strerror}") from None


def refuse_overwriting(paths: Iterable[Path | None], *, force: bool) -> None:
    """Refuse existing output files, before the work for them begins.

    A folder is refused unless it is empty; None means no file.

    Raises CommandError if a file exists and `force` is false.
    """
    for path in paths:
        # The functions of os.path raise nothing, for a name that is too long say.
        if path is None or force or not os.path.exists(path) or _is_no_file(path):
            continue
        if not os.path.isdir(path) or any(path.iterdir()):
            raise _there_already(path)


def _is_no_file(path: Path) -> bool:
    """True for a terminal or pipe, in which nothing can be overwritten."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _there_already(path: Path) -> CommandError:
    return CommandError(f"{path}: it is there already; --force writes over it")


EVIDENCE = (
    "a file that Graph.to_json wrote, a graph of NVIDIA's front end, a module that XLA dumped, "
    "or a log of cuDNN"
)
"""Files that commands take for a graph; see `read_graphs`."""


def child_variables() -> dict[str, str]:
    """The environment of a child process that imports this package, from wherever it is."""
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def evidence_in(path: Path) -> Evidence:
    """The graphs and calls in a file.

    Raises CommandError if the file cannot be read.
    """
    from ..evidence.reading import read_evidence

    try:
        return read_evidence(path)
    except OSError as error:
        raise CommandError(f"{path}: it cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None


def read_graphs(path: Path) -> list[tuple[Path, Graph]]:
    """The graphs in a file, each with its name: the file's, or "cudnn.log#2" of several.

    ``cudnn.log#2`` in place of the file's name chooses one. What was read of a log, and what not,
    is said on the standard error output.

    Raises CommandError if the file cannot be read, or has no graph.
    """
    from ..evidence.found import LOG

    file, number = path, 0
    if not os.path.exists(path) and (match := re.fullmatch(r"(.+)#(\d+)", str(path))):
        file, number = Path(match[1]), int(match[2])
    evidence = evidence_in(file)
    if evidence.form == LOG:
        print(evidence.heading, file=sys.stderr)
        for why, count in evidence.unread.most_common():
            print(f"not read: {count} x {why}", file=sys.stderr)
    graphs = [each.graph for each in evidence.graphs]
    if not graphs:
        raise CommandError(f"{file}: it has no graph; a log has them with CUDNN_LOGLEVEL_DBG=3")
    if number:
        if number > len(graphs):
            raise CommandError(f"{file}: it has {len(graphs)} graphs, and no #{number}")
        return [(path, graphs[number - 1])]
    if len(graphs) == 1:
        return [(file, graphs[0])]
    return [(Path(f"{file}#{count}"), each) for count, each in enumerate(graphs, 1)]


def read_graph(path: Path) -> Graph:
    """The only graph in a file, or the chosen one; see `read_graphs`.

    Raises CommandError.
    """
    graphs = read_graphs(path)
    if len(graphs) > 1:
        raise CommandError(
            f"{path}: it has {len(graphs)} graphs: choose one, such as {graphs[0][0]} "
            f"(lookup {path} lists them)"
        )
    return graphs[0][1]


class Names:
    """The type of an argument that is one of these names, or a file: shells complete the names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, text: str) -> str:
        return text


def add_device(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the option ``--device``, whose value `as_properties` takes."""
    from ..absent_gpu.properties import presets

    parser.add_argument(
        "--device",
        required=required,
        type=Names(*presets(), "here"),
        help="the GPU: the name of a preset, a .json file that `doctor --save-device` or "
        f"DeviceProperties.to_json wrote, or 'here' (presets: {', '.join(presets())})",
    )


def needs_gpu(option: str) -> None:
    """Refuse an option that this process's device cannot serve.

    Raises CommandError.
    """
    from ..raw import mode
    from ..runtime import device_count

    try:
        is_here = not mode.runtime.on_host and device_count() > 0
    except NoDeviceError:
        is_here = False
    if not is_here:
        raise CommandError(f"{option} needs a GPU: nothing is timed without one")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--force``, which allows overwriting files."""
    parser.add_argument(
        "--force", action="store_true", help="write over files that are there already"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--jobs``, how many graphs are compiled at once."""
    parser.add_argument(
        "-j",
        "--jobs",
        type=positive,
        metavar="N",
        default=1,
        help="processes that compile (default: %(default)s)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``, which prints data instead of text."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def file_name(text: str) -> Path:
    """The value of an argument that names a file or folder."""
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a file or folder, got ''")
    if text == "-":
        raise argparse.ArgumentTypeError(
            "expected the name of a file or folder, got '-': use /dev/stdin or /dev/stdout"
        )
    return Path(text)


def from_zero(text: str) -> int:
    """The value of an argument that must be an integer of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """The value of an argument that must be an integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)


class Steps:
    """The steps of a command; `steps` creates it."""

    def __init__(self, bar: Progress | None, what: str, total: int | None) -> None:
        self._bar = bar
        self._what = what
        self._out = Console(highlight=False)
        if bar is not None:
            bar.add_task(what, total=total)

    def begin(self, name: str) -> None:
        """Show the name of the current step."""
        self._update(description=f"{self._what}: {name}")

    def expect(self, total: int) -> None:
        """Set the expected number of steps."""
        self._update(total=total)

    def advance(self) -> None:
        """Count a step as done."""
        self._update(advance=1)

    def _update(self, **changes: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], **changes)

    @property
    def console(self) -> Console:
        """A console that prints on the standard output, above the bar."""
        if self._bar is not None and self._out.is_terminal:
            return self._bar.console
        return self._out

    def tell(self, result: str | Text) -> None:
        """Print a result without wrapping lines."""
        self.console.print(result, markup=False, soft_wrap=True)


@contextmanager
def steps(what: str, total: int | None = None) -> Iterator[Steps]:
    """Show a bar on the standard error output, if that is a terminal, until the block ends.

    - `what`: a name for the work.
    - `total`: the number of steps; the time left is shown once it is known.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Steps(None, what, total)
        return
    from rich import progress

    times = progress.TimeRemainingColumn(elapsed_when_finished=True)
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), times)
    # With redirection, output to a pipe would go to the terminal.
    bar = progress.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with bar:
        yield Steps(bar, what, total)
        sys.stdout.flush()
