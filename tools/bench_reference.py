"""What operations cost on the reference device, against PyTorch on the CPU with as many threads.

``python -m tools.bench_reference [words in the names of cases]``. Both sides run in one process on
operands of the same values, taking turns; printed is the least of several measurements of each in
milliseconds, and their ratio. With one thread the processor's time counts, which other programs
change less than the clock's. Memory is what the reference device allocates on the way at most.
Results are compared first, so that both sides compute the same thing. The reference device is
called through the package's classes, its overhead included. Cases beside which PyTorch has no
function of its own take the shortest program of PyTorch's functions.

``--first-use`` measures the reference device's first use in fresh interpreters instead.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

SHAPES = {"mnist": (64, 16, 28, 28), "cifar": (32, 64, 32, 32), "image": (1, 64, 112, 112)}
FAMILIES = [
    "convolutions",
    "poolings",
    "normalizations",
    "layers",
    "recurrent",
    "attention",
    "graphs",
]
TOLERANCE = 2e-4  # of the largest element of the result


class Case(NamedTuple):
    """One operation. Each side returns its result, None if random numbers make it."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


class Bench:
    """The handle and the operands of all cases."""

    def __init__(self, threads: int) -> None:
        os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # read when NumPy is loaded
        import numpy
        import torch

        import cudnn_ctypes

        torch.set_num_threads(threads)
        cudnn_ctypes.use_reference_device()
        self.np, self.torch, self.cudnn = numpy, torch, cudnn_ctypes
        self.aten, self.functional = torch.ops.aten, torch.nn.functional
        self.handle = cudnn_ctypes.Handle()
        self.rng = numpy.random.default_rng(0)

    def pair(self, *shape: int, positive: bool = False) -> tuple[Any, Any]:
        """The same random numbers for both sides."""
        values = self.rng.standard_normal(shape).astype("float32")
        values = abs(values) + 0.1 if positive else values
        return self.cudnn.DeviceTensor.from_numpy(values), self.torch.tensor(values)

    def copied(self, tensor: Any) -> Any:
        return self.cudnn.DeviceTensor.from_numpy(tensor.detach().contiguous().numpy())

    def empty(self, *shape: int) -> Any:
        return self.cudnn.DeviceTensor.zeros(shape, "float32")

    @staticmethod
    def first(results: Any) -> Any:
        return results[0] if isinstance(results, tuple) else results

    def executed(self, describe: Callable[..., Any], *pairs: Any) -> Callable[[], Any]:
        """A graph of float32 tensors like these, executed; `describe` gives its result."""
        graph = self.cudnn.Graph(io_data_type="float32")
        tensors = [graph.tensor(x.shape, name=f"t{i}") for i, (x, _) in enumerate(pairs)]
        described = describe(graph, *tensors)
        described = described if isinstance(described, tuple) else (described,)
        for number, each in enumerate(described):
            each.set_output(name=f"y{number}")
        graph.build(self.handle, without_engine=True)
        memory = {f"t{i}": x for i, (x, _) in enumerate(pairs)}
        for number, each in enumerate(described):
            dtype = self.cudnn.raw.cudnnDataType_t(each.data_type).name.removeprefix("CUDNN_DATA_")
            dtype = {"FLOAT": "float32", "INT8": "int8"}[dtype]
            memory[f"y{number}"] = self.cudnn.DeviceTensor.zeros(each.dims, dtype)
        workspace = self.cudnn.DeviceBuffer(max(graph.workspace_size, 1))

        def execute() -> Any:
            graph.execute(memory, workspace)
            return memory["y0"]

        return execute

    # --- cases -----------------------------------------------------------------------------------

    def convolutions(self) -> Iterator[Case]:
        for name, x_shape, w_shape, padding, stride, groups in (
            ("mnist 5x5", (64, 1, 28, 28), (16, 1, 5, 5), 2, 1, 1),
            ("cifar 3x3", (32, 32, 32, 32), (64, 32, 3, 3), 1, 1, 1),
            ("image 7x7 / 2", (1, 3, 224, 224), (64, 3, 7, 7), 3, 2, 1),
            ("image 3x3", (1, 64, 224, 224), (64, 64, 3, 3), 1, 1, 1),
            ("cifar 1x1", (32, 64, 32, 32), (128, 64, 1, 1), 0, 1, 1),
            ("cifar grouped", (32, 64, 32, 32), (64, 8, 3, 3), 1, 1, 8),
            ("cifar depthwise", (32, 64, 32, 32), (64, 1, 3, 3), 1, 1, 64),
            ("image depthwise", (1, 64, 112, 112), (64, 1, 3, 3), 1, 2, 64),
        ):
            yield from self._convolution(name, x_shape, w_shape, padding, stride, groups)

    def _convolution(
        self, name: str, x_shape: Any, w_shape: Any, padding: int, stride: int, groups: int
    ) -> Iterator[Case]:
        c, h = self.cudnn, self.handle
        conv = c.ConvolutionDescriptor(padding, stride, groups=groups)
        (x, tx), (w, tw) = self.pair(*x_shape), self.pair(*w_shape)
        options = {"stride": stride, "padding": padding, "groups": groups}
        y = self.copied(self.functional.conv2d(tx, tw, **options))
        dy, tdy = self.pair(*y.shape)
        dx, dw = self.empty(*x_shape), self.empty(*w_shape)
        two = ([stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups)

        def gradient(which: int) -> Any:
            mask = [which == place for place in range(3)]
            return self.aten.convolution_backward(tdy, tx, tw, None, *two, mask)[which]

        yield Case(
            f"convolution forward, {name}",
            lambda: c.convolution_forward(h, x=x, w=w, conv=conv, y=y),
            lambda: self.functional.conv2d(tx, tw, **options),
        )
        yield Case(
            f"convolution data, {name}",
            lambda: c.convolution_backward_data(h, w=w, dy=dy, conv=conv, dx=dx),
            lambda: gradient(0),
        )
        yield Case(
            f"convolution filter, {name}",
            lambda: c.convolution_backward_filter(h, x=x, dy=dy, conv=conv, dw=dw),
            lambda: gradient(1),
        )

    def poolings(self) -> Iterator[Case]:
        c, h, aten = self.cudnn, self.handle, self.aten
        for where, window, stride, padding in (
            ("mnist", 2, 2, 0),
            ("cifar", 2, 2, 0),
            ("image", 3, 2, 1),
        ):
            sizes = ([window] * 2, [stride] * 2, [padding] * 2)
            x, tx = self.pair(*SHAPES[where])
            dx = self.empty(*x.shape)
            ty, index = aten.max_pool2d_with_indices(tx, *sizes)
            y, (dy, tdy) = self.copied(ty), self.pair(*ty.shape)
            for mode in ("max", "average_count_include_padding"):
                pooling = c.PoolingDescriptor(
                    (window,) * 2, (padding,) * 2, (stride,) * 2, mode=mode
                )
                operands = {"pooling": pooling, "x": x}
                forward = aten.max_pool2d_with_indices if mode == "max" else aten.avg_pool2d
                yield Case(
                    f"pooling {mode.split('_')[0]} forward, {where} {window}x{window}",
                    lambda operands=operands, y=y: c.pooling_forward(h, y=y, **operands),
                    lambda forward=forward, sizes=sizes, tx=tx: self.first(forward(tx, *sizes)),
                )
                backward = (
                    (
                        lambda tdy=tdy, tx=tx, sizes=sizes, index=index: (
                            aten.max_pool2d_with_indices_backward(
                                tdy, tx, *sizes, [1, 1], False, index
                            )
                        )
                    )
                    if mode == "max"
                    else (
                        lambda tdy=tdy, tx=tx, sizes=sizes: aten.avg_pool2d_backward(
                            tdy, tx, *sizes, False, True, None
                        )
                    )
                )
                yield Case(
                    f"pooling {mode.split('_')[0]} backward, {where} {window}x{window}",
                    lambda operands=operands, dy=dy, y=y, dx=dx: c.pooling_backward(
                        h, y=y, dy=dy, dx=dx, **operands
                    ),
                    backward,
                )

    def normalizations(self) -> Iterator[Case]:
        for where in SHAPES:
            yield from self._normalization(where)
        c, h, f = self.cudnn, self.handle, self.functional
        lrn, options = c.LRNDescriptor(5, alpha=1e-2), {"alpha": 1e-2, "k": 2.0}
        x, tx = self.pair(*SHAPES["cifar"])
        tx.requires_grad_()
        ty = f.local_response_norm(tx, 5, **options)
        y, dx, (dy, tdy) = self.copied(ty), self.empty(*x.shape), self.pair(*x.shape)
        yield Case(
            "LRN forward, cifar",
            lambda: c.lrn_cross_channel_forward(h, x=x, lrn=lrn, y=y),
            lambda: f.local_response_norm(tx.detach(), 5, **options),
        )
        yield Case(
            "LRN backward, cifar",
            lambda: c.lrn_cross_channel_backward(h, x=x, y=y, dy=dy, lrn=lrn, dx=dx),
            lambda: self.torch.autograd.grad(ty, tx, tdy, retain_graph=True)[0],
        )

    def _normalization(self, where: str) -> Iterator[Case]:
        c, h, aten = self.cudnn, self.handle, self.aten
        shape = SHAPES[where]
        (x, tx), (dy, tdy) = self.pair(*shape), self.pair(*shape)
        (scale, ts), (bias, tb), (mean, tm) = (self.pair(1, shape[1], 1, 1) for _ in range(3))
        variance, tv = self.pair(1, shape[1], 1, 1, positive=True)
        flat = [each.flatten() for each in (ts, tb, tm, tv)]
        y, dx, dscale, dbias = (self.empty(*s) for s in (shape, shape, scale.shape, scale.shape))
        _, saved_mean, saved_inv = aten.native_batch_norm(
            tx, *flat[:2], None, None, True, 0.1, 1e-5
        )
        own = [self.copied(each.reshape(scale.shape)) for each in (saved_mean, saved_inv)]
        saved = {"saved_mean": own[0], "saved_inv_variance": own[1]}
        yield Case(
            f"batch normalization training, {where}",
            lambda: c.batch_normalization_forward_training(
                h, x=x, scale=scale, bias=bias, y=y, average_factor=1.0, **saved
            )[0],
            lambda: aten.native_batch_norm(tx, *flat[:2], None, None, True, 0.1, 1e-5)[0],
        )
        yield Case(
            f"batch normalization inference, {where}",
            lambda: c.batch_normalization_forward_inference(
                h,
                x=x,
                scale=scale,
                bias=bias,
                estimated_mean=mean,
                estimated_variance=variance,
                y=y,
            ),
            lambda: aten.native_batch_norm(tx, *flat, False, 0.1, 1e-5)[0],
        )
        yield Case(
            f"batch normalization backward, {where}",
            lambda: c.batch_normalization_backward(
                h, x=x, dy=dy, scale=scale, dx=dx, dscale=dscale, dbias=dbias, **saved
            )[0],
            lambda: aten.native_batch_norm_backward(
                tdy, tx, flat[0], None, None, saved_mean, saved_inv, True, 1e-5, [True] * 3
            )[0],
        )

    def layers(self) -> Iterator[Case]:
        """Activations, softmax, dropout, sums and products, reductions."""
        c, h, aten, torch = self.cudnn, self.handle, self.aten, self.torch
        (x, tx), (y, _), (dy, tdy) = (self.pair(*SHAPES["cifar"]) for _ in range(3))
        dx = self.empty(*x.shape)
        for mode, forward, backward in (
            ("relu", torch.relu, lambda ty: aten.threshold_backward(tdy, tx, 0)),
            ("sigmoid", torch.sigmoid, lambda ty: aten.sigmoid_backward(tdy, ty)),
            ("tanh", torch.tanh, lambda ty: aten.tanh_backward(tdy, ty)),
        ):
            ty = forward(tx)
            made = self.copied(ty)
            yield Case(
                f"{mode} forward, cifar",
                lambda mode=mode: c.activation_forward(h, x=x, activation=mode, y=y),
                lambda forward=forward: forward(tx),
            )
            yield Case(
                f"{mode} backward, cifar",
                lambda mode=mode, made=made: c.activation_backward(
                    h, y=made, dy=dy, x=x, activation=mode, dx=dx
                ),
                lambda backward=backward, ty=ty: backward(ty),
            )
        for name, shape in (("1024x1000", (1024, 1000, 1, 1)), ("cifar", SHAPES["cifar"])):
            (s, ts), (ds, tds) = self.pair(*shape), self.pair(*shape)
            tz = torch.softmax(ts, 1)
            z, d = self.copied(tz), self.empty(*shape)
            yield Case(
                f"softmax forward, {name}",
                lambda s=s, z=z: c.softmax_forward(h, x=s, y=z),
                lambda ts=ts: torch.softmax(ts, 1),
            )
            yield Case(
                f"softmax backward, {name}",
                lambda z=z, ds=ds, d=d: c.softmax_backward(h, y=z, dy=ds, dx=d),
                lambda tz=tz, tds=tds: aten._softmax_backward_data(tds, tz, 1, torch.float32),
            )
        dropout = c.DropoutDescriptor(h, 0.5)
        drawn = c.dropout_forward(h, x=x, dropout=dropout, y=y)
        kept = aten.native_dropout(tx, 0.5, True)[1]
        yield Case(
            "dropout forward, cifar",
            lambda: (
                c.dropout_forward(h, x=x, dropout=dropout, y=y, reserve_space=drawn.reserve_space)
                and None
            ),
            lambda: aten.native_dropout(tx, 0.5, True),
        )
        yield Case(
            "dropout backward, cifar",
            lambda: (
                c.dropout_backward(
                    h, dy=dy, dropout=dropout, reserve_space=drawn.reserve_space, dx=dx
                )
                and None
            ),
            lambda: aten.native_dropout_backward(tdy, kept, 2.0),
        )
        (bias, tb), out = self.pair(1, 64, 1, 1), self.empty(*x.shape)
        for op, function in (("add", torch.add), ("mul", torch.mul), ("max", torch.maximum)):
            yield Case(
                f"op tensor {op}, cifar",
                lambda op=op: c.op_tensor(h, a=x, b=dy, op=op, c=out),
                lambda function=function: function(tx, tdy),
            )
        yield Case(
            "add bias, cifar",
            lambda: c.add_tensor(h, a=bias, c=out, beta=0.0),
            lambda: tb.expand(tx.shape).contiguous(),
        )
        for op, over, function in (
            ("add", (1, 64, 1, 1), lambda: tx.sum((0, 2, 3), keepdim=True)),
            ("max", (32, 64, 1, 1), lambda: tx.amax((2, 3), keepdim=True)),
            ("norm2", (1, 1, 1, 1), lambda: tx.norm()),
        ):
            total = self.empty(*over)
            yield Case(
                f"reduce {op}, cifar to {over}",
                lambda op=op, total=total: c.reduce_tensor(h, a=x, reduction=op, c=total).c,
                function,
            )

    def recurrent(self) -> Iterator[Case]:
        c, h, torch = self.cudnn, self.handle, self.torch
        for cell, module, steps, batch, size, hidden, gates in (
            ("lstm", torch.nn.LSTM, 64, 16, 48, 96, ("input", "forget", "cell", "output")),
            ("gru", torch.nn.GRU, 32, 32, 128, 256, ("reset", "update", "new")),
        ):
            net = module(size, hidden)
            rnn = c.RNNDescriptor(cell, input_size=size, hidden_size=hidden)
            weights = c.RNNWeights(h, rnn)
            state = {key: value.detach().numpy() for key, value in net.state_dict().items()}
            for key, tensor in weights[0].items():
                kind, gate = key.split("_")
                source = {"w": "weight_ih", "r": "weight_hh", "bw": "bias_ih", "br": "bias_hh"}
                rows = state[f"{source[kind]}_l0"].reshape(len(gates), hidden, -1)
                tensor.copy_from(rows[gates.index(gate)].reshape(tensor.shape))
            (x, tx), (dy, tdy) = self.pair(steps, batch, size), self.pair(steps, batch, hidden)
            network = c.RNN.of(rnn, x)
            y, *_, reserve = network.forward(h, x=x, weights=weights)
            dweights = c.RNNWeights(h, rnn)
            tx.requires_grad_()
            ty = net(tx)[0]
            where = f"{cell} {steps}x{batch}x{size} to {hidden}"
            yield Case(
                f"{where} forward",
                lambda n=network, x=x, w=weights: n.forward(h, x=x, weights=w)[0],
                lambda net=net, tx=tx: net(tx)[0],
            )

            def backward(
                n: Any = network, x: Any = x, y: Any = y, dy: Any = dy, w: Any = weights,
                reserve: Any = reserve, dweights: Any = dweights,
            ) -> Any:  # fmt: skip
                found = n.backward_data(h, y=y, dy=dy, weights=w, reserve_space=reserve)
                n.backward_weights(h, x=x, y=y, reserve_space=reserve, dweights=dweights)
                return found[0]

            yield Case(
                f"{where} backward",
                backward,
                lambda ty=ty, tx=tx, net=net, tdy=tdy: torch.autograd.grad(
                    ty, [tx, *net.parameters()], tdy, retain_graph=True
                )[0],
            )

    def attention(self) -> Iterator[Case]:
        c, h, torch = self.cudnn, self.handle, self.torch
        steps, batch, size, heads = 128, 8, 128, 4
        net = torch.nn.MultiheadAttention(size, heads, bias=False)
        attn = c.AttnDescriptor(
            heads,
            q_size=size,
            **{f"{each}_projection": size // heads for each in "qkv"},
            o_projection=size,
            qo_max_length=steps,
            kv_max_length=steps,
            max_batch=batch,
            scaler=(size // heads) ** -0.5,
        )
        projections = net.in_proj_weight.detach().reshape(3, heads, size // heads, size)
        out_weights = net.out_proj.weight.detach().reshape(size, heads, -1).movedim(1, 0)
        weights = c.AttentionWeights(h, attn)
        for name, values in zip("qkvo", (*projections, out_weights), strict=True):
            weights[f"{name}_weights"].copy_from(values.contiguous().numpy())
        x, tx = self.pair(steps, batch, size)
        dy, tdy = self.pair(steps, batch, size)
        tx.requires_grad_()
        operands = {"q": x, "k": x, "v": x, "attn": attn, "weights": weights}
        reserve = c.attention_forward_training(h, **operands)[1]
        ty = net(tx, tx, tx, need_weights=False)[0]

        def backward() -> None:
            more = {"reserve_space": reserve, **operands}
            c.attention_backward_data(h, dy=dy, **more)
            c.attention_backward_weights(h, dy=dy, **more).close()

        where = f"{steps}x{batch}x{size}, {heads} heads"
        yield Case(
            f"attention forward, {where}",
            lambda: c.attention_forward_training(h, reserve_space=reserve, **operands)[0],
            lambda: net(tx, tx, tx, need_weights=False)[0].detach(),
        )
        yield Case(
            f"attention backward, {where}",
            backward,
            lambda: torch.autograd.grad(ty, [tx, *net.parameters()], tdy, retain_graph=True),
        )

    def graphs(self) -> Iterator[Case]:
        torch, f = self.torch, self.functional
        shape = SHAPES["cifar"]
        (a, b, d) = (self.pair(*shape) for _ in range(3))
        ta, tb, td = a[1], b[1], d[1]
        for name, describe, function, operands in (
            ("add", lambda g, x, y: g.add(x, y), lambda: ta + tb, (a, b)),
            ("mul", lambda g, x, y: g.mul(x, y), lambda: ta * tb, (a, b)),
            ("relu", lambda g, x: g.relu(x), lambda: torch.relu(ta), (a,)),
            ("exp", lambda g, x: g.exp(x), lambda: torch.exp(ta), (a,)),
            ("tanh", lambda g, x: g.tanh(x), lambda: torch.tanh(ta), (a,)),
            ("sigmoid", lambda g, x: g.sigmoid(x), lambda: torch.sigmoid(ta), (a,)),
            ("erf", lambda g, x: g.erf(x), lambda: torch.erf(ta), (a,)),
            ("gelu", lambda g, x: g.gelu(x), lambda: f.gelu(ta), (a,)),
            (
                "neg of a comparison",
                lambda g, x, y: g.neg(g.cmp_gt(x, y)),
                lambda: -((ta > tb).float()),
                (a, b),
            ),
            (
                "sigmoid(a + b * c)",
                lambda g, x, y, z: g.sigmoid(g.add(x, g.mul(y, z))),
                lambda: torch.sigmoid(ta + tb * td),
                (a, b, d),
            ),
            (
                "gelu backward",
                lambda g, x, y: g.gelu_backward(x, y),
                lambda: self.aten.gelu_backward(ta, tb),
                (a, b),
            ),
        ):
            yield Case(f"graph {name}, cifar", self.executed(describe, *operands), function)
        for where in ("mnist", "image"):
            yield from self._resampling(where)
        yield from self._sdpa()

    def _resampling(self, where: str) -> Iterator[Case]:
        f = self.functional
        x, tx = self.pair(*SHAPES[where])
        pool = {"window": 2, "stride": 2}
        half = Fraction(1, 2)
        twice = {"window": 2, "stride": half, "padding": half, "padding_mode": "edge_val_pad"}
        tall = tx.clone().requires_grad_()
        for mode, theirs, options in (
            ("maxpool", "max_pool2d", pool),
            ("avgpool", "avg_pool2d", pool),
            ("bilinear", "interpolate", twice),
        ):
            if mode == "bilinear":
                size = tuple(2 * n - 1 for n in x.shape[2:])
                last = {"size": size, "mode": "bilinear", "align_corners": True}
                ty = f.interpolate(tall, **last)
                forward = lambda last=last: f.interpolate(tx, **last)  # noqa: E731
            else:
                ty = getattr(f, theirs)(tall, 2, 2)
                forward = lambda theirs=theirs: getattr(f, theirs)(tx, 2, 2)  # noqa: E731
            dims = tuple(ty.shape)

            def describe(g: Any, t: Any, mode: str = mode, options: Any = options) -> Any:
                return g.resample(t, mode, **options)[0]

            yield Case(f"graph resample {mode}, {where}", self.executed(describe, (x, tx)), forward)
            dy, (y, _) = self.pair(*dims), (self.copied(ty), None)

            def back(
                g: Any, loss: Any, t: Any, u: Any, mode: str = mode, options: Any = options
            ) -> Any:
                return g.resample_backward(loss, mode, input=t, y=u, **options)

            yield Case(
                f"graph resample {mode} backward, {where}",
                self.executed(back, dy, (x, tx), (y, ty)),
                lambda ty=ty, dy=dy: self.torch.autograd.grad(ty, tall, dy[1], retain_graph=True)[
                    0
                ],
            )

    def _sdpa(self) -> Iterator[Case]:
        torch, f = self.torch, self.functional
        q, k, v, do = (self.pair(4, 8, 256, 64) for _ in range(4))
        leaves = [each[1].clone().requires_grad_() for each in (q, k, v)]
        to = f.scaled_dot_product_attention(*leaves, is_causal=True)
        scores = q[1] @ k[1].mT / 8 + torch.full((256, 256), -torch.inf).triu(1)
        stats = torch.logsumexp(scores, -1, keepdim=True)
        saved = [(self.copied(each), each) for each in (to, stats)]
        yield Case(
            "graph sdpa causal, 4x8x256x64",
            self.executed(
                lambda g, *t: g.sdpa(*t, attn_scale=0.125, use_causal_mask=True)[0], q, k, v
            ),
            lambda: f.scaled_dot_product_attention(q[1], k[1], v[1], is_causal=True),
        )

        def backward(g: Any, q: Any, k: Any, v: Any, o: Any, do: Any, stats: Any) -> Any:
            return g.sdpa_backward(q, k, v, o, do, stats, attn_scale=0.125, use_causal_mask=True)

        yield Case(
            "graph sdpa causal backward, 4x8x256x64",
            self.executed(backward, q, k, v, saved[0], do, saved[1]),
            lambda: torch.autograd.grad(to, leaves, do[1], retain_graph=True)[0],
        )

    def cases(self, families: list[str]) -> Iterator[Case]:
        for family in families:
            yield from getattr(self, family)()

    # --- measuring -------------------------------------------------------------------------------

    def compare(self, case: Case) -> None:
        """Both sides compute the same numbers."""
        ours, theirs = case.ours(), case.theirs()
        if ours is None:
            return
        found, wanted = ours.numpy(), theirs.detach().numpy()
        error = abs(found.reshape(wanted.shape) - wanted).max() / abs(wanted).max()
        if not error <= TOLERANCE:
            raise AssertionError(f"{case.name}: the sides differ by {error}")

    def peak_megabytes(self, case: Case) -> float:
        tracemalloc.start()
        case.ours()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 1e6


def measure(
    case: Case, clock: Callable[[], float], rounds: int, least: float
) -> tuple[float, float, float]:
    """The least milliseconds of ours and of theirs, and their ratio."""
    sides = (case.ours, case.theirs)
    loops = []
    for side in sides:
        side()
        start = clock()
        side()
        loops.append(max(1, round(least / (clock() - start))))
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for side, count, kept in zip(sides, loops, times, strict=True):
            start = clock()
            for _ in range(count):
                side()
            kept.append(1e3 * (clock() - start) / count)
    ours, theirs = map(min, times)
    return ours, theirs, ours / theirs


def report(families: list[str], words: list[str], threads: int, rounds: int, least: float) -> None:
    bench = Bench(threads)
    clock = time.thread_time if threads == 1 else time.perf_counter
    print(f"PyTorch {bench.torch.__version__}, NumPy {bench.np.__version__}, {threads} thread(s)")
    print(f"{'':44}{'ms':>9}{'PyTorch':>9}{'ratio':>7}{'MB':>7}")
    for case in bench.cases(families):
        if all(word in case.name for word in words):
            try:
                bench.compare(case)
            except Exception as error:
                print(f"{case.name:44} fails: {type(error).__name__}: {error}")
                continue
            ours, theirs, ratio = measure(case, clock, rounds, least)
            memory = bench.peak_megabytes(case)
            print(f"{case.name:44}{ours:9.3f}{theirs:9.3f}{ratio:7.1f}{memory:7.1f}", flush=True)


def report_first_use(rounds: int) -> None:
    """Fresh interpreters: milliseconds of each statement, medians."""
    statements = (
        "import numpy",
        "import cudnn_ctypes",
        "from cudnn_ctypes import DeviceTensor, Handle, softmax_forward",
        "cudnn_ctypes.use_reference_device()",
        "handle = Handle()",
        "x = DeviceTensor.from_numpy(numpy.ones((2, 3, 1, 1), 'float32'))",
        "softmax_forward(handle, x)",
        "softmax_forward(handle, x)",
    )
    program = "import time\ntimes = [time.perf_counter()]\n"
    program += "".join(f"{each}\ntimes.append(time.perf_counter())\n" for each in statements)
    program += "print(*(b - a for a, b in zip(times, times[1:])))"
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        runs.append([1e3 * float(each) for each in done.stdout.split()])
    for statement, column in zip(statements, zip(*runs, strict=True), strict=True):
        print(f"{statement:66}{statistics.median(column):8.1f} ms")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench_reference", description=__doc__)
    parser.add_argument("words", nargs="*", help="measure the cases whose names have all of these")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--threads", type=int, default=1, help="of NumPy's BLAS and of PyTorch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--least", type=float, default=0.02, help="seconds of one measurement")
    parser.add_argument("--first-use", action="store_true", help="measure the first use instead")
    options = parser.parse_args(arguments)
    if options.first_use:
        report_first_use(options.rounds)
    else:
        report(options.families, options.words, options.threads, options.rounds, options.least)


if __name__ == "__main__":
    main()
