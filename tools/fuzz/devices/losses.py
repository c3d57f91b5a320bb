"""CTC loss with labels on the host and on the device."""

from __future__ import annotations

from typing import Any

from .draw import Draw
from .operands import ROUNDOFF, enumerators, strides
from .program import Program

__all__ = ["FAMILIES"]


class _Problem:
    def __init__(
        self, draw: Draw, setters: tuple[int, ...] = (6, 2, 2, 1), *, long_inputs: bool = True
    ) -> None:
        self.draw, self.program = draw, Program(draw)
        program, choice = self.program, draw.choice
        self.kind = choice("type", ("FLOAT", "DOUBLE", "HALF"), (16, 6, 1))
        program.unit, program.terms = ROUNDOFF["DOUBLE" if self.kind == "DOUBLE" else "FLOAT"], 256
        steps, batch = draw.integer("steps", 1, 12), draw.integer("batch", 1, 5)
        alphabet = draw.integer("alphabet", 2, 9)
        self.lengths = draw.integers("length", batch, 1, steps)
        if choice("whole lengths", (False, True), (1, 1)):
            self.lengths = [steps] * batch
        if long_inputs and draw.chance("long input", 0.03):
            self.lengths[0] = steps + 1
        longest = draw.integer("longest label", 1, 6)
        self.label_lengths = []
        for i, length in enumerate(self.lengths):
            size = draw.integer(f"label length{i}", 1, longest)
            if choice(f"fits{i}", (True, False), (9, 1)):
                size = min(size, (length + 1) // 2)
            self.label_lengths.append(size)
        self.labels = draw.integers("label", sum(self.label_lengths), 1, alphabet - 1)
        self.gradients = choice("gradients", (True, False), (6, 1))
        dims = (steps, batch, alphabet)
        program.tensor("probsDesc", self.kind, dims, strides(draw, "probs", dims))
        program.tensor("gradientsDesc", self.kind, dims, strides(draw, "gradients", dims))
        program.operand("probs", "probsDesc", content="normal")
        how = choice("setter", ("v9", "v8", "Ex", "plain"), setters)
        normalized = choice("normalization", enumerators("SOFTMAX NONE", "LOSS_NORMALIZATION_"))
        if how == "plain" or normalized.endswith("NONE"):
            program.operands["probs"].content = choice(
                "probs", ("uniform:0.05:0.5", "uniform:0.001:0.2"), (5, 1)
            )
        program.operand("gradients", "gradientsDesc", out=True, content="poison")
        program.array("costs", self.kind, (batch,), out=True, content="poison")
        compute = f"CUDNN_DATA_{'DOUBLE' if self.kind == 'DOUBLE' else 'FLOAT'}"
        self.descriptor(how, compute, normalized)
        self.algorithm = choice(
            "algo", enumerators("DETERMINISTIC NON_DETERMINISTIC", "CTC_LOSS_ALGO_")
        )

    def descriptor(self, how: str, compute: str, normalized: str) -> None:
        draw, program = self.draw, self.program
        longest = draw.choice("max label", (8, 255, 6, 256), (6, 3, 3, 1))
        modes = enumerators("CTC_ZERO_OOB_GRADIENTS CTC_SKIP_OOB_GRADIENTS", "")
        nans = enumerators("NOT_PROPAGATE_NAN PROPAGATE_NAN", "")
        mode = draw.choice("gradient mode", modes)
        nan = nans[modes.index(mode)]
        arguments = {
            "v9": ["_v9", compute, normalized, mode, longest],
            "v8": ["_v8", compute, normalized, nan, longest],
            "Ex": ["Ex", compute, normalized, nan],
            "plain": ["", compute],
        }[how]
        program.descriptor(
            "ctcLossDesc", "CTCLoss", f"cudnnSetCTCLossDescriptor{arguments[0]}", *arguments[1:]
        )


def on_host(draw: Draw) -> Program:
    problem = _Problem(draw)
    program = problem.program
    labels = problem.labels or [1]
    about = {
        "probsDesc": "probsDesc", "gradientsDesc": "gradientsDesc" if problem.gradients else None,
        "algo": problem.algorithm, "ctcLossDesc": "ctcLossDesc",
    }  # fmt: skip
    program.call(
        "cudnnGetCTCLossWorkspaceSize", **about, labels=labels,
        labelLengths=problem.label_lengths, inputLengths=problem.lengths,
    )  # fmt: skip
    program.space("workspace", "0.sizeInBytes")
    program.call(
        "cudnnCTCLoss", **about, probs="probs", hostLabels=labels,
        hostLabelLengths=problem.label_lengths, hostInputLengths=problem.lengths, costs="costs",
        gradients="gradients" if problem.gradients else None, workspace="workspace",
        workSpaceSizeInBytes="workspace",
    )  # fmt: skip
    return program.finish()


def on_device(draw: Draw) -> Program:
    problem = _Problem(draw, (20, 10, 1, 1), long_inputs=False)  # else the context is lost
    program = problem.program
    for name, values in (
        ("labels", problem.labels or [1]), ("labelLengths", problem.label_lengths),
        ("inputLengths", problem.lengths),
    ):  # fmt: skip
        program.array(name, "INT32", (len(values),), values=values)
    about = {
        "probsDesc": "probsDesc", "gradientsDesc": "gradientsDesc" if problem.gradients else None,
        "algo": problem.algorithm, "ctcLossDesc": "ctcLossDesc",
    }  # fmt: skip
    program.call("cudnnGetCTCLossWorkspaceSize_v8", **about)
    program.space("workspace", "0.sizeInBytes")
    program.call(
        "cudnnCTCLoss_v8", **about, probs="probs", labels="labels", labelLengths="labelLengths",
        inputLengths="inputLengths", costs="costs",
        gradients="gradients" if problem.gradients else None, workspace="workspace",
        workSpaceSizeInBytes="workspace",
    )  # fmt: skip
    return program.finish()


FAMILIES: dict[str, tuple[float, Any]] = {
    "ctc on host": (3, on_host),
    "ctc on device": (3, on_device),
}
