"""A back end of torch.compile: ready operators in place of PyTorch's functions, where they pay.

TorchDynamo's graph of a program is searched for what cuDNN does in one kernel. On a GPU each place
is compiled and timed by both sides, forward and backward; where the operator's kernels are faster,
it comes in. The whole is then timed against PyTorch's, host and kernels, and left as it was if it
is not faster. On the reference device all places are taken. The rest is left to another back end.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.fx.node import map_arg
from torch.nn import functional

from ..errors import CudnnError
from ..raw import mode as running
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
    **dict.fromkeys((operator.add, operator.iadd, torch.add), ("add", "input other alpha")),
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

    def leave_all(self, reason: str) -> None:
        """Move what is taken to what is left, for a reason."""
        alone = [f"{reason}; alone {each.reason}" for each in self.taken]
        left = [Region("", e.nodes, e.result, a) for e, a in zip(self.taken, alone, strict=True)]
        self.taken, self.left = [], left + self.left

    def __str__(self) -> str:
        lines = map(str, (*self.taken, *self.left))
        return "\n".join((*lines, f"other operations by PyTorch: {self.others}"))


_Inner = Callable[[torch.fx.GraphModule, list[Any]], Callable[..., Any]]


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
        "inductor" on a GPU and "aot_eager" on a CPU; "report": called with the `Regions`.
    mode : str, optional
        Of "inductor". With CUDA graphs the time of the kernels decides, else that of the program.

    Returns
    -------
    callable
        The compiled graph.
    """
    known = {"take": USUAL, "measure": True, "inner": None, "report": None, **(options or {})}
    if len(known) > 4:
        got = ", ".join(options or ())
        raise ValueError(f"options: expected take, measure, inner and report, got {got}")
    on_gpu = _on_gpu(operands)
    name = known["inner"] or ("inductor" if on_gpu else "aot_eager")
    inner, without_graphs = _inner(name, mode), _inner(name, _WITHOUT_GRAPHS.get(mode, mode))
    original = _copied(module)
    regions = replace(module, known["take"], measure=known["measure"], inner=without_graphs)
    graph, compiled = module, None
    if regions.taken and known["measure"] and on_gpu:
        graphs = mode in _WITHOUT_GRAPHS
        sides = [_ready(without_graphs, _copied(e), operands) for e in (module, original)]
        try:
            mine, other = _compared(sides, list(map(_real, operands)), kernels=graphs)
            told = f"the whole takes {mine:.0f} us, PyTorch's {other:.0f} us"
            is_slower = mine >= _GAIN * other
        except torch.cuda.OutOfMemoryError:
            is_slower, told = True, "no memory to measure the whole"
        if is_slower:
            regions.leave_all(told)
        compiled = None if graphs else sides[is_slower]
        graph = original if is_slower else module
    if known["report"]:
        known["report"](regions)
    return inner(graph, operands) if compiled is None else compiled


_WITHOUT_GRAPHS: dict[str | None, str | None] = {
    "reduce-overhead": None,
    "max-autotune": "max-autotune-no-cudagraphs",
}
"""Modes of inductor that capture CUDA graphs, and those that do the same without."""


def _inner(name: Any, mode: str | None) -> _Inner:
    """Another back end; a mode is for inductor alone."""
    compiled = torch._dynamo.lookup_backend(name) if isinstance(name, str) else name
    patches = torch._inductor.list_mode_options(mode) if mode and name == "inductor" else {}
    return functools.partial(compiled, config_patches=patches) if patches else compiled


def _ready(
    inner: _Inner, module: torch.fx.GraphModule, operands: list[Any], *options: str
) -> Callable[..., Any]:
    """A compiled graph whose gradient is compiled, too, which back ends else put off."""
    config = torch._functorch.config
    names = ("force_non_lazy_backward_lowering", *options)
    known = {name: True for name in names if hasattr(config, name)}  # of newer PyTorch
    with config.patch(known) if known else nullcontext():
        return inner(module, operands)


