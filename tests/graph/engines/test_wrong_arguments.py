"""What building, explaining, tuning and judging refuse, each by the name of the argument."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import (
    DeviceProperties,
    EngineChoice,
    Handle,
    Selection,
    compile_graphs,
    use_reference_device,
    use_warden,
)
from cudnn_ctypes.graph.backend.device_properties import as_device, as_properties
from cudnn_ctypes.graph.engines.tuning.measurements import Settings

from ..families import CASES

NO_SECONDS = "use_warden: seconds: expected more than 0"
NO_LIMIT = "limit: expected seconds, 0 or more"
# A method of graphs, which is asked about an H200, or a function; arguments; a part of the error.
CALLS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("build", {"config": EngineChoice(999)}, ValueError, r"999: this graph has engines 0 to \d+"),
    ("build", {"config": EngineChoice(-1)}, ValueError, r"-1: this graph has engines 0 to \d+"),
    (
        *("build", {"config": EngineChoice(22, {"tilesize": 1})}),
        *(ValueError, "no knob 'tilesize'; did you mean 'tile_s"),
    ),
    (
        *("build", {"config": EngineChoice(22, {"tile_size": 99})}),
        *(ValueError, "99 is not in 0 to 23 by steps of 1"),
    ),
    ("build", {"config": 22}, TypeError, "config: expected an EngineChoice or EngineConfig, got 2"),
    (EngineChoice, {"engine": "22"}, TypeError, "expected its index, got '22'"),
    (EngineChoice, {"engine": 2, "knobs": 8}, TypeError, "knobs: expected values by name, got 8"),
    ("build", {"heuristics": 1}, TypeError, "^heuristics: .* got 1"),
    ("explain", {"heuristics": None}, TypeError, "^heuristics: .* got None"),
    ("explain", {"heuristics": b"a"}, TypeError, "^heuristics: .* got b'a'"),
    ("build", {"heuristics": []}, ValueError, "heuristics: expected at least one mode"),
    ("build", {"heuristics": ["a", "fallbak"]}, ValueError, "'fallbak'; did you mean 'fallback"),
    ("explain", {"heuristics": ["fallbak"]}, ValueError, "'fallbak'; did you mean 'fallback"),
    ("explain", {"compile": "no"}, TypeError, "^compile: .* got 'no'"),
    ("build", {"kernel_cache": "k"}, TypeError, "^kernel_cache: .* got 'k'"),
    ("build", {"check": "second"}, ValueError, "^check: expected \"first\" or None, got 'second'$"),
    ("build", {"check": True}, TypeError, '^check: expected "first" or None, got True'),
    ("build", {"selection": {}}, TypeError, "selection: expected a Selection, got {}"),
    ("explain", {"selection": {}}, TypeError, "selection: expected a Selection, got {}"),
    ("build", {"cache": 3}, TypeError, "cache: expected True, False, a folder or a PlanCache, got"),
    ("build", {"cache": b"x"}, TypeError, "cache: expected True, False"),
    ("build", {"cache": ""}, ValueError, "cache: expected the name of a folder, got ''"),
    ("build", {"cache": "a\0b"}, ValueError, "cache: expected the name of a folder"),
    *((use_warden, {"seconds": n}, ValueError, NO_SECONDS) for n in (0, -1, True, "1")),
    *(("advice", {"limit": n}, ValueError, NO_LIMIT) for n in (-1, "5", True, None, float("nan"))),
    # Selections.
    (Selection, {"require": "tensor_cores"}, ValueError, "'tensor_cores'; did you mean 'tensor_c"),
    (Selection, {"forbid": ["type_count"]}, ValueError, "forbid: there is no note 'type_count'"),
    (Selection, {"forbid": [3]}, TypeError, "forbid: expected a note or its name, got 3"),
    (Selection, {"forbid": 3}, TypeError, "forbid: expected notes or their names, got 3"),
    (Selection, {"require": "fft", "forbid": "fft"}, ValueError, "fft: required and forbidden at"),
    (Selection, {"require": "nondeterministic", "deterministic": True}, ValueError, "at once"),
    (Selection, {"workspace_limit": -1}, ValueError, "workspace_limit: expected a number of bytes"),
    (Selection, {"workspace_limit": "1"}, TypeError, "workspace_limit: expected a number of bytes"),
    (Selection, {"shared_memory_limit": 1.5}, TypeError, "shared_memory_limit: expected"),
    (Selection, {"engines": "45"}, TypeError, "engines: expected indices of engines, got '45'"),
    (Selection, {"engines": [True]}, TypeError, "engines: expected indices of engines, got True"),
    (Selection, {"without_engines": [-1]}, ValueError, "without_engines: expected indices"),
    # Autotuning.
    (Settings, {"runs": 0}, ValueError, "runs: expected at least 1, got 0"),
    (Settings, {"runs": 1.5}, TypeError, "runs: expected a whole number, got 1.5"),
    (Settings, {"warm_up": -1}, ValueError, "warm_up: expected at least 0, got -1"),
    (Settings, {"knobs": True}, TypeError, "knobs: expected a whole number, got True"),
    (Settings, {"budget": "1"}, TypeError, "budget: expected seconds or None, got '1'"),
    (Settings, {"budget": 0}, ValueError, "budget: expected seconds, more than 0, or None, got 0"),
    ("autotune", {}, TypeError, "expected its Handle, got DeviceProperties"),
    ("autotune", {"heuristics": "c"}, ValueError, "expected one of .*'c'"),
    ("autotune", {"runs": 0}, ValueError, "runs: expected at least 1"),
    # A judge, on the reference device.
    ("judge", {"data": "odd"}, ValueError, "^data: expected some of ordinary, tails, .* 'odd'$"),
    ("judge", {"data": 3}, TypeError, "^data: expected names of kinds of numbers, got 3"),
    ("judge", {"data": []}, TypeError, "^data: "),
    ("judge", {"knobs": -1}, ValueError, "^knobs: "),
    ("judge", {"runs": 0}, ValueError, "^runs: "),
    ("judge", {"keep": "no"}, TypeError, "^keep: expected True or False"),
    ("judge", {"despite_faults": 1}, TypeError, "^despite_faults: "),
    # Devices.
    (as_device, {"device": 0}, TypeError, "expected a Handle, DeviceProperties, the name of a"),
    (as_properties, {"device": 0}, TypeError, "expected DeviceProperties, the name of a preset, o"),
    (DeviceProperties.preset, {"name": 5}, TypeError, "preset: expected the name of a GPU, got 5"),
    (compile_graphs, {"graphs": [3], "device": "A100"}, TypeError, "graphs: expected Graphs or th"),
]


def made(call: Any, arguments: dict[str, Any], h200: DeviceProperties) -> None:
    with CASES["convolution"].graph() as graph:
        if call == "advice":
            graph.explain(h200, "a").advice(**arguments)
        elif call == "judge":
            with use_reference_device(), Handle() as handle:
                graph.judge(handle, **arguments)
        elif isinstance(call, str):
            getattr(graph, call)(h200, **arguments)
        else:
            call(**arguments)


@pytest.mark.parametrize(("call", "arguments", "error", "says"), CALLS)
def test_what_is_refused(call, arguments, error, says, h200):
    with pytest.raises(error, match=says):
        made(call, arguments, h200)


@pytest.mark.parametrize(("method", "device"), [("autotune", "b200"), ("judge", "H200")])
def test_what_is_measured_needs_the_gpu(method, device):
    with CASES["convolution"].graph() as graph, pytest.raises(TypeError, match="GPU that is there"):
        getattr(graph, method)(device)
