"""Resampling: pooling, and interpolation between pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ....arguments import enumerator, flag
from ....raw import cudnnDataType_t, cudnnNanPropagation_t, cudnnPaddingMode_t, cudnnResampleMode_t
from ..node import Inner, Kind, Node, Result, named
from ..tensor import Tensor
from .base import operation

Mode = cudnnResampleMode_t
Steps = int | Fraction | Sequence[int | Fraction]

_INNER = Inner(
    "resample",
    "desc",
    named(
        "mode padding_mode spatial_dims window=window_dims pre_padding=pre_paddings "
        "post_padding=post_paddings stride=strides nan_propagation"
    ),
    "comp_type",
)
_REQUIRED = "mode padding_mode"


def _pooled(node: Node, x: Tensor) -> tuple[int, ...]:
    """The dims of y, once every option has one number per spatial dimension."""
    dims = x.dims or ()
    rank = len(dims) - 2
    if rank < 1:
        node.refuse(f"{x.name!r} {dims} must be (n, c, *spatial)")
    node.options["spatial_dims"] = rank
    for option, default in (("window", 1), ("stride", 1), ("pre_padding", 0), ("post_padding", 0)):
        node.options[option] = node.spatial(option, rank, default)
        if option.endswith("padding") and min(node.options[option]) < 0:
            node.refuse(f"{option} {node.options[option]} must not be negative")
    spatial = []
    for size, window, step, before, after in zip(
        dims[2:],
        *(node.options[each] for each in ("window", "stride", "pre_padding", "post_padding")),
        strict=True,
    ):
        if step <= 0 or window <= 0 or size + before + after < window:
            node.refuse(
                f"a window of {window} with stride {step} does not fit in {x.name!r} {dims} with "
                f"padding {before}, {after}"
            )
        spatial.append(int(Fraction(size + before + after - window) // Fraction(step)) + 1)
    return (*dims[:2], *spatial)


def _infer_forward(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    dims = _pooled(node, x)
    index = Result(dims, x, cudnnDataType_t.CUDNN_DATA_INT8)
    return {port: Result(dims, x) if port == "y" else index for port in node.outputs}


def _infer_backward(node: Node) -> Mapping[str, Result]:
    loss, dx = node.inputs["loss"], node.outputs["dx"]
    x = node.inputs.get("input")
    for port in ("index", "y"):
        node.want_dims(port, loss.dims, f"loss {loss.name!r} is")

    def check(dims: tuple[int, ...]) -> None:
        node.want_dims("loss", _pooled(node, Tensor(dx.name, dims)), f"{dx.name!r} {dims} gives")

    return {"dx": Result(dx.dims if x is None else x.dims, loss, check=check)}


RESAMPLE_FORWARD = Kind.of(
    "operation_resample_fwd",
    "input=xdesc",
    "y=ydesc index=idxdesc",
    _infer_forward,
    inner=_INNER,
    required=_REQUIRED,
)
RESAMPLE_BACKWARD = Kind.of(
    "operation_resample_bwd",
    "loss=dydesc index?=idxdesc input?=xdesc y?=ydesc",
    "dx=dxdesc",
    _infer_backward,
    inner=_INNER,
    required=_REQUIRED,
)


def _options(
    operation: str,
    mode: cudnnResampleMode_t,
    window: Any,
    paddings: tuple[Steps | None, Steps | None, Steps | None],
    padding_mode: cudnnPaddingMode_t | str | None,
) -> dict[str, Any]:
    both, before, after = paddings
    if both is not None and (before is not None or after is not None):
        raise TypeError(f"{operation}: either padding, or pre_padding and post_padding")
    if window is None:
        raise TypeError(f"{operation}: window is missing")
    if padding_mode is None:
        padding_mode = "neg_inf" if mode == Mode.CUDNN_RESAMPLE_MAXPOOL else "zero"
    if isinstance(padding_mode, str) and not padding_mode.startswith("CUDNN"):
        padding_mode = padding_mode.removesuffix("_pad") + "_pad"
    return {
        "mode": mode,
        "padding_mode": enumerator(cudnnPaddingMode_t, padding_mode, f"{operation}: padding_mode"),
        "pre_padding": both if before is None else before,
        "post_padding": both if after is None else after,
        "nan_propagation": cudnnNanPropagation_t.CUDNN_PROPAGATE_NAN,
    }


@operation(RESAMPLE_FORWARD, returns=("y", "index?"))
def resample(
    input: Tensor,
    mode: cudnnResampleMode_t | str,
    *,
    window: Steps,
    stride: Steps = 1,
    padding: Steps | None = None,
    pre_padding: Steps | None = None,
    post_padding: Steps | None = None,
    padding_mode: cudnnPaddingMode_t | str | None = None,
    generate_index: bool = False,
) -> Mapping[str, Any]:
    """Pooling or interpolation; ``CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        ``(n, c, *spatial)``.
    mode : cudnnResampleMode_t or str
        "maxpool", "avgpool" (which counts the padding), "avgpool_exclude_padding", "bilinear"
        or "nearest".
    window, stride, padding, pre_padding, post_padding : int or sequence
        For each spatial dimension; fractions.Fraction too, for interpolation. Engines double
        the pixels alone, in float32 and channels last: window 2, stride 1/2, padding 1/2
        before and 1 after give the pixels, and the places halfway to the next.
    padding_mode : cudnnPaddingMode_t or str
        "zero", "neg_inf" (the default of "maxpool"), "edge_val".
    generate_index : bool
        Give the place of each maximum, for `resample_backward`.

    Returns
    -------
    y : Tensor
    index : Tensor or None
        int8, within the window.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
    >>> y, _ = graph.resample(x, "maxpool", window=2, stride=2)
    >>> _ = y.set_output(), graph.validate()
    >>> y.dims
    (8, 64, 14, 14)
    """
    code = enumerator(Mode, mode, "resample: mode")
    if flag("resample: generate_index", generate_index) and code != Mode.CUDNN_RESAMPLE_MAXPOOL:
        raise ValueError(f"resample: only 'maxpool' has an index, not {mode!r}")
    paddings = padding, pre_padding, post_padding
    return {
        **_options("resample", code, window, paddings, padding_mode),
        "outputs": ["y", "index"] if generate_index else ["y"],
    }


@operation(RESAMPLE_BACKWARD)
def resample_backward(
    loss: Tensor,
    mode: cudnnResampleMode_t | str,
    *,
    index: Tensor | None = None,
    input: Tensor | None = None,
    y: Tensor | None = None,
    window: Steps,
    stride: Steps = 1,
    padding: Steps | None = None,
    pre_padding: Steps | None = None,
    post_padding: Steps | None = None,
    padding_mode: cudnnPaddingMode_t | str | None = None,
) -> Mapping[str, Any]:
    """The gradient of `resample`; ``CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR``.

    Parameters
    ----------
    loss : Tensor
        The gradient with respect to y, ``(n, c, *spatial)``.
    index : Tensor, optional
        For "maxpool", the places that `resample` gave.
    input, y : Tensor, optional
        The operand and the result of `resample`; for "maxpool" in place of `index`. For memory
        as in C engines want both in all modes.
    mode, window, stride, …
        As `resample` had them.

    Returns
    -------
    Tensor
        Like `input`; without it, it needs dims: ``set_output(dims=…)``.
    """
    code = enumerator(Mode, mode, "resample_backward: mode")
    if code == Mode.CUDNN_RESAMPLE_MAXPOOL and index is None and (input is None or y is None):
        raise TypeError("resample_backward: 'maxpool' needs index, or input and y")
    paddings = padding, pre_padding, post_padding
    return _options("resample_backward", code, window, paddings, padding_mode)