def _copied(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The same with a graph of its own; back ends change the graph that they get."""
    graph = torch.fx.Graph()
    returned = graph.graph_copy(module.graph, {})
    graph.output(returned)
    return torch.fx.GraphModule(module, graph)


def explain(
    function: Callable[..., Any],
    *args: Any,
    take: Collection[str] = USUAL,
    measure: bool = True,
    **kwargs: Any,
) -> Regions:
    """Run a function once as the back end compiles it, and tell what it takes.

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

    def add(regions: Regions) -> None:
        found.taken += regions.taken
        found.left += regions.left
        found.others += regions.others

    options = {"take": take, "measure": measure, "report": add}
    torch._dynamo.reset()
    torch.compile(function, backend=functools.partial(cudnn_ctypes, options=options))(
        *args, **kwargs
    )
    return found


class _Match(NamedTuple):
    """The call that takes the place of some nodes; `reason` if nothing does."""

    operator: str
    nodes: list[Any]  # the last gives the result
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    reason: str = ""


def replace(
    module: torch.fx.GraphModule,
    take: Collection[str] = USUAL,
    *,
    measure: bool = True,
    inner: _Inner | None = None,
) -> Regions:
    """Put ready operators into a graph of TorchDynamo's, which is changed in place.

    With `measure` each must be faster than PyTorch's functions there, both compiled by `inner`.
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
            try:
                reason, told = _trial(match, _value(node).dtype, measure, inner)
            except _NOT_RUN as error:
                reason = str(error).partition("\n")[0]
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


_GAIN, _PLACE_GAIN = 0.98, 0.95  # of PyTorch's time, below which the whole and a place are taken
_DIFFERENCE = 0.1  # of the norm: a gradient may be on the other side of ReLU's step
_RUNS = 10
_BETWEEN = 64  # elements
_NOT_RUN = (CudnnError, ValueError, TypeError, NotImplementedError, torch.cuda.OutOfMemoryError)
_AS_RESULT = "guess_tangent_strides_as_outputs"  # as most programs give them: no side copies them
_measured: dict[Any, tuple[str, str]] = {}
"""Findings of `_trial`, by the code and the operands of both sides."""


def _trial(match: _Match, dtype: Any, measure: bool, inner: _Inner | None) -> tuple[str, str]:
    """Why an operator is not taken, "" if it is, and the times. Raises some of `_NOT_RUN`.

    It runs with random numbers, with its gradient if the program computes gradients, and so does
    what it replaces. Plans stay built.
    """
    with torch._subclasses.fake_tensor.unset_fake_temporarily(), torch._guards.tracing(None):
        sides, operands = _sides(match, measure)
        tensors = [each for each in operands if isinstance(each, torch.Tensor)]
        mixed = any(each.is_floating_point() and each.dtype != dtype for each in tensors)
        place = tensors[0].device.type
        forms = [(e.shape, e.stride(), e.dtype, e.requires_grad) for e in tensors]
        key = (*(each.code for each in sides), str(forms), str(tensors[0].device), mixed, measure)
        key += (torch.is_grad_enabled(), id(running.runtime))
        if key in _measured:
            return _measured[key]
        told = ""
        with torch.autocast(place, dtype, enabled=mixed):
            _run(sides[0], operands)
            if measure and _on_gpu(operands):
                compiled = [_ready(inner, e, operands, _AS_RESULT) if inner else e for e in sides]
                mine, other = _compared(compiled, operands, kernels=True)
                told = f"{mine:.0f} us, PyTorch {other:.0f} us"
                if not _agree(*(_run(each, operands) for each in compiled)):
                    told = "not PyTorch's numbers"
                elif mine >= _PLACE_GAIN * other:
                    told = f"not faster: {told}"
    found = _measured[key] = (told if told.startswith("not") else "", told)
    return found


def _on_gpu(operands: list[Any]) -> bool:
    return any(isinstance(each, torch.Tensor) and each.is_cuda for each in operands)


def _sides(match: _Match, measure: bool) -> tuple[list[torch.fx.GraphModule], list[Any]]:
    """A match as two graphs of the same operands, the operator's and PyTorch's; and operands.

    PyTorch finds the cuDNN graph of attention's gradient by the strides of q, k and v alone, though
    it holds those of the result's gradient, too (2.11): what is measured has strides of its own, so
    that the program's gradient does not find a graph for another layout.
    """
    outside: dict[Any, None] = {}
    inside = set(match.nodes)
    every = [(match.args, dict(match.kwargs)), *((n.args, n.kwargs) for n in match.nodes)]
    map_arg(every, lambda each: each in inside or outside.setdefault(each))
    graphs = [torch.fx.Graph() for _ in range(2)]
    given = [
        {e: graph.placeholder(f"operand{i}") for i, e in enumerate(outside)} for graph in graphs
    ]
    args, options = map_arg(every[0], given[0].__getitem__)
    called = getattr(functions, match.operator)
    graphs[0].output((graphs[0].call_function(called, args, options),))
    for node in match.nodes:  # names of their own, which do not depend on the program
        args, options = map_arg((node.args, node.kwargs), given[1].__getitem__)
        given[1][node] = graphs[1].create_node(node.op, node.target, args, options)
    graphs[1].output((given[1][match.nodes[-1]],))
    sides = [torch.fx.GraphModule(torch.nn.Module(), each) for each in graphs]
    operands = [_value(each) for each in outside]
    spaced = _BETWEEN * (match.operator == "attention" and measure and _on_gpu(operands))
    return sides, [_real(each, spaced) for each in operands]


def _real(value: Any, spaced: int = 0) -> Any:
    """A tensor like one, with random numbers; the number that a symbol stands for at first.

    Its outermost parts have so many elements more between them.
    """
    if isinstance(value, torch.SymInt):
        return value.node.hint
    if not isinstance(value, torch.Tensor):
        return value
    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        shape, strides = ([_real(n) for n in each] for each in (value.shape, value.stride()))
        if strides:
            strides[strides.index(max(strides))] += spaced
        made = torch.empty_strided(shape, strides, dtype=value.dtype, device=value.device)
        low = 0.5 if value.ndim < 2 else -1  # variances are positive
        made = made.uniform_(low, 1) if made.is_floating_point() else made.zero_()
        return made.requires_grad_(value.requires_grad)


def _run(function: Callable[..., Any], operands: list[Any]) -> list[Any]:
    """The results of a pass, and the gradients of the operands that require them."""
    returned = function(*operands)
    results = [returned] if isinstance(returned, torch.Tensor) else list(returned)
    ends = [each for each in results if getattr(each, "requires_grad", False)]
    leaves = [each for each in operands if getattr(each, "requires_grad", False)]
    if not (ends and leaves and torch.is_grad_enabled()):
        return results
    given = [each.detach().clone() for each in ends]  # the gradients: numbers of both signs
    return results + list(torch.autograd.grad(ends, leaves, given, allow_unused=True))


def _agree(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether two sides give about the same numbers."""
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            a, b = (each.detach().double().nan_to_num(1e4) for each in (one, other))
            if float((a - b).norm()) > _DIFFERENCE * float(b.norm()):
                return False
    return True


def _compared(
    sides: list[Callable[..., Any]], operands: list[Any], *, kernels: bool
) -> list[float]:
    """The microseconds of a pass of each: where passes follow each other, or its kernels alone.

    The smallest of some rounds, in which they take turns.
    """
    first = next(each for each in operands if isinstance(each, torch.Tensor) and each.is_cuda)
    best = [float("inf")] * len(sides)
    with (
        torch._subclasses.fake_tensor.unset_fake_temporarily(),
        torch._guards.tracing(None),
        torch.cuda.device(first.device),
    ):
        for turn in range(9):  # the first to warm up
            for i, side in enumerate(sides):
                us = _time(lambda side=side: _run(side, operands), kernels)  # type: ignore[misc]
                best[i] = min(best[i], us) if turn else best[i]
    return best


def _time(run: Callable[[], Any], kernels: bool) -> float:
    """The microseconds of a pass on the current GPU."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if kernels:
        torch.cuda.synchronize()
        since = time.perf_counter()
        run()
        seconds = 3 * _RUNS * (time.perf_counter() - since)
        torch.cuda._sleep(int(2e9 * min(seconds, 0.1)))  # cycles in which the host queues the rest
    begin.record()
    for _ in range(_RUNS):
        run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e3 / _RUNS


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
    """A convolution, or a norm by known statistics of one; plus a tensor; ReLU. Or a norm alone."""
    relu = _arguments(node, "relu")
    last = node if relu is None else _only_for(relu["input"], node)
    rest = [] if relu is None else [node]
    norm = _arguments(last, "batch_norm")
    if norm is not None and norm.get("training"):
        return _batch_norm([last, *rest], norm, relu is not None)
    found, residual = _convolved(last), None
    added = _arguments(last, "add") or {}
    if len(added) == 2:
        for one, other in (("input", "other"), ("other", "input")):
            found, residual = _convolved(_only_for(added[one], last)), added[other]
            if found is not None and isinstance(residual, torch.fx.Node):
                break
        else:
            return None
        rest = [last, *rest]
    if found is None:
        return None
    given, norm, nodes = found
    nodes = [*nodes, *rest]
    if len(nodes) == 1:
        return _Match("convolution", nodes, reason="PyTorch calls cuDNN for it")
    reason, bias = _unfit(node), given.get("bias")
    if given.get("groups", 1) != 1 or isinstance(given.get("padding"), str):
        reason = reason or "groups, or padding by its name"
    if residual is not None and _told(residual) != _told(node):
        reason = reason or "what is added has another shape or type"
    options: dict[str, Any] = {
        name: given[name] for name in ("stride", "padding", "dilation") if name in given
    }
    options |= {"relu": relu is not None, "residual": residual}
    operands = (given["input"], given["weight"])
    if norm is None:
        return _Match("convolution", nodes, (*operands, bias), options, reason)
    numbers = [norm.get(each) for each in ("weight", "bias", "running_mean", "running_var")]
    if None in numbers:
        reason = reason or "a norm without weights or statistics"
    options |= {"bias": bias, "eps": norm.get("eps", 1e-5)}
    return _Match("conv_batch_norm", nodes, (*operands, *numbers), options, reason)


def _convolved(node: Any) -> tuple[dict[str, Any], dict[str, Any] | None, list[Any]] | None:
    """The arguments of a convolution, those of the norm of it that a node is, and both nodes."""
    norm = _arguments(node, "batch_norm")
    inner = node if norm is None else _only_for(norm["input"], node)
    given = _arguments(inner, "convolution")
    if given is None or (norm is not None and norm.get("training")):
        return None
    return given, norm, [inner] if norm is None else [inner, node]


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
