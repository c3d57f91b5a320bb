"""cuDNN's causal convolutions and aggregation over graphs of nodes, by the front end's names.

Each is C's function with C's arguments: of the convolutions by their place, of the aggregations by
place or name, with the structs of the graph and of attention spelled out. `stream` and all memory
are addresses, or anything that layer 1 takes as device memory; 0 where there is none. Data types,
activations and aggregations are C's numbers, as in the front end, or members of ``data_type``,
``gnn_activation_op`` and ``gnn_agg_op``. They raise what layer 1 raises. The functions of
``cudnn_ctypes``, ``causal_convolution_forward``, ``gnn_agg_simple_forward`` and their kin, allocate
results and check shapes.
"""

from __future__ import annotations

import ctypes
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .. import raw
from ..arguments import c_integer
from ..raw.ctypes_support import CudnnEnum
from ..raw.memory import memory_pointer
from .c_members import c_data_type, c_member
from .enums import Named

Launch: TypeAlias = Callable[..., None]


def _c_argument(kind: Any, value: Any) -> Any:
    """An argument as layer 1 takes it, by the type of C's parameter.

    Raises TypeError if a data type is not one.
    """
    if kind is raw.cudnnDataType_t:
        number = isinstance(value, int) and not isinstance(value, CudnnEnum)
        return kind(value) if number else c_data_type(value)
    if issubclass(kind, CudnnEnum):
        return c_member(value) if isinstance(value, Named) else kind(value)
    is_memory = issubclass(kind, (ctypes.c_void_p, ctypes._Pointer))
    return None if is_memory and type(value) is int and value == 0 else value


def _types_of(c_name: str) -> dict[str, Any]:
    """The types of a C function's parameters, by their names."""
    parameters = inspect.signature(getattr(raw, c_name)).parameters
    return {name: each.annotation for name, each in parameters.items()}


def _in_snake_case(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", name).lower()


def _named(launch: Launch, c_name: str, signature: inspect.Signature) -> Launch:
    launch.__name__ = launch.__qualname__ = _in_snake_case(c_name.removeprefix("cudnn"))
    launch.__doc__ = f"``{c_name}``; see the module."
    vars(launch)["__signature__"] = signature
    return launch


def _in_order(c_name: str) -> Launch:
    """C's function of this name, with arguments by their place."""
    types = _types_of(c_name)
    places = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_ONLY) for each in types]
    signature = inspect.Signature(places)

    def launch(*arguments: Any) -> None:
        given = signature.bind(*arguments).arguments
        getattr(raw, c_name)(*(_c_argument(types[each], given[each]) for each in types))

    return _named(launch, c_name, signature)


causal_conv1d_forward: Launch = _in_order("cudnnCausalConv1dForward")
causal_conv1d_backward: Launch = _in_order("cudnnCausalConv1dBackward")
causal_conv1d_nwh_forward: Launch = _in_order("cudnnCausalConv1dNwhForward")
causal_conv1d_nwh_backward: Launch = _in_order("cudnnCausalConv1dNwhBackward")
b2b_causal_conv1d_forward: Launch = _in_order("cudnnB2BCausalConv1dForward")
b2b_causal_conv1d_backward: Launch = _in_order("cudnnB2BCausalConv1dBackward")
fft_causal_conv1d_forward: Launch = _in_order("cudnnFFTCausalConv1dForward")
fft_causal_conv1d_backward: Launch = _in_order("cudnnFFTCausalConv1dBackward")
long_fft_causal_conv1d_forward: Launch = _in_order("cudnnLongFFTCausalConv1dForward")
long_fft_causal_conv1d_backward: Launch = _in_order("cudnnLongFFTCausalConv1dBackward")


def long_fft_causal_conv1d_get_buffer_sizes(
    batch: int, dim: int, seq_len: int, kernel_size: int, data_type: Any, /
) -> tuple[int, int]:
    """Bytes of workspace and of reserve space; ``cudnnLongFFTCausalConv1dGetBufferSizes``."""
    workspace, reserve_space = ctypes.c_size_t(), ctypes.c_size_t()
    kind = _c_argument(raw.cudnnDataType_t, data_type)
    raw.cudnnLongFFTCausalConv1dGetBufferSizes(
        batch, dim, seq_len, kernel_size, kind, workspace, reserve_space
    )
    return workspace.value, reserve_space.value


