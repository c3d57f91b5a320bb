"""Attention, multilayer perceptrons and what else works on sequences and sets."""

from __future__ import annotations

from typing import Any

from .blocks import block
from .parts import Parts
from .rows import written_out


@block("Llama")
def self_attention(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.attention(p.rms_norm(x, 256), 2, 64, 4, 64) + x


@block("GPT-2")
def self_attention_of_one_projection(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.one_projection(x, 2, 64, 4, 64, causal=True) + x


def _angles(p: Parts, s: int, d: int) -> Any:
    return p.input(1, s, 1, d, data_type="float32", name="angles")


@block("Llama", "bfloat16")
def llama_attention(p: Parts) -> Any:
    x, angles = p.input(2, 64, 512), _angles(p, 64, 64)
    y = p.rms_norm(x, 512)
    return p.attention(y, 2, 64, 8, 64, few=2, angles=angles, causal=True) + x


@block("attention")
def attention_written_out(p: Parts) -> Any:
    q, k, v = (p.input(2, 4, 64, 64, name=n) for n in "qkv")
    return p.matmul(written_out(p, p.matmul(q, k, turned=True) * (1 / 8), 3), v)


@block("T5")
def attention_with_bias(p: Parts) -> Any:
    q, k, v = (p.input(2, 4, 64, 64, name=n) for n in "qkv")
    o = p.attend(q, k, v, scale=1.0, bias=p.input(1, 4, 64, 64, name="bias"))
    return p.linear(p.joined(o, 2, 64, 256), 256, 256)


@block("T5")
def cross_attention(p: Parts) -> Any:
    x, memory = p.input(2, 64, 256), p.input(2, 128, 256, name="memory")
    return p.attention(x, 2, 64, 4, 64, memory=memory, length=128) + x


@block("linear attention")
def linear_attention(p: Parts) -> Any:
    """Features elu + 1, keys times values first."""
    q, k, v = (p.input(2, 4, 128, 64, name=n) for n in "qkv")
    q, k = p.apply("elu", q) + 1.0, p.apply("elu", k) + 1.0
    state = p.matmul(p.transpose(k, (0, 1, 3, 2)), v)
    total = p.reduce("add", k, (2,))
    return p.matmul(q, state) / p.matmul(q, total, turned=True)


@block("GPT-2")
def gelu_mlp(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.mlp(p.layer_norm(x, 256), 256, 1024, "gelu_tanh") + x


@block("Llama", "bfloat16")
def swiglu_mlp(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.gated_mlp(p.rms_norm(x, 256), 256, 704) + x


@block("LoRA")
def low_rank_linear(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.linear(x, 256, 256) + p.linear(p.linear(x, 256, 16), 16, 256) * 2.0


@block("contrastive model")
def contrastive_scores(p: Parts) -> Any:
    """CLIP's: both sides of unit length, then all products."""
    sides = []
    for name in "ab":
        x = p.input(1, 64, 256, name=name)
        sides.append(x * p.apply("rsqrt", p.reduce("add", p.apply("square", x), (2,)) + 1e-12))
    return p.matmul(*sides, turned=True) * 14.3


@block("GPT-2")
def gpt2_layer(p: Parts) -> Any:
    x = p.input(1, 64, 768)
    x = x + p.one_projection(p.layer_norm(x, 768), 1, 64, 12, 64, causal=True)
    return x + p.mlp(p.layer_norm(x, 768), 768, 3072, "gelu_tanh")


@block("Llama", "bfloat16")
def llama_layer(p: Parts) -> Any:
    """SmolLM's sizes."""
    x, angles = p.input(1, 64, 576), _angles(p, 64, 64)
    y = p.rms_norm(x, 576)
    x = x + p.attention(y, 1, 64, 9, 64, few=3, angles=angles, causal=True)
    return x + p.gated_mlp(p.rms_norm(x, 576), 576, 1536)


@block("Llama", "bfloat16")
def llama_decoding_one_token(p: Parts) -> Any:
    """Against 256 keys and values that are there already."""
    x, k, v = p.input(2, 1, 576), p.input(2, 3, 256, 64, name="k"), p.input(2, 3, 256, 64, name="v")
    q = p.heads(p.linear(p.rms_norm(x, 576), 576, 576), 2, 1, 9, 64)
    return x + p.linear(p.joined(p.attend(q, k, v), 2, 1, 576), 576, 576)


@block("BERT")
def bert_layer(p: Parts) -> Any:
    x = p.input(1, 64, 768)
    x = p.layer_norm(x + p.attention(x, 1, 64, 12, 64, bias=True), 768)
    return p.layer_norm(x + p.mlp(x, 768, 3072), 768)


@block("Qwen", "bfloat16")
def qwen_attention(p: Parts) -> Any:
    """Biases, and norms of q and k."""
    x, angles = p.input(1, 64, 896), _angles(p, 64, 64)
    y, options = p.rms_norm(x, 896), {"bias": True, "norms": True, "causal": True}
    return x + p.attention(y, 1, 64, 14, 64, few=2, angles=angles, **options)


@block("Gemma", "bfloat16")
def gemma_mlp(p: Parts) -> Any:
    """Norms on both sides; a soft cap of the result, as of its logits."""
    x = p.input(1, 64, 640)
    y = x + p.rms_norm(p.gated_mlp(p.rms_norm(x, 640), 640, 2048, "gelu_tanh"), 640)
    return p.apply("tanh", y * (1 / 30)) * 30.0


@block("Falcon")
def parallel_layer(p: Parts) -> Any:
    """Attention and the perceptron side by side; one head of keys and values."""
    x, angles = p.input(1, 64, 512), _angles(p, 64, 64)
    y = p.layer_norm(x, 512)
    mixed = p.attention(y, 1, 64, 8, 64, few=1, angles=angles, causal=True)
    return x + mixed + p.mlp(y, 512, 2048, bias=False)


@block("T5")
def gated_gelu_mlp(p: Parts) -> Any:
    x = p.input(2, 64, 512)
    return x + p.gated_mlp(p.rms_norm(x, 512), 512, 1024, "gelu_tanh")


@block("mixture of experts", "bfloat16")
def router(p: Parts) -> Any:
    return p.softmax(p.linear(p.input(1, 64, 512), 512, 8))


@block("mixture of experts", "bfloat16")
def mixture_of_experts(p: Parts) -> Any:
    """Mixtral's: rows sorted by their expert, 16 for each of eight, and their shares."""
    x, share = p.input(1, 128, 512), p.input(1, 128, 1, name="mask")
    gate = p.apply("silu", p.experts(x, 8, 512, 1024))
    return p.experts(gate * p.experts(x, 8, 512, 1024), 8, 1024, 512) * share


@block("Whisper")
def whisper_encoder_layer(p: Parts) -> Any:
    x = p.input(1, 150, 384)
    x = x + p.attention(p.layer_norm(x, 384), 1, 150, 6, 64, bias=True)
    return x + p.mlp(p.layer_norm(x, 384), 384, 1536)


@block("vision transformer")
def vit_layer(p: Parts) -> Any:
    """197 rows: 14 by 14 patches and the class."""
    x = p.input(1, 197, 384)
    x = x + p.one_projection(p.layer_norm(x, 384), 1, 197, 6, 64)
    return x + p.mlp(p.layer_norm(x, 384), 384, 1536)


@block("diffusion transformer")
def dit_block(p: Parts) -> Any:
    """Shifts, scales and gates are computed of the condition."""
    m = 384
    x, condition = p.input(2, 64, m), p.input(2, 1, m, name="condition")
    tuned = p.linear(p.apply("silu", condition), m, 6 * m, bias=True)
    parts = p.chunk(tuned, 2, m, 6)
    for (shift, scale, gate), inner in zip((parts[:3], parts[3:]), "am", strict=True):
        y = p.layer_norm(x, m, affine=False) * (scale + 1.0) + shift
        y = p.one_projection(y, 2, 64, 6, 64) if inner == "a" else p.mlp(y, m, 4 * m, "gelu_tanh")
        x = x + gate * y
    return x


@block("Swin")
def attention_in_windows(p: Parts) -> Any:
    """Of 7 by 7 pixels, with a bias for each pair of them."""
    windows = p.reshape(p.input(1, 14, 14, 96), (1, 2, 7, 2, 7, 96))
    x = p.reshape(p.transpose(windows, (0, 1, 3, 2, 4, 5)), (4, 49, 96))
    pairs = p.input(1, 3, 49, 49, name="bias")
    q, k, v = (p.heads(p.linear(x, 96, 96, bias=True), 4, 49, 3, 32) for _ in "qkv")
    y = p.linear(p.joined(p.attend(q, k, v, bias=pairs), 4, 49, 96), 96, 96, bias=True)
    y = p.transpose(p.reshape(y, (1, 2, 2, 7, 7, 96)), (0, 1, 3, 2, 4, 5))
    return p.reshape(y, (1, 14, 14, 96))


@block("Swin")
def attention_by_cosines(p: Parts) -> Any:
    """Of the second version."""
    q, k, v = (p.input(4, 3, 64, 32, name=n) for n in "qkv")
    q, k = (
        x * p.apply("rsqrt", p.reduce("add", p.apply("square", x), (3,)) + 1e-6) for x in (q, k)
    )
    scores = p.matmul(q, k, turned=True) * p.input(1, 3, 1, 1, name="scale")
    return p.matmul(written_out(p, scores, 3), v)


@block("MLP-Mixer")
def mixer_layer(p: Parts) -> Any:
    """Perceptrons over rows, then over channels."""
    x = p.input(2, 64, 256)
    y = p.transpose(p.layer_norm(x, 256), (0, 2, 1))
    x = x + p.transpose(p.mlp(y, 64, 128), (0, 2, 1))
    return x + p.mlp(p.layer_norm(x, 256), 256, 1024)


@block("gMLP")
def spatial_gating(p: Parts) -> Any:
    y = p.apply("gelu", p.linear(p.input(2, 64, 256), 256, 512, bias=True))
    u, v = p.chunk(y, 2, 256, 2)
    mixed = p.matmul(p.weight(1, 64, 64), p.layer_norm(v, 256)) + p.weight(1, 64, 1, kind="bias")
    return p.linear(u * mixed, 256, 256)


@block("Perceiver")
def cross_attention_of_latents(p: Parts) -> Any:
    x, memory = p.input(1, 32, 256), p.input(1, 256, 256, name="memory")
    y, memory = p.layer_norm(x, 256), p.layer_norm(memory, 256)
    x = x + p.attention(y, 1, 32, 4, 64, memory=memory, length=256)
    return x + p.mlp(p.layer_norm(x, 256), 256, 256)


@block("Conformer")
def conformer_feed_forward(p: Parts) -> Any:
    x = p.input(2, 64, 256)
    return p.layer_norm(x + p.mlp(p.layer_norm(x, 256), 256, 1024, "silu") * 0.5, 256)


@block("Conformer")
def conformer_convolution(p: Parts) -> Any:
    """Along time, 31 wide, each channel by itself."""
    x = p.input(2, 64, 256)
    a, b = p.chunk(p.linear(p.layer_norm(x, 256), 256, 512, bias=True), 2, 256, 2)
    y = p.transpose(p.reshape(a * p.apply("sigmoid", b), (2, 1, 64, 256)), (0, 3, 1, 2))
    y = p.conv_norm(y, 256, 256, (1, 31), "silu", groups=256)
    return x + p.linear(p.reshape(p.transpose(y, (0, 2, 3, 1)), (2, 64, 256)), 256, 256)


@block("DETR")
def detr_encoder_layer(p: Parts) -> Any:
    """Positions are added to queries and keys."""
    x, at = p.input(1, 100, 256), p.input(1, 100, 256, name="positions")
    q, k = (p.heads(p.linear(x + at, 256, 256, bias=True), 1, 100, 8, 32) for _ in "qk")
    v = p.heads(p.linear(x, 256, 256, bias=True), 1, 100, 8, 32)
    o = p.linear(p.joined(p.attend(q, k, v), 1, 100, 256), 256, 256, bias=True)
    x = p.layer_norm(x + o, 256)
    return p.layer_norm(x + p.mlp(x, 256, 2048, "relu"), 256)


@block("LLaVA", "bfloat16")
def projector(p: Parts) -> Any:
    x = p.part(p.input(1, 65, 256), 1, 1, 65)  # without the class
    y = p.apply("gelu", p.linear(x, 256, 512, bias=True))
    return p.linear(y, 512, 512, bias=True)


@block("contrastive model")
def embedding_of_a_class(p: Parts) -> Any:
    """The first row, projected, of unit length."""
    x = p.linear(p.layer_norm(p.part(p.input(8, 50, 256), 1, 0, 1), 256), 256, 128)
    return x * p.apply("rsqrt", p.reduce("add", p.apply("square", x), (2,)) + 1e-12)


@block("AlphaFold", "bfloat16")
def triangle_multiplication(p: Parts) -> Any:
    """Pairs of residues by their third; of products with weights first, channels lie outermost."""
    y = p.layer_norm(p.input(1, 32 * 32, 64), 64)
    a, b = (
        p.reshape(
            p.apply("sigmoid", p.matmul(p.weight(1, 64, 64), y, turned=True))
            * p.matmul(p.weight(1, 64, 64), y, turned=True),
            (64, 32, 32),
        )
        for _ in "ab"
    )
    pairs = p.reshape(p.transpose(p.matmul(a, b, turned=True), (1, 2, 0)), (1, 32 * 32, 64))
    return p.apply("sigmoid", p.linear(y, 64, 64)) * p.linear(p.layer_norm(pairs, 64), 64, 64)


@block("AlphaFold", "bfloat16")
def transition(p: Parts) -> Any:
    x = p.input(1, 32 * 32, 64)
    return x + p.mlp(p.layer_norm(x, 64), 64, 256, "relu")


@block("Mamba", "bfloat16")
def gate_and_short_convolution(p: Parts) -> Any:
    """Of four steps that are past; without the scan."""
    s, m = 64, 256
    x, z = p.chunk(p.linear(p.input(2, s, m), m, 2 * m), 2, m, 2)
    y = p.transpose(p.reshape(x, (2, 1, s, m)), (0, 3, 1, 2))
    y = p.part(p.conv(y, m, m, (1, 4), groups=m, padding=(0, 3)), 3, 0, s)
    y = p.apply("silu", p.reshape(p.transpose(y, (0, 2, 3, 1)), (2, s, m)))
    return p.linear(y * p.apply("silu", z), m, m)


@block("RWKV", "bfloat16")
def channel_mixing(p: Parts) -> Any:
    """Each row mixed with the one before it."""
    x = p.input(2, 65, 256)
    now, last = p.part(x, 1, 1, 65), p.part(x, 1, 0, 64)
    key, gate = (now + (last - now) * p.weight(1, 1, 256, kind="mix") for _ in "kr")
    y = p.apply("square", p.apply("relu", p.linear(key, 256, 896)))
    return p.apply("sigmoid", p.linear(gate, 256, 256)) * p.linear(y, 896, 256)


@block("RetNet", "bfloat16")
def retention(p: Parts) -> Any:
    """Scores times what is left of them after so many steps."""
    q, k, v = (p.input(2, 4, 64, 64, name=n) for n in "qkv")
    left = p.input(1, 4, 64, 64, name="mask")
    return p.matmul(p.matmul(q, k, turned=True) * left, v)


@block("graph network", "float32")
def graph_convolution(p: Parts) -> Any:
    """Cora's sizes, fewer nodes."""
    edges = p.input(1, 256, 256, name="mask")
    y = p.apply("relu", p.matmul(edges, p.linear(p.input(1, 256, 128), 128, 64)))
    return p.matmul(edges, p.linear(y, 64, 8))


@block("graph network", "float32")
def graph_attention(p: Parts) -> Any:
    x = p.linear(p.input(1, 128, 64), 64, 64)
    one, other = p.linear(x, 64, 1), p.linear(x, 64, 1)
    scores = one + p.transpose(other, (0, 2, 1))
    masked = p.apply("leaky_relu", scores) + p.input(1, 128, 128, name="edges")
    return p.matmul(written_out(p, masked, 2), x)


@block("recommender")
def interactions_of_features(p: Parts) -> Any:
    """DLRM's: a perceptron, then products of all pairs of embeddings."""
    x, others = p.input(64, 1, 16), p.input(64, 8, 32, name="embeddings")
    for k, n in ((16, 64), (64, 32)):
        x = p.apply("relu", p.linear(x, k, n, bias=True))
    every = p.cat([x, others], 1)
    return p.matmul(every, every, turned=True)


@block("recommender", "float32")
def cross_layer(p: Parts) -> Any:
    first, x = p.input(1, 64, 128, name="first"), p.input(1, 64, 128)
    return first * p.linear(x, 128, 128, bias=True) + x


@block("recurrent network", "float32")
def lstm_cell(p: Parts) -> Any:
    x, h, c = (p.input(1, 32, 128, name=n) for n in ("x", "h", "c"))
    gates = p.linear(x, 128, 512, bias=True) + p.linear(h, 128, 512)
    i, f, g, o = p.chunk(gates, 2, 128, 4)
    new = p.apply("sigmoid", f) * c + p.apply("sigmoid", i) * p.apply("tanh", g)
    return {"cell": new, "y": p.apply("sigmoid", o) * p.apply("tanh", new)}


@block("recurrent network", "float32")
def gru_cell(p: Parts) -> Any:
    x, h = p.input(1, 32, 128), p.input(1, 32, 128, name="h")
    ours, theirs = (p.chunk(p.linear(each, 128, 384, bias=True), 2, 128, 3) for each in (x, h))
    r, z = (p.apply("sigmoid", a + b) for a, b in zip(ours[:2], theirs[:2], strict=True))
    n = p.apply("tanh", ours[2] + r * theirs[2])
    return n + z * (h - n)


@block("neural field", "float32")
def sine_layers(p: Parts) -> Any:
    """SIREN's; its weights take back the factor of 30."""
    y = p.apply("sin", p.linear(p.input(1, 256, 2), 2, 64, bias=True))
    return p.linear(p.apply("sin", p.linear(y, 64, 64, bias=True)), 64, 3, bias=True)


@block("neural field")
def radiance_layers(p: Parts) -> Any:
    """NeRF's: with a skip of the input."""
    x = p.input(1, 256, 64)
    y = p.apply("relu", p.linear(x, 64, 256, bias=True))
    y = p.apply("relu", p.linear(p.cat([x, y], 2), 320, 256, bias=True))
    return p.apply("softplus", p.linear(y, 256, 8, bias=True))


@block("segment anything")
def masks_of_tokens(p: Parts) -> Any:
    """Each token's own filter over pixels."""
    tokens, pixels = p.input(1, 4, 256), p.input(1, 1024, 32, name="pixels")
    y = p.apply("relu", p.linear(tokens, 256, 256, bias=True))
    return p.matmul(p.linear(y, 256, 32, bias=True), pixels, turned=True)


@block("ALiBi")
def attention_with_slopes(p: Parts) -> Any:
    """Distances times a slope of each head, added to the scores."""
    q, k, v = (p.input(1, 8, 64, 64, name=n) for n in "qkv")
    far = p.input(1, 1, 64, 64, name="distances") * p.input(1, 8, 1, 1, name="slopes")
    return p.matmul(written_out(p, p.matmul(q, k, turned=True) * (1 / 8) + far, 3), v)
