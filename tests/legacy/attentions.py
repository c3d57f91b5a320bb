"""Random problems for multi-head attention, and what they give in float64."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import AttentionWeights, AttnDescriptor, DeviceTensor, Handle, SeqDataDescriptor
from cudnn_ctypes.reference.attention import (
    attention_backward_data,
    attention_backward_weights,
    attention_forward,
    visible_keys,
    weight_shapes,
)

POISON = 7.0
ROUNDINGS = 16  # of the largest element of a result, that its error may amount to
ORDERS = ("TNBV", "NTBV", "TBNV", "NBTV", "BTNV", "BNTV")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kind:
    """A data type, what is computed in, and what each product and sum may be rounded to."""

    name: str
    data: str
    compute: str
    math: str
    epsilon: float

    def __str__(self) -> str:
        return self.name

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(getattr(ml_dtypes, self.data, None) or self.data)


# float32 in cuDNN's default math may use TF32, with 10 bits of mantissa.
KINDS = (
    Kind("float32, fma", "float32", "float32", "fma_math", 2.0**-23),
    Kind("float32", "float32", "float32", "default_math", 2.0**-10),
    Kind("float64", "float64", "float64", "default_math", 2.0**-52),
    Kind("float16", "float16", "float32", "default_math", 2.0**-10),
    Kind("float16 in float16", "float16", "float16", "default_math", 2.0**-10),
    Kind("bfloat16", "bfloat16", "float32", "default_math", 2.0**-7),
)


@dataclass
class Problem:
    """One attention: sizes, options and operands."""

    heads: int
    sizes: tuple[int, int, int]
    projections: tuple[int, int, int, int]
    biases: bool
    scaler: float
    order: str
    query_map: str
    low: list[int]
    high: list[int]
    q_lengths: NDArray[Any]
    k_lengths: NDArray[Any]
    with_residuals: bool
    q: NDArray[Any]
    k: NDArray[Any]
    v: NDArray[Any]
    dy: NDArray[Any]
    weights: Arrays = field(default_factory=dict)

    @property
    def visible(self) -> NDArray[np.bool_]:
        return visible_keys(self.low, self.high, self.q_lengths, self.k_lengths, len(self.k))

    def __repr__(self) -> str:
        names = ("heads", "sizes", "projections", "biases", "order", "query_map", "with_residuals")
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in names)
        return f"{shown}, q {self.q.shape}, k {self.k.shape}, window {self.low} {self.high}"


def random_problem(seed: int, kind: Kind, *, padding: bool = True) -> Problem:
    """Projections there or not, with and without biases, any order in memory, windows, padding."""
    rng = np.random.default_rng(seed)
    heads, t_q, t_k, batch, beam = (int(rng.integers(1, top)) for top in (4, 9, 9, 4, 4))
    query_map = "all_to_one"
    if rng.random() < 0.3:
        beam, query_map = 1, "one_to_one"
    projections = [int(rng.integers(1, 9)) if rng.random() < 0.75 else 0 for _ in range(4)]
    sizes = [int(rng.integers(1, 13)) for _ in range(3)]
    match_lengths(sizes, projections)
    out = projections[3] or heads * (projections[2] or sizes[2])
    with_residuals = rng.random() < 0.4 and bool(projections[3])
    if with_residuals:
        projections[3] = out = sizes[0]
    order = str(rng.choice(ORDERS))
    batch_is_outer = batch > 1 and order.index("N") < order.index("T")
    if beam == 1 and projections[3] and not projections[2] and not batch_is_outer:
        heads = 1  # cuDNN gives wrong results with several, and attention_forward refuses it.
    biases = bool(rng.random() < 0.5)
    shapes = weight_shapes(heads, sizes, projections, biases=biases)

    def normal(*shape: int) -> NDArray[Any]:
        return rng.standard_normal(shape).astype(kind.dtype)

    low = rng.integers(0, max(1, t_k // 2), t_q)
    high = low + rng.integers(0, t_k + 1, t_q)
    whole = np.full((batch, beam), t_q), np.full((batch, 1), t_k)
    ragged = rng.integers(1, t_q + 1, (batch, beam)), rng.integers(1, t_k + 1, (batch, 1))
    q_lengths, k_lengths = ragged if padding else whole
    return Problem(
        heads=heads,
        sizes=tuple(sizes),
        projections=tuple(projections),
        biases=biases,
        # Scores of a few units: the softmax neither flat nor a maximum.
        scaler=float(rng.uniform(0.3, 1.0)) / (1 + (projections[0] or sizes[0]) ** 0.5 * 2),
        order=order,
        query_map=query_map,
        low=low.tolist(),
        high=high.tolist(),
        q_lengths=q_lengths,
        k_lengths=k_lengths,
        with_residuals=bool(with_residuals),
        q=normal(t_q, batch, beam, sizes[0]),
        k=normal(t_k, batch, 1, sizes[1]),
        v=normal(t_k, batch, 1, sizes[2]),
        dy=normal(t_q, batch, beam, out),
        # cuDNN counts rows by the projection, and so a sum of as many products stays around 1.
        weights={
            name: (rng.standard_normal(shape) / max(1, shape[2]) ** 0.5).astype(kind.dtype)
            for name, shape in shapes.items()
        },
    )


def match_lengths(sizes: list[int], projections: list[int]) -> None:
    """Make projected keys as long as projected queries."""
    if projections[0] and projections[1]:
        projections[1] = projections[0]
    elif projections[0]:
        sizes[1] = projections[0]
    elif projections[1]:
        projections[1] = sizes[0]
    else:
        sizes[1] = sizes[0]


def expected(problem: Problem) -> Arrays:
    """Everything in float64, by name: y, dq, dk, dv, and the gradients of the weights."""
    operands = [x.astype(np.float64) for x in (problem.q, problem.k, problem.v)]
    weights = {name: array.astype(np.float64) for name, array in problem.weights.items()}
    attended = attention_forward(
        *operands,
        weights,
        heads=problem.heads,
        scaler=problem.scaler,
        visible=problem.visible,
        residuals=operands[0] if problem.with_residuals else None,
    )
    given = dict(zip("qkv", operands, strict=True))
    given |= {"dy": problem.dy.astype(np.float64), "attended": attended, "weights": weights}
    data = attention_backward_data(**given, scaler=problem.scaler)
    by_weights = attention_backward_weights(**given, gradients=data)
    return {"y": attended.y, "dq": data.dq, "dk": data.dk, "dv": data.dv, **by_weights}


class Run(ExitStack):
    """A problem's operands on a device; results are poisoned before."""

    def __init__(self, handle: Handle, problem: Problem, kind: Kind, **options: Any) -> None:
        super().__init__()
        self.handle, self.problem, self.kind = handle, problem, kind
        names = ("q_projection", "k_projection", "v_projection", "o_projection")
        (t_q, batch, beam, _), t_k = problem.q.shape, len(problem.k)
        self.attn = self.enter_context(
            AttnDescriptor(
                problem.heads,
                q_size=problem.sizes[0],
                k_size=problem.sizes[1],
                v_size=problem.sizes[2],
                **dict(zip(names, problem.projections, strict=True)),
                qo_max_length=t_q,
                kv_max_length=t_k,
                max_batch=batch,
                max_beam=beam,
                scaler=problem.scaler,
                query_map=problem.query_map,
                biases=problem.biases,
                data_type=kind.data,
                compute_data_type=kind.compute,
                math_type=kind.math,
                **options,
            )
        )
        self.q, self.k, self.v, self.dy = (
            self.put(array) for array in (problem.q, problem.k, problem.v, problem.dy)
        )
        self.weights = self.enter_context(AttentionWeights(handle, self.attn, problem.weights))
        self.lengths = {
            "q_lengths": problem.q_lengths.ravel().tolist(),
            "k_lengths": problem.k_lengths.ravel().tolist(),
        }
        self.windows = {"low": problem.low, "high": problem.high}

    def put(self, array: NDArray[Any]) -> DeviceTensor:
        with SeqDataDescriptor(array.shape, array.dtype, axes=self.problem.order) as desc:
            strides = desc.strides
        return self.enter_context(DeviceTensor.from_numpy(array, strides=strides))

    def poisoned(self, like: NDArray[Any]) -> DeviceTensor:
        return self.put(np.full(like.shape, POISON, like.dtype))

    @property
    def operands(self) -> tuple[Any, ...]:
        return self.q, self.k, self.v, self.attn, self.weights

    @property
    def residuals(self) -> Any:
        return self.q if self.problem.with_residuals else None

    def forward(self, **options: Any) -> NDArray[Any]:
        """The output, for inference."""
        y = self.poisoned(self.problem.dy)
        arguments = {"residuals": self.residuals, **self.lengths, **self.windows, **options}
        cudnn.attention_forward(self.handle, *self.operands, y, **arguments)
        return y.numpy()

    def train(self) -> Arrays:
        """Everything that training gives, by the names of `expected`."""
        y = self.poisoned(self.problem.dy)
        _, reserve = cudnn.attention_forward_training(
            self.handle, *self.operands, y, residuals=self.residuals, **self.lengths, **self.windows
        )
        self.enter_context(reserve)
        names = ("q", "k", "v")
        results = {f"d{name}": self.poisoned(getattr(self.problem, name)) for name in names}
        given = {name: getattr(self, name) for name in ("q", "k", "v", "dy", "weights")}
        given |= {"reserve_space": reserve, **self.lengths}
        cudnn.attention_backward_data(self.handle, self.attn, **given, **results, **self.windows)
        poison = {name: np.full_like(a, POISON) for name, a in self.problem.weights.items()}
        with AttentionWeights(self.handle, self.attn, poison) as dweights:
            cudnn.attention_backward_weights(self.handle, self.attn, **given, dweights=dweights)
            by_weights = dweights.numpy()
        data = {name: result.numpy() for name, result in results.items()}
        return {"y": y.numpy(), **data, **by_weights}


def tolerance(problem: Problem, kind: Kind, exact: Arrays) -> Arrays:
    """How far each result may be from `exact`.

    Every result is sums of at most some dozens of products, along a chain of five (projection,
    scores, softmax, heads, projection), and the intermediate ones are stored rounded. So each is
    allowed `ROUNDINGS` of its largest element; the largest of a weights' gradients stands for its
    biases' too, since those of the keys' biases add up to 0.
    """
    scales = {name: np.abs(array).max(initial=0.0) for name, array in exact.items()}
    of_weights = max((scales[name] for name in problem.weights), default=0.0)
    return {
        name: np.asarray(
            ROUNDINGS * kind.epsilon * max(1.0, of_weights if name in problem.weights else scale)
        )
        for name, scale in scales.items()
    }


def kept(name: str, problem: Any) -> Any:
    """The elements of a result that belong to no padding."""
    lengths = problem.q_lengths if name in ("y", "dq") else problem.k_lengths
    if name not in ("y", "dq", "dk", "dv"):
        return ...
    steps = len(problem.q if name in ("y", "dq") else problem.k)
    return np.arange(steps)[:, None, None] < lengths
