"""Random attention of every kind: its graphs and oracles are those of the tests.

Sequences are whole, padded, packed one after the other, or in pages; masks, biases, sinks, dropout
by a mask and functions that modify the scores come and go.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

from cudnn_ctypes import Handle
from cudnn_ctypes.errors import CudnnError, FaultWarning, SymbolNotFoundError
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.engines.refusals import refusal
from tests.graph.attentions import Attention, errors, execute
from tests.graph.fp8_attentions import Fp8Attention

__all__ = ["FAMILIES", "draw", "run"]

FAMILIES = (
    "attention",
    "attention backward",
    "attention unified",
    "attention of 8 bits",
    "attention of 8 bits backward",
)
# Relative to the largest element: softmax and its gradient are rounded to the type of q.
TOLERANCES = {
    "attention": {"float16": 4e-3, "bfloat16": 3e-2},
    "attention backward": {"float16": 1e-2, "bfloat16": 6e-2},
    "attention unified": {"float16": 4e-3, "bfloat16": 3e-2},
    # Three or two bits after the point: half a unit is a 16th or an 8th, and errors add up.
    "attention of 8 bits": {"fp8_e4m3": 2.5 / 16, "fp8_e5m2": 2.5 / 8},
    "attention of 8 bits backward": {"fp8_e4m3": 4 / 16, "fp8_e5m2": 4 / 8},
}
_OF_STATISTICS = 1e-3


def draw(family: str, seed: int) -> dict[str, Any]:
    """The case of this family and seed: data types, and options of an `Attention`."""
    rng = random.Random(f"{family} {seed}")
    backward, narrow = family.endswith("backward"), "8 bits" in family
    batch, key_heads = rng.randint(1, 3), rng.choice([1, 2, 4])
    queries, keys = rng.randint(1, 160), 16 * rng.randint(1, 12)
    if narrow and backward and rng.random() < 0.9:
        queries = -(-queries // 16) * 16  # versions up to 9.26 compute no others right
    options: dict[str, Any] = {
        "batch": batch,
        "heads": key_heads * rng.choice([1, 2]),
        "key_heads": key_heads,
        "queries": queries,
        "keys": keys,
        "size": 8 * rng.randint(2, 16),
        "tokens_first": rng.random() < 0.7,
        "inference": not backward and rng.random() < 0.3,
    }
    if narrow:
        options["size"] = 128 if backward else 16 * rng.randint(2, 8)
    if narrow and backward:
        options["heads"] = key_heads
    options["value_size"] = options["size"]
    if rng.random() < 0.4:
        ends = [abs(keys - queries), queries, keys, rng.randint(1, 20)]
        options["right"] = 0 if rng.random() < 0.7 else rng.choice(ends)
        options["bottom_right"] = rng.random() < (0.4 if queries <= keys else 0.1)
        if rng.random() < 0.4:
            # Where the band ends with the first key or query, or has one key.
            ends = [1, keys, queries, keys - queries, keys - queries + 1, queries - keys]
            options["left"] = max(rng.choice([rng.randint(1, 64), rng.choice(ends)]), 1)
    options |= _feature(rng, family, options)
    if not narrow and rng.random() < 0.25:
        known = ["cap", "relative"] if "right" in options else ["cap", "relative", "causal"]
        options["modifier"] = rng.choice(known)
    types = ["fp8_e4m3", "fp8_e5m2"] if narrow else ["float16", "bfloat16"]
    drawn = {"family": family, "seed": seed, "io": rng.choice(types), "options": options}
    return {**drawn, "gradient": rng.choice(types)} if narrow and backward else drawn


def _feature(rng: random.Random, family: str, options: dict[str, Any]) -> dict[str, Any]:
    """One of what an attention can have besides."""
    backward, narrow = family.endswith("backward"), "8 bits" in family
    features = ["", "lengths", *([] if backward else ["page"])]
    if not narrow:
        features += ["ragged", "sink", "bias", "scale"]
        features += ["sums"] if "unified" in family else ["mask"]
    feature = rng.choice(features)
    queries, keys, batch = (options[name] for name in ("queries", "keys", "batch"))
    lengths = [[rng.randint(1, each) for _ in range(batch)] for each in (queries, keys)]
    found: dict[str, dict[str, Any]] = {
        "lengths": {"lengths": lengths},
        "sums": {"lengths": lengths, "cumulative": True},
        "ragged": {"lengths": lengths, "ragged": True, "tokens_first": True},
        "page": {"lengths": lengths, "page": 16, "inference": True},
        "mask": {"dropout": "mask"},
        "sink": {"sink": True, "dropout": "mask" if rng.random() < 0.3 and backward else ""},
        "bias": {"bias": [1, options["heads"], queries, keys]},
        "scale": {"scale": rng.choice([0.3, "tensor"])},
    }
    return found.get(feature, {})


def _attention(case: dict[str, Any]) -> Attention:
    options = dict(case["options"])
    for name in ("lengths", "bias"):
        if options.get(name):
            options[name] = tuple(
                tuple(each) if isinstance(each, list) else each for each in options[name]
            )
    return Attention(**options)


def run(case: dict[str, Any], handle: Handle) -> str:
    """What became of one case."""
    attention, backward = _attention(case), case["family"].endswith("backward")
    narrow = "8 bits" in case["family"]
    problem = Fp8Attention(attention, case["io"], case.get("gradient", case["io"]))
    with Graph(**({} if narrow else {"io_data_type": case["io"]})) as graph:
        try:
            if narrow:
                (problem.backward if backward else problem.forward)(graph)
            elif backward:
                attention.backward(graph)
            else:
                attention.forward(graph, unified="unified" in case["family"])
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always", FaultWarning)
                graph.build(handle, without_engine=handle.on_reference_device)
        except CudnnError as error:
            return f"refused: {str(refusal(error))[:100]}"
        except (ValueError, SymbolNotFoundError) as error:
            return f"refused by cudnn_ctypes: {str(error)[:100]}"
        if narrow:
            stored, exact = problem.operands()
            found = problem.errors(execute(attention, graph, stored, handle), exact)
        else:
            a = attention.values(case["io"])
            exact = attention.compute(a)
            a |= {"o": attention.rounded(exact["o"], case["io"]), "stats": exact["stats"]}
            found = errors(attention, execute(attention, graph, a, handle), exact, a)
    types = {case["io"], case.get("gradient", case["io"])}  # results are made of both
    allowed = max(TOLERANCES[case["family"]][each] for each in types)
    wrong = {
        name: error
        for name, error in found.items()
        if not error <= (_OF_STATISTICS if name == "stats" else allowed)
    }
    if wrong:
        known = any(issubclass(each.category, FaultWarning) for each in given)
        kind = "warned of" if known else "wrong"
        return f"{kind}: " + ", ".join(f"{name} by {error:.1e}" for name, error in wrong.items())
    return "right"
