"""A graph compiled on a machine without a GPU, and executed on one that has it.

Two files travel: the graph, which says what the tensors are called, and the plan, which holds the
machine code. Both machines need the same version of cuDNN; the first needs a C compiler, as a small
library stands in for the driver there. The same is done by
``python -m cudnn_ctypes compile gate.json --device H200``.

    python 26_compiled_elsewhere.py compile FOLDER     here
    python 26_compiled_elsewhere.py run FOLDER         there

Without arguments it does both for the GPU of this machine; without one it compiles for an H200.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from cudnn_ctypes import (
    DeviceProperties,
    DeviceTensor,
    Graph,
    Handle,
    capture,
    compile_graphs,
    use_reference_device,
)

SHAPE = (16, 256, 512)


def gate() -> Graph:
    """y = sigmoid(a + b * c), in one kernel."""
    graph = Graph("gate", io_data_type="float16")
    a, b, c = (graph.tensor(SHAPE, name=name) for name in "abc")
    graph.sigmoid(graph.add(a, graph.mul(b, c))).set_output(name="y")
    return graph


def compile_into(folder: Path, device: DeviceProperties) -> None:
    """Write the graph and its plan for one GPU."""
    graph = gate()
    # Many graphs at once: executor=ProcessPoolExecutor(), or Dask's client.get_executor().
    (compiled,) = compile_graphs([graph], device)
    if compiled.error is not None:
        raise compiled.error
    assert compiled.plan is not None  # as there is no error
    (folder / "gate.json").write_text(graph.to_json())
    (folder / "gate.plan.json").write_text(compiled.plan)
    print(f"compiled for {device.name} by cuDNN {compiled.cudnn_version}: {compiled.engine}")
    print(f"gate.json, and gate.plan.json of {len(compiled.plan) // 1000} kB")


def run_from(folder: Path, handle: Handle) -> None:
    """Execute the plan, by itself and as a CUDA graph, and compare with NumPy."""
    graph = Graph.from_json((folder / "gate.json").read_text())
    graph.load_plan((folder / "gate.plan.json").read_text(), handle)
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(SHAPE).astype(np.float16) for _ in "abc")
    expected = 1 / (1 + np.exp(-(a.astype(np.float64) + b.astype(np.float64) * c)))

    memory = {n: DeviceTensor.from_numpy(x) for n, x in zip("abc", (a, b, c), strict=True)}
    memory["y"] = y = DeviceTensor.full(SHAPE, np.nan, "float16")
    with graph:
        graph.execute(memory)
        handle.synchronize()
        print(f"executed: largest error {np.abs(y.numpy() - expected).max():.1e}")

        with capture(handle) as captured:
            graph.execute(memory)
        y.copy_from(np.full(SHAPE, np.nan, np.float16))
        captured.replay()
        handle.synchronize()
        print(f"replayed: largest error {np.abs(y.numpy() - expected).max():.1e}")
        captured.close()
    for each in memory.values():
        each.close()


def both() -> None:
    with tempfile.TemporaryDirectory() as name, Handle() as handle:
        folder = Path(name)
        if handle.on_reference_device:
            with DeviceProperties.preset("H200") as h200:
                compile_into(folder, h200)
            print("there is no GPU here: see the top of this file for how to run it elsewhere")
        else:
            with DeviceProperties.from_device(handle=handle) as here:
                compile_into(folder, here)
            run_from(folder, handle)


if sys.argv[1:2] == ["compile"]:
    with DeviceProperties.preset("H200") as gpu:
        compile_into(Path(sys.argv[2]), gpu)
elif sys.argv[1:2] == ["run"]:
    with use_reference_device(False), Handle() as cudnn:
        run_from(Path(sys.argv[2]), cudnn)
else:
    both()
