"""The files of recorded programs: a Python program with its data, or a folder with C."""

from __future__ import annotations

import builtins
import keyword
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...arguments import file_path
from ...raw import headers, library, mode
from ...raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer
from ..session import listen, stop
from . import recorded
from .c_program import CProgram, filled
from .recording import Recording

_COLUMNS = 92

_OWN_WORDS = {"ctypes", "sys", "Path", "np", "DeviceBuffer", "raw", "data", "check", "different"}
_RESERVED = {*_OWN_WORDS, "numbers", *keyword.kwlist, *dir(builtins)}


def write_python(
    steps: list[recorded.Step],
    data: Mapping[str, recorded.Bytes],
    path: str | os.PathLike[str],
    program: str,
) -> None:
    """Write a program, and its data beside it.

    - `steps`, `data`: the steps and data of a `Recording`.
    - `path`: the program's file; the data's file has the same name with ".npz".
    - `program`: the name of the recorded program.

    Raises OSError if the files cannot be written.
    """
    path = Path(path)
    file = path.with_suffix(".npz")
    compares = any(isinstance(step, recorded.Compare) for step in steps)
    parts = filled("program.py", program=program, data=file.name)
    text = parts[""] + (parts["check"] if compares else "\n")
    text += "\n".join(_Writer(steps).lines) + "\n"
    if compares:
        text += "\nsys.exit(1 if different else 0)\n"
    path.write_text(text)
    arrays: dict[str, Any] = dict(data)
    np.savez_compressed(file, **arrays)


class _Writer:
    """The lines of a program."""

    def __init__(self, steps: list[recorded.Step]) -> None:
        self._naming = recorded.Naming(steps, _RESERVED)
        self.lines: list[str] = []
        for step in steps:
            self._write(step)

    def _write(self, step: recorded.Step) -> None:
        add, memory = self.lines.append, self._naming.of_memory
        match step:
            case recorded.Place(text):
                self.lines += ["", f"# {text}"]
            case recorded.LeftOut(function, reason):
                add(f"# left out: {function}: {' '.join(reason.split())}")
            case recorded.Allocate(allocation) if allocation.host_type:
                add(f"{memory(allocation)} = ctypes.create_string_buffer(16)")
            case recorded.Assign(allocation, value):
                add(f"{memory(allocation)}[: {len(value)}] = {value!r}  # {_shown(step)}")
            case recorded.Free(allocation) if allocation.host_type:
                pass
            case recorded.Allocate(allocation):
                size = _largest(allocation.nbytes, *map(self._value, allocation.told))
                add(f"{memory(allocation)} = DeviceBuffer({size})")
            case recorded.Free(allocation):
                add(f"{memory(allocation)}.close()")
            case recorded.Upload(allocation, "", byte):
                add(f"{memory(allocation)}.fill({byte})")
            case recorded.Upload(allocation, data):
                add(f'{memory(allocation)}.copy_from_host(data["{data}"])')
            case recorded.Compare(allocation, offset, data_type, data, tolerance):
                name, place = memory(allocation), self._place(allocation, offset)
                add(f'check("{name}+{offset}", {place}, "{data_type}", "{data}", {tolerance})')
            case recorded.Call():
                self._call(step)

    def _call(self, call: recorded.Call) -> None:
        for value in call.arguments.values():
            if isinstance(value, recorded.Variable) and value.created:
                name = self._naming.of_object(value.created)
                self.lines.append(f"{name} = {_type(value.base)}()")
        function = call.function.__name__
        if call.status:
            self.lines.append(f"# {call.status.removeprefix('CUDNN_STATUS_')}")
            function += ".unchecked"
        self.lines.append(_wrapped(function, [self._value(v) for v in call.arguments.values()]))

    def _place(self, allocation: Any, offset: int) -> str:
        return self._naming.of_memory(allocation) + (f" + {offset}" if offset else "")

    def _value(self, value: recorded.Value) -> str:
        match value:
            case recorded.Null() | recorded.Stream():  # all work is on the default stream
                return "None"
            case recorded.Object(name):
                return self._naming.of_object(name) + (".value" if value.is_size else "")
            case recorded.Told(size, least):
                return _largest(least, self._value(size))
            case recorded.Number(base, number):
                return _number(base, number)
            case recorded.Variable(base, created=""):
                return f"{_type(base)}()"
            case recorded.Variable(created=created):
                return self._naming.of_object(created)
            case recorded.Room(base, count=count, is_attribute=is_attribute):
                return f"({_type(base, is_attribute)} * {count})()"
            case recorded.Memory(allocation, offset):
                return self._place(allocation, offset)
            case recorded.Scalar(number):
                return _real(number)
            case recorded.Text(text, ""):
                return repr(text)
            case recorded.Text(data=data):
                return f'data["{data}"].tobytes()'
            case recorded.Array(base, items, is_attribute=False):
                return f"[{', '.join(map(self._value, items))}]"
            case recorded.Array(base, items):
                inside = ", ".join(map(self._element, items))
                return f"({_type(base, True)} * {len(items)})({inside})"
        raise TypeError(value)

    def _element(self, value: recorded.Value) -> str:
        """One element of an attribute, as Python source."""
        match value:
            case recorded.Memory(allocation) if allocation.host_type:
                return f"ctypes.addressof({self._value(value)})"
            case recorded.Memory():
                return f"({self._value(value)}).ptr"
            case recorded.Object():
                return f"{self._value(value)}.value"
            case recorded.Fraction(numerator, denominator):
                return f"raw.cudnnFraction_t({numerator}, {denominator})"
        return self._value(value)


