"""Examples run, on the GPU where there is one and on the reference device, and say so.

What is not in this list prints what is stored while it is recorded as C: evidence/replay/.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import example_outputs

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# A line that each example must print on a GPU too, which rounds otherwise than what is stored.
EXPECTED = {
    "01_smallest_program": "output: 1 x 64 x 112 x 112",
    "02_convolution_raw": "[363 528 573 360]",
    "03_convolution": "[363 528 573 360]",
    "04_layouts": "NHWC: shape (2, 3, 2, 2), strides (12, 1, 6, 3)",
    "05_algorithms": "Winograd 2 x 2                     64.0     540672 bytes",
    "06_pooling": "average_count_exclude_padding: (1 + 2 + 5 + 3) / 4 = 2.750",
    "07_softmax": "[-199.     -198.        0.    ]",
    "08_batch_norm": "saved for backward: mean    0.0092    99.9728",
    "09_rnn": "w_hidden (2, 3), r_hidden (2, 2), bw_hidden (2,)",
    "10_gradients": "batch normalization    -9.6577",
    "12_lenet_digits": "epoch 12: loss 0.0",
    "13_residual_block": "dbias2           -35.7378",
    "14_fused_residual_block": "dscale  (8,)             single calls and fused differ by ",
    "15_character_lstm": "856 characters, 45 different ones, 54912 weights",
    "16_attention_step_by_step": "sat  [0.312 0.262 0.426]",
    "17_ctc": "best path  a      a      l      l      -      l     probability 0.0473",
    "18_first_graph": "which weight 'w' (1, 2, 3, 3) does not divide into groups of 2",
    "19_first_graph_raw": "\n363 528 573 360\n",
    "20_convolution_at_every_level": "graph, builder       third row [363 528 573 360]",
    "21_legacy_and_graph": "cudnnBatchNormalizationForwardInference  [ 0.50",
    "22_fusion": "one graph       641 KiB of traffic",
    "23_engines": "compute capability             7.5       8.0       8.9       9.0      10.0",
    "24_choosing_an_engine": "precompiled, deterministic, at most 1 MiB of workspace: engine ",
    "26_compiled_elsewhere": "gate.json, and gate.plan.json of ",
    "27_nvidia_front_end": "c [16, 128, 64] data_type.HALF, right to within 1e-3",
    "25_graphs_as_functions": "the function gives the same: True",
    "28_synchronized_batch_norm": "dbias         on ",
}

# One with each API, and those that train for long or do as these.
FEW = ("02_convolution_raw", "18_first_graph")
LONG = ("01_smallest_program", "09_rnn", "12_lenet_digits", "15_character_lstm")

SHORTER = {
    "12_lenet_digits": {"MOMENTUM = 12,": "MOMENTUM = 2,", "tested > 0.95": "tested > 0.85"},
    "15_character_lstm": {"64, 16, 301,": "64, 16, 101,", "< 0.1 *": "< 0.5 *", "230)": "60)"},
}
"""They learn much in a sixth and a third of their steps, and write less."""


@pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(name, marks=pytest.mark.soak) for name in LONG)]
)
def test_prints_on_the_reference_device_what_is_stored(name: str, tmp_path: Path) -> None:
    example = tmp_path / f"{name}.py"
    source = (ROOT / "examples" / example.name).read_text("utf-8")
    for long, short in SHORTER.get(name, {}).items():
        assert long in source
        source = source.replace(long, short)
    example.write_text(source, "utf-8")
    output = example_outputs.run(example, "reference", tmp_path)
    before = example_outputs.stored(example).read_text("utf-8")
    assert not example_outputs.differences(name, before, output), output


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_on_the_gpu(example: Path, tmp_path: Path) -> None:
    output = example_outputs.run(example, "cuda", tmp_path)
    assert EXPECTED.get(example.stem, "") in output
    assert output.strip()


def test_outputs_belong_to_examples_and_hold_what_is_expected() -> None:
    outputs = sorted((ROOT / "examples" / "outputs").iterdir())
    assert [path.stem for path in outputs] == [path.stem for path in EXAMPLES]
    for name, line in EXPECTED.items():
        assert line in (ROOT / "examples" / "outputs" / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["06_pooling", "11_train_on_digits", "24_choosing_an_engine"])
def test_a_changed_line_is_seen(name: str) -> None:
    before = (ROOT / "examples" / "outputs" / f"{name}.txt").read_text("utf-8")
    assert not example_outputs.differences(name, before, before.replace("  ", " "))
    assert example_outputs.differences(name, before, before + "one more\n")
    if name == "06_pooling":
        assert example_outputs.differences(name, before, before.replace("1.222", "1.233"))
        assert example_outputs.differences(name, before, before.replace("maxima", "minima"))
