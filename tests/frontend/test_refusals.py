"""What is refused is refused where NVIDIA's front end refuses it, or later, and as the same."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
from programs import ROOT, run_program

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import DeviceProperties

from .refused_graphs import CASES, PLAIN, STEPS, outcome

# What cuDNN has no words for that we know of, and NVIDIA's front end calls invalid.
OUR_OWN = {
    "combined experts": ("validate", "not supported"),
    "one operation with alibi": PLAIN,  # which cuDNN takes
}

# What cuDNN takes, and NVIDIA's front end does not pass on.
TAKEN = {"one operation with alibi", "gradients with alibi alone"}


@pytest.fixture(scope="module")
def gpu():
    with DeviceProperties.preset("h200") as properties:
        yield properties


# A mask within the one operation of attention.
SUBGRAPH = pytest.mark.needs("CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH")


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.FaultWarning")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=SUBGRAPH if n == "one operation with alibi" else ()) for n in CASES],
)
def test_refused_no_earlier_and_as_the_same(name, gpu):
    describe, (step, kind) = CASES[name]
    kinds, wide = cudnn.data_type, ("intermediate_data_type", "compute_data_type")
    options = {"io_data_type": kinds.HALF, **dict.fromkeys(wide, kinds.FLOAT)}
    with cudnn.pygraph(**options, device_property=gpu) as graph:
        mine = outcome(cudnn, graph, describe)
    if name in OUR_OWN:
        assert mine == OUR_OWN[name]
    elif (step, kind) == PLAIN or name in TAKEN:
        assert mine == PLAIN
    else:
        assert mine[1] == kind
        # What is invalid may be found while the graph is validated, but not before.
        earliest = min(step, "validate", key=STEPS.index) if kind == "invalid" else step
        assert STEPS.index(mine[0]) >= STEPS.index(earliest)


def test_the_stored_outcomes_are_those_of_the_installed_version():
    spec = importlib.util.find_spec("cudnn")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("nvidia-cudnn-frontend is not installed")
    folder = Path(next(iter(spec.submodule_search_locations))).parent
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests", folder)))
    program = "import json\nfrom frontend.refused_graphs import asked\nprint(json.dumps(asked()))"
    told = run_program(program, environment={"PYTHONPATH": paths}, check=False)
    if told.returncode and "cuda" in told.stderr:
        pytest.skip(f"the front end cannot be asked without a GPU here: {told.stderr[-200:]}")
    got = {name: tuple(each) for name, each in json.loads(told.stdout).items()}
    assert got == {name: expected for name, (_, expected) in CASES.items()}
