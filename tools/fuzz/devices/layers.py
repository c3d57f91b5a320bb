"""Calls through layer 2, and backend graphs: the random problems of the tests and fuzzers."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import data_type_name, numpy_dtype
from cudnn_ctypes.errors import CudnnError, SymbolNotFoundError
from tests.legacy import convolutions, local_normalizations, normalizations, operations, runs
from tests.legacy.draws import FLOATING
from tests.legacy.draws import Draw as TestDraw

from .. import numbers, random_graphs
from .draw import Draw
from .machine import Machine, Result

__all__ = ["FAMILIES"]


class _Whole:
    """A case that runs as a whole, through objects.

    Attributes
    ----------
    limits : dict
        Those of the `Result`.
    statuses_compared : bool
        Whether both devices must refuse the same.
    """

    statuses_compared = True

    def __init__(self, draw: Draw, function: str) -> None:
        self.draw = draw
        self.steps: list[tuple[str, Any]] = [(function, {})]
        self.operands: dict[str, Any] = {}
        self.descriptors: dict[str, Any] = {}
        self.limits: dict[str, Any] = {}
        self.unit, self.terms, self.magnitude = 2.0**-24, 64, 0.0

    def run(self, machine: Machine, *, twice: bool = False, wobble: int = 0) -> Result:
        """Run on a device, once or twice."""
        result = self._once(machine, wobble)
        if twice and result.succeeded:
            again = self._once(machine, wobble)
            result.unsteady = [
                name
                for name, array in result.outputs.items()
                if array.tobytes() != again.outputs[name].tobytes()
            ]
        return result

    def _once(self, machine: Machine, wobble: int) -> Result:
        result, name = Result(), self.steps[-1][0]
        try:
            result.outputs = {n: np.array(a) for n, a in self.outputs(machine, wobble).items()}
            result.statuses.append((name, "SUCCESS"))
            result.limits = self.limits
        except CudnnError as error:
            text = error.status.name.removeprefix("CUDNN_STATUS_")
            result.statuses.append((name, text))
        except (ValueError, TypeError, SymbolNotFoundError) as error:
            result.statuses.append((name, f"{type(error).__name__}: {error}"[:120]))
        return result

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        raise NotImplementedError


class _Operation(_Whole):
    """Activation, softmax, pooling, reductions, tensor operations."""

    def __init__(self, draw: Draw) -> None:
        known = list(operations.families())
        names = [f"{operation}, {kind}" for operation, kind, _ in known]
        name = draw.choice("operation", names)
        operation, kind, make = known[names.index(name)]
        super().__init__(draw, f"layer 2: {operation}")
        seed = (draw.integer("problem", 0, 10**6), zlib.crc32(name.encode()))
        self.case = make(TestDraw(seed, kind.split(" to ")[0]))
        self.limits["result"] = 2 * self.case.allowed

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        return {"result": self.case.run(machine.owner)}


class _Convolution(_Whole):
    def __init__(self, draw: Draw) -> None:
        kinds = [str(kind) for kind in convolutions.KINDS]
        self.kind = convolutions.KINDS[kinds.index(draw.choice("types", kinds))]
        self.operation = draw.choice("operation", self.kind.operations)
        super().__init__(draw, f"layer 2: convolution {self.operation}")
        seed = draw.integer("problem", 0, 10**6)
        self.problem = convolutions.random_problem(self.kind, seed, self.operation)
        self.given = convolutions.random_operands(self.problem, self.operation)
        self.identity = seed % 2 == 1
        exact = convolutions.expected(
            self.problem, self.operation, self.given, identity=self.identity
        )
        self.limits["result"] = 2 * convolutions.tolerance(
            self.problem, self.operation, self.given, exact, "WINOGRAD"
        )

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        with runs.Run(machine.owner, self.problem, self.given) as run:
            result, _ = run.carry_out(self.operation, identity=self.identity)
        return {"result": result}


class _Normalization(_Whole):
    def __init__(self, draw: Draw) -> None:
        kind = draw.choice("type", tuple(normalizations.DATA_TYPES))
        family = draw.choice("family", tuple(normalizations.FAMILIES))
        super().__init__(draw, f"layer 2: normalization {family}")
        if kind == "float64" and family.startswith("fused"):
            kind = "float32"
        problem = normalizations.random_problem(kind, family, draw.integer("problem", 0, 10**6))
        self.problem, self.given = problem, normalizations.random_operands(problem)
        exact, allowed = normalizations.expected(self.problem, self.given)
        self.limits = {
            name: 2 * np.broadcast_to(limit, exact[name].shape) for name, limit in allowed.items()
        }

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        return normalizations.run(machine.owner, self.problem, self.given)


class _Neighbours(_Whole):
    def __init__(self, draw: Draw) -> None:
        self.kind = draw.choice("type", FLOATING)
        self.operation = draw.choice("operation", ("lrn", "divisive", "spatial"))
        super().__init__(draw, f"layer 2: {self.operation}")
        self.seed = draw.integer("problem", 0, 10**6)

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        found = getattr(local_normalizations, self.operation)(self.kind, machine.owner, self.seed)
        self.limits = {each.name: 4 * each.allowed for each in found}
        return {each.name: each.value for each in found}


class _Graph(_Whole):
    """A backend graph; which graphs have engines is not compared."""

    statuses_compared = False

    def __init__(self, draw: Draw, family: str) -> None:
        super().__init__(draw, f"graph: {family}")
        self.family = family
        seed = draw.integer("graph", 0, 10**6)
        self.case = random_graphs.draw(family, seed)
        self.unit = {"bfloat16": 2.0**-8}.get(self.case["io"], 2.0**-11)

    def outputs(self, machine: Machine, wobble: int) -> dict[str, Any]:
        handle = machine.owner
        with random_graphs.describe(self.case) as graph:
            graph.build(handle, without_engine=handle.on_reference_device)
            rng = np.random.default_rng(self.case["seed"])
            arrays = {
                each.name: rng.uniform(-2, 2, each.dims).astype(numpy_dtype(each.data_type))
                for each in graph.inputs
            }
            random_graphs.prepare(self.case, arrays)
            if wobble:
                noise = np.random.default_rng([self.case["seed"], wobble])
                for name, array in arrays.items():
                    if array.dtype.kind not in "iub":
                        signs = noise.choice([-1.0, 1.0], array.shape)
                        moved = array.astype(np.float64) * (1 + self.unit * signs)
                        arrays[name] = moved.astype(array.dtype)
            found = numbers.executed(graph, arrays, handle)
            return {
                each.name: found[each.name].astype(_stored(each.data_type))
                for each in graph.outputs
            }


def _stored(data_type: Any) -> Any:
    kind = numpy_dtype(data_type)
    return kind if data_type_name(data_type) in ("float16", "bfloat16", "float32") else np.float64


FAMILIES: dict[str, tuple[float, Any]] = {
    "layer 2 operations": (13, _Operation),
    "layer 2 convolution": (3, _Convolution),
    "layer 2 normalization": (3, _Normalization),
    "layer 2 neighbours": (3, _Neighbours),
    **{
        f"graph {family}": (0.3, lambda draw, family=family: _Graph(draw, family))
        for family in random_graphs.FAMILIES
    },
}
