"""Try what others report of cuDNN 9: wrong numbers, NaN, and ends of the process.

``python -m tools.fuzz reports`` runs a small program for each report of the public trackers in
`REPORTS`, each in a child process, and prints what became of it on this GPU with the loaded cuDNN:
"reproduced", "not reproduced" (or refused by this cuDNN), "not possible here" with the reason, or
"not cuDNN's" where the cause lies elsewhere and cuDNN is right. Results are compared with float64
by PyTorch. What the table of faults rules out is tried all the same. ``--only TEXT`` takes the
reports with this text, ``--large`` also those that need tens of gigabytes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cudnn_ctypes import DeviceTensor, Handle, raw, use_reference_device
from cudnn_ctypes.errors import CudnnError, NotSupportedError, SymbolNotFoundError
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.backend.children import outcomes
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.legacy import (
    RNN,
    RNNDataDescriptor,
    RNNDescriptor,
    RNNWeights,
    batch_normalization_forward_inference,
)

from .attentions import run
from .wrong_rows import without_rules

__all__ = ["REPORTS", "Report", "main"]

Trial = Callable[[Handle], str]


@dataclass(frozen=True)
class Report:
    """One report, told in our own words.

    Attributes
    ----------
    place : str
        Tracker and number.
    title, effect : str
        What was computed, and what went wrong.
    versions, gpus : str
        Those that it names.
    trial : callable, optional
        Says "right", "wrong: …", "lost: …" or "refused: …"; without one, `cause` says why not.
    cause : str
        Where the fault lies if not in cuDNN, or what it needs that is not here.
    large : bool
        Whether it needs tens of gigabytes.
    """

    place: str
    title: str
    effect: str
    versions: str
    gpus: str
    trial: Trial | None = None
    cause: str = ""
    large: bool = False


def _device(handle: Handle) -> str:
    return "cpu" if handle.on_reference_device else "cuda"


# --- attention -----------------------------------------------------------------------------------


_USUAL = {
    "seed": 5,
    "operation": "sdpa",
    "io": "bfloat16",
    "layout": "bshd",
    "values": "normal",
    "outputs": "stats",
    "batch": 1,
    "unruled": True,
}


def attention(*cases: dict[str, Any], **shared: Any) -> Trial:
    """The first of some attentions that is not right."""

    def trial(handle: Handle) -> str:
        results = []
        for case in cases or ({},):
            whole: dict[str, Any] = {**_USUAL, **shared, **case}
            for one, other in (("heads", "key_heads"), ("size", "value_size")):
                whole.setdefault(other, whole[one])
            result = run(whole, handle, lambda _: None, further=bool)["result"]
            results.append(f"{result}{'' if result == 'right' else f' {case}'}")
        return next((each for each in results if each != "right"), "right")

    return trial


def backward(*cases: dict[str, Any], **shared: Any) -> Trial:
    return attention(*cases, **{"operation": "sdpa_backward", **shared})


def _large_bias_gradient(handle: Handle) -> str:
    """Only that it ends, and what it gives is finite."""
    b, h, s, d = 2, 8, 33280, 128
    made = {"device": "cuda", "dtype": torch.bfloat16}
    tensors = {
        n: torch.randn(b, s, h, d, **made).transpose(1, 2) for n in ("q", "k", "v", "o", "dO")
    }
    tensors["stats"] = torch.full((b, h, s, 1), 11.0, device="cuda")
    tensors["bias"] = torch.zeros(b, 1, s, s, **made)
    with Graph(io_data_type="bfloat16") as graph:
        given = {name: graph.tensor_like(each, name=name) for name, each in tensors.items()}
        bias = given.pop("bias")
        d_bias = graph.tensor((b, 1, s, s), name="dbias")
        results = graph.sdpa_backward(*given.values(), bias=bias, dBias=d_bias)
        for name, tensor in zip(("dq", "dk", "dv"), results, strict=True):
            tensor.set_output(name=name)
        with without_rules():
            graph.build(handle)
        memory = {**tensors, "dbias": torch.empty(b, 1, s, s, **made)}
        memory |= {f"d{n}": torch.empty_like(tensors[n]) for n in "qkv"}
        workspace = torch.empty(max(graph.workspace_size, 1), device="cuda", dtype=torch.uint8)
        graph.execute(memory, workspace)
        handle.synchronize()
    lost = [n for n in ("dq", "dk", "dv", "dbias") if not bool(memory[n].sum().isfinite())]
    return f"wrong: {', '.join(lost)} not finite" if lost else "right"


# --- convolution ---------------------------------------------------------------------------------


def _close(found: Any, exact: Any, allowed: float) -> str:
    """Whether a result is near the exact one, with the same NaN and infinities."""
    found, exact = found.double(), exact.double()
    if bool((found.isnan() != exact.isnan()).any()):
        return f"wrong: NaN in {float(found.isnan().double().mean()):.1%}, not in the same places"
    infinite = exact.isinf()
    if bool((found[infinite] != exact[infinite]).any()):
        return "wrong: other infinities"
    finite = exact.isfinite()
    if not bool(finite.any()):
        return "right"
    worst = float((found - exact)[finite].abs().max() / exact[finite].abs().max())
    return "right" if worst <= allowed else f"wrong: by {worst:.1e} of the largest"


def convolution(
    x: Sequence[int],
    w: Sequence[int],
    *,
    io: str = "float16",
    last: bool = False,
    slices: Sequence[int] = (),
    axis: int = 0,
    y_type: str = "",
    **options: Any,
) -> Trial:
    """A convolution; of a large one only some slices along `axis` are compared."""

    def trial(handle: Handle) -> str:
        device, kind = _device(handle), getattr(torch, io)
        integer = io == "int8"
        torch.manual_seed(0)

        def made(dims: Sequence[int]) -> Any:
            if integer:
                return torch.randint(-3, 4, tuple(dims), dtype=kind, device=device)
            return torch.randn(tuple(dims), dtype=kind, device=device)

        form = {4: torch.channels_last, 5: torch.channels_last_3d}[len(x)]
        a, b = made(x), made(w)
        if last:
            a, b = a.to(memory_format=form), b.to(memory_format=form)
        before = [options.get("padding", options.get("pre_padding", 0))] * (len(x) - 2)
        behind = [options.get("padding", options.get("post_padding", 0))] * (len(x) - 2)
        if isinstance(before[0], Sequence):
            before, behind = list(before[0]), list(behind[0])
        sides = [each for pair in zip(before[::-1], behind[::-1], strict=True) for each in pair]
        groups = x[1] // w[1]
        compute = "int32" if integer else "float32"
        with Graph(
            io_data_type=io, compute_data_type=compute, intermediate_data_type=compute
        ) as graph:
            image, filters = graph.tensor_like(a, name="x"), graph.tensor_like(b, name="w")
            made_y = graph.conv_fprop(image, filters, **options)
            made_y.set_output(name="y", data_type=y_type or io)
            graph.validate()
            y = torch.full(made_y.dims, 77, dtype=getattr(torch, y_type or io), device=device)
            if last:
                y = y.to(memory_format=form)
            made_y.set_output(strides=y.stride())
            with without_rules():
                graph.build(handle)
            workspace = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device=device)
            graph.execute({"x": a, "w": b, "y": y}, workspace)
            handle.synchronize()
        function = {4: torch.nn.functional.conv2d, 5: torch.nn.functional.conv3d}[len(x)]
        with torch.backends.cudnn.flags(enabled=False):
            for index in slices or (None,):
                wide = torch.float32 if slices else torch.float64
                part, found = a, y
                if index is not None:
                    part, found = a.narrow(axis, index, 1), y.narrow(axis, index, 1)
                padded = torch.nn.functional.pad(part.to(wide), sides)
                exact = function(padded, b.to(wide), groups=groups)
                result = _close(found, exact, 1e-2 if not integer else 0)
                if result != "right":
                    return f"{result} (slice {index})"
        return "right"

    return trial


def transposed(
    y: Sequence[int], w: Sequence[int], x: Sequence[int], *, values: str = "", padding: int = 0
) -> Trial:
    """The gradient of data of a convolution in float16."""

    def trial(handle: Handle) -> str:
        device = _device(handle)
        generator = torch.Generator().manual_seed(1146)
        loss = torch.rand(tuple(y), generator=generator).half()
        filters = torch.rand(tuple(w), generator=generator).half() - 2
        if values == "inf":
            loss = torch.randn(tuple(y), generator=generator).half()
            filters = torch.full(tuple(w), float("inf"), dtype=torch.float16)
        loss, filters = loss.to(device), filters.to(device)
        with Graph(io_data_type="float16", compute_data_type="float32") as graph:
            dx = graph.conv_dgrad(
                graph.tensor_like(loss, name="dy"),
                graph.tensor_like(filters, name="w"),
                padding=padding,
            )
            dx.set_output(name="dx", dims=tuple(x))
            with without_rules():
                graph.build(handle)
            found = torch.empty_strided(tuple(x), dx.strides, dtype=torch.float16, device=device)
            workspace = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device=device)
            graph.execute({"dy": loss, "w": filters, "dx": found}, workspace)
            handle.synchronize()
        exact = torch.nn.functional.conv_transpose2d(
            loss.cpu().double(), filters.cpu().double(), padding=padding
        )
        return _close(found.cpu(), exact, 4e-3)

    return trial


# --- other operations ----------------------------------------------------------------------------


def _lstm_with_lengths(handle: Handle) -> str:
    """Each sequence of a padded batch alone must give the same."""
    lengths, size, hidden = [50, 10, 33, 1, 49, 17, 25, 50], 16, 8
    torch.manual_seed(0)
    values = torch.randn(max(lengths), len(lengths), size)
    rnn = RNNDescriptor("lstm", input_size=size, hidden_size=hidden)
    with RNNWeights(handle, rnn) as weights:
        flat = torch.randn(weights.flat.shape) * 0.3
        weights.space.copy_from_host(flat.numpy())
        padded = values.clone()
        for number, length in enumerate(lengths):
            padded[length:, number] = float("nan")
        memory = DeviceTensor.from_numpy(padded.numpy())
        whole = RNN(rnn, RNNDataDescriptor(lengths, size)).forward(handle, memory, weights)
        y = torch.from_numpy(whole.y.numpy())
        for number, length in enumerate(lengths):
            alone = DeviceTensor.from_numpy(values[:length, number : number + 1].numpy().copy())
            one = RNN(rnn, RNNDataDescriptor([length], size)).forward(handle, alone, weights)
            exact = torch.from_numpy(one.y.numpy())[:, 0]
            result = _close(y[:length, number], exact, 2e-3)
            if result != "right":
                return f"{result} (sequence {number})"
            if bool((y[length:, number] != 0).any()):
                return f"wrong: the padding of sequence {number} is not 0"
    return "right"


def _batch_norm_inference(handle: Handle) -> str:
    for dims in ((1, 3, 28, 28), (32, 64, 7, 7), (70000, 8, 1, 1), (200000, 4, 1, 2)):
        torch.manual_seed(0)
        x = torch.randn(dims)
        few = [torch.rand(1, dims[1], 1, 1) + 0.5 for _ in range(4)]
        memory, scale, bias, mean, variance = (
            DeviceTensor.from_numpy(each.numpy()) for each in (x, *few)
        )
        try:
            y = batch_normalization_forward_inference(
                handle, memory, scale, bias, estimated_mean=mean, estimated_variance=variance
            )
        except NotSupportedError:
            if dims[0] > 65535:  # cuDNN says that it does not take so many images
                continue
            raise
        handle.synchronize()
        s, b, m, v = (each.double() for each in few)
        exact = (x.double() - m) / (v + 1e-5).sqrt() * s + b
        result = _close(torch.from_numpy(y.numpy()), exact, 1e-5)
        if result != "right":
            return f"{result} {dims}"
    return "right"


def _many_sums(handle: Handle) -> str:
    """Sixty additions, each of the two results before."""
    device = _device(handle)
    a, b = (torch.full((1, 8, 8), 1e-3, device=device) for _ in range(2))
    with Graph(io_data_type="float32") as graph:
        x, y = graph.tensor_like(a, name="a"), graph.tensor_like(b, name="b")
        p, q = 1e-3, 1e-3
        for _ in range(30):
            x, y = y, graph.add(x, y)
            p, q = q, p + q
        y.set_output(name="y")
        graph.build(handle)
        found = torch.empty(1, 8, 8, device=device)
        workspace = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device=device)
        graph.execute({"a": a, "b": b, "y": found}, workspace)
        handle.synchronize()
    return _close(found.cpu(), torch.full((1, 8, 8), q), 1e-5)


def _layer_norm_and_product(handle: Handle) -> str:
    device = _device(handle)
    torch.manual_seed(0)
    x, z = (torch.randn(64, 768, 1, 1, device=device).half() for _ in range(2))
    scale, bias = (torch.randn(1, 768, 1, 1, device=device) for _ in range(2))
    with Graph(io_data_type="float16", intermediate_data_type="float32") as graph:
        names = {"x": x, "scale": scale, "bias": bias, "z": z}
        t = {name: graph.tensor_like(each, name=name) for name, each in names.items()}
        normal, *_ = graph.layernorm("inference", t["x"], t["scale"], t["bias"], 1e-5)
        graph.mul(normal, t["z"]).set_output(name="y")
        with without_rules():
            graph.build(handle)
        found = torch.empty_like(x)
        workspace = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device=device)
        graph.execute({**names, "y": found}, workspace)
        handle.synchronize()
    flat = torch.nn.functional.layer_norm(
        x.flatten(1).double(), (768,), scale.flatten().double(), bias.flatten().double()
    )
    return _close(found.flatten(1), flat * z.flatten(1).double(), 2e-3)


def _int8_vectors(handle: Handle) -> str:
    """A fused convolution of INT8 with four channels together."""
    device = _device(handle)
    n, c, k, s = 1, 8, 8, 8
    with Graph(
        io_data_type="int8", compute_data_type="int32", intermediate_data_type="float32"
    ) as graph:
        made = {"vector_count": 4, "vector_dimension": 1}
        x = graph.tensor((n, c // 4, s, s), name="x", **made)
        w = graph.tensor((k, c // 4, 3, 3), name="w", **made)
        y = graph.relu(graph.conv_fprop(x, w, padding=1))
        y.set_output(name="y")
        y.vector_count, y.vector_dimension = 4, 1
        graph.build(handle)
        sizes = {"x": n * c * s * s, "w": k * c * 9, "y": n * k * s * s}
        memory = {
            graph_tensor.uid: torch.ones(sizes[graph_tensor.name], dtype=torch.int8, device=device)
            for graph_tensor in (*graph.inputs, *graph.outputs)
        }
        workspace = torch.empty(max(graph.workspace_size, 1), dtype=torch.uint8, device=device)
        graph.execute({uid: each.data_ptr() for uid, each in memory.items()}, workspace)
        handle.synchronize()
    return "right"


# --- the reports ---------------------------------------------------------------------------------

_LOW = {"values": "low", "deterministic": False}
_PLAIN = {"values": "normal", "deterministic": False}
_ODD = [{"queries": s, "keys": s} for s in (65, 100, 193, 250, 1000, 1037)]


def _tril(s: int, heads: int) -> dict[str, Any]:
    return {"queries": s, "keys": s, "bias": {"dims": [1, 1, s, s], "kind": "tril"}, "heads": heads}


REPORTS = (
    Report(
        "cudnn-frontend 160",
        "gradient of attention where the number of tokens fills no tile, without lengths",
        "NaN in gradients",
        "9.12.0",
        "H100",
        backward(
            *_ODD,
            *({**each, "right": 0, "bottom_right": False} for each in _ODD),
            *({**each, "values": "low"} for each in _ODD),
            **{**_PLAIN, "heads": 4, "size": 128},
        ),
    ),
    Report(
        "cudnn-frontend 1072",
        "gradient of attention of one query, scores all near -120",
        "NaN in all of dk and dv",
        "9.25.1, 9.26.0",
        "H200",
        backward(queries=1, keys=128, heads=2, size=64, **_LOW),
    ),
    Report(
        "cudnn-frontend 1071",
        "gradient of attention with batch, heads and queries all 1",
        "segmentation fault in the query of heuristics",
        "9.26.0",
        "H200",
        backward(queries=1, keys=128, heads=1, size=64, **_PLAIN),
    ),
    Report(
        "cudnn-frontend 628",
        "gradient of attention, all scores near -100, no mask, several lengths",
        "NaN in dq where tokens fill half of a tile of 128",
        "before 9.26 (told for some builds of later ones, too)",
        "H100",
        backward(
            *(
                {"queries": s, "keys": s, "io": io}
                for s in (64, 192, 1216, 1280, 1000)
                for io in ("bfloat16", "float16")
            ),
            **{**_LOW, "heads": 2, "size": 64},
        ),
    ),
    Report(
        "pytorch 196678",
        "gradient of attention with a mask as bias, all scores near -120",
        "NaN in all of dq where s % 128 is 64",
        "9.19.0, 9.20.0",
        "H100, H200",
        backward(
            *(_tril(s, 1) for s in (704, 64, 192)),
            {**_tril(704, 1), "io": "float16"},
            {**_tril(704, 1), "size": 128},
            **{**_LOW, "size": 64},
        ),
    ),
    Report(
        "trl 7181",
        "preference training with 14 heads for 2 of keys, padded to 704 tokens, mask as bias",
        "gradients become NaN after some steps",
        "9.20.0",
        "H100",
        backward(
            {**_tril(704, 14), "bias": {"dims": [4, 1, 704, 704], "kind": "tril"}},
            **{**_LOW, "batch": 4, "key_heads": 2, "size": 64},
        ),
    ),
    Report(
        "pocket-tts 264",
        "training in bfloat16 with a batch of 128",
        "NaN in all gradients after 65,000 steps; shapes are not told",
        "not told (2026)",
        "H100",
        backward(
            {"queries": 256, "keys": 256, "right": 0, "bottom_right": False},
            {"queries": 125, "keys": 125, "right": 0, "bottom_right": False, "left": 100},
            **{**_PLAIN, "batch": 128, "heads": 4, "size": 64},
        ),
    ),
    Report(
        "pytorch 193893",
        "generation with fewer than 8 heads of keys: prefill with a mask, then one query",
        "text with doubled words, accuracy halved",
        "9.19.0, 9.20.0",
        "B200",
        attention(
            {"queries": 311, "keys": 311, "right": 0, "bottom_right": False},
            {"queries": 311, "keys": 311, "bias": {"dims": [1, 1, 311, 311], "kind": "tril"}},
            {"queries": 1, "keys": 312},
            {"queries": 1, "keys": 577, "bias": {"dims": [1, 1, 1, 577], "kind": "normal"}},
            heads=28,
            key_heads=4,
            size=128,
            outputs="none",
        ),
    ),
    Report(
        "jax 32242",
        "gradient of attention in bfloat16 with a bias in float32 and its gradient",
        "NaN in the gradients",
        "9.10.0",
        "H100",
        backward(
            queries=128,
            keys=128,
            batch=8,
            heads=4,
            size=32,
            bias={"dims": [1, 4, 128, 128], "kind": "normal", "type": "float32", "gradient": True},
            **_PLAIN,
        ),
    ),
    Report(
        "jax 23701",
        "attention and gradients with a bias of its own for each batch, heads of 48",
        "segmentation fault in the execution",
        "not told (September 2024)",
        "not told",
        backward(
            {"operation": "sdpa"},
            {},
            **{**_PLAIN, "batch": 8, "heads": 16, "queries": 512, "keys": 512, "size": 48},
            bias={"dims": [8, 16, 512, 512], "kind": "normal"},
        ),
    ),
    Report(
        "jax 39576",
        "a window to the left without a causal mask",
        "each query sees all keys after it",
        "any",
        "any",
        attention(queries=256, keys=256, heads=4, size=64, left=33),
        "JAX gave cuDNN no right bound; cuDNN does what it was told",
    ),
    Report(
        "Transformer Engine 1197",
        "a window of 1024 keys back",
        "differs from another implementation",
        "9.x (2024)",
        "not told",
        attention(
            *({"left": 1025, "right": 0, "bottom_right": False}, {"left": 1024, "right": 0}),
            queries=2048,
            keys=2048,
            heads=2,
            size=64,
            io="float16",
            layout="sbhd",
        ),
        "the left bound of cuDNN counts the query's own place: give one more",
    ),
    Report(
        "Transformer Engine 3249",
        "gradient of a sink, sequences one after the other, values of head size 192",
        "wrong dsink, or an illegal memory access",
        "before 9.26",
        "H800, H100",
        backward(
            *({"size": 128, "value_size": 192}, {"size": 192, "value_size": 192}),
            {"size": 192, "value_size": 128},
            {"size": 128, "value_size": 128},
            **{**_PLAIN, "batch": 3, "heads": 8, "queries": 512, "keys": 512, "ragged": True},
            lengths=[[512, 301, 97], [512, 301, 97]],
            sink="normal",
            right=0,
            bottom_right=False,
        ),
    ),
    Report(
        "Transformer Engine 2186",
        "gradient of causal attention of short sequences with gaps between them",
        "NaN: a part of the workspace is read before it is written",
        "9.7.1, before 9.18",
        "Hopper",
        backward(
            {"gap": 3},
            {"gap": 0},
            {"right": None},
            **{**_PLAIN, "batch": 6, "heads": 8, "size": 128, "queries": 16, "keys": 16},
            lengths=[[9, 8, 8, 8, 8, 12], [9, 8, 8, 8, 8, 12]],
            ragged=True,
            right=0,
            bottom_right=False,
        ),
    ),
    Report(
        "Transformer Engine 2344",
        "attention without a causal mask, more than 1024 keys, in a CUDA graph",
        "an illegal memory access",
        "9.13.0 to 9.14.0",
        "not told",
        attention(
            *({"queries": s, "keys": s} for s in (1088, 2048, 4096)),
            {"queries": 2048, "keys": 2048, "operation": "sdpa_backward"},
            **{**_PLAIN, "heads": 4, "size": 128, "captured": True},
        ),
    ),
    Report(
        "Transformer Engine 2344, second",
        "a window to the left, no right bound, more than 1024 keys",
        "NaN",
        "9.14.0",
        "not told",
        attention(
            *({"queries": s, "keys": s, "left": w} for s in (1088, 2048) for w in (65, 1024)),
            {"queries": 2048, "keys": 2048, "left": 128, "operation": "sdpa_backward"},
            **{**_PLAIN, "heads": 4, "size": 128},
        ),
    ),
    Report(
        "pytorch 139298",
        "training of a language model with attention in bfloat16",
        "the loss explodes",
        "9.1.0",
        "H100",
        backward(
            {"queries": 1024, "keys": 1024, "dO": "bhsd"},
            {"queries": 1000, "keys": 1000},
            **{**_PLAIN, "heads": 4, "size": 128, "right": 0, "bottom_right": False},
        ),
    ),
    Report(
        "diffusers 9768",
        "gradient where the result of attention was transposed, so dO lies otherwise than o",
        "NaN at the first step",
        "9.1.0",
        "not told",
        backward(
            *({"dO": "bhsd", "layout": "bshd"}, {"dO": "bshd", "layout": "bhsd"}),
            **{**_PLAIN, "heads": 6, "size": 64, "queries": 450, "keys": 450},
        ),
        "PyTorch took dO to lie as o does (its change 138354)",
    ),
    Report(
        "pytorch 138529",
        "gradient of attention of one query over 65,536 keys",
        "refused",
        "9.1 to 9.5",
        "not told",
        backward(queries=1, keys=65536, heads=16, size=64, **_PLAIN),
    ),
    Report(
        "pytorch 128348",
        "attention whose values have another head size",
        "refused as a bad parameter",
        "9.1",
        "not told",
        attention(
            {},
            {"operation": "sdpa_backward"},
            **{**_PLAIN, "batch": 8, "heads": 2, "queries": 640, "keys": 640},
            size=128,
            value_size=64,
        ),
        "PyTorch described v with the size of q",
    ),
    Report(
        "pytorch 163903",
        "attention with dropout",
        "heuristics fail",
        "9.11 to 9.13",
        "not told",
        attention(
            {},
            {"operation": "sdpa_backward"},
            **{**_PLAIN, "heads": 4, "queries": 512, "keys": 512, "size": 64, "dropout": "seed"},
        ),
    ),
    Report(
        "pytorch 137347",
        "gradient of attention with a bias, tokens not a multiple of 64",
        "refused",
        "before 9.5",
        "not told",
        backward(
            *(
                {"bias": {"dims": [1, 4, 100, 100], "kind": "normal", "gradient": g}}
                for g in (0, 1)
            ),
            **{**_PLAIN, "heads": 4, "queries": 100, "keys": 100, "size": 64},
        ),
    ),
    Report(
        "sglang 5505",
        "one query for each of 32 sequences, keys in pages of one token, 32 heads for 8",
        "every second sequence gets garbage",
        "not told (August 2025)",
        "not told",
        attention(
            *({"page": page} for page in (1, 16)),
            batch=32,
            heads=32,
            key_heads=8,
            size=128,
            queries=1,
            keys=1152,
            lengths=[[1] * 32, [1024 + 4 * n for n in range(32)]],
            outputs="none",
        ),
        "also right here with pages of one token: it lies in the tables that it was given",
    ),
    Report(
        "cudnn-frontend 326",
        "gradient of attention with heads of 256 and lengths",
        "a wrong order of padding and loaded statistics",
        "9.2x",
        "Blackwell",
        backward(
            {"queries": 192, "keys": 192},
            **{**_PLAIN, "batch": 2, "heads": 2, "size": 256},
            lengths=[[100, 192], [192, 33]],
        ),
    ),
    Report(
        "xla 36454",
        "gradient of a bias of 33,280 x 33,280",
        "an illegal memory access",
        "9.13.1",
        "not told",
        _large_bias_gradient,
        large=True,
    ),
    Report(
        "pytorch 163539",
        "3-d convolution in bfloat16, window 1 x 3 x 3, of 1 x 16 x 124 x 1282 x 722",
        "wrong numbers",
        "9.8 to 9.12",
        "not told",
        convolution(
            (1, 16, 124, 1282, 722),
            (16, 16, 1, 3, 3),
            io="bfloat16",
            slices=(0, 1, 60, 122, 123),
            axis=2,
        ),
    ),
    Report(
        "pytorch 163539, channels last",
        "the same with the channels innermost",
        "wrong numbers",
        "9.8 to 9.12",
        "not told",
        convolution(
            (1, 16, 124, 1282, 722),
            (16, 16, 1, 3, 3),
            io="bfloat16",
            last=True,
            slices=(0, 1, 60, 122, 123),
            axis=2,
        ),
    ),
    Report(
        "pytorch 163171",
        "depthwise convolution of more than 2**31 elements, channels innermost",
        "wrong numbers",
        "after 9.10.2 (152816 tells of 9.7.1)",
        "not told",
        convolution(
            (100, 2, 3280, 3280),
            (2, 1, 3, 3),
            last=True,
            slices=(0, 1, 50, 98, 99),
            padding=1,
        ),
    ),
    Report(
        "pytorch 117736",
        "convolution of an image of more than 2**31 elements",
        "an illegal memory access",
        "8.9",
        "H100",
        convolution((1, 514, 2048, 2048), (1, 514, 3, 3), padding=1, slices=(0,)),
    ),
    Report(
        "xla 49123",
        "convolution of 8-bit integers in two groups",
        "the last channel is wrong",
        "not told (September 2026)",
        "not told",
        convolution((1, 4, 2, 2), (4, 2, 1, 1), io="int8", last=True, y_type="int8"),
    ),
    Report(
        "onnxruntime 26215",
        "convolution with a window of 2 x 2 and padding behind only",
        "wrong numbers",
        "9.8",
        "not told",
        convolution(
            (1, 16, 32, 32),
            (16, 16, 2, 2),
            io="float32",
            pre_padding=(0, 0),
            post_padding=(1, 1),
        ),
    ),
    Report(
        "pytorch 153276",
        "transposed convolution in float16 with a window of 12 x 84",
        "off by 736",
        "9.1",
        "T4",
        transposed((9, 9, 20, 52), (9, 11, 12, 84), (9, 11, 7, 111), padding=12),
    ),
    Report(
        "pytorch 165744",
        "transposed convolution in float16, all weights infinite",
        "NaN everywhere",
        "9.10.2",
        "not told",
        transposed((1, 1, 4, 4), (1, 1, 3, 3), (1, 1, 6, 6), values="inf"),
    ),
    Report(
        "CUDA.jl 2890",
        "batch normalization for inference",
        "EXECUTION_FAILED",
        "9.1x (September 2025)",
        "not told",
        _batch_norm_inference,
    ),
    Report(
        "tensorflow 105092",
        "LSTM over sequences of different lengths (60192 tells of 8.1 on)",
        "fails, or random corruption",
        "9.x",
        "V100, A100, H100",
        _lstm_with_lengths,
    ),
    Report(
        "cudnn-frontend 422",
        "fused convolution of INT8 with four channels together",
        "segmentation fault in the execution",
        "9.4.0",
        "not told",
        _int8_vectors,
    ),
    Report(
        "cudnn-frontend 108",
        "a chain of sixty additions",
        "the front end ends the process",
        "9.x (September 2024)",
        "any",
        _many_sums,
        "NVIDIA's front end has room for 50 operations",
    ),
    Report(
        "cudnn-frontend 88",
        "layer norm, and its result times a tensor",
        "a null pointer is reported",
        "9.1.0",
        "RTX 3050",
        _layer_norm_and_product,
    ),
    Report(
        "Transformer Engine 1776",
        "cached keys on sm89",
        "wrong numbers",
        "before 9.11",
        "sm89",
        cause="needs another GPU and an older cuDNN",
    ),
    Report(
        "Transformer Engine 3285",
        "long causal attention of context-parallel ranks",
        "hangs",
        "9.21",
        "B300",
        cause="needs another GPU",
    ),
    Report(
        "Transformer Engine 3333",
        "gradient of sequences one after the other",
        "wrong gradients",
        "not told",
        "RTX 5090",
        cause="needs another GPU; Transformer Engine repaired it on its side",
    ),
    Report(
        "Transformer Engine 3173",
        "attention on MXFP8",
        "inf and NaN",
        "9.23.0, 9.23.1",
        "Blackwell",
        cause="needs another GPU",
    ),
    Report(
        "pytorch 146734",
        "dropout with a seed in int32",
        "refused",
        "9.7",
        "B200",
        cause="needs another GPU",
    ),
    Report(
        "onnxruntime 26274",
        "convolutions of YOLOv3",
        "no engine",
        "9.8",
        "T4",
        cause="needs another GPU",
    ),
    Report(
        "equinox 1166",
        "convolutions with 9.24 on Pascal",
        "all algorithms fail",
        "9.24.0",
        "Titan Xp",
        cause="needs another GPU, which cuDNN no longer supports",
    ),
    Report(
        "flashinfer 4553",
        "products in FP8 on sm120 with a workspace that moves",
        "an illegal memory access, hangs",
        "not told (2026)",
        "sm120",
        cause="needs another GPU",
    ),
)


# --- running -------------------------------------------------------------------------------------


def verdict(report: Report, result: str) -> str:
    """What a result says of a report."""
    kind = result.split(":")[0]
    if report.trial is None:
        return f"not possible here: {report.cause}"
    if kind in ("wrong", "lost", "writes beyond", "warned of"):
        return f"reproduced: {result}"
    if kind == "right":
        return f"not cuDNN's: {report.cause}" if report.cause else "not reproduced"
    if report.effect in ("refused", "heuristics fail", "refused as a bad parameter"):
        return f"reproduced: {result}"
    if kind == "refused":
        return f"not reproduced, since cuDNN refuses it: {result.partition(': ')[2]}"
    return f"not possible here: {result}"


def _tried(asked: tuple[str, bool]) -> tuple[str, str]:
    """A report's place, and what became of it in a child: an illegal access ends a context."""
    place, reference = asked
    report = next(each for each in REPORTS if each.place == place)

    def prepare(note: Callable[[str], None]) -> Callable[[Report], str]:
        torch.set_num_threads(1)
        if reference:
            use_reference_device()
        handle = Handle()
        return lambda report: _result(report, handle)

    (each,) = outcomes([report], prepare, seconds=180, megabytes=16384, maps_a_gpu=not reference)
    return place, f"lost: {each.result} {each.printed[-200:]}" if each.died else each.result


