"""A description cut into graphs that have engines, and the program that is built of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...arguments import Place
from ...errors import BadParamError, NotSupportedError, SymbolNotFoundError
from ..backend.device_properties import DeviceProperties
from ..backend.warden import asking
from ..engines.explaining.examination import Conditions
from ..engines.explaining.report import Column, Report, Table, bytes_text, spans
from ..run.program import FORMAT, Part, Program
from ..run.scratch import Step
from ..run.stored_plan import unsealed
from .search import Cut, Order, Piece, is_wide, key_of
from .support import Support

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.description import Description
    from ..engines.selection import Selection
    from ..run.plan import ExecutionPlan

_WIDEST = 8  # products, norms and the like: of an attention's gradient that is written out
_TRIES = 8  # pieces that cuDNN accepts and then cannot compile

_COLUMNS = (  # of numbers and pieces
    Column("", lambda pair: str(pair[0]), number=True),
    Column("operations", lambda pair: ", ".join(pair[1].operations)),
    Column("engines", lambda pair: spans(sorted(pair[1].engines))),
    Column("launches", lambda pair: str(pair[1].launches), number=True),
    Column("bytes", lambda pair: bytes_text(pair[1].nbytes)),
)


@dataclass(frozen=True, eq=False)
class Partition(Report, Sequence[Piece]):
    """The graphs that a description is cut into; ``str`` gives a table, `show` prints it.

    ``Graph.partition`` makes it. It is a sequence of the pieces in the order of their execution.

    - `graph`, `device`: the graph's name, and the GPU.
    - `pieces`: empty if some operation has no engine, whatever is beside it.
    - `rewrites`: operations that are said in others, in words.
    - `cuts`: why each piece, but the last, does not go together with the next.
    - `stuck`: if there are no pieces: operations that have no engine.
    - `asked`: of how many graphs cuDNN's heuristics were asked; answers are remembered.
    - `seconds`: that it took.
    """

    graph: str
    device: str
    pieces: tuple[Piece, ...]
    rewrites: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    asked: int = 0
    seconds: float = 0.0

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, index: Any) -> Any:
        return self.pieces[index]

    @property
    def launches(self) -> int:
        """Plans that one execution runs, small ones before others included."""
        return sum(each.launches for each in self.pieces)

    @property
    def nbytes(self) -> int:
        """Bytes that one execution reads and writes."""
        return sum(each.nbytes for each in self.pieces)

    @property
    def microseconds(self) -> float:
        """How long one execution takes by its launches and these bytes; not measured."""
        return sum(each.microseconds for each in self.pieces)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        pieces = [
            {
                "operations": each.operations,
                "engines": each.engines,
                "launches": each.launches,
                "nbytes": each.nbytes,
                "microseconds": each.microseconds,
                "graph": each.graph.to_json(),
            }
            for each in self.pieces
        ]
        told = ["graph", "device", "rewrites", "cuts", "stuck", "asked", "seconds"]
        return {"pieces": pieces, **{name: getattr(self, name) for name in told}}

    def lines(self) -> list[str]:
        """A line for each piece, with the reason why it ends there."""
        cuts = [*(f"; cut: {each}" for each in self.cuts), ""][: len(self)]
        return [
            f"{', '.join(each.operations)}: {spans(sorted(each.engines))}{cut}"
            for each, cut in zip(self.pieces, cuts, strict=True)
        ]

    def _title(self) -> str:
        asked = f"{self.asked} graphs asked about in {self.seconds:.1f} s"
        if not self.pieces:
            return f"{self.graph!r} on {self.device}: no program, as no engine has " + (
                f"{', '.join(self.stuck) or 'some operation'}; {asked}"
            )
        moved = bytes_text(self.nbytes)
        return (
            f"{self.graph!r} on {self.device}: {len(self)} graphs, {self.launches} launches, "
            f"{moved} moved, about {self.microseconds:.0f} us; {asked}"
        )

    def _tables(self) -> list[Table]:
        return [Table.of(_COLUMNS, enumerate(self.pieces, 1))]

    def _pictures(self) -> list[str]:
        from ...evidence.pictures.diagram import diagram
        from ...evidence.pictures.html import wide
        from ...evidence.pictures.svg import svg

        pieces = enumerate(self.pieces, 1)
        return [
            wide(svg(diagram(f"{n}", each.graph.nodes), standalone=False)) for n, each in pieces
        ]

    def _lines(self) -> list[str]:
        cuts = [f"{n} and {n + 1} are two: {why}" for n, why in enumerate(self.cuts, 1)]
        return [*(f"rewritten: {each}" for each in self.rewrites), *cuts]


def partition(graph: Any, conditions: Conditions) -> Partition:
    """Carry out ``Graph.partition``."""
    return _searched(graph, Support(conditions))[0]


def _searched(graph: Any, support: Support, *, norms: bool = True) -> tuple[Partition, Order]:
    begun = time.perf_counter()
    cut = Cut(graph, support, norms=norms)
    order = cut.found()
    pieces = order.pieces
    device = support.conditions.device
    told = Partition(
        graph.name,
        (device if isinstance(device, DeviceProperties) else device.device).name,
        tuple(pieces),
        tuple(cut.rewrites),
        tuple(order.reason(*pair) for pair in pairwise(pieces)),
        () if pieces else order.refused(),
        support.asked,
        time.perf_counter() - begun,
    )
    return told, order


def program_for(
    graph: Any,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    selection: Selection,
    *,
    beyond_engines: bool = False,
    **options: Any,
) -> Program | None:
    """Carry out ``Graph.build`` for a program, which the graph holds then; None if there is none.

    - `beyond_engines`: only for graphs of more operations than any engine takes.
    - `options`: of ``Graph.build`` for each piece.
    """
    if beyond_engines and sum(map(is_wide, graph.nodes)) <= _WIDEST:
        return None
    with asking(options.get("warden"), default=True) as warded:
        conditions = Conditions(device, tuple(modes), selection, warden=warded)
        if not options.get("without_engine"):
            options |= {"selection": selection, "heuristics": modes}
        found = program_of(graph, conditions, **options)
    limit = selection.workspace_limit
    if found is None or (limit is not None and found.workspace_size > limit):
        return None
    graph._hold(found, device, graph.tensors)
    return found


def program_of(graph: Any, conditions: Conditions, **options: Any) -> Program | None:
    """A program for a graph; None if there is no way to cut it.

    `options` are those of ``Graph.build`` for each piece.
    """
    support = Support(conditions, every_one=bool(options.get("without_engine")))
    for _ in range(_TRIES):
        told, order = _searched(graph, support)
        if not told.pieces:
            return None
        with suppress(NotSupportedError, BadParamError, SymbolNotFoundError):
            return _built(graph, order, support, options)
    return None


def programs_of(
    graph: Any, conditions: Conditions, **options: Any
) -> Iterator[tuple[tuple[str, ...], Callable[[], Program]]]:
    """Programs of several plans to be measured: their operations, and what builds one.

    The best cut, and that of the graph whose norms are said in sums and element-wise operations,
    also where an engine has the norm.
    """
    known = set()
    for norms in (True, False):
        support = Support(conditions)
        told, order = _searched(graph, support, norms=norms)
        keys = tuple(piece.key for piece in told)
        if len(told) > 1 and keys not in known:
            known.add(keys)
            names = tuple(", ".join(piece.operations) for piece in told)
            yield names, partial(_built, graph, order, support, options)


def _built(graph: Any, order: Order, support: Support, options: Mapping[str, Any]) -> Program:
    """Build the plans of all pieces; a piece that cannot be compiled is refused from then on."""
    plans: dict[str, ExecutionPlan] = {}
    device = support.conditions.device
    with ExitStack() as stack:
        for piece in order.pieces:
            if piece.key in plans:
                continue
            try:
                plan = piece.graph.replaced().build(device, program=False, **options)
            except (NotSupportedError, BadParamError, SymbolNotFoundError) as error:
                support.refuse(piece.key, str(error).splitlines()[0])
                raise
            stack.callback(plan.close)
            plans[piece.key] = plan
        stack.pop_all()
    return _program(graph, order, plans)


def _program(graph: Any, order: Order, plans: dict[str, ExecutionPlan]) -> Program:
    steps = [Step(plans[each.key], _operands(each)) for each in order.pieces]
    used = {uid for step in steps for uid in step.uids.values()}
    parts: dict[int, Part] = {}
    waiting = set(used)
    while waiting:
        uid = waiting.pop()
        if uid in order.memory.parts and uid not in parts:
            parts[uid] = order.part(uid)
            waiting.add(parts[uid].base)
    bases = {order.memory.in_base(uid).base for uid in used}
    between = {uid: order.nbytes(uid) for uid in bases - order.given}
    keys = list(plans)
    first = {each.key: each for each in reversed(order.pieces)}
    reasons = [*(order.reason(*pair) for pair in pairwise(order.pieces)), ""]
    stored = {
        "of": _digest(graph),
        "graphs": [first[key].graph.to_json(indent=None) for key in keys],
        "steps": [[keys.index(p.key), list(_operands(p).items())] for p in order.pieces],
        "cuts": [[", ".join(p.operations), r] for p, r in zip(order.pieces, reasons, strict=True)],
        "between": list(between.items()),
        "parts": [[uid, *part] for uid, part in parts.items()],
    }
    return Program(steps, between, parts, stored)


def _operands(piece: Piece) -> dict[int, int]:
    """The unique ids of what an execution of a piece is given, there and in the whole."""
    return {
        each.uid: piece.uids[each.uid]
        for each in piece.graph.tensors
        if not (each.virtual or each.scratch or each.value is not None)
    }


def _digest(graph: Description) -> str:
    return hashlib.sha256(key_of(graph).encode()).hexdigest()


def is_program(text: str | bytes) -> bool:
    """Whether a stored text is of a program."""
    return (text if isinstance(text, str) else text.decode("utf-8", "replace"))[:60].find(
        FORMAT
    ) > 0


def loaded(graph: Any, text: str | bytes, device: Handle | DeviceProperties) -> Program:
    """The program of a graph that ``Program.to_json`` stored.

    Raises ValueError if the text is damaged, or the program belongs to another graph, cuDNN version
    or GPU.
    """
    top = Place.of_text(unsealed(text if isinstance(text, str) else text.decode(), "program"), "")
    stored: Any = top.value
    graph.validate()
    if stored["of"] != _digest(graph):
        raise ValueError("this program is of another graph: build it again")
    plans: list[ExecutionPlan] = []
    with ExitStack() as stack:
        for described, plan in zip(stored["graphs"], stored["plans"], strict=True):
            plans.append(type(graph).from_json(described).load_plan(plan, device))
            stack.callback(plans[-1].close)
        stack.pop_all()
    return Program(
        [Step(plans[place], dict(uids)) for place, uids in stored["steps"]],
        dict(stored["between"]),
        {uid: Part(base, offset) for uid, base, offset in stored["parts"]},
        {name: value for name, value in stored.items() if name not in ("plans", "format")},
    )
