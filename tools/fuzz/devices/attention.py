"""Multi-head attention: sizes, weights, forward, and both gradients in one program."""

from __future__ import annotations

from typing import Any

from tests.legacy.attentions import match_lengths

from .draw import Draw
from .operands import ROUNDOFF, enumerators
from .program import Program

__all__ = ["FAMILIES"]

_TYPES = ("FLOAT FLOAT", "HALF FLOAT", "DOUBLE DOUBLE", "BFLOAT16 FLOAT", "HALF HALF")
_ORDERS = ("TNBV", "NTBV", "TBNV", "NBTV", "BTNV", "BNTV")
_AXES = {"T": 0, "N": 1, "B": 2, "V": 3}
_KINDS = enumerators(
    "Q_WEIGHTS K_WEIGHTS V_WEIGHTS O_WEIGHTS Q_BIASES K_BIASES V_BIASES O_BIASES", "MH_ATTN_"
)


def _sequences(
    program: Program, name: str, kind: str, dims: list[int], order: str, lengths: list[int]
) -> tuple[int, ...]:
    axes = [_AXES[letter] for letter in order]
    program.descriptor(
        name, "SeqData", "cudnnSetSeqDataDescriptor", f"CUDNN_DATA_{kind}", 4, dims, axes,
        len(lengths), lengths, None,
    )  # fmt: skip
    strides, step = [0] * 4, 1
    for axis in reversed(axes):
        strides[axis] = step
        step *= dims[axis]
    return tuple(strides)


def _sizes(draw: Draw) -> tuple[list[int], list[int]]:
    """Of q, k and v, and of their projections and the output's, 0 for none."""
    sizes = draw.integers("size", 3, 1, 12)
    projections = [
        draw.integer(f"projection{i}", 1, 8) if draw.choice(f"projected{i}", (True, False), (3, 1))
        else 0
        for i in range(4)
    ]  # fmt: skip
    if not draw.chance("mismatch", 0.02):
        match_lengths(sizes, projections)
    return sizes, projections


