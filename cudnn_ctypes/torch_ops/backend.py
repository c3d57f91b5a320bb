"""A back end of torch.compile: ready operators in place of PyTorch's functions, where they pay.

TorchDynamo's graph of a program is searched for what cuDNN does in one kernel. On a GPU each place
is timed by both sides, forward and backward, and taken if cuDNN is faster; on the reference device
all places are. The rest is left to another back end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.fx.node import map_arg
from torch.nn import functional

from ..errors import CudnnError
from . import functions
from .graphs import ACTIVATIONS

_ATTENTION = "query key value attn_mask dropout_p is_causal scale enable_gqa"
_CONVOLUTION = "input weight bias stride padding dilation groups"
_BATCH_NORM = "input running_mean running_var weight bias training momentum eps"
_KNOWN: dict[Any, tuple[str, str]] = {
    functional.scaled_dot_product_attention: ("attention", _ATTENTION),
    functional.linear: ("linear", "input weight bias"),
    **dict.fromkeys((torch.conv2d, torch.conv3d), ("convolution", _CONVOLUTION)),
    functional.batch_norm: ("batch_norm", _BATCH_NORM),
    functional.layer_norm: ("layer_norm", "input normalized_shape weight bias eps"),
    torch.rms_norm: ("rms_norm", "input normalized_shape weight eps"),
    functional.rms_norm: ("rms_norm", "input normalized_shape weight eps"),
    functional.group_norm: ("group_norm", "input num_groups weight bias eps"),
    functional.gelu: ("gelu", "input approximate"),
    functional.silu: ("silu", "input inplace"),
    torch.sigmoid: ("sigmoid", "input"),
    torch.tanh: ("tanh", "input"),
    **dict.fromkeys((functional.relu, torch.relu, "relu"), ("relu", "input inplace")),
    **dict.fromkeys((operator.mul, torch.mul), ("mul", "input other")),
}
"""PyTorch's functions and methods that rules know: a name, and the parameters."""
USUAL = ("attention", "linear", "convolution", "conv_batch_norm", "batch_norm")
"""Rules that are tried by default, and taken where it is measured to be faster than PyTorch's.

Norms and element-wise operations are not: inductor fuses them with what is around.
"""
_TYPES = ("float16", "bfloat16")


@dataclass(frozen=True)
class Region:
    """One place in a program.

    Attributes
    ----------
    operator : str
        The ready operator, "" if PyTorch computes it.
    nodes : tuple of str
        PyTorch's operations there, by their names in TorchDynamo's graph.
    result : str
        Shape and type of the result.
    reason : str
        Why it is left to PyTorch; of what is taken the times that were measured.
    """

    operator: str
    nodes: tuple[str, ...]
    result: str
    reason: str = ""

    def __str__(self) -> str:
        what = f"cudnn_ctypes.torch_ops.{self.operator}" if self.operator else "PyTorch"
        reason = f": {self.reason}" if self.reason else ""
        return f"{' + '.join(self.nodes)} {self.result} by {what}{reason}"


@dataclass
class Regions:
    """The places in a program that `explain` found, and the number of PyTorch's other operations.

    Attributes
    ----------
    taken, left : list of Region
        What ready operators compute, and what they might, but do not.
    others : int
        Operations of PyTorch that no operator is for.
    """

    taken: list[Region] = field(default_factory=list)
    left: list[Region] = field(default_factory=list)
    others: int = 0

    def __str__(self) -> str:
        lines = map(str, (*self.taken, *self.left))
        return "\n".join((*lines, f"other operations by PyTorch: {self.others}"))


