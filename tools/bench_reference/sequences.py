"""Recurrent networks, attention, and graphs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .operands import SHAPES, Bench, Case

__all__ = ["Sequences"]


class Sequences(Bench):
    """Cases of the functions for sequences, and of graphs."""

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
            ("swish", lambda g, x: g.swish(x), lambda: f.silu(ta), (a,)),
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
        yield from self._norms()
        for shape in ((4, 8, 256, 64), (1, 4, 2048, 64)):
            yield from self._sdpa(shape)

    def _norms(self) -> Iterator[Case]:
        f = self.functional
        (x, scale, bias) = (self.pair(*shape) for shape in ((4096, 1024), (1, 1024), (1, 1024)))
        width, flat = (1024,), (scale[1].flatten(), bias[1].flatten())
        yield Case(
            "graph layer norm, 4096x1024",
            self.executed(lambda g, *t: g.layernorm("inference", *t, 1e-5)[0], x, scale, bias),
            lambda: f.layer_norm(x[1], width, *flat),
        )
        yield Case(
            "graph RMS norm, 4096x1024",
            self.executed(lambda g, *t: g.rmsnorm("inference", *t, None, 1e-5)[0], x, scale),
            lambda: f.rms_norm(x[1], width, flat[0], 1e-5),
        )

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

            def gradient(mode: str = mode, ty: Any = ty, tdy: Any = dy[1]) -> Any:
                if mode == "maxpool":  # with the indices, which the graph does not receive either
                    return self.max_pool_backward(tdy, tx, [2, 2], [2, 2], [0, 0])
                return self.torch.autograd.grad(ty, tall, tdy, retain_graph=True)[0]

            yield Case(
                f"graph resample {mode} backward, {where}",
                self.executed(back, dy, (x, tx), (y, ty)),
                gradient,
            )

    def _sdpa(self, shape: tuple[int, ...]) -> Iterator[Case]:
        torch, f = self.torch, self.functional
        q, k, v, do = (self.pair(*shape) for _ in range(4))
        leaves = [each[1].clone().requires_grad_() for each in (q, k, v)]
        to = f.scaled_dot_product_attention(*leaves, is_causal=True)
        scores = q[1] @ k[1].mT / 8 + torch.full((shape[2], shape[2]), -torch.inf).triu(1)
        stats = torch.logsumexp(scores, -1, keepdim=True)
        saved = [(self.copied(each), each) for each in (to, stats)]
        where = "x".join(map(str, shape))
        yield Case(
            f"graph sdpa causal, {where}",
            self.executed(
                lambda g, *t: g.sdpa(*t, attn_scale=0.125, use_causal_mask=True)[0], q, k, v
            ),
            lambda: f.scaled_dot_product_attention(q[1], k[1], v[1], is_causal=True),
        )

        def backward(g: Any, q: Any, k: Any, v: Any, o: Any, do: Any, stats: Any) -> Any:
            return g.sdpa_backward(q, k, v, o, do, stats, attn_scale=0.125, use_causal_mask=True)

        yield Case(
            f"graph sdpa causal backward, {where}",
            self.executed(backward, q, k, v, saved[0], do, saved[1]),
            lambda: torch.autograd.grad(to, leaves, do[1], retain_graph=True)[0],
        )
