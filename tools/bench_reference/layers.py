"""Convolutions, pooling, normalizations, and what works element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .operands import SHAPES, Bench, Case

__all__ = ["Layers"]


class Layers(Bench):
    """Cases of the functions for images."""

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
            ty = self.functional.max_pool2d(tx, *sizes)
            y, (dy, tdy) = self.copied(ty), self.pair(*ty.shape)

            for mode, forward, backward in (
                (
                    "max",
                    lambda tx=tx, sizes=sizes: aten.max_pool2d_with_indices(tx, *sizes)[0],
                    partial(self.max_pool_backward, tdy, tx, *sizes),
                ),
                (
                    "average_count_include_padding",
                    partial(aten.avg_pool2d, tx, *sizes),
                    partial(aten.avg_pool2d_backward, tdy, tx, *sizes, False, True, None),
                ),
            ):
                pooling = c.PoolingDescriptor(
                    *((n, n) for n in (window, padding, stride)), mode=mode
                )
                name = f"pooling {mode.split('_')[0]} {{}}, {where} {window}x{window}"
                ours = {"pooling": pooling, "x": x, "y": y}
                yield Case(name.format("forward"), partial(c.pooling_forward, h, **ours), forward)
                yield Case(
                    name.format("backward"),
                    partial(c.pooling_backward, h, dy=dy, dx=dx, **ours),
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
            ty, ours = forward(tx), {"activation": mode}
            given = {"y": self.copied(ty), "dy": dy, "x": x, "dx": dx, **ours}
            forward_ours = partial(c.activation_forward, h, x=x, y=y, **ours)
            yield Case(f"{mode} forward, cifar", forward_ours, partial(forward, tx))
            backward_ours = partial(c.activation_backward, h, **given)
            yield Case(f"{mode} backward, cifar", backward_ours, partial(backward, ty))
        for name, shape in (("1024x1000", (1024, 1000, 1, 1)), ("cifar", SHAPES["cifar"])):
            (s, ts), (ds, tds) = self.pair(*shape), self.pair(*shape)
            tz = torch.softmax(ts, 1)
            z, d = self.copied(tz), self.empty(*shape)
            theirs = partial(aten._softmax_backward_data, tds, tz, 1, torch.float32)
            forward_ours = partial(c.softmax_forward, h, x=s, y=z)
            yield Case(f"softmax forward, {name}", forward_ours, partial(torch.softmax, ts, 1))
            yield Case(
                f"softmax backward, {name}",
                partial(c.softmax_backward, h, y=z, dy=ds, dx=d),
                theirs,
            )
        dropout = c.DropoutDescriptor(h, 0.5)
        drawn = c.dropout_forward(h, x=x, dropout=dropout, y=y)
        kept = aten.native_dropout(tx, 0.5, True)[1]
        ours = {"dropout": dropout, "reserve_space": drawn.reserve_space}

        def quiet(function: Callable[..., Any], **operands: Any) -> None:
            function(h, **operands, **ours)  # random: nothing to compare

        yield Case(
            "dropout forward, cifar",
            partial(quiet, c.dropout_forward, x=x, y=y),
            lambda: aten.native_dropout(tx, 0.5, True),
        )
        yield Case(
            "dropout backward, cifar",
            partial(quiet, c.dropout_backward, dy=dy, dx=dx),
            lambda: aten.native_dropout_backward(tdy, kept, 2.0),
        )
        (bias, tb), out = self.pair(1, 64, 1, 1), self.empty(*x.shape)
        for op, function in (("add", torch.add), ("mul", torch.mul), ("max", torch.maximum)):
            two = partial(c.op_tensor, h, a=x, b=dy, op=op, c=out)
            yield Case(f"op tensor {op}, cifar", two, partial(function, tx, tdy))
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