_GRAPH = {
    "csc_offsets": "cscOffsets",
    "csc_indices": "cscIndices",
    "map_csc_to_coo": "mapCscToCoo",
    "n_src_nodes": "nSrcNodes",
    "n_dst_nodes": "nDstNodes",
    "n_indices": "nIndices",
    "idx_type": "idxType",
}
_REVERSE = {"csc_rev_offsets": "cscRevOffsets", "map_rev_to_coo": "mapRevToCoo"}
"""The graph in reverse, for gradients in a fixed order."""
_ATTENTION = ("activation", "activation_alpha", "num_heads", "concat_heads")
# Where the front end's name of a parameter is not C's in snake case.
_NAMES = {
    "gradOut": "grad_output",
    "dimNode": "node_feat_dim",
    "dimEdge": "edge_feat_dim",
    "gradWspaceFeat": "grad_workspace_features",
    "gradWspaceWeights": "grad_workspace_weights",
}


def _on_a_graph(c_name: str) -> Launch:
    """C's function of this name, its structs spelled out; -1 for a gradient's type is `data_type`.

    After the type of the features come the graph in reverse, the workspaces, and types of
    gradients.
    """
    types = _types_of(c_name)
    names = {each: _NAMES.get(each) or _in_snake_case(each) for each in types}
    spelled = {"graph": [*_GRAPH], "params": [*_ATTENTION]}
    order = [part for each in names.values() for part in spelled.get(each, [each])]
    spaces = [each for each in order if each.startswith("grad_workspace")]
    if spaces:
        order = [each for each in order if each not in spaces]
        behind = order.index("data_type") + 1
        order[behind:behind] = [*_REVERSE, *spaces]
    of_gradients = [each for each in order if re.fullmatch(r"grad_.*type", each)]
    place, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    signature = inspect.Signature(
        [
            inspect.Parameter(each, place, default=-1 if each in of_gradients else empty)
            for each in order
        ]
    )

    def launch(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given: dict[str, Any] = dict(bound.arguments)
        for each in of_gradients:
            given[each] = given["data_type"] if given[each] == -1 else given[each]
        structs: dict[str, ctypes.Structure] = {"graph": _graph(given)}
        if "num_heads" in given:
            kind = _c_argument(raw.cudnnGnnActivationOp_t, given["activation"])
            structs["params"] = raw.cudnnGnnMhaParams_t(
                kind, given["activation_alpha"], given["num_heads"], int(given["concat_heads"])
            )
        getattr(raw, c_name)(
            *(
                ctypes.byref(structs[mine])
                if mine in structs
                else _c_argument(types[each], given[mine])
                for each, mine in names.items()
            )
        )

    return _named(launch, c_name, signature)


def _graph(given: Mapping[str, Any]) -> raw.cudnnGnnCscGraph_t:
    """The struct of a graph of nodes, from the addresses of its arrays and its sizes."""
    fields = {each: field for each, field in {**_GRAPH, **_REVERSE}.items() if each in given}
    graph = raw.cudnnGnnCscGraph_t()
    for each, field in fields.items():
        value: Any = given[each]
        if each == "idx_type":
            value = _c_argument(raw.cudnnDataType_t, value)
        elif each.startswith("n_"):
            value = c_integer(field, value, ctypes.c_int64)
        else:
            value = memory_pointer(value, field) or None
        setattr(graph, field, value)
    return graph


gnn_agg_simple_forward: Launch = _on_a_graph("cudnnGnnAggSimpleForward")
gnn_agg_simple_backward: Launch = _on_a_graph("cudnnGnnAggSimpleBackward")
gnn_mha_gat_forward: Launch = _on_a_graph("cudnnGnnMhaGatForward")
gnn_mha_gat_backward: Launch = _on_a_graph("cudnnGnnMhaGatBackward")
gnn_mha_gat_v2_forward: Launch = _on_a_graph("cudnnGnnMhaGatV2Forward")
gnn_mha_gat_v2_backward: Launch = _on_a_graph("cudnnGnnMhaGatV2Backward")