def _result(report: Report, handle: Handle) -> str:
    assert report.trial is not None
    try:
        result = report.trial(handle)
        handle.synchronize()
    except CudnnError as error:
        if error.status.name == "CUDNN_STATUS_EXECUTION_FAILED":
            return f"lost: {error}"[:300]
        return f"refused: {str(refusal(error))[:200]}"
    except (ValueError, TypeError, SymbolNotFoundError) as error:
        return f"invalid: {type(error).__name__} {str(error)[:200]}"
    except RuntimeError as error:  # of PyTorch or the driver
        return f"{'lost' if 'CUDA' in str(error) else 'invalid'}: {str(error)[:200]}"
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz reports",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="reports whose places have this text")
    parser.add_argument("--large", action="store_true", help="also what needs much memory")
    parser.add_argument("--reference", action="store_true", help="on the reference device")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--save", type=Path, help="write what became of each to this file")
    options = parser.parse_args(arguments)
    chosen = [each for each in REPORTS if options.only in each.place]
    todo = [each for each in chosen if each.trial and (options.large or not each.large)]
    results: dict[str, str] = {each.place: "" for each in chosen}

    context = multiprocessing.get_context("fork")
    with context.Pool(options.processes) as pool:
        asked = [(each.place, options.reference) for each in todo]
        results |= pool.imap_unordered(_tried, asked, chunksize=1)
    counts: Counter[str] = Counter()
    for report in chosen:
        result = results[report.place]
        if report.trial and not result:
            told = "not tried: needs --large"
        else:
            told = verdict(report, result)
        counts[told.split(":")[0]] += 1
        print(f"{report.place}: {report.title} ({report.versions}; {report.gpus})\n    {told}")
    print(f"cuDNN {raw.load().version_text}: " + ", ".join(f"{n} {k}" for k, n in counts.items()))
    if options.save:
        options.save.write_text(json.dumps(results, indent=1))
    return 0
