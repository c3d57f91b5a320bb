"""Execute the notebooks of the course and keep their outputs: ``python -m tools.notebooks [NAME]``.

A notebook is its own source: change its cells, then run this. Of each exercise it holds a first
attempt that is wrong, and a check that says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from cudnn_ctypes.raw.library import ENVIRONMENT_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "notebooks"
VARIES = "varies"
"""The tag of cells whose output another cuDNN, NumPy or machine may change."""

# Before each notebook, so that one kernel does for all of them.
_FRESH = """
%reset -f
import gc
from cudnn_ctypes import use_reference_device
use_reference_device(device="H200", strict=False, guard_pages=False)
gc.collect()
"""


def notebooks() -> list[Path]:
    """All of them in reading order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def tagged(notebook: Any, tag: str) -> list[Any]:
    """The cells with a tag."""
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", ())]


@contextmanager
def kernel() -> Iterator[Any]:
    """A kernel in which notebooks can be executed one after the other."""
    from jupyter_client.manager import KernelManager

    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CUDNN_CTYPES") or name == ENVIRONMENT_VARIABLE
    }
    path = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(
        cwd=str(FOLDER),
        extra_arguments=["--log-level=40"],
        env={**environment, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        yield manager
    finally:
        manager.shutdown_kernel(now=True)


@contextmanager
def session(manager: Any, notebook: Any) -> Iterator[NotebookClient]:
    """Execute cells of a notebook, in an empty namespace."""
    client = NotebookClient(notebook, km=manager, timeout=120, coalesce_streams=True)
    with client.setup_kernel(cleanup_kc=False):
        fresh = nbformat.v4.new_code_cell(_FRESH)
        notebook.cells.append(fresh)
        client.execute_cell(fresh, len(notebook.cells) - 1)
        notebook.cells.remove(fresh)
        yield client
        client.kc.stop_channels()


def execute(client: NotebookClient) -> None:
    """Execute all cells, whose outputs become those of the notebook.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises.
    """
    number = 0
    for index, cell in enumerate(client.nb.cells):
        if cell.cell_type == "code":
            number += 1
            client.execute_cell(cell, index, execution_count=number)
            cell.execution_count = number
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = number
            cell.metadata.pop("execution", None)  # times


def write(notebook: Any, path: Path) -> None:
    """Write a notebook without anything that differs from run to run."""
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index + 1:02}"
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    path.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Execute and write those whose names contain one of the arguments; all without arguments."""
    words = sys.argv[1:] or [""]
    with kernel() as manager:
        for path in notebooks():
            if any(word in path.stem for word in words):
                notebook = nbformat.read(path, as_version=4)
                with session(manager, notebook) as client:
                    execute(client)
                write(notebook, path)


if __name__ == "__main__":
    main()
