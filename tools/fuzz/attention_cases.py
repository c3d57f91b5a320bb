"""Random attention graphs with every option: which graph, and which numbers it is given.

A case is plain data for JSON. `draw` gives that of a seed, `facets` the options that it has, by
which results are counted, and `variants` other graphs that must give the same results, which tell
what a wrong one could be replaced by.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["OPERATIONS", "SHOWN", "draw", "facets", "variants"]

Case = dict[str, Any]
OPERATIONS = {
    "sdpa": 46,
    "sdpa_backward": 34,
    "sdpa_unified": 8,
    "sdpa_fp8": 7,
    "sdpa_fp8_backward": 5,
}
"""Operations, with how often each is drawn."""

# Where a last tile is full, has one token, or lacks one.
_LENGTHS = (
    1,
    2,
    3,
    16,
    63,
    64,
    65,
    100,
    127,
    128,
    129,
    191,
    192,
    193,
    255,
    256,
    320,
    448,
    500,
    640,
)
_LONG = (1000, 1024, 1087, 1088, 2048, 2112, 4096, 4097, 8191, 8192)
_SIZES = (8, 16, 32, 40, 64, 64, 64, 72, 80, 96, 128, 128, 128, 136, 192, 256)
_LARGEST = 3 << 20  # elements of one tensor, and of the scores


def draw(seed: int, operations: dict[str, int] | None = None) -> Case:
    """The case of this seed."""
    rng = random.Random(f"attention {seed}")
    weights = operations or OPERATIONS
    operation = rng.choices(list(weights), list(weights.values()))[0]
    backward, narrow = operation.endswith("backward"), "fp8" in operation
    case: Case = {"seed": seed, "operation": operation}
    case["io"] = rng.choice(["fp8_e4m3", "fp8_e5m2"] if narrow else ["float16", "bfloat16"])
    if narrow and backward:
        case["gradient"] = rng.choice(["fp8_e4m3", "fp8_e5m2"])
    case |= _draw_shape(rng, backward, narrow)
    case |= _draw_sequences(rng, case, backward, narrow)
    plain = operation == "sdpa_unified" and rng.random() < 0.5  # what cuDNN 9.19 has of it
    if not plain:
        case |= _draw_mask(rng, case)
    if not narrow and not plain:
        case |= _draw_scores(rng, case, backward)
    else:
        case["scale"] = rng.choice([None, None, 0.3, "tensor"])
    if not backward:
        outputs = ["stats", "none"] + ["parts"] * (operation == "sdpa" and not case.get("sink"))
        case["outputs"] = rng.choice(outputs)
    elif not narrow:
        case["deterministic"] = rng.random() < 0.25
    case["values"] = _draw_values(rng, case, backward, narrow)
    if not backward and case.get("bias") and case["bias"]["kind"] == "-inf":
        case["outputs"] = "none"
    return case


def _draw_shape(rng: random.Random, backward: bool, narrow: bool) -> Case:
    queries, keys = rng.choice(_LENGTHS), rng.choice(_LENGTHS)
    kind = rng.random()
    if kind < 0.3:
        keys = queries
    elif kind < 0.55 and not narrow:
        queries, keys = rng.choice([1, 1, 2, 3]), rng.choice(_LONG + _LENGTHS)
    elif kind < 0.62:
        queries, keys = rng.choice(_LENGTHS[:12]), rng.choice(_LONG)
    if narrow and backward and rng.random() < 0.9:
        queries = -(-queries // 16) * 16
    key_heads = rng.choice([1, 1, 2, 3, 4])
    heads = key_heads * rng.choice([1, 1, 2, 4, 7])
    size = value_size = rng.choice(_SIZES)
    if narrow:
        size = value_size = 128 if backward else rng.choice([16, 32, 64, 64, 128, 128])
        heads = key_heads if backward else heads
    elif rng.random() < 0.2:
        value_size = rng.choice([each for each in _SIZES if each <= 128 or not backward])
    batch = rng.choice([1, 1, 2, 3, 5])
    while batch * heads * max(queries * keys, (queries + keys) * max(size, 64)) > _LARGEST:
        if batch > 1:
            batch = 1
        elif heads > key_heads:
            heads = key_heads
        elif heads > 1:
            heads = key_heads = 1
        else:
            queries = max(queries // 4, 1)
    layouts = ["bshd", "bshd", "bhsd", "sbhd", "gaps"]
    if queries == keys and size == value_size:
        layouts += ["packed", "packed"]
    return {
        "batch": batch,
        "heads": heads,
        "key_heads": key_heads,
        "queries": queries,
        "keys": keys,
        "size": size,
        "value_size": value_size,
        "layout": rng.choice(layouts),
    }


def _draw_sequences(rng: random.Random, case: Case, backward: bool, narrow: bool) -> Case:
    """Lengths, sequences one after the other, and pages."""
    found: Case = {}
    if rng.random() > 0.42:
        return found
    lengths = []
    for whole in (case["queries"], case["keys"]):
        ends = (0, 1, whole, whole, max(whole - 1, 1), max(whole // 2, 1), rng.randint(1, whole))
        lengths.append([rng.choice(ends) for _ in range(case["batch"])])
    if narrow and not backward:  # kernels for 8 bits may not end where a query has no key
        lengths[1] = [
            max(keys, queries > 0) for queries, keys in zip(lengths[0], lengths[1], strict=True)
        ]
    found["lengths"] = lengths
    kind = rng.random()
    if kind < 0.3 and not narrow:
        found |= {"ragged": True, "layout": "bshd", "gap": rng.choice([0, 0, 1, 3])}
    elif kind < 0.5 and not backward:
        page = rng.choice([1, 16, 16, 32, 64, 128])
        while page > 1 and case["keys"] % page:
            page //= 2
        found |= {"page": page, "layout": "bshd"}
    if case["operation"] == "sdpa_unified" and rng.random() < 0.3:
        found["cumulative"] = True
    return found


def _draw_mask(rng: random.Random, case: Case) -> Case:
    queries, keys = case["queries"], case["keys"]
    kind = rng.random()
    if kind < 0.45:
        return {}
    found: Case = {"bottom_right": rng.random() < 0.45}
    if kind < 0.75:
        found["right"] = 0
    elif kind < 0.9:
        ends = [abs(keys - queries), queries, keys, rng.randint(1, 20), 63, 64, 127, 128]
        found["right"] = rng.choice(ends)
    if kind >= 0.65:
        ends = [
            1,
            2,
            64,
            65,
            128,
            keys,
            queries,
            keys - queries,
            keys - queries + 1,
            rng.randint(1, 99),
        ]
        found["left"] = max(rng.choice(ends), 1)
    return found


def _draw_scores(rng: random.Random, case: Case, backward: bool) -> Case:
    """What is done to the scores, and to their softmax."""
    found: Case = {}
    scores = [case["heads"], case["queries"], case["keys"]]
    if rng.random() < 0.18:
        found["alibi"] = True
    if rng.random() < 0.3:
        dims = [rng.choice([1, case["batch"]]), rng.choice([1, scores[0]]), *scores[1:]]
        if not backward and rng.random() < 0.15:
            dims[2] = 1
        kinds = [
            "normal",
            "normal",
            "low",
            "low",
            "very low",
            "high",
            "very high",
            "tail",
            "-inf",
            "lowest",
        ]
        found["bias"] = {"dims": dims, "kind": rng.choice(kinds)}
        if backward and rng.random() < 0.35:
            found["bias"]["gradient"] = True
            found["bias"]["dims"][0] = 1
            if rng.random() < 0.7:
                found["bias"]["dims"][1] = scores[0]
    if rng.random() < 0.12:
        found["sink"] = rng.choice(["normal", "normal", "low", "high", "-inf"])
    if rng.random() < 0.15:
        found["dropout"] = rng.choice(["mask", "seed"])
    if rng.random() < 0.3:
        found["scale"] = rng.choice([0.3, 1.0, "tensor", "tensor", 0.0, -0.2])
    if rng.random() < 0.15:
        free = "right" not in case and "left" not in case
        found["modifier"] = rng.choice(["cap", "cap", "relative", *["causal"] * free])
    return found


def _draw_values(rng: random.Random, case: Case, backward: bool, narrow: bool) -> str:
    kinds = ["normal"] * 6
    if not narrow:
        kinds += ["large", "peaked", "low", "low", "very low", "high", "tiny"]
    kinds += ["zero rows", "ones"]
    if not backward and not narrow and case.get("scale") != 0.0:
        kinds.append("NaN query")
    return rng.choice(kinds)


# --- counting ------------------------------------------------------------------------------------


def facets(case: Case) -> Iterator[str]:
    """The options that a case has, as `kind: value`."""
    yield f"type: {case['io']}"
    yield f"layout: {case['layout']}"
    yield f"values: {case['values']}"
    left, right = case.get("left"), case.get("right")
    if left is None and right is None:
        yield "mask: none"
    else:
        bounds = ["left"] * (left is not None) + ["right"] * (right is not None)
        name = "causal" if right == 0 and left is None else " and ".join(bounds)
        yield f"mask: {name}, {'bottom right' if case['bottom_right'] else 'top left'}"
    for name in ("queries", "keys"):
        size = case[name]
        told = str(size) if size <= 3 else "more than 1024" if size > 1024 else "4 to 1024"
        yield f"{name}: {told}"
    rest = case["keys"] % 128
    yield f"keys % 128: {rest if rest in (0, 1, 63, 64, 65, 127) else 'other'}"
    same = case["size"] == case["value_size"]
    yield f"head size: {case['size'] if same else 'values have another'}"
    shared = case["heads"] // case["key_heads"]
    told = "each" if shared == 1 else "one" if case["key_heads"] == 1 else "shared"
    yield f"heads of keys: {told}"
    lengths = case.get("lengths")
    if lengths:
        kinds = ["ragged"] if case.get("ragged") else ["pages"] if case.get("page") else ["padded"]
        yield f"lengths: {kinds[0]}{' with gaps' if case.get('gap') else ''}"
        yield from (f"lengths: some {n}" for n in (0, 1) if n in (*lengths[0], *lengths[1]))
        if case.get("cumulative"):
            yield "lengths: as sums"
    else:
        yield "lengths: none"
    if "bias" in case:
        yield f"bias: {case['bias']['kind']}"
        if case["bias"]["dims"][2] != case["queries"]:
            yield "bias: one row"
        if case["bias"].get("gradient"):
            yield "bias: with its gradient"
    for name in ("alibi", "deterministic"):
        if case.get(name):
            yield f"{name}: yes"
    if case.get("alibi"):
        yield f"alibi: {'masked' if right is not None or left is not None else 'unmasked'}"
    for name in ("sink", "dropout", "modifier", "outputs", "gradient"):
        if case.get(name):
            yield f"{name}: {case[name]}"
    scale = case.get("scale")
    if scale is not None:
        yield f"scale: {scale if isinstance(scale, str) or scale <= 0 else 'number'}"


def variants(case: Case) -> Iterator[tuple[str, Case]]:
    """Other graphs with the same results, by name."""
    whole = [[case[name]] * case["batch"] for name in ("queries", "keys")]
    if not case.get("lengths"):
        yield "lengths", {**case, "lengths": whole}
    if case.get("alibi"):
        dims = [1, case["heads"], case["queries"], case["keys"]]
        if "bias" not in case:
            yield (
                "alibi as bias",
                {
                    **case,
                    "alibi": False,
                    "bias": {"dims": dims, "kind": "alibi", "type": "float32"},
                },
            )
    if case["queries"] == 1 and "right" not in case and "left" not in case:
        yield "causal", {**case, "right": 0, "bottom_right": True}
    if "right" not in case and "left" not in case and not case.get("lengths"):
        yield "wide right", {**case, "right": case["keys"], "bottom_right": False}
    if "deterministic" in case:
        yield "deterministic", {**case, "deterministic": not case["deterministic"]}
    if case["layout"] != "bshd":
        yield "bshd", {**case, "layout": "bshd"}


def _has_sequence(queries: int, keys: int) -> Callable[[Case], bool]:
    """Whether a sequence has some (1) or no (0) queries and keys."""
    return lambda case: any(
        (min(one, 1), min(other, 1)) == (queries, keys)
        for one, other in zip(*case["lengths"], strict=True)
    )


SHOWN: Mapping[str, Callable[[Case], bool]] = {
    # What lies behind the pages, the guard of their tensor, is not a number in every case.
    "pages of 8 bits": lambda case: "page" in case,
    "sequence without keys": _has_sequence(1, 0),
    "sequence without keys in 8 bits": _has_sequence(1, 0),
    "gradient of a sequence without queries": _has_sequence(0, 1),
    "band of attention in 8 bits": lambda case: any(
        queries > keys for queries, keys in zip(*case["lengths"], strict=True)
    ),
}
"""Whether the numbers of a case are those for which a known fault, by its name, is warned of."""