def cudnn_ctypes(
    module: torch.fx.GraphModule,
    operands: list[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The back end; ``torch.compile(backend="cudnn_ctypes")`` finds it by its entry point.

    Parameters
    ----------
    module, operands
        TorchDynamo's graph and what it is called with.
    options : mapping, optional
        "take": names of ready operators to put in, by default `USUAL`; "measure": False to put
        them in also where they are not faster; "inner": the back end for the rest, by default
        "inductor" on a GPU and "aot_eager" on a CPU.
    mode : str, optional
        Of "inductor".

    Returns
    -------
    callable
        The compiled graph.
    """
    known = {"take": USUAL, "measure": True, "inner": None, **(options or {})}
    if len(known) > 3:
        got = ", ".join(options or ())
        raise ValueError(f"options: expected take, measure and inner, got {got}")
    replace(module, known["take"], measure=known["measure"])
    on_gpu = any(isinstance(each, torch.Tensor) and each.is_cuda for each in operands)
    inner = known["inner"] or ("inductor" if on_gpu else "aot_eager")
    compiled = torch._dynamo.lookup_backend(inner) if isinstance(inner, str) else inner
    more = {"mode": mode} if mode and inner == "inductor" else {}
    return compiled(module, operands, **more)  # type: ignore[no-any-return]


def explain(
    function: Callable[..., Any],
    *args: Any,
    take: Collection[str] = USUAL,
    measure: bool = True,
    **kwargs: Any,
) -> Regions:
    """Run a function once with ready operators in it, and tell where.

    Parameters
    ----------
    function : callable
        Also a ``torch.nn.Module``.
    *args, **kwargs
        Its arguments.
    take : collection of str
        Ready operators to put in.
    measure : bool
        Whether they must be faster on the GPU than what they replace.

    Returns
    -------
    Regions
        ``print`` shows a line for each.
    """
    found = Regions()

    def record(module: torch.fx.GraphModule, operands: list[Any]) -> Any:
        regions = replace(module, take, measure=measure)
        found.taken += regions.taken
        found.left += regions.left
        found.others += regions.others
        return module.forward

    torch._dynamo.reset()
    torch.compile(function, backend=record)(*args, **kwargs)
    return found


class _Match(NamedTuple):
    """The call that takes the place of some nodes; `reason` if nothing does."""

    operator: str
    nodes: list[Any]  # the last gives the result
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    reason: str = ""


def replace(
    module: torch.fx.GraphModule, take: Collection[str] = USUAL, *, measure: bool = True
) -> Regions:
    """Put ready operators into a graph of TorchDynamo's.

    Parameters
    ----------
    module : torch.fx.GraphModule
        Changed in place.
    take : collection of str
        Names of ready operators.
    measure : bool
        Whether an operator must be faster on the GPU than the functions in whose place it comes.

    Returns
    -------
    Regions
    """
    unknown = sorted(set(take) - set(_RULES))
    if unknown:
        raise ValueError(f"take: {', '.join(unknown)}; there are {', '.join(_RULES)}")
    regions, gone = Regions(), set()
    for node in reversed(list(module.graph.nodes)):
        if node.op not in ("call_function", "call_method") or node in gone:
            continue
        match = next((found for rule in _RULES.values() if (found := rule(node))), None)
        if match is None:
            regions.others += 1
            continue
        names, reason = tuple(each.name for each in match.nodes), match.reason
        if not reason and match.operator not in take:
            reason = "not among those that are taken"
        told = ""
        if not reason:
            reason, told = _trial(match, _value(node).dtype, measure)
        gone.update(match.nodes)
        if reason:
            regions.left.insert(0, Region("", names, _told(node), reason))
            continue
        regions.taken.insert(0, Region(match.operator, names, _told(node), told))
        with module.graph.inserting_before(node):
            made = module.graph.call_function(
                getattr(functions, match.operator), match.args, dict(match.kwargs)
            )
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        for each in reversed(match.nodes):
            module.graph.erase_node(each)
    module.recompile()
    return regions


# --- rules: from a node to a match, which begins before it and ends with it ----------------------


_GAIN = 0.9  # of PyTorch's time, below which an operator takes its place
_RUNS = 10


def _trial(match: _Match, dtype: Any, measure: bool) -> tuple[str, str]:
    """Why an operator is not taken, "" if it is, and the times.

    It runs with zeros for operands, with its gradient if the program computes gradients, and so
    does what it replaces. Plans stay built.
    """
    env: dict[Any, Any] = {}

    def operand(node: Any) -> Any:
        if node not in env:
            fake = env[node] = _number(_value(node))
            if isinstance(fake, torch.Tensor):
                place = {"dtype": fake.dtype, "device": fake.device}
                form = [tuple(map(_number, each)) for each in (fake.shape, fake.stride())]
                real = torch.empty_strided(*form, **place).zero_()
                env[node] = real.requires_grad_(fake.requires_grad)
        return env[node]

    def ours() -> Any:
        args, options = map_arg((match.args, dict(match.kwargs)), operand)
        return getattr(functions, match.operator)(*args, **options)

    def theirs() -> Any:
        made: dict[Any, Any] = {}
        for node in match.nodes:
            args, options = map_arg(
                (node.args, node.kwargs), lambda each: made[each] if each in made else operand(each)
            )
            called = node.target
            if node.op == "call_method":
                called = getattr(type(args[0]), called)
            made[node] = called(*args, **options)
        return made[match.nodes[-1]]

    def run(function: Callable[[], Any]) -> None:
        y = function()
        leaves = [each for each in env.values() if getattr(each, "requires_grad", False)]
        if leaves and y.requires_grad:
            torch.autograd.grad(y, leaves, torch.zeros_like(y), allow_unused=True)

    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        first = operand(next(each for each in match.args if isinstance(each, torch.fx.Node)))
        map_arg((match.args, dict(match.kwargs)), operand)
        tensors = [each for each in env.values() if isinstance(each, torch.Tensor)]
        mixed = any(each.is_floating_point() and each.dtype != dtype for each in tensors)
        with torch.autocast(first.device.type, dtype, enabled=mixed):
            try:
                run(ours)
            except (CudnnError, ValueError, TypeError, NotImplementedError) as error:
                return str(error).partition("\n")[0], ""
            if not measure or not (mine := _time(lambda: run(ours), first)):
                return "", ""
            other = _time(lambda: run(theirs), first)
    told = f"{mine:.0f} us, PyTorch {other:.0f} us"
    return ("" if mine < _GAIN * other else f"not faster: {told}"), told


def _number(value: Any) -> Any:
    """The size that a symbol of PyTorch stands for at first; other values as they are."""
    return value.node.hint if isinstance(value, torch.SymInt) else value


def _time(run: Callable[[], None], like: Any) -> float:
    """The microseconds of a run on a GPU; 0 elsewhere, where times tell nothing."""
    if not like.is_cuda:
        return 0.0
    found = []
    with torch.cuda.device(like.device):
        for _ in range(4):  # the first to warm up
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(_RUNS):
                run()
            end.record()
            end.synchronize()
            found.append(float(begin.elapsed_time(end)))
    return min(found[1:]) * 1e3 / _RUNS


def _attention(node: Any) -> _Match | None:
    given = _arguments(node, "attention")
    if given is None:
        return None
    q, mask = _value(given["query"]), given.get("attn_mask")
    reason = _unfit(node)
    if given.get("dropout_p"):
        reason = reason or "dropout"
    if mask is not None and _value(mask).dtype == torch.bool:
        reason = reason or "a mask of booleans"
    if q.ndim != 4 or q.shape[-1] % 8 or _value(given["value"]).shape[-1] % 8:
        reason = reason or "needs (b, h, s, d), and d a multiple of 8"
    options = {
        "causal": given.get("is_causal", False),
        "scale": given.get("scale"),
        "bias": mask,
    }
    operands = tuple(given[name] for name in ("query", "key", "value"))
    return _Match("attention", [node], operands, options, reason)


def _linear(node: Any) -> _Match | None:
    called, _ = _KNOWN.get(node.target, ("", ""))
    if called not in ACTIVATIONS:
        return None
    activation = (_arguments(node, called) or {})["input"]
    product = _only_for(activation, node)
    given = None if product is None else _arguments(product, "linear")
    if given is None:
        return None
    if called == "gelu" and _arguments(node, "gelu").get("approximate") == "tanh":  # type: ignore[union-attr]
        called = "gelu_tanh"
    operands = (given["input"], given["weight"], given.get("bias"), called)
    return _Match("linear", [product, node], operands, {}, _unfit(node))


def _convolution(node: Any) -> _Match | None:
    """A convolution with ReLU, or batch normalization with or without it."""
    relu = _arguments(node, "relu")
    last = node if relu is None else _only_for(relu["input"], node)
    norm = _arguments(last, "batch_norm")
    nodes = [node] if relu is not None else []
    if norm is not None:
        nodes = [last, *nodes]
        if norm.get("training"):
            return _batch_norm(nodes, norm, relu is not None)
        last = _only_for(norm["input"], last)
    given = _arguments(last, "convolution")
    if given is None:
        return None
    if not nodes:
        return _Match("convolution", [last], reason="PyTorch calls cuDNN for it")
    reason, bias = _unfit(node), given.get("bias")
    if given.get("groups", 1) != 1 or isinstance(given.get("padding"), str):
        reason = reason or "groups, or padding by its name"
    window: dict[str, Any] = {
        name: given[name] for name in ("stride", "padding", "dilation") if name in given
    }
    operands, nodes = (given["input"], given["weight"]), [last, *nodes]
    if norm is None:
        return _Match("convolution", nodes, (*operands, bias), {**window, "relu": True}, reason)
    numbers = [norm.get(each) for each in ("weight", "bias", "running_mean", "running_var")]
    if None in numbers:
        reason = reason or "a norm without weights or statistics"
    options = {**window, "bias": bias, "relu": relu is not None, "eps": norm.get("eps", 1e-5)}
    return _Match("conv_batch_norm", nodes, (*operands, *numbers), options, reason)


def _batch_norm(nodes: list[Any], norm: Mapping[str, Any], relu: bool) -> _Match:
    reason = _unfit(nodes[-1])
    if norm.get("weight") is None or norm.get("bias") is None or norm.get("momentum", 0) is None:
        reason = reason or "no weights, or no momentum"
    elif not _value(norm["input"]).is_contiguous(memory_format=torch.channels_last):
        reason = reason or "channels are not last"
    names = ("input", "running_mean", "running_var", "weight", "bias")
    options = {"momentum": norm.get("momentum", 0.1), "eps": norm.get("eps", 1e-5)}
    options |= {"training": True, "relu": relu}
    return _Match("batch_norm", nodes, tuple(norm.get(each) for each in names), options, reason)


def _norm(name: str) -> Callable[[Any], _Match | None]:
    def rule(node: Any) -> _Match | None:
        given = _arguments(node, name)
        if given is None:
            return None
        reason, weight = _unfit(node), given.get("weight")
        if weight is None and len(given["normalized_shape"]) > 1:
            reason = reason or "several dimensions without weights"
        parameters = (weight, given["bias"]) if given.get("bias") is not None else (weight,)
        options = {"eps": given["eps"]} if given.get("eps") is not None else {}
        return _Match(name, [node], (given["input"], *parameters), options, reason)

    return rule


def _group_norm(node: Any) -> _Match | None:
    given = _arguments(node, "group_norm")
    if given is None:
        return None
    operands = (given["input"], given["num_groups"], given.get("weight"), given.get("bias"))
    return _Match("group_norm", [node], operands, {"eps": given.get("eps", 1e-5)}, _unfit(node))


def _swiglu(node: Any) -> _Match | None:
    given = _arguments(node, "mul")
    if given is None:
        return None
    for gate, up in (("input", "other"), ("other", "input")):
        silu = _only_for(given[gate], node)
        inner = None if silu is None else _arguments(silu, "silu")
        if inner is not None and isinstance(given[up], torch.fx.Node):
            same = _value(given[up]).shape == _value(silu).shape
            reason = _unfit(node) or ("" if same else "the shapes differ")
            return _Match("swiglu", [silu, node], (inner["input"], given[up]), {}, reason)
    return None


_RULES: dict[str, Callable[[Any], _Match | None]] = {
    "attention": _attention,
    "linear": _linear,
    "convolution": _convolution,
    "conv_batch_norm": lambda node: None,  # with the convolution
    "batch_norm": lambda node: None,
    "layer_norm": _norm("layer_norm"),
    "rms_norm": _norm("rms_norm"),
    "group_norm": _group_norm,
    "swiglu": _swiglu,
}
"""By the ready operator, in the order in which they are asked."""


def _arguments(node: Any, name: str) -> dict[str, Any] | None:
    """The arguments of a call of PyTorch's function by that name; None of another node."""
    if not isinstance(node, torch.fx.Node) or _KNOWN.get(node.target, ("", ""))[0] != name:
        return None
    parameters = _KNOWN[node.target][1].split()
    return {**dict(zip(parameters, node.args, strict=False)), **node.kwargs}


def _only_for(value: Any, user: Any) -> Any:
    """A node whose result nothing else reads; else None."""
    alone = isinstance(value, torch.fx.Node) and set(value.users) == {user}
    return value if alone else None


def _value(node: Any) -> Any:
    return node.meta["example_value"]


def _unfit(node: Any) -> str:
    """Why the operands of a match are none for cuDNN's fast engines."""
    name = str(_value(node).dtype).removeprefix("torch.")
    return "" if name in _TYPES else f"{name}: cuDNN's engines are for 16 bits"


def _told(node: Any) -> str:
    value = _value(node)
    return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
