"""Recurrent networks: forward, and the gradients of data and weights, in one program."""

from __future__ import annotations

from typing import Any

from .draw import Draw
from .operands import ROUNDOFF, enumerators
from .program import Program

__all__ = ["FAMILIES"]

_TYPES = ("FLOAT FLOAT", "HALF FLOAT", "DOUBLE DOUBLE", "BFLOAT16 FLOAT", "HALF HALF")
_GATES = {"CUDNN_RNN_RELU": 1, "CUDNN_RNN_TANH": 1, "CUDNN_LSTM": 4, "CUDNN_GRU": 3}
_BIASES = enumerators("DOUBLE_BIAS NO_BIAS SINGLE_INP_BIAS SINGLE_REC_BIAS", "RNN_")
_LAYOUTS = enumerators(
    "SEQ_MAJOR_UNPACKED SEQ_MAJOR_PACKED BATCH_MAJOR_UNPACKED", "RNN_DATA_LAYOUT_"
)
_ALGORITHMS = enumerators(
    "STANDARD PERSIST_STATIC PERSIST_DYNAMIC PERSIST_STATIC_SMALL_H", "RNN_ALGO_"
)


class _Network:
    """Descriptors and operands of a network."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.program = draw, Program(draw)
        choice, program = draw.choice, self.program
        self.kind, self.compute = choice("types", _TYPES, (8, 6, 3, 3, 2)).split()
        self.math = choice("math", enumerators("FMA_MATH DEFAULT_MATH TENSOR_OP_MATH", ""))
        self.algorithm = choice("algo", _ALGORITHMS, (14, 1, 1, 1))
        standard = self.algorithm == _ALGORITHMS[0]
        self.cell = choice("cell", tuple(_GATES))
        self.hidden = draw.integer("hidden", 1, 16)
        if not standard:
            self.hidden = choice("large hidden", (16, 32, 64))
        skip = choice("input", enumerators("LINEAR_INPUT SKIP_INPUT", ""), (8, 1))
        self.inputs = self.hidden if "SKIP" in skip else draw.integer("inputs", 1, 12)
        self.layers = draw.integer("layers", 1, 3)
        direction = choice("direction", enumerators("UNIDIRECTIONAL BIDIRECTIONAL", ""), (3, 2))
        self.directions = 2 if "BI" in direction else 1
        self.bias = choice("bias", _BIASES) if standard else _BIASES[0]
        self.projection = self.hidden
        if self.cell == "CUDNN_LSTM" and standard and draw.chance("projected", 0.3):
            self.projection = draw.integer("projection", 1, self.hidden)
        self.steps, self.batch = draw.integer("steps", 1, 6), draw.integer("batch", 1, 5)
        self.layout = choice("layout", _LAYOUTS)
        lengths = [self.steps] * self.batch
        if choice("lengths", ("equal", "each its own"), (1, 1)) != "equal":
            lengths = draw.integers("length", self.batch, 1, self.steps)
        if "PACKED" in self.layout and "UNPACKED" not in self.layout:
            lengths = sorted(lengths, reverse=True)
            self.steps = lengths[0]
        self.lengths = lengths
        padded = choice("padded io", (1, 0), (4, 1))
        program.descriptor(
            "rnnDesc", "RNN", "cudnnSetRNNDescriptor_v8", self.algorithm, self.cell, self.bias,
            direction, skip, f"CUDNN_DATA_{self.kind}", f"CUDNN_DATA_{self.compute}",
            f"CUDNN_{self.math.removeprefix('CUDNN_')}", self.inputs, self.hidden,
            self.projection, self.layers, None, padded,
        )  # fmt: skip
        clip = choice("clip", ("none", "v8", "v9"), (6, 1, 1))
        self.clips = clip != "none"
        if self.clips:
            nan = choice("clip nan", enumerators("NOT_PROPAGATE_NAN PROPAGATE_NAN", ""))
            extra = [nan] if clip == "v8" else []
            program.descriptor(
                "rnnDesc", "RNN", f"cudnnRNNSetClip_{clip}", "CUDNN_RNN_CLIP_MINMAX", *extra,
                -0.4, 0.5,
            )  # fmt: skip
        fill = choice("fill", ("none", "zero", "number"), (2, 1, 1))
        self.fill = {"none": None, "zero": 0.0, "number": 2.5}[fill]
        self._round()

    def _round(self) -> None:
        unit = ROUNDOFF["DOUBLE" if self.kind == "DOUBLE" else "FLOAT"]
        if self.kind in ("HALF", "BFLOAT16"):
            unit = ROUNDOFF[self.kind]  # what is kept between steps
        if self.kind == "FLOAT" and not self.math.endswith("FMA_MATH"):
            unit = ROUNDOFF["HALF"]
        self.program.unit, self.program.terms = unit, 4 * (self.hidden + self.inputs)
        self.program.magnitude = 0.125  # gates are far larger than what they let through

    def data(self, name: str, size: int, fill: float | None = None) -> None:
        self.program.descriptor(
            name, "RNNData", "cudnnSetRNNDataDescriptor", f"CUDNN_DATA_{self.kind}", self.layout,
            self.steps, self.batch, size, self.lengths, _number(self.kind, fill),
        )  # fmt: skip

    def sequences(self, name: str, size: int, content: str, *, out: bool = False) -> None:
        """Operands of all steps."""
        rows = self.steps * self.batch
        if self.layout == _LAYOUTS[1]:
            rows = sum(self.lengths)
        self.program.array(name, self.kind, (rows, size), out=out, content=content)

    @property
    def weights(self) -> int:
        """How many numbers the weights are."""
        count, gates = 0, _GATES[self.cell]
        biases = {"DOUBLE": 2, "NO": 0, "SINGLE": 1}[self.bias.split("_")[2]]
        for layer in range(self.layers):
            inputs = self.inputs if layer == 0 else self.projection * self.directions
            if layer == 0 and self.draw.options["input"].value.endswith("SKIP_INPUT"):
                inputs = 0
            own = gates * self.hidden * (inputs + self.projection + biases)
            if self.projection != self.hidden:
                own += self.projection * self.hidden
            count += own * self.directions
        return count


def _number(kind: str, value: float | None) -> Any:
    return None if value is None else (kind, value)


def network(draw: Draw) -> Program:
    """Sizes, forward, and in training the gradients."""
    made = _Network(draw)
    program, kind = made.program, made.kind
    out = made.projection * made.directions
    made.data("xDesc", made.inputs)
    made.data("yDesc", out, made.fill)
    pseudo = made.layers * made.directions
    program.tensor("hDesc", kind, (pseudo, made.batch, made.projection))
    program.tensor("cDesc", kind, (pseudo, made.batch, made.hidden))
    training = draw.choice("mode", enumerators("TRAINING INFERENCE", "FWD_MODE_"), (3, 1))
    initial = draw.choice("initial", (True, False), (2, 1))
    final = draw.choice("final", (True, False), (2, 1))
    lstm = made.cell == "CUDNN_LSTM"
    made.sequences("x", made.inputs, "normal")
    made.sequences("y", out, "poison", out=True)
    sizes = {"h": (pseudo, made.batch, made.projection), "c": (pseudo, made.batch, made.hidden)}
    for letter, dims in sizes.items():  # in the network's type, whatever the descriptors say
        for name in (f"{letter}x", f"d{letter}y"):
            program.array(name, kind, dims)
        for name in (f"{letter}y", f"d{letter}x"):
            program.array(name, kind, dims, content="poison", out=True)
    bound = made.hidden**-0.5
    program.array("weights", kind, (made.weights,), content=f"uniform:{-bound}:{bound}")
    program.array("lengths", "INT32", (made.batch,), values=made.lengths)
    if made.algorithm.endswith("DYNAMIC"):
        program.call("cudnnBuildRNNDynamic", rnnDesc="rnnDesc", miniBatch=made.batch)
    size = program.call("cudnnGetRNNWeightSpaceSize", rnnDesc="rnnDesc")
    weight_size = f"{size}.weightSpaceSize"
    if draw.chance("parts", 0.3):
        layer = draw.integer("part of", 0, pseudo - 1)
        identity = draw.integer("linear layer", 0, 2 * _GATES[made.cell])
        for name in ("mDesc", "bDesc"):
            program.descriptor(name, "Tensor")
        program.call(
            "cudnnGetRNNWeightParams", rnnDesc="rnnDesc", pseudoLayer=layer,
            weightSpaceSize=weight_size, weightSpace="weights", linLayerID=identity,
            mDesc="mDesc", bDesc="bDesc",
        )  # fmt: skip
    temporary = program.call(
        "cudnnGetRNNTempSpaceSizes", rnnDesc="rnnDesc", fwdMode=training, xDesc="xDesc"
    )
    program.space("workSpace", f"{temporary}.workSpaceSize")
    program.space("reserveSpace", f"{temporary}.reserveSpaceSize")
    trains = training.endswith("TRAINING")
    spaces = {
        "weightSpaceSize": weight_size, "workSpaceSize": "workSpace", "workSpace": "workSpace",
        "reserveSpaceSize": "reserveSpace" if trains else 0,
        "reserveSpace": "reserveSpace" if trains else None,
    }  # fmt: skip
    lengths = draw.choice("device lengths", ("lengths", None), (3, 1))
    states = {
        "hDesc": "hDesc", "hx": "hx" if initial else None,
        "cDesc": "cDesc" if lstm else None, "cx": "cx" if initial and lstm else None,
    }  # fmt: skip
    results = draw.choice("results", (True, False), (4, 1))
    program.call(
        "cudnnRNNForward", rnnDesc="rnnDesc", fwdMode=training, devSeqLengths=lengths,
        xDesc="xDesc", x="x", yDesc="yDesc", y="y", **states, hy="hy" if results else None,
        cy="cy" if results and lstm else None, weightSpace="weights", **spaces,
    )  # fmt: skip
    if not trains or not draw.choice("backward", (True, False), (5, 1)):
        return program.finish()
    made.sequences("dy", out, "normal")
    made.sequences("dx", made.inputs, "poison", out=True)
    program.call(
        "cudnnRNNBackwardData_v8", rnnDesc="rnnDesc", devSeqLengths=lengths, yDesc="yDesc", y="y",
        dy="dy", xDesc="xDesc", dx="dx", **states, dhy="dhy" if final else None,
        dhx="dhx" if results else None, dcy="dcy" if final and lstm else None,
        dcx="dcx" if results and lstm else None, weightSpace="weights", **spaces,
    )  # fmt: skip
    program.array("dweights", kind, (made.weights,), content="zeros", out=True)
    persistent = made.algorithm != _ALGORITHMS[0]  # its kernels may keep cells clipped
    if made.clips and (persistent or kind in ("HALF", "BFLOAT16")):
        for name in ("dx", "dhx", "dcx", "dweights", *(["cy"] if persistent else [])):
            program.operands[name].free = "roundoff and kernels decide what is clipped"
    modes = enumerators("WGRAD_MODE_ADD WGRAD_MODE_SET", "")
    program.call(
        "cudnnRNNBackwardWeights_v8", rnnDesc="rnnDesc",
        addGrad=draw.choice("gradient", modes, (6, 1)), devSeqLengths=lengths, xDesc="xDesc",
        x="x", hDesc="hDesc", hx="hx" if initial else None, yDesc="yDesc", y="y",
        dweightSpace="dweights", **spaces,
    )  # fmt: skip
    return program.finish()


FAMILIES: dict[str, tuple[float, Any]] = {"recurrent": (6, network)}
