"""The attentions that the tests build and execute."""

from __future__ import annotations

import functools

from .attentions import Attention

LENGTHS = ((128, 90), (192, 130))
SLOPES, BIAS = (0.25, 0.0625, 0.015625, 0.00390625), (1, 4, 128, 192)
padded = functools.partial(Attention, lengths=LENGTHS)
paged = functools.partial(padded, page=16, inference=True)
PADDED = Attention(lengths=LENGTHS)
CAUSAL = Attention(right=0)
RAGGED = Attention(lengths=LENGTHS, ragged=True)

BOTH: dict[str, Attention] = {
    "plain": Attention(),
    "heads before tokens": Attention(tokens_first=False),
    "odd sizes": Attention(queries=77, keys=131),
    "scale as a number": Attention(scale=0.3),
    "scale as a tensor": Attention(scale="tensor"),
    "causal": CAUSAL,
    "causal from the bottom right": Attention(right=0, bottom_right=True),
    "window to the left": Attention(left=32),
    "causal window": Attention(left=32, right=0),
    "window to both sides": Attention(left=32, right=5),
    "causal window from the bottom right": Attention(left=32, right=0, bottom_right=True),
    "window from the bottom right": Attention(left=32, right=3, bottom_right=True),
    "window from the bottom right, up to the first key": Attention(
        left=64, right=0, bottom_right=True
    ),
    "padding": PADDED,
    "padding, causal": padded(right=0),
    "padding, causal from the bottom right": padded(right=0, bottom_right=True),
    "padding, window from the bottom right": padded(left=32, right=0, bottom_right=True),
    "ragged": RAGGED,
    "ragged, causal": padded(ragged=True, right=0),
    "ragged, one head of keys for two": padded(ragged=True, key_heads=2),
    "alibi": Attention(right=0, slopes=SLOPES),
    "alibi, six heads": Attention(heads=6, key_heads=6, right=0, slopes=(*SLOPES, 0.5, 0.125)),
    "bias": Attention(bias=BIAS),
    "bias of each sequence": Attention(bias=(2, 1, 128, 192)),
    "dropout by a seed": Attention(dropout="seed"),
    "dropout by a mask": Attention(dropout="mask"),
    "one head of keys for two": Attention(key_heads=2),
    "one head of keys": Attention(key_heads=1),
    "heads of 128": Attention(size=128, value_size=128),
    "heads of 128, causal": Attention(size=128, value_size=128, right=0),
    "heads of 72": Attention(size=72, value_size=72),
    "heads of 256": Attention(size=256, value_size=256),
    "smaller values": Attention(value_size=32),
    "heads of 192, values of 128": Attention(size=192, value_size=128),
    "sink": Attention(sink=True),
    "long": Attention(batch=1, heads=2, key_heads=2, queries=1024, keys=1280, right=0),
}
FORWARD: dict[str, Attention] = {
    "inference": Attention(inference=True),
    "pages": paged(),
    "pages, causal from the bottom right": paged(right=0, bottom_right=True),
    "pages of 64, heads of 128": paged(page=64, size=128, value_size=128),
    "one query with pages": Attention(
        queries=1, lengths=((1, 1), (192, 130)), page=16, inference=True
    ),
    "one query": Attention(queries=1, inference=True),
}
BACKWARD: dict[str, Attention] = {
    "deterministic": Attention(deterministic=True),
    "deterministic, causal": Attention(deterministic=True, right=0),
    "deterministic, one head of keys for two": Attention(deterministic=True, key_heads=2),
    "deterministic, ragged": padded(ragged=True, deterministic=True),
    "gradient of the bias": Attention(bias=BIAS, bias_gradient=True),
    "gradient of a bias of each sequence": Attention(bias=(2, 4, 128, 192), bias_gradient=True),
    "gradient of the bias, causal": Attention(bias=BIAS, bias_gradient=True, right=0),
    "gradient of one bias for all heads": Attention(bias=(1, 1, 128, 192), bias_gradient=True),
}
# Options together, for the GPU.
COMBINED: dict[str, Attention] = {
    "padding, bias": padded(bias=BIAS),
    "padding, dropout": padded(dropout="seed"),
    "padding, causal, alibi": padded(right=0, slopes=SLOPES),
    "padding, causal, sink": padded(right=0, sink=True),
    "causal, dropout": Attention(right=0, dropout="seed"),
    "causal, dropout by a mask": Attention(right=0, dropout="mask"),
    "causal, bias": Attention(right=0, bias=BIAS),
    "bottom right, bias": Attention(right=0, bottom_right=True, bias=BIAS),
    "bottom right, dropout": Attention(right=0, bottom_right=True, dropout="seed"),
    "bottom right, alibi": Attention(right=0, bottom_right=True, slopes=SLOPES),
    "causal window, alibi": Attention(right=0, left=32, slopes=SLOPES),
    "ragged, causal from the bottom right": padded(ragged=True, right=0, bottom_right=True),
    "ragged, causal window": padded(ragged=True, right=0, left=32),
    "ragged, dropout": padded(ragged=True, dropout="seed"),
    "ragged, bias": padded(ragged=True, bias=BIAS),
    "ragged, causal, one head of 128 for two": padded(
        ragged=True, right=0, key_heads=2, size=128, value_size=128
    ),
    "bias of one column": Attention(bias=(1, 4, 128, 1)),
    "larger values": Attention(value_size=128),
    "heads of 8": Attention(size=8, value_size=8),
    "more queries than keys, causal": Attention(queries=192, keys=128, right=0),
    "few": Attention(queries=5, keys=3),
    "many": Attention(
        batch=3, heads=16, key_heads=8, queries=333, keys=777, size=96, value_size=96, right=0
    ),
}
# A function of the user's before the bias and the masks.
MODIFIED: dict[str, Attention] = {
    "capped, padding": padded(modifier="cap"),
    "capped, ragged, causal": padded(modifier="cap", ragged=True, right=0),
    "capped, causal window": Attention(modifier="cap", left=32, right=0),
    "capped, causal from the bottom right": Attention(modifier="cap", right=0, bottom_right=True),
    "capped, padding, window from the bottom right": padded(
        modifier="cap", left=32, right=0, bottom_right=True
    ),
    "capped, causal, alibi": Attention(modifier="cap", right=0, slopes=SLOPES),
    "capped, padding, bias": padded(modifier="cap", bias=BIAS),
    "capped, padding, causal, alibi, bias": padded(
        modifier="cap", right=0, slopes=SLOPES, bias=BIAS
    ),
    "capped, dropout by a seed": Attention(modifier="cap", dropout="seed"),
    "capped, causal, dropout by a mask": Attention(modifier="cap", right=0, dropout="mask"),
    "capped, sink": Attention(modifier="cap", sink=True),
    "capped, causal, one head of keys for two": Attention(modifier="cap", right=0, key_heads=2),
    "masked by a function, padding, bias": padded(modifier="causal", bias=BIAS),
    "masked by a function, window": Attention(modifier="causal", left=32),
    "relative, padding, causal": padded(modifier="relative", right=0),
    "relative, bias of each sequence": Attention(modifier="relative", bias=(2, 1, 128, 192)),
}
MODIFIED_FORWARD: dict[str, Attention] = {
    "capped, pages": paged(modifier="cap"),
    "capped, pages, causal from the bottom right": paged(
        modifier="cap", right=0, bottom_right=True
    ),
    "relative, pages, bias": paged(modifier="relative", bias=BIAS),
}
BACKWARD_COMBINED: dict[str, Attention] = {
    "deterministic, padding": padded(deterministic=True),
    "deterministic, dropout": Attention(dropout="seed", deterministic=True),
    "gradient of the bias, padding": padded(bias=BIAS, bias_gradient=True),
    "gradient of the bias, one head of keys for two": Attention(
        key_heads=2, bias=BIAS, bias_gradient=True
    ),
}
