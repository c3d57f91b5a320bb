"""Random problems of every family through layer 2, against the reference in float64.

On the reference device this tests how layer 2 describes its operands; on a GPU, cuDNN. A family
carries out problem number `seed` and gives its results, what they should be, and by how much they
may be off.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cudnn_ctypes import Handle, ctc_loss, ctc_loss_v8
from cudnn_ctypes.reference import ctc as reference_ctc

from . import (
    attentions,
    causal_problems,
    convolutions,
    ctc_problems,
    fused_problems,
    gnn_problems,
    local_normalizations,
    normalizations,
    recurrent,
)
from .draws import FLOATING, Draw, Result
from .operations import families
from .recurrent_rounding import tolerances
from .runs import Run as ConvolutionRun
from .test_rnn_descriptors import types as rnn_types

__all__ = ["FAMILIES", "Family", "errors"]


def errors(result: Result) -> tuple[float, float]:
    """The largest error over the largest element, and over what is allowed there."""
    exact = np.asarray(result.exact)
    error = np.abs(np.asarray(result.value, np.float64).reshape(exact.shape) - exact)
    error = np.where(np.isnan(error), np.inf, error)
    allowed = np.maximum(np.broadcast_to(result.allowed, error.shape), 1e-300)
    over = np.where(error == 0, 0.0, error / allowed).max(initial=0.0)
    largest = max(float(np.abs(exact).max(initial=0.0)), 1e-30)
    return float(error.max(initial=0.0)) / largest, float(over)


@dataclass(frozen=True)
class Family:
    """Problems of one operation with one kind of data.

    Attributes
    ----------
    carry_out
        Gives the results of problem number `seed` on a handle's device.
    on_gpu, on_reference
        How many problems there are.
    least
        The share of them that must run, on a GPU and on the reference device.
    """

    operation: str
    kind: str
    carry_out: Callable[[Handle, int], Iterator[Result]]
    on_gpu: int = 40
    on_reference: int = 8
    least: tuple[float, float] = (1.0, 1.0)

    def __str__(self) -> str:
        return f"{self.operation}-{self.kind}".replace(" ", "_").replace(",", "")


# --- layers and tensors -----------------------------------------------------------------------


def layer(operation: str, kind: str, make: Callable[[Draw], Any], handle: Handle, seed: int) -> Any:
    case = make(Draw((seed, zlib.crc32(f"{operation} {kind}".encode())), kind.split(" to ")[0]))
    value = case.run(handle)
    assert value.shape == case.exact.shape
    yield Result("", value, case.exact, case.allowed, case.about)


def layers() -> Iterator[Family]:
    share: dict[tuple[str, str], float] = {
        # No reduction of bfloat16 (cuDNN 9.14, 9.19).
        ("reduce", "bfloat16"): 0,
        ("reduce indices", "bfloat16"): 0,
        # Factors other than 1 and 0 only between packed NCHW tensors (cuDNN 9.14, 9.19).
        **{("transform ex", kind): 0.4 for kind in (*FLOATING, "int8")},
    }
    for operation, kind, make in families():
        least = share.get((operation, kind), 0.9)
        carry_out = partial(layer, operation, kind, make)
        yield Family(operation, kind, carry_out, 48, 9, (least, least))


# --- normalizations ---------------------------------------------------------------------------


def normalization(data_type: str, family: str, handle: Handle, seed: int) -> Iterator[Result]:
    problem = normalizations.random_problem(data_type, family, seed)
    given = normalizations.random_operands(problem)
    results = normalizations.run(handle, problem, given)
    exact, allowed = normalizations.expected(problem, given)
    for name, value in results.items():
        yield Result(name, value, exact[name], allowed[name], problem)


def norms() -> Iterator[Family]:
    share = {"float64": 0.5, "float32": 0.5, "float16": 0.5, "bfloat16": 0.0}
    for data_type in normalizations.DATA_TYPES:
        for family in normalizations.FAMILIES:
            if data_type != "float64" or not family.startswith("fused"):
                carry_out = partial(normalization, data_type, family)
                yield Family(family, data_type, carry_out, 40, 8, (share[data_type], 1.0))
        least = 0.0 if data_type == "bfloat16" else 1.0
        for name in ("lrn", "divisive", "spatial"):
            carry_out = partial(getattr(local_normalizations, name), data_type)
            yield Family(name, data_type, carry_out, 40, 6, (least, least))


# --- convolutions -----------------------------------------------------------------------------


def convolution(
    kind: convolutions.Kind, operation: str, handle: Handle, seed: int
) -> Iterator[Result]:
    problem, identity = convolutions.random_problem(kind, seed, operation), seed % 2 == 1
    given = convolutions.random_operands(problem, operation)
    with ConvolutionRun(handle, problem, given) as run:
        value, algorithm = run.carry_out(operation, identity=identity)
    exact = convolutions.expected(problem, operation, given, identity=identity)
    allowed = convolutions.tolerance(problem, operation, given, exact, algorithm)
    yield Result("", value, exact, allowed, f"with {algorithm}: {problem}")


def of_convolutions() -> Iterator[Family]:
    share = {
        ("bfloat16", "backward_bias"): 0.0,  # cuDNN 9.19 has no kernel
        ("float64", "backward_data"): 0.3,  # none for NHWC
        ("float64", "backward_filter"): 0.3,
        ("float64", "forward"): 0.7,  # none for NHWC in 3 spatial dimensions
        ("float64", "fused"): 0.7,
    }
    for kind in convolutions.KINDS:
        for operation in kind.operations:
            least = share.get((kind.x, operation), 0.9)
            carry_out = partial(convolution, kind, operation)
            yield Family(f"convolution {operation}", str(kind), carry_out, least=(least, least))


def without_handle(operation: Callable[[int], Any], _: Handle, seed: int) -> Iterator[Result]:
    yield from operation(seed)


def causal_convolutions() -> Iterator[Family]:
    counts = {"direct": (12, 12), "back_to_back": (4, 4), "fft": (2, 2), "long_fft": (1, 1)}
    for name, (on_gpu, on_reference) in counts.items():
        for data_type in FLOATING:
            carry_out = partial(without_handle, partial(getattr(causal_problems, name), data_type))
            operation = f"causal convolution {name}"
            yield Family(operation, data_type, carry_out, on_gpu, on_reference, (0.0, 1.0))


def fused() -> Iterator[Family]:
    count = len(fused_problems.CASES)
    for statistics in (True, False):
        carry_out = partial(fused_problems.convolution, statistics, "float16")
        operation = "conv_bnstats" if statistics else "conv without stats"
        yield Family(operation, "float16", carry_out, count, count, (0.0, 1.0))
    for dtype in ("float16", "float32"):
        carry_out = partial(fused_problems.filter_gradient, dtype)
        yield Family("wgrad", dtype, carry_out, count, count, (0.0, 1.0))
    yield Family("finalize training", "float32", fused_problems.finalizing, 2, 2, (0.0, 1.0))
    for dtype in ("float16", "float32", "float64"):
        carry_out = partial(fused_problems.finalizing_inference, dtype)
        yield Family("finalize inference", dtype, carry_out, 1, 1, (0.0, 1.0))


# --- sequences and graphs ---------------------------------------------------------------------


def network(kind: recurrent.Kind, algorithm: str, handle: Handle, seed: int) -> Iterator[Result]:
    problem = recurrent.random_problem(kind, seed, algorithm)
    given = recurrent.random_operands(problem)
    with recurrent.Run(handle, problem, given) as run:
        got = run.training_step()
    exact = recurrent.expected(problem, given)
    allowed = tolerances(problem, given, exact)
    for name, array in exact.items():
        where = problem.valid if name in ("y", "dx") else ...
        yield Result(name, got[name][where], array[where], allowed[name], problem)


def attention(kind: attentions.Kind, padding: bool, handle: Handle, seed: int) -> Iterator[Result]:
    problem = attentions.random_problem(seed, kind, padding=padding)
    with attentions.Run(handle, problem, kind) as run:
        results = {"inference": run.forward(), **run.train()}
    exact = attentions.expected(problem)
    allowed = attentions.tolerance(problem, kind, exact)
    for name, value in results.items():
        source = "y" if name == "inference" else name
        where = attentions.kept(source, problem)
        yield Result(name, value[where], exact[source][where], allowed[source], problem)


def ctc(dtype: str, algorithm: str, version: Any, handle: Handle, seed: int) -> Iterator[Result]:
    problem = ctc_problems.random_problem(seed, dtype)
    costs, gradients = ctc_problems.run(handle, problem, version, algorithm)
    exact = reference_ctc.ctc_loss(
        problem.given.astype(np.float64),
        problem.labels,
        problem.lengths,
        normalization=problem.normalization,
    )
    written = np.arange(len(problem.u))[:, None] < np.array(problem.lengths)
    # Gradients are exponentials of sums of logarithms, whose errors are relative to them. The
    # probabilities that are given are rounded too.
    allowed = 32 * float(np.finfo(dtype).eps) * (1 + exact.costs.max())
    largest = max(1.0, float(np.abs(exact.gradients).max()))  # 1 / y, by probabilities
    yield Result("costs", costs, exact.costs, allowed)
    yield Result("gradients", gradients[written], exact.gradients[written], allowed * largest)
    left = np.where(ctc_problems.zeroed(problem, version), 0, ctc_problems.POISON)[..., None]
    left = np.broadcast_to(left, gradients.shape)[~written]
    yield Result("past the input lengths", gradients[~written], left, 0.0)


def sequences() -> Iterator[Family]:
    for kind in recurrent.KINDS:
        least = float(kind.data_type in rnn_types())
        carry_out = partial(network, kind, "standard")
        yield Family("rnn", str(kind), carry_out, 60, 6, (least, least))
        for algorithm in ("persist_static", "persist_static_small_h", "persist_dynamic"):
            # cuDNN refuses other descriptors in float64: tested with the descriptors.
            if kind.data_type != "float64" or algorithm == "persist_dynamic":
                run = 0.0 if kind.compute_data_type == "float16" else least
                carry_out = partial(network, kind, algorithm)
                yield Family(f"rnn {algorithm}", str(kind), carry_out, 20, 3, (run, run))
    for kind in attentions.KINDS:
        for padding in (False, True):
            operation = "attention, padded" if padding else "attention"
            carry_out = partial(attention, kind, padding)
            yield Family(operation, str(kind), carry_out, 40, 8, (0.0, 0.5))
    for dtype in ("float32", "float64"):
        for algorithm in ("deterministic", "non_deterministic"):
            for version in (ctc_loss, ctc_loss_v8):
                carry_out = partial(ctc, dtype, algorithm, version)
                operation = f"{version.__name__} {algorithm}"
                yield Family(operation, dtype, carry_out, 40, 6, (0.0, 0.0))


def graphs() -> Iterator[Family]:
    for data_type in gnn_problems.DATA_TYPES:
        for operation in ("sum", "mean", "max", "min"):
            carry_out = partial(gnn_problems.aggregation, operation, data_type)
            carry_out = partial(without_handle, carry_out)
            yield Family(f"aggregate {operation}", data_type, carry_out, 8, 8, (0.0, 1.0))
        for version, operation in ((1, "GAT"), (2, "GATv2")):
            carry_out = partial(gnn_problems.attention, version, data_type)
            carry_out = partial(without_handle, carry_out)
            yield Family(operation, data_type, carry_out, 56, 28, (0.0, 1.0))


FAMILIES = (*layers(), *norms(), *of_convolutions(), *causal_convolutions())
FAMILIES += (*fused(), *sequences(), *graphs())
