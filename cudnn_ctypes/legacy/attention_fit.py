"""Whether the operands of multi-head attention fit its descriptor and each other."""

from __future__ import annotations

from .. import raw
from .attention_descriptor import AttnDescriptor
from .sequence_data import SeqDataDescriptor

__all__ = ["check_fit"]

_TIME, _BATCH = raw.CUDNN_SEQDATA_TIME_DIM, raw.CUDNN_SEQDATA_BATCH_DIM


def check_fit(attn: AttnDescriptor, desc: dict[str, SeqDataDescriptor]) -> None:
    """Say what cuDNN's BAD_PARAM does not: it gives no reason here.

    Parameters
    ----------
    desc : dict
        The descriptors of "q", "k", "v", and "y" or "dy".

    Raises
    ------
    TypeError
        If one is of another data type than the attention.
    ValueError
        If vectors, sequences or sizes do not fit, or cuDNN would give wrong results.
    """
    sizes = attn.sizes
    shapes = {role: described.shape for role, described in desc.items()}
    output = next(reversed(desc))
    vectors = {role: sizes[f"{role}_size"] for role in ("q", "k", "v")}
    vectors[output] = attn.output_size
    for role, length in vectors.items():
        if shapes[role][3] != length:
            raise ValueError(f"{role}: expected vectors of {length}, got shape {shapes[role]}")
        if desc[role].data_type != attn.data_type:
            raise TypeError(
                f"{role}: {desc[role].data_type.name}, but attn is {attn.data_type.name}"
            )
    steps, batch, beam, _ = shapes["q"]
    axes = desc["q"].axes
    batch_is_outer = batch > 1 and axes.index(_BATCH) < axes.index(_TIME)
    unprojected = sizes["o_projection"] and not sizes["v_projection"]
    if attn.heads > 1 and unprojected and beam == 1 and not batch_is_outer:
        # On an H200, cuDNN 9.14 and 9.19 multiply the attention of all heads but the first with
        # what lies behind v, whatever the sizes, types and steps.
        raise ValueError(
            "attn: with several heads and an output projection, but v_projection=0, cuDNN gives "
            "wrong results for a beam of 1, unless there are several batch entries, and they lie "
            "outside of the time steps in memory (NTBV); else project v with identity matrices"
        )
    k_beam = 1 if attn.query_map == "all_to_one" else beam
    for role, wanted in (
        ("k", (shapes["k"][0], batch, k_beam)),
        ("v", (shapes["k"][0], batch, k_beam)),
        (output, (steps, batch, beam)),
    ):
        if shapes[role][:3] != wanted:
            raise ValueError(
                f"{role}: expected (time, batch, beam) = {wanted} for query_map "
                f"{attn.query_map!r} and q {shapes['q']}, got {shapes[role]}"
            )
    for role, other in ((output, "q"), ("v", "k")):
        if desc[role].lengths != desc[other].lengths:
            raise ValueError(
                f"{role}_desc: expected the lengths of {other}, "
                f"{desc[other].lengths}, got {desc[role].lengths}"
            )
    for what, value, limit in (
        ("q", steps, "qo_max_length"),
        ("k", shapes["k"][0], "kv_max_length"),
        ("q", batch, "max_batch"),
        ("q", beam, "max_beam"),
    ):
        if value > sizes[limit]:
            raise ValueError(f"{what}: {value} is more than the {limit} of attn, {sizes[limit]}")
