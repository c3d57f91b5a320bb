"""Layer 3: the graph (backend) API.

A `Graph` describes operations on tensors. Building it, for a GPU of this machine or for the
`DeviceProperties` of one that is not, asks cuDNN's heuristics for engine configs and compiles the
first that works into an `ExecutionPlan`, which is executed, bound to fixed memory, stored, or
captured in a CUDA graph::

    graph = Graph(io_data_type="float16")
    x, w = graph.tensor((8, 64, 128), name="x"), graph.tensor((1, 128, 32), name="w")
    graph.relu(graph.matmul(x, w)).set_output(name="y")
    graph.build(handle)
    graph.execute({"x": x_memory, "w": w_memory, "y": y_memory}, workspace)

To describe
    `Graph`, its `Tensor`; the operations are methods of `Graph`.
To run without more ado
    ``Graph.run`` builds on first use, and allocates outputs and workspace; `graph_function` makes a
    graph of a Python function of tensors (`GraphFunction`).
To choose
    ``Graph.explain`` gives every engine config (`Explanation`), ``Graph.autotune`` measures them on
    a GPU (`Autotuning`); `Selection` states conditions; `EngineChoice` names one engine and its
    knobs.
To know that it is right
    ``Graph.judge`` executes every engine and compares it with the reference (`Judgement`, a
    `Verdict` for each); later builds pass over what was wrong.
To make it supported, or faster
    ``Graph.explain(device).advice()`` tries other layouts, sizes, data types and a program
    (`Advice`); each `Suggestion` has its `Step` and `Change` objects, the changed graph, and the
    slow case that is known, if it is one. ``Graph.replaced`` describes such graphs
    by hand.
To look at
    ``Graph.to_svg``; notebooks show graphs, explanations, advice and
    autotuning results by themselves; ``Autotuning.plot``.
To execute often
    ``Graph.bind`` (`BoundPlan`) where memory stays in its place, `capture` where the same launches
    come again and again, `NativeGraph` for a CUDA graph whose memory can be exchanged.
To start quickly
    ``Graph.build(device, cache=True)`` keeps plans on disk for the next process (`PlanCache`), as
    the environment variable ``CUDNN_CTYPES_CACHE`` does for all graphs;
    ``python -m cudnn_ctypes cache`` shows them.
For many shapes
    `KernelCache`: graphs that differ in dims share compiled kernels.
Without a GPU
    The name of a GPU (``graph.build("B200")``; `presets`), `DeviceProperties`, `compile_graphs` and
    ``python -m cudnn_ctypes compile``. On the reference device NumPy carries out a plan for the GPU
    that it stands for, an H200 by default, and by ``build(handle, without_engine=True)`` also
    operations that no engine takes there.
One descriptor at a time
    `BackendDescriptor` with attributes by short names; `heuristics`, `Engine`, `EngineConfig` and
    `ExecutionPlan` stand on it.
"""

from __future__ import annotations

from ..lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