def attention(draw: Draw) -> Program:
    """Forward; in training with gradients."""
    program, choice = Program(draw), draw.choice
    kind, compute = choice("types", _TYPES, (8, 5, 3, 3, 2)).split()
    math = choice("math", enumerators("FMA_MATH DEFAULT_MATH TENSOR_OP_MATH", ""))
    heads = draw.integer("heads", 1, 3)
    t_q, t_k = draw.integer("queries", 1, 8), draw.integer("keys", 1, 8)
    batch, beam = draw.integer("batch", 1, 3), draw.integer("beam", 1, 3)
    one_to_one = draw.chance("one to one", 0.25)
    if one_to_one and choice("beam of one", (True, False), (9, 1)):
        beam = 1
    sizes, projections = _sizes(draw)
    biases = draw.chance("biases", 0.4)
    residual = bool(projections[3]) and draw.chance("residual", 0.3)
    if residual:
        projections[3] = sizes[0]
    out = projections[3] or heads * (projections[2] or sizes[2])
    order = choice("order", _ORDERS)
    ragged = draw.chance("padding", 0.5)
    q_lengths = [t_q] * (batch * beam)
    k_lengths = [t_k] * batch
    if ragged:
        q_lengths = draw.integers("q length", batch * beam, 1, t_q)
        k_lengths = draw.integers("k length", batch, 1, t_k)
    unit = ROUNDOFF["DOUBLE" if kind == "DOUBLE" else "FLOAT"]
    if kind in ("HALF", "BFLOAT16"):
        unit = ROUNDOFF[kind]
    if kind == "FLOAT" and not math.endswith("FMA_MATH"):
        unit = ROUNDOFF["HALF"]
    program.unit, program.terms, program.magnitude = unit, 64, 1.0  # of differences of gradients
    mode = (1 if one_to_one else 0) | (2 if biases else 0)
    program.descriptor(
        "attnDesc", "Attn", "cudnnSetAttnDescriptor", mode, heads,
        choice("scaler", (0.5, 1.0, 0.1, 0.0)), f"CUDNN_DATA_{kind}", f"CUDNN_DATA_{compute}",
        math, None, None, *sizes, *projections, t_q, t_k, batch, beam,
    )  # fmt: skip
    shapes = {
        "q": [t_q, batch, beam, sizes[0]], "k": [t_k, batch, 1, sizes[1]],
        "v": [t_k, batch, 1, sizes[2]], "o": [t_q, batch, beam, out],
    }  # fmt: skip
    strides = {
        name: _sequences(
            program, f"{name}Desc", kind, dims, order, q_lengths if name in "qo" else k_lengths
        )
        for name, dims in shapes.items()
    }
    names = {"queries": "q", "keys": "k", "values": "v"}
    for name, letter in names.items():
        program.array(name, kind, tuple(shapes[letter]), strides[letter])
    program.array("out", kind, tuple(shapes["o"]), strides["o"], out=True, content="poison")
    count = _weights(heads, sizes, projections, biases)
    program.array("weights", kind, (max(count, 1),), content="uniform:-0.6:0.6")
    program.array("q lengths", "INT32", (len(q_lengths),), values=q_lengths)
    program.array("k lengths", "INT32", (len(k_lengths),), values=k_lengths)
    training = choice("training", (True, False), (3, 1))
    asked = program.call(
        "cudnnGetMultiHeadAttnBuffers", attnDesc="attnDesc",
        **({} if training else {"reserveSpaceSizeInBytes": None}),
    )  # fmt: skip
    size = f"{asked}.weightSizeInBytes"
    if count and draw.chance("part", 0.3):
        program.descriptor("wDesc", "Tensor")
        program.call(
            "cudnnGetMultiHeadAttnWeights", attnDesc="attnDesc",
            wKind=choice("weight", _KINDS), weightSizeInBytes=size, weights="weights",
            wDesc="wDesc",
        )  # fmt: skip
    program.space("workSpace", f"{asked}.workSpaceSizeInBytes")
    spaces: dict[str, Any] = {
        "weightSizeInBytes": size, "weights": "weights" if count else None,
        "workSpaceSizeInBytes": "workSpace", "workSpace": "workSpace",
        "reserveSpaceSizeInBytes": 0, "reserveSpace": None,
    }  # fmt: skip
    if training:
        program.space("reserveSpace", f"{asked}.reserveSpaceSizeInBytes")
        spaces |= {"reserveSpaceSizeInBytes": "reserveSpace", "reserveSpace": "reserveSpace"}
    low, high = [0] * t_q, [t_k] * t_q
    if draw.chance("windows", 0.5):
        low = draw.integers("low", t_q, 0, max(0, t_k // 2))
        high = [a + draw.integer(f"width{i}", 0, t_k) for i, a in enumerate(low)]
    current = choice("step", ("all", "one"), (5, 1))
    if current == "one" and not training:
        position = draw.integer("position", 0, t_q - 1)
    else:
        position = -1
    windows = {"loWinIdx": low, "hiWinIdx": high}
    program.call(
        "cudnnMultiHeadAttnForward", attnDesc="attnDesc", currIdx=position, **windows,
        devSeqLengthsQO="q lengths", devSeqLengthsKV="k lengths", qDesc="qDesc",
        queries="queries", residuals="queries" if residual else None, kDesc="kDesc", keys="keys",
        vDesc="vDesc", values="values", oDesc="oDesc", out="out", **spaces,
    )  # fmt: skip
    if not training or not choice("backward", (True, False), (5, 1)):
        return program.finish()
    program.array("dout", kind, tuple(shapes["o"]), strides["o"])
    for name, letter in names.items():
        program.array(
            f"d{name}", kind, tuple(shapes[letter]), strides[letter], out=True, content="poison"
        )
    if not projections[0] and min(q_lengths) < t_q:
        program.operands["dqueries"].free = "what lies behind the end of a sequence"
    program.call(
        "cudnnMultiHeadAttnBackwardData", attnDesc="attnDesc", **windows,
        devSeqLengthsDQDO="q lengths", devSeqLengthsDKDV="k lengths", doDesc="oDesc", dout="dout",
        dqDesc="qDesc", dqueries="dqueries", queries="queries", dkDesc="kDesc", dkeys="dkeys",
        keys="keys", dvDesc="vDesc", dvalues="dvalues", values="values", **spaces,
    )  # fmt: skip
    if count:
        program.array("dweights", kind, (count,), out=True, content="normal")
        program.call(
            "cudnnMultiHeadAttnBackwardWeights", attnDesc="attnDesc",
            addGrad=choice("gradient", enumerators("WGRAD_MODE_SET WGRAD_MODE_ADD", "")),
            qDesc="qDesc", queries="queries", kDesc="kDesc", keys="keys", vDesc="vDesc",
            values="values", doDesc="oDesc", dout="dout", dweights="dweights", **spaces,
        )  # fmt: skip
    return program.finish()


def _weights(heads: int, sizes: list[int], projections: list[int], biases: bool) -> int:
    """How many numbers the weights are."""
    count = 0
    for size, projection in zip(sizes, projections, strict=False):
        if projection:
            count += heads * projection * (size + (1 if biases else 0))
    if projections[3]:
        inner = heads * (projections[2] or sizes[2])
        count += projections[3] * (inner + (1 if biases else 0))
    return count


FAMILIES: dict[str, tuple[float, Any]] = {"attention": (6, attention)}
