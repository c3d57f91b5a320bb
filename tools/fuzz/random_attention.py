"""Random attention, forward and backward: its graphs and oracle are those of the tests."""

from __future__ import annotations

import random
from typing import Any

from cudnn_ctypes import Handle
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.engines.refusals import refusal
from tests.graph.attentions import Attention, errors, execute

__all__ = ["FAMILIES", "draw", "run"]

FAMILIES = ("attention", "attention backward")
# Relative to the largest element: softmax and its gradient are rounded to the type of q.
TOLERANCES = {
    "attention": {"float16": 4e-3, "bfloat16": 3e-2},
    "attention backward": {"float16": 1e-2, "bfloat16": 6e-2},
}


def draw(family: str, seed: int) -> dict[str, Any]:
    """The case of this family and seed: a data type, and options of an `Attention`."""
    rng = random.Random(f"{family} {seed}")
    batch, key_heads = rng.randint(1, 3), rng.choice([1, 2, 4])
    queries, keys = rng.randint(1, 160), 16 * rng.randint(1, 12)
    backward = family.endswith("backward")
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
    options["value_size"] = options["size"]
    if rng.random() < 0.4:
        options["right"] = 0 if rng.random() < 0.7 else rng.randint(1, 20)
        options["bottom_right"] = queries <= keys and rng.random() < 0.4
        if rng.random() < 0.4:
            options["left"] = rng.randint(1, 64)
    feature = rng.choice(["", "lengths", "ragged", "page", "mask", "sink", "bias", "scale"])
    if feature in ("lengths", "ragged", "page"):
        lengths = [[rng.randint(1, each) for _ in range(batch)] for each in (queries, keys)]
        options["lengths"] = lengths
    if feature == "ragged":
        options |= {"ragged": True, "tokens_first": True}
    elif feature == "page" and not backward:
        options |= {"page": 16, "inference": True}
    elif feature == "mask":
        options["dropout"] = "mask"
    elif feature == "sink":
        options["sink"] = True
    elif feature == "bias":
        options["bias"] = [1, options["heads"], queries, keys]
    elif feature == "scale":
        options["scale"] = rng.choice([0.3, "tensor"])
    return {
        "family": family,
        "seed": seed,
        "io": rng.choice(["float16", "bfloat16"]),
        "options": options,
    }


def run(case: dict[str, Any], handle: Handle) -> str:
    """What became of one case."""
    options = dict(case["options"])
    for name in ("lengths", "bias"):
        if options.get(name):
            options[name] = tuple(
                tuple(each) if isinstance(each, list) else each for each in options[name]
            )
    attention = Attention(**options)
    backward = case["family"].endswith("backward")
    with Graph(io_data_type=case["io"]) as graph:
        try:
            (attention.backward if backward else attention.forward)(graph)
            graph.build(handle, without_engine=handle.on_reference_device)
        except CudnnError as error:
            return f"refused: {str(refusal(error))[:100]}"
        except ValueError as error:
            return f"refused by cudnn_ctypes: {str(error)[:100]}"
        a = attention.values(case["io"])
        exact = attention.compute(a)
        a |= {"o": attention.rounded(exact["o"], case["io"]), "stats": exact["stats"]}
        found = execute(attention, graph, a, handle)
        allowed = TOLERANCES[case["family"]][case["io"]]
        wrong = {
            name: error
            for name, error in errors(attention, found, exact, a).items()
            if not error <= allowed
        }
    if wrong:
        return "wrong: " + ", ".join(f"{name} by {error:.1e}" for name, error in wrong.items())
    return "right"