def _largest(least: int, *told: str) -> str:
    parts = ([str(least)] if least else []) + [*told]
    return parts[0] if len(parts) == 1 else f"max({', '.join(parts)})"


def _shown(step: recorded.Assign) -> str:
    """A host number as text, for a comment."""
    number = recorded.host_number(step.value, step.allocation.host_type)
    return step.allocation.host_type if number is None else _real(number)


def _type(base: Any, in_attribute: bool = False) -> str:
    if in_attribute and issubclass(base, (CudnnEnum, OpaquePointer)):
        return "ctypes.c_int" if issubclass(base, CudnnEnum) else "ctypes.c_void_p"
    if issubclass(base, (CudnnEnum, CudnnStructure, OpaquePointer)):
        return f"raw.{base.__name__}"
    return f"ctypes.{_NAMES.get(base.__name__, base.__name__)}"


_NAMES = {"c_ulong": "c_size_t", "c_long": "c_int64"}


def _number(base: Any, value: Any) -> str:
    if issubclass(base, CudnnEnum):
        return f"raw.{value.name}" if value.known else str(int(value))
    return _real(value)


def _real(value: Any) -> str:
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    return repr(value)


def _wrapped(function: str, arguments: list[str]) -> str:
    """A call, broken into lines of limited length."""
    whole = f"raw.{function}({', '.join(arguments)})"
    if len(whole) <= _COLUMNS:
        return whole
    rows = [""]
    for argument in arguments:
        if rows[-1] and len(rows[-1]) + len(argument) > _COLUMNS:
            rows.append("")
        rows[-1] += f"{argument}, "
    rows[-1] = rows[-1].removesuffix(", ")
    return "\n    ".join([f"raw.{function}(", *(row.rstrip() for row in rows)]) + "\n)"


def _facts() -> dict[str, str]:
    """Facts of this process for the C program, its Makefile and its README."""
    from ... import __version__

    loaded, include = library.load(), headers.include_folder()
    return {
        "version": __version__,
        "cudnn": loaded.version_text,
        "device": _device(),
        "cuda_home": os.environ.get("CUDA_HOME", "/usr/local/cuda"),
        "cudnn_include": "/usr/include" if include is None else str(include),
        "cudnn_lib": str(Path(loaded.path).parent),
    }


def _device() -> str:
    if mode.runtime.on_host:
        return "the reference device"
    with suppress(Exception):  # a trace never stops a program
        from ...runtime.device import current_device

        device = current_device()
        return f"an {device.name}" if device.name[0] in "AEIOU" else str(device.name)
    return "an unknown device"


class CFolder:
    """A folder to which a program is written, repeatedly if necessary.

    - `folder`: the path; it is created if missing. The program has the folder's name.
    - `program`: the name of the recorded program.
    """

    def __init__(self, folder: str | os.PathLike[str], program: str) -> None:
        self._folder, self._program = file_path("c", folder), program
        self._written: set[str] | None = None  # names of the data already written

    def write(
        self,
        steps: list[recorded.Step],
        data: Mapping[str, recorded.Bytes],
        left_out: Iterable[str],
    ) -> None:
        """Write the program.

        - `steps`, `data`: the steps and data of a `Recording`.
        - `left_out`: calls that the program lacks, with reasons.

        Raises OSError if the folder cannot be written.
        """
        folder = self._folder
        self._write_data(data)
        written = CProgram(steps)
        facts = _facts()
        name = re.sub(r"\W+", "_", folder.resolve().name) or "replay"
        facts |= {"program": self._program.replace("*/", "* /"), "name": name}
        (folder / f"{name}.c").write_text(written.text(facts))
        (folder / "Makefile").write_text(filled("Makefile", **facts)[""])
        facts |= {
            "calls": str(written.calls),
            "data": _ABOUT_DATA if data else "",
            "left_out": _about(left_out),
        }
        (folder / "README.md").write_text(filled("README.md", **facts)[""])

    def _write_data(self, data: Mapping[str, recorded.Bytes]) -> None:
        folder = self._folder / "data"
        folder.mkdir(parents=True, exist_ok=True)
        if self._written is None:
            self._written = set()
            for old in folder.glob("*.bin"):  # data of an earlier recording
                old.unlink()
        for name in data.keys() - self._written:
            (folder / f"{name}.bin").write_bytes(data[name].tobytes())
            self._written.add(name)


_ABOUT_DATA = """\
- data/ has the bytes that the program, or kernels of others, had put on the device, and
  those that the calls wrote (expected...), with which it compares what it finds.
"""


def _about(left_out: Iterable[str]) -> str:
    lines = [f"  - {' '.join(reason.split())}\n" for reason in left_out]
    return "".join(["- Left out are\n", *lines]) if lines else ""


class Programs:
    """The Python and C programs of one recording, written at its end.

    - `py`: the file of the Python program.
    - `c`: the folder of the C program.
    - `program`: the name of the recorded program; default: the running one.
    - `first`: the number of calls; default: all.
    - `flush`: whether to write before each call too, in case it ends the process.
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

        Raises OSError if the programs cannot be written.
        """
        if not self._is_open:
            return
        self._is_open = False
        stop(self._recording)
        self._write(self._recording.finished())

    def _write(self, steps: list[recorded.Step]) -> None:
        data = self._recording.data
        if self._py is not None:
            write_python(steps, data, self._py, self._program)
        if self._c is not None:
            self._c.write(steps, data, self.left_out)
