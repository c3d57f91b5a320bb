"""Cells of the atlas: the result of each shape on a GPU with a version of cuDNN."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...arguments import suggestion
from ...raw.describe import aligned

_KEPT = Path(__file__).with_name("cells.jsonl")


@dataclass(frozen=True)
class Result:
    """The answer of cuDNN about one graph on one GPU.

    - `engines`: those that accept the graph, those that heuristics propose first.
    - `compiled`: the first of them of which a plan was compiled; others behind it were not tried.
    - `failed`: those before it that accepted the graph and did not compile, with the reason.
    - `refusal`: why no engine accepts it.
    - `faults`: names of known faults of this cuDNN that concern it; see `known_faults`.
    """

    engines: tuple[int, ...] = ()
    compiled: int | None = None
    failed: Mapping[int, str] = field(default_factory=dict)
    refusal: str = ""
    faults: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The engine that compiles, "fails" if engines accept it and do not compile, or "no"."""
        if self.compiled is not None:
            return str(self.compiled)
        return "fails" if self.engines else "no"

    @property
    def reason(self) -> str:
        """Why nothing compiles; "" if something does."""
        if self.compiled is not None:
            return ""
        return self.refusal or "; ".join(f"engine {n}: {why}" for n, why in self.failed.items())


@dataclass(frozen=True)
class Cell:
    """The result of a shape, "attention forward float16 head 128 causal", by GPU and cuDNN."""

    shape: str
    gpu: str
    cudnn: str
    result: Result


@dataclass(frozen=True)
class Atlas:
    """Measured cells.

    The shapes are graphs of common sizes, named by plain words. Plans were compiled for the
    properties of GPUs that were not there (`DeviceProperties.preset`), and not executed.

    Attributes
    ----------
    cells : tuple of Cell

    Examples
    --------
    >>> found = Atlas.known().where("b200", "9.28", "attention backward", "head 256 causal")
    >>> for cell in found.cells:
    ...     print(cell.shape, cell.result.text)
    attention backward float16 head 256 causal fails
    attention backward bfloat16 head 256 causal fails
    attention backward fp8_e4m3 head 256 causal no
    """

    cells: tuple[Cell, ...]

    @classmethod
    def known(cls) -> Atlas:
        """The cells that come with this package."""
        return cls.read(_KEPT)

    @classmethod
    def read(cls, path: Path | str) -> Atlas:
        """The cells of a file.

        Parameters
        ----------
        path : str or Path
            A file that `save` or ``atlas measure -o`` wrote.

        Returns
        -------
        Atlas

        Raises
        ------
        ValueError
            If it is none.
        """
        return cls(tuple(_read(Path(path))))

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes, each once."""
        return tuple(dict.fromkeys(each.shape for each in self.cells))

    @property
    def gpus(self) -> tuple[str, ...]:
        """The names of GPUs, each once."""
        return tuple(dict.fromkeys(each.gpu for each in self.cells))

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of cuDNN, the newest first."""
        return tuple(sorted({each.cudnn for each in self.cells}, key=_numbers, reverse=True))

    def where(self, *words: str) -> Atlas:
        """The cells that all of these words are true of.

        Parameters
        ----------
        *words : str
            The name of a GPU, the beginning of a version ("9.28"), or a part of shapes' names
            ("attention backward", "head 256"). Several GPUs, or several versions, are
            alternatives.

        Returns
        -------
        Atlas

        Raises
        ------
        ValueError
            If no cell has a word.
        """
        gpus, versions = set(self.gpus), self.versions
        wanted_gpus = {each.lower() for each in words} & gpus
        numbers = {
            each: [one for one in versions if f"{one}.".startswith(f"{each}.")]
            for each in words
            if re.fullmatch(r"9(\.\d+)+", each)
        }
        wanted_versions = {one for found in numbers.values() for one in found}
        parts = [each for each in words if each.lower() not in gpus and each not in numbers]
        known = (*self.gpus, *{word for shape in self.shapes for word in shape.split()})
        for each in parts:
            if not any(_has(shape, each) for shape in self.shapes):
                raise ValueError(f"no shape and no GPU has {each!r}{suggestion(each, known)}")
        for each, found in numbers.items():
            if not found:
                raise ValueError(f"no cell is of cuDNN {each}; there are {', '.join(versions)}")
        return Atlas(
            tuple(
                cell
                for cell in self.cells
                if (not wanted_gpus or cell.gpu in wanted_gpus)
                and (not wanted_versions or cell.cudnn in wanted_versions)
                and all(_has(cell.shape, part) for part in parts)
            )
        )

    def differences(self, one: str, two: str, *, engines: bool = False) -> list[tuple[Cell, Cell]]:
        """Pairs of cells that compile with one version of cuDNN and not with another.

        Parameters
        ----------
        one, two : str
            Versions, or their beginnings. Cells that only one of them has are left out.
        engines : bool
            Whether those count, too, of which another engine is the first that compiles.

        Returns
        -------
        list of (Cell, Cell)
            Of the first and of the second version.
        """
        first, second = self.where(one).cells, self.where(two).cells
        later = {(each.shape, each.gpu): each for each in second}
        pairs = [(each, later.get((each.shape, each.gpu))) for each in first]
        return [
            (before, after)
            for before, after in pairs
            if after is not None
            and before.result.compiled != after.result.compiled
            and (engines or None in (before.result.compiled, after.result.compiled))
        ]

    def save(self, path: Path | str) -> None:
        """Write the cells to a file.

        Parameters
        ----------
        path : str or Path
        """
        results = dict.fromkeys(_packed(each.result) for each in self.cells)
        places = {each: place for place, each in enumerate(results)}
        found = {(x.cudnn, x.gpu, x.shape): places[_packed(x.result)] for x in self.cells}
        columns = [
            [version, gpu, [found.get((version, gpu, shape), -1) for shape in self.shapes]]
            for version, gpu in dict.fromkeys((x.cudnn, x.gpu) for x in self.cells)
        ]
        lines = [json.dumps(self.shapes), f"[{', '.join(results)}]", *map(json.dumps, columns)]
        Path(path).write_text("\n".join(lines) + "\n")

    # --- as text ---------------------------------------------------------------------------------

    def table(self) -> str:
        """The shapes by GPU, a block for each version, with the engine that compiles."""
        return "\n\n".join(
            f"cuDNN {version}\n{aligned(self.where(version).rows())}" for version in self.versions
        )

    def rows(self) -> list[tuple[str, ...]]:
        """The same of one version as rows of text, the heading first."""
        found = {(each.shape, each.gpu): each.result for each in self.cells}
        rows = [("shape", *self.gpus)]
        for shape in self.shapes:
            results = [found.get((shape, gpu)) for gpu in self.gpus]
            rows.append((shape, *("" if each is None else _mark(each) for each in results)))
        return rows

    def counts(self) -> str:
        """The numbers of shapes that compile, by family, GPU and version."""
        families = dict.fromkeys(each.split()[0] for each in self.shapes)
        rows = [("cuDNN", "GPU", *families)]
        for version in self.versions:
            for gpu in self.gpus:
                cells = [x for x in self.cells if x.gpu == gpu and x.cudnn == version]
                if cells:
                    rows.append((version, gpu, *(_count(cells, each) for each in families)))
        return aligned(rows)

    def reasons(self) -> str:
        """Why cells do not compile, and the known faults of those that do, each once."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            notes = [*filter(None, [cell.result.reason])]
            notes += [f"known fault: {each}" for each in cell.result.faults]
            for note in notes:
                found.setdefault(note, []).append(cell)
        lines = []
        for note, cells in found.items():
            one = cells[0]
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            lines += [note, f"    {one.shape}, {one.gpu}, cuDNN {one.cudnn}{more}"]
        return "\n".join(lines)

    def as_list(self) -> list[dict[str, Any]]:
        """The cells as data for JSON."""
        return [asdict(each) for each in self.cells]


def _mark(result: Result) -> str:
    return result.text + ("*" if result.faults else "")


def _count(cells: Iterable[Cell], family: str) -> str:
    among = [each.result for each in cells if each.shape.startswith(f"{family} ")]
    return f"{sum(each.compiled is not None for each in among)} of {len(among)}" if among else "-"


def _has(shape: str, part: str) -> bool:
    """Whether a shape's name has these words: "head 64" is not in "head 640"."""
    return f" {part} " in f" {shape.replace(',', '')} "


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


# --- files ----------------------------------------------------------------------------------------


def _packed(result: Result) -> str:
    """A result as text, without what it lacks."""
    return json.dumps({name: value for name, value in asdict(result).items() if _says(value)})


def _says(value: Any) -> bool:
    return value is not None and value not in ("", (), {})


def _read(path: Path) -> Iterator[Cell]:
    """The cells of a file: lines with shapes, results, and each GPU's places of results."""
    try:
        shapes, packed, *columns = map(json.loads, path.read_text("utf-8").splitlines())
        results = [_unpacked(each) for each in packed]
        for version, gpu, places in columns:
            for shape, place in zip(shapes, places, strict=True):
                if place >= 0:
                    yield Cell(shape, gpu, version, results[place])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path}: this is no file of the atlas: {error}") from None


def _unpacked(told: Mapping[str, Any]) -> Result:
    failed = {int(engine): str(why) for engine, why in told.get("failed", {}).items()}
    lists = {name: tuple(told.get(name, ())) for name in ("engines", "faults")}
    return replace(Result(**{**told, **lists}), failed=failed)
