"""Ask a device what cuDNN computes in corners of the legacy API, and print it as tables.

``python -m tools.legacy_corners [softmax remedy pooling sizes reduce nan] [--seed 24]``: all parts
without a name. ``CUDNN_CTYPES_LIBRARY`` chooses the cuDNN, ``CUDNN_CTYPES_DEVICE=reference`` the
reference device. Each part compares with the formulas of ``cudnn_ctypes.reference``:

softmax   C's functions between all pairs of layouts, and whether `wrong_softmax` knows which fail
remedy    the same through layer 2, with layouts of all operands drawn independently
pooling   windows of -inf, of NaN, and outside the image; sizes of y; forward and backward
sizes     the statuses for sizes of y
reduce    all reductions of zeros, -0, NaN, infinity, tiny and huge numbers
nan       maxima and minima of graphs with NaN, engine by engine
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes
from cudnn_ctypes import DeviceBuffer, Handle, PoolingDescriptor, TensorDescriptor, raw, reference
from cudnn_ctypes.errors import CudnnError, FaultWarning
from cudnn_ctypes.legacy.operands import accumulator
from cudnn_ctypes.raw.faults.softmax import wrong_softmax
from cudnn_ctypes.raw.records import record
from cudnn_ctypes.raw.strides import packed

Array = NDArray[Any]
Shape = tuple[int, ...]
TYPES: dict[str, Any] = {
    "float32": np.float32,
    "float16": np.float16,
    "float64": np.float64,
    "bfloat16": ml_dtypes.bfloat16,
}
OFF = {"float32": 2e-5, "float16": 4e-3, "float64": 1e-11, "bfloat16": 3e-2, "int8": 1.001}
_BYTES = 1 << 21
_EXAMPLES = 4
RNG = np.random.default_rng(24)

# --- memory --------------------------------------------------------------------------------------


def _order(rank: int, name: str) -> Shape:
    spatial = tuple(range(2, rank))
    return {"NHWC": (0, *spatial, 1), "CNHW": (1, 0, *spatial), "NCWH": (0, 1, *spatial[::-1])}.get(
        name, tuple(range(rank))
    )


LAYOUTS = {  # the order of axes, and the axes after which there are gaps
    "NCHW": ("NCHW", ""),
    "NHWC": ("NHWC", ""),
    "rows": ("NCHW", "w"),
    "chans": ("NCHW", "s"),
    "images": ("NCHW", "c"),
    "all": ("NCHW", "wsc"),
    "pixels": ("NHWC", "c"),
    "CNHW": ("CNHW", ""),
    "NCWH": ("NCWH", ""),
}


def strides_of(shape: Shape, layout: str) -> Shape:
    """Strides of a tensor in one of `LAYOUTS`."""
    name, gaps = LAYOUTS[layout]
    rank = len(shape)
    after = {"w": rank - 1, "s": 2, "c": 1}
    strides, step = [0] * rank, 1
    for axis in reversed(_order(rank, name)):
        strides[axis] = step
        step = step * shape[axis] + 3 * (axis in {after[gap] for gap in gaps})
    return tuple(strides)


@functools.lru_cache(maxsize=4096)
def descriptor(shape: Shape, kind: str, strides: Shape) -> TensorDescriptor:
    return TensorDescriptor(shape, kind, strides=strides)


class Place:
    """Device memory for one operand after the other, with poison between the elements."""

    def __init__(self) -> None:
        self.buffer = DeviceBuffer(_BYTES)

    def put(self, values: Array, strides: Shape) -> None:
        size = 1 + sum((n - 1) * step for n, step in zip(values.shape, strides, strict=True))
        self.image = np.full(size + 64, 77, values.dtype)
        self._view(self.image, values.shape, strides)[...] = values
        self.shape, self.strides = values.shape, strides
        self.buffer.copy_from_host(self.image)

    @staticmethod
    def _view(image: Array, shape: Shape, strides: Shape) -> Array:
        steps = [step * image.itemsize for step in strides]
        return np.lib.stride_tricks.as_strided(image, shape, steps)

    def get(self) -> tuple[Array, bool]:
        """The elements, and whether what is between them is as it was."""
        nbytes = self.image.nbytes
        now = self.buffer.view(0, nbytes).copy_to_host().view(self.image.dtype)
        values = self._view(now, self.shape, self.strides).copy()
        self._view(now, self.shape, self.strides)[...] = 0
        before = self.image.copy()
        self._view(before, self.shape, self.strides)[...] = 0
        return values, bool((now.view(np.uint8) == before.view(np.uint8)).all())


def verdict(place: Place, wanted: Array, off: float) -> str:
    got, untouched = place.get()
    if not untouched:
        return "BEYOND"
    return "right" if alike(got, wanted, off).all() else "WRONG"


def alike(got: Array, wanted: Array, off: float) -> Array:
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(got - wanted) <= off * (1 + np.abs(wanted))
    return near | (got == wanted) | (np.isnan(got) & np.isnan(wanted))


# --- softmax -------------------------------------------------------------------------------------

MODES = ("channel", "instance")
ALGORITHMS = ("accurate", "log", "fast")
FACTORS = ((1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (-2.0, 0.5))
LARGE = ((4, 1000, 1, 1), (2, 64, 32, 32), (1, 3, 100, 101), (3, 2, 1, 5000), (2, 40, 5, 6, 7))
ONES = ((2, 5, 1, 1), (1, 5, 4, 3), (1, 1, 6, 5), (3, 1, 4, 5), (2, 6, 1, 5), (2, 6, 4, 1))


def _problems(pairs: Sequence[tuple[str, ...]], each: int) -> Iterator[dict[str, Any]]:
    for layouts in pairs:
        shapes = [(rank, kind) for rank in (4, 5) for kind in TYPES for _ in range(each)]
        for mode in MODES:
            drawn = [(tuple(map(int, RNG.integers(2, 6, rank))), kind) for rank, kind in shapes]
            drawn += [(shape, "float32") for shape in (*LARGE, *ONES)]
            for shape, kind in drawn:
                alpha, beta = FACTORS[RNG.integers(4)]
                yield {
                    "mode": mode,
                    "algorithm": ALGORITHMS[RNG.integers(3)],
                    "alpha": alpha,
                    "beta": beta,
                    "shape": shape,
                    "kind": kind,
                    "layouts": layouts,
                }


class Softmax:
    """Calls of the softmax: forward with operands (x, y), backward with (y, dy, dx)."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.places = [Place() for _ in range(3)]

    def run(self, case: dict[str, Any], *, raw_call: bool) -> tuple[str, bool]:
        """The outcome, and whether the table of faults calls it wrong."""
        forward, kind, shape = len(case["layouts"]) == 2, case["kind"], case["shape"]
        dtype = np.int8 if kind == "int8" else TYPES[kind]
        options = {name: case[name] for name in ("mode", "algorithm")}
        factors = {name: case[name] for name in ("alpha", "beta")}
        x = (2 * RNG.standard_normal(shape)).astype(dtype)
        prior = RNG.standard_normal(shape).astype(dtype)
        exact = (lambda a: a) if kind == "int8" else (lambda a: a.astype(np.float64))
        if forward:
            given = [x, prior]
            wanted = reference.softmax_forward(exact(x), y=exact(prior), **options, **factors)
        else:
            y = reference.softmax_forward(exact(x), **options).astype(dtype)
            dy = RNG.standard_normal(shape).astype(dtype)
            given = [y, dy, prior]
            wanted = reference.softmax_backward(
                y=exact(y), dy=exact(dy), dx=exact(prior), **options, **factors
            )
        descs = []
        places = self.places[: len(given)]
        for place, values, layout in zip(places, given, case["layouts"], strict=True):
            strides = strides_of(shape, layout)
            place.put(values, strides)
            descs.append(descriptor(shape, kind, strides))
        mode = getattr(raw, f"CUDNN_SOFTMAX_MODE_{case['mode'].upper()}")
        algorithm = getattr(raw, f"CUDNN_SOFTMAX_{case['algorithm'].upper()}")
        known = wrong_softmax(algorithm, mode, *map(record, descs))
        try:
            if raw_call:
                self._raw(mode, case, places, descs)
            else:
                self._layer_2(forward, places, descs, options, factors)
        except CudnnError as error:
            return f"refused {error.status.name.removeprefix('CUDNN_STATUS_')}", known
        except ValueError:
            return "refused by layer 2", known
        for place in places[:-1]:
            if not place.get()[1]:
                return "BEYOND", known
        return verdict(places[-1], wanted, OFF[kind]), known

    def _raw(self, mode: Any, case: dict[str, Any], places: list[Place], descs: list[Any]) -> None:
        function = raw.cudnnSoftmaxForward if len(places) == 2 else raw.cudnnSoftmaxBackward
        algorithm = getattr(raw, f"CUDNN_SOFTMAX_{case['algorithm'].upper()}")
        pairs = [each for d, p in zip(descs, places, strict=True) for each in (d, p.buffer.ptr)]
        function(
            *(self.handle, algorithm, mode, case["alpha"], *pairs[:-2], case["beta"], *pairs[-2:])
        )

    def _layer_2(
        self, forward: bool, places: list[Place], descs: list[Any], options: Any, factors: Any
    ) -> None:
        names = ("x", "y") if forward else ("y", "dy", "dx")
        operands = {name: place.buffer for name, place in zip(names, places, strict=True)}
        described = {f"{name}_desc": desc for name, desc in zip(names, descs, strict=True)}
        function = cudnn_ctypes.softmax_forward if forward else cudnn_ctypes.softmax_backward
        function(self.handle, **operands, **described, **options, **factors)


def _effective(shape: Shape, layout: str) -> Shape:
    return tuple(s for n, s in zip(shape, strides_of(shape, layout), strict=True) if n > 1)


def softmax(handle: Handle) -> None:
    """Print, by mode and layouts, how many of C's results are wrong."""
    calls = Softmax(handle)
    for direction in ("forward", "backward"):
        pairs = list(itertools.product(LAYOUTS, LAYOUTS))
        triples: Any = [(a, a, b) for a, b in pairs] if direction == "backward" else pairs
        cells: dict[Any, Counter[str]] = defaultdict(Counter)
        same: dict[Any, Counter[str]] = defaultdict(Counter)
        said: Counter[str] = Counter()
        missed: dict[str, Counter[str]] = defaultdict(Counter)
        partly: dict[Any, Counter[str]] = defaultdict(Counter)
        for case in _problems(triples, 1):
            outcome, known = calls.run(case, raw_call=True)
            first, last, mode = case["layouts"][0], case["layouts"][-1], case["mode"]
            word = outcome.split()[0]
            kind = f"{len(case['shape'])}-d {case['kind']}"
            if _effective(case["shape"], first) == _effective(case["shape"], last):
                equal = "same" if first == last else "same but for sizes of 1"
                same[mode, equal, first if equal == "same" else ""][word] += 1
            else:
                cells[mode, first, last][word] += 1
            said[f"{'a fault' if known else 'no fault'}: {word}"] += 1
            partly[mode, known, kind][word] += 1
            if word in ("WRONG", "BEYOND") and not known:
                missed[f"{mode} {first} -> {last}"][f"{kind} {case['shape']}"] += 1
        title = "y, dy -> dx" if direction == "backward" else "x -> y"
        print(f"\nsoftmax {direction}, {title}: wrong of all calls (channel | instance)")
        print(" " * 8 + "".join(f"{name:>14}" for name in LAYOUTS))
        for first in LAYOUTS:
            row = []
            for last in LAYOUTS:
                texts = []
                for mode in MODES:
                    count = cells[mode, first, last] if first != last else same[mode, "same", first]
                    bad, every = count["WRONG"] + count["BEYOND"], count.total() - count["refused"]
                    texts.append(f"{bad}/{every}" if every else "-")
                row.append(" | ".join(texts))
            print(f"{first:8}" + "".join(f"{text:>14}" for text in row))
        for key, count in same.items():
            if key[1] != "same":
                print(" ", *key, dict(count))
        print("  the table says", dict(sorted(said.items())))
        for (mode, known, kind), count in sorted(partly.items(), key=str):
            if known:
                print(f"  {mode}, a fault, {kind}: {dict(count)}")
        for key, counts in list(missed.items())[:40]:
            print("  MISSED", key, dict(counts))
        wrong_beyond = [k for k, c in cells.items() if c["BEYOND"]]
        if wrong_beyond:
            print("  writes between elements:", wrong_beyond)


def remedy(handle: Handle) -> None:
    """Print how many of layer 2's results are wrong, with all layouts drawn independently."""
    calls = Softmax(handle)
    names = list(LAYOUTS)
    for direction in ("forward", "backward"):
        pairs: Any = list(itertools.product(names, names))
        if direction == "backward":
            pairs = [(a, b, names[RNG.integers(len(names))]) for a, b in pairs]
        found: dict[Any, Counter[str]] = defaultdict(Counter)
        examples: dict[Any, Any] = {}
        problems = list(_problems(pairs, 1))[::2]
        if direction == "forward":
            problems += [
                {**case, "kind": "int8"} for case in problems if case["kind"] == "bfloat16"
            ]
        for case in problems:
            outcome, known = calls.run(case, raw_call=False)
            key = case["mode"], "laid out anew" if known else "as it is"
            found[key][outcome] += 1
            if outcome != "right":
                examples.setdefault((key, outcome), case)
        print(f"\nlayer 2, softmax {direction}")
        for key, count in sorted(found.items()):
            print("  ", *key, dict(count))
        for key, case in examples.items():
            print("   ", *key, case)


# --- pooling -------------------------------------------------------------------------------------

POOLINGS = (
    "max",
    "max_deterministic",
    "average_count_include_padding",
    "average_count_exclude_padding",
)


class Pooling:
    """One pooling with C's functions, and the same by the formula."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.places = [Place() for _ in range(4)]

    def run(self, case: dict[str, Any]) -> tuple[str, Any, Any]:
        """The status, the numbers of the device, and those of the formula."""
        dtype = TYPES[case["kind"]]
        compute = np.float64 if dtype is np.float64 else np.float32
        window, padding, stride = case["window"], case["padding"], case["stride"]
        options: dict[str, Any] = {
            "mode": case["mode"],
            "padding": padding,
            "stride": stride,
            "propagate_nan": case["nan"],
        }
        x = case["x"].astype(dtype)
        y_shape = (*x.shape[:2], *case["y"])
        with np.errstate(all="ignore"):
            y = reference.pooling_forward(
                x, window, y_shape=y_shape, compute_dtype=compute, **options
            )
        given = {"x": x, "y": np.full(y_shape, 3, dtype)}
        wanted = y
        if case["backward"]:
            planes = x.ndim == 4 and all(
                _effective(each, case[f"{name} layout"]) == _effective(each, "NCHW")
                for name, each in (("x", x.shape), ("y", y_shape))
            )
            if case["mode"] == "max" and not planes:
                options["mode"] = "max_deterministic"
            dy = case["dy"].astype(dtype)
            given = {"y": y, "dy": dy, "x": x, "dx": np.full(x.shape, 3, dtype)}
            with np.errstate(all="ignore"):
                wanted = reference.pooling_backward(
                    window, dy=dy, x=x, compute_dtype=compute, **options
                )
        pairs = []
        for place, (name, values) in zip(self.places, given.items(), strict=False):
            layout = case["y layout"] if name in ("y", "dy") else case["x layout"]
            strides = strides_of(values.shape, layout)
            place.put(values, strides)
            pairs += [descriptor(values.shape, case["kind"], strides), place.buffer.ptr]
        function = raw.cudnnPoolingBackward if case["backward"] else raw.cudnnPoolingForward
        nan = "propagate_nan" if case["nan"] else "not_propagate_nan"
        with PoolingDescriptor(
            window, padding, stride, mode=case["mode"], nan_propagation=nan
        ) as p:
            try:
                function(*(self.handle, p, 1.0, *pairs[:-2], 0.0, *pairs[-2:]))
            except CudnnError as error:
                return error.status.name.removeprefix("CUDNN_STATUS_"), None, wanted
        got, untouched = self.places[len(given) - 1].get()
        return ("SUCCESS" if untouched else "BEYOND"), got, wanted


def _drawn_pooling() -> dict[str, Any]:
    spatial = int(RNG.choice([2, 2, 3]))
    window = tuple(map(int, RNG.integers(1, 4, spatial)))
    far = RNG.random() < 0.25
    padding = tuple(int(RNG.integers(0, size + 2 if far else max(size, 1))) for size in window)
    stride = tuple(map(int, RNG.integers(1, 4, spatial)))
    sizes = [max(int(RNG.integers(1, 7)), w - 2 * p) for w, p in zip(window, padding, strict=True)]
    shape = (int(RNG.integers(1, 3)), int(RNG.integers(1, 4)), *sizes)
    x = RNG.integers(-40, 40, shape).astype(np.float64)
    values = str(RNG.choice(["numbers", "nan", "-inf", "nan and -inf", "inf"]))
    some = RNG.random(shape) < RNG.choice([0.15, 0.8])
    x[some & (values != "numbers")] = {"nan": np.nan, "inf": np.inf}.get(values, -np.inf)
    if values == "nan and -inf":
        x[RNG.random(shape) < 0.3] = np.nan
    own = [
        (n + 2 * p - w) // s + 1 for n, p, w, s in zip(sizes, padding, window, stride, strict=True)
    ]
    size = str(RNG.choice(["own", "own", "smaller", "larger"]))
    change = {"own": (0, 1), "smaller": (-2, 1), "larger": (0, 4)}[size]
    y = tuple(max(1, n + int(RNG.integers(*change))) for n in own)
    layouts = [str(RNG.choice(["NCHW", "NHWC", "all"])) for _ in range(2)]
    return {
        "backward": bool(RNG.random() < 0.45),
        "kind": str(RNG.choice(list(TYPES))),
        "mode": str(RNG.choice(POOLINGS)),
        "nan": bool(RNG.random() < 0.5),
        "window": window,
        "padding": padding,
        "stride": stride,
        "x": x,
        "y": y,
        "own": tuple(own),
        "dy": RNG.integers(1, 9, (*shape[:2], *y)).astype(np.float64),
        "values": values,
        "x layout": layouts[0],
        "y layout": layouts[0] if RNG.random() < 0.5 else layouts[1],
    }


def _outside(case: dict[str, Any]) -> bool:
    """Whether a window has no element of the image."""
    axes = zip(
        case["x"].shape[2:], case["window"], case["padding"], case["stride"], case["y"], strict=True
    )
    return any(i * s - p >= n or i * s - p + w <= 0 for n, w, p, s, y in axes for i in range(y))


def pooling(handle: Handle) -> None:
    """Print single facts, and then what differs from the formula, by kind of problem."""
    calls = Pooling(handle)
    print("\npooling of single windows: device (formula if that differs)")
    n, i = np.nan, np.inf
    windows = {
        "-inf -inf": [-i, -i],
        "-inf 2": [-i, 2],
        "nan 2": [n, 2],
        "2 nan": [2, n],
        "nan nan": [n, n],
        "nan -inf": [n, -i],
        "inf nan": [i, n],
        "-inf nan": [-i, n],
    }
    base = {"window": (1, 2), "padding": (0, 0), "stride": (1, 2), "dy": np.full((1, 1, 1, 8), 5.0)}
    x = np.array(list(windows.values())).reshape(1, 1, 1, -1)
    print(f"{'':48}" + "".join(f"{name:>18}" for name in windows))
    for kind, mode, layout in itertools.product(TYPES, POOLINGS[:3], ("NCHW", "NHWC")):
        for nan, backward in itertools.product((True, False), (False, True)):
            case = {**base, "kind": kind, "mode": mode, "nan": nan, "backward": backward, "x": x}
            case |= {"y": (1, 8), "x layout": layout, "y layout": layout}
            status, got, wanted = calls.run(case)
            title = (
                f"{'dx' if backward else 'y'} {kind} {mode[:17]} {'nan' if nan else '-'} {layout}"
            )
            if got is None or (layout == "NHWC" and alike(got, wanted, 1e-3).all()):
                if got is None:
                    print(f"{title:48} {status}")
                continue
            print(f"{title:48}" + "".join(f"{text:>18}" for text in _texts(got, wanted, 8)))
    print("\nwindows outside the image: y of [7, 8] with a window of 1, padding of 2")
    for kind, mode in itertools.product(TYPES, POOLINGS):
        case = {**base, "kind": kind, "mode": mode, "nan": True, "backward": False}
        case |= {"window": (1, 1), "padding": (0, 2), "stride": (1, 1), "y": (1, 8)}
        case |= {"x": np.array([7.0, 8]).reshape(1, 1, 1, 2)}
        case |= {"x layout": "NCHW", "y layout": "NCHW"}
        status, got, wanted = calls.run(case)
        texts = [status] if got is None else _texts(got, wanted, 8)
        print(f"{kind + ' ' + mode:48}" + "".join(f"{text:>18}" for text in texts))
    table: dict[Any, Counter[str]] = defaultdict(Counter)
    examples: dict[Any, list[str]] = defaultdict(list)
    for _ in range(5000):
        case = _drawn_pooling()
        status, got, wanted = calls.run(case)
        outcome = status
        if got is not None and status == "SUCCESS":
            outcome = "alike" if alike(got, wanted, OFF[case["kind"]]).all() else "DIFFERENT"
        sizes = (
            "own"
            if case["y"] == case["own"]
            else ("larger" if max(np.subtract(case["y"], case["own"])) > 0 else "smaller")
        )
        far = "outside" if _outside(case) else "within"
        key = (
            "backward" if case["backward"] else "forward",
            case["mode"].replace("_count", "").replace("_padding", ""),
            case["values"],
            "propagate" if case["nan"] else "ignore",
            far,
            f"y {sizes}",
        )
        table[key][outcome] += 1
        if outcome == "DIFFERENT" and got is not None and len(examples[key]) < 1:
            bad = tuple(np.argwhere(~alike(got, wanted, OFF[case["kind"]]))[0])
            about = {k: v for k, v in case.items() if k not in ("x", "dy")}
            examples[key].append(
                f"{about} x {case['x'].shape}: at {tuple(map(int, bad))} {got[bad]}, formula "
                f"{wanted[bad]}"
            )
    total: Counter[str] = Counter()
    for count in table.values():
        total.update(count)
    print("\nrandom poolings:", dict(total))
    for key, count in sorted(table.items()):
        if set(count) - {"alike"}:
            print("  ", *key, dict(count))
            for example in examples[key]:
                print("       ", example)


def _texts(got: Array, wanted: Array, most: int) -> list[str]:
    texts = []
    same = alike(got, wanted, 1e-3).ravel()
    for number, value in enumerate(got.ravel()[: 2 * most].astype(np.float64)):
        text = f"{value:.8g}"
        if not same[number]:
            text += f" ({float(wanted.ravel()[number]):.8g})"
        texts.append(text)
    if got.size > most:  # a gradient: pairs of numbers
        texts = [f"{a} {b}" for a, b in zip(texts[::2], texts[1::2], strict=True)]
    return texts


def sizes(handle: Handle) -> None:
    """Print the status for each shape of y."""
    calls = Pooling(handle)
    print("\nsizes of y, forward: window 2, stride 2, x (2, 3, 4, 4), own (2, 2)")
    for mode, backward in itertools.product(("max", POOLINGS[2]), (False, True)):
        found: dict[str, list[Any]] = defaultdict(list)
        for y in itertools.product(range(1, 6), range(1, 6)):
            x = RNG.integers(-9, 9, (2, 3, 4, 4)).astype(np.float64)
            case = {"window": (2, 2), "padding": (0, 0), "stride": (2, 2), "x": x, "y": y}
            case |= {"kind": "float32", "mode": mode, "nan": True, "backward": backward}
            case |= {"x layout": "NCHW", "y layout": "NCHW", "dy": RNG.standard_normal((2, 3, *y))}
            status, got, wanted = calls.run(case)
            if got is not None:
                status += " alike" if alike(got, wanted, 1e-5).all() else " DIFFERENT"
            found[status].append(y)
        print("  ", mode, "backward" if backward else "forward")
        for status, shapes in found.items():
            print("     ", status, *shapes)
    print("   other N and C of y, for x (2, 3, 4, 4)")
    for y_shape in ((1, 3, 2, 2), (3, 3, 2, 2), (2, 2, 2, 2), (2, 4, 2, 2), (2, 3, 2, 2, 1)):
        with PoolingDescriptor(2) as p:
            places = [Place(), Place()]
            places[0].put(np.zeros((2, 3, 4, 4), np.float32), packed((2, 3, 4, 4)))
            places[1].put(np.zeros(y_shape, np.float32), packed(y_shape))
            xd = descriptor((2, 3, 4, 4), "float32", packed((2, 3, 4, 4)))
            yd = descriptor(y_shape, "float32", packed(y_shape))
            status = raw.cudnnPoolingForward.unchecked(
                *(handle, p, 1.0, xd, places[0].buffer.ptr, 0.0, yd, places[1].buffer.ptr)
            )
            print("     ", y_shape, status.name)


# --- reductions ----------------------------------------------------------------------------------

REDUCTIONS = ("add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mul_no_zeros")
_SPECIAL = ("zeros", "-0", "nan", "inf", "tiny", "huge", "wide", "units", "denormal")


def _reduced_values(shape: Shape, special: str, kind: str) -> Array:
    x = RNG.standard_normal(shape)
    with np.errstate(all="ignore"):
        if special == "wide":
            return x * 10.0 ** RNG.uniform(-12, 12, shape)
        if special == "units":
            return np.sign(x) * 2.0 ** RNG.integers(-1, 2, shape)
    some = RNG.random(shape) < RNG.choice([0.05, 0.3, 0.9])
    values = {"zeros": 0.0, "-0": -0.0, "nan": np.nan, "inf": np.inf, "tiny": 1e-30, "huge": 1e30}
    values["denormal"] = {"float64": 1e-310, "float16": 3e-7}.get(kind, 1e-40)
    x[some] = values[special]
    if special == "nan" and RNG.random() < 0.5:
        x[RNG.random(shape) < 0.3] = 0
    return x


def reduce(handle: Handle) -> None:
    """Print what differs from the formula, by reduction and kind of values."""
    from cudnn_ctypes import ReduceTensorDescriptor

    table: dict[Any, Counter[str]] = defaultdict(Counter)
    examples: dict[Any, list[str]] = defaultdict(list)
    places = [Place(), Place()]
    space = DeviceBuffer(_BYTES)
    kinds = ("float32", "float64", "float16")
    for number in range(6000):
        op, special = REDUCTIONS[number % len(REDUCTIONS)], str(RNG.choice(_SPECIAL))
        kind, nan = kinds[RNG.integers(3)], bool(RNG.random() < 0.5)
        rank = int(RNG.integers(3, 6))
        shape = tuple(map(int, RNG.choice([1, 2, 3, 5, 8, 17, 40], rank)))
        while np.prod(shape) > 6000:
            shape = (
                (*shape[:-1], max(shape[-1] // 2, 1)) if shape[-1] > 1 else shape[-1:] + shape[:-1]
            )
        c_shape = tuple(1 if RNG.random() < 0.6 else n for n in shape)
        if c_shape == shape:
            continue
        with np.errstate(all="ignore"):
            a = _reduced_values(shape, special, kind).astype(TYPES[kind])
        compute = np.float64 if kind == "float64" else np.float32
        result = "float64" if kind == "float64" else "float32"
        with np.errstate(all="ignore"):
            wanted = reference.reduce_tensor(
                a, c_shape, op, propagate_nan=nan, compute_dtype=compute, out_dtype=TYPES[result]
            )
        places[0].put(a, packed(shape))
        places[1].put(np.full(c_shape, 3, TYPES[result]), packed(c_shape))
        ad, cd = (
            descriptor(shape, kind, packed(shape)),
            descriptor(c_shape, result, packed(c_shape)),
        )
        name = "propagate_nan" if nan else "not_propagate_nan"
        with ReduceTensorDescriptor(
            op, compute_data_type=accumulator(ad.data_type), nan_propagation=name
        ) as desc:
            size = desc.workspace_size(handle, ad, cd)
            try:
                raw.cudnnReduceTensor(
                    *(handle, desc, None, 0, space, size, 1.0, ad, places[0].buffer.ptr, 0.0),
                    *(cd, places[1].buffer.ptr),
                )
            except CudnnError as error:
                table[op, special][error.status.name] += 1
                continue
        got, untouched = places[1].get()
        outcome = _reduction_outcome(op, a, got, wanted, c_shape) if untouched else "BEYOND"
        table[op, special][outcome] += 1
        if outcome.isupper() and len(examples[op]) < _EXAMPLES:
            examples[op].append(_reduction_example(a, got, wanted, c_shape, special, nan))
    print("\nreductions, by operator and values")
    for op in REDUCTIONS:
        row = {s: dict(table[op, s]) for s in _SPECIAL if set(table[op, s]) - {"alike"}}
        print(f"  {op}: {sum(table[op, s].total() for s in _SPECIAL)} calls, not alike: {row}")
        for example in examples[op]:
            print("     ", example)


def _reduction_outcome(op: str, a: Array, got: Array, wanted: Array, c_shape: Shape) -> str:
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    unit = 2.0**-53 if a.dtype == np.float64 else 2.0**-24
    count = a.size // got.size
    with np.errstate(all="ignore"):
        axes = tuple(i for i, (n, m) in enumerate(zip(a.shape, c_shape, strict=True)) if n != m)
        size = np.abs(a.astype(np.float64)).sum(axes, keepdims=True)
        allowed = 4 * count * unit * np.abs(wanted)
        if op in ("add", "avg"):
            allowed = allowed + 4 * count * unit * size
        near = (np.abs(got - wanted) <= allowed) & np.isfinite(wanted)
    exact = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if exact.all():
        return "alike"
    if (near | exact).all():
        return "rounding"
    bad = ~(near | exact)
    limit = np.finfo(np.float64 if a.dtype == np.float64 else np.float32)
    if op.startswith("mul"):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.nan_to_num(np.log(np.abs(a.astype(np.float64))), posinf=0, neginf=0)
        smallest, largest = (
            part(logs, 0).sum(axes, keepdims=True) for part in (np.minimum, np.maximum)
        )
        if ((smallest < np.log(limit.tiny)) | (largest > np.log(limit.max)))[bad].all():
            return "out of range in some order"
    if (np.isnan(got) != np.isnan(wanted))[bad].any():
        return "NAN"
    return "DIFFERENT"


def _reduction_example(
    a: Array, got: Array, wanted: Array, c_shape: Shape, special: str, nan: bool
) -> str:
    bad = tuple(map(int, np.argwhere(~alike(got, wanted, 1e-5) | (got != wanted))[0]))
    part = a[
        tuple(slice(None) if n == 1 else slice(b, b + 1) for n, b in zip(c_shape, bad, strict=True))
    ]
    values = part.astype(np.float64).ravel()
    with np.errstate(all="ignore"):
        logs = np.log10(np.abs(values[values != 0]))
    counts = (
        f"{len(values)} values, {int((values == 0).sum())} zeros, {int(np.isnan(values).sum())} NaN"
    )
    return (
        f"{a.dtype} {a.shape} -> {c_shape} {special} {'propagate' if nan else 'ignore'}: {counts}, "
        f"exact 10^{logs.sum():.1f}, parts 10^{logs.cumsum().min(initial=0):.1f} to "
        f"10^{logs.cumsum().max(initial=0):.1f}: device {got[bad]}, formula {wanted[bad]}, first "
        f"{values[:4].tolist()}"
    )


# --- NaN in graphs -------------------------------------------------------------------------------


def nan(handle: Handle) -> None:
    """Print maxima and minima of (NaN, 1) and the like by engine."""
    n, i = np.nan, np.inf
    pairs = ((n, 1), (1, n), (n, n), (n, i), (-i, n), (-0.0, 0.0), (0.0, -0.0), (2, 3))
    a, b = (np.resize(np.array(each), (1, 8, 64)) for each in zip(*pairs, strict=True))
    print("\ngraphs:", " ".join(f"({x}, {y})" for x, y in pairs))
    for mode, kind in (
        ("max", "float32"),
        ("min", "float32"),
        ("max", "float16"),
        ("min", "bfloat16"),
    ):
        _engines(
            handle,
            f"{mode} {kind}",
            {"a": a, "b": b},
            kind,
            lambda g, t, m=mode: getattr(g, m)(t["a"], t["b"]),
        )
    for kind in ("float32", "float16"):
        _engines(handle, f"relu {kind}", {"a": a}, kind, lambda g, t: g.relu(t["a"]))
    rows = np.array([[n, 1, 2, 3], [3, 2, 1, n], [n, n, n, n], [-i, -i, n, -i], [-i] * 4])
    print("reductions of", rows.tolist())
    for mode in ("max", "min", "amax"):  # over channels that lie together
        _engines(
            handle,
            f"reduction {mode}",
            {"x": rows.reshape(5, 4, 1, 1)},
            "float32",
            lambda g, t, m=mode: g.reduction(t["x"], m, axes=[1]),
        )


def _engines(
    handle: Handle,
    title: str,
    arrays: dict[str, Array],
    kind: str,
    describe: Callable[..., Any],
) -> None:
    from cudnn_ctypes import DeviceTensor
    from cudnn_ctypes.graph import ExecutionPlan, Graph
    from cudnn_ctypes.graph.backend.engine import heuristics
    from cudnn_ctypes.graph.lower.lowering import lowered
    from cudnn_ctypes.graph.lower.target import NO_GPU

    graph = Graph(io_data_type=kind)
    given = {name: each.astype(TYPES[kind]) for name, each in arrays.items()}
    made = {
        name: graph.tensor(each.shape, strides_of(each.shape, "NHWC" if each.ndim == 4 else "NCHW"))
        for name, each in given.items()
    }
    y = describe(graph, made).set_output(name="y", data_type=kind)
    seen = set()
    try:
        expansion = graph.expansion(handle)
        memory = {made[name].uid: DeviceTensor.from_numpy(each) for name, each in given.items()}
        with lowered(expansion, handle, NO_GPU) as lowering:
            configs = list(heuristics(lowering.graph, device=handle, mode="a"))
            for config in configs:
                if config.choice.engine in seen:
                    continue
                seen.add(config.choice.engine)
                result = DeviceTensor.full(y.dims, 7, kind)
                try:
                    with ExecutionPlan(config, device=handle) as plan:
                        space = DeviceBuffer(plan.workspace_size + 256)
                        plan.execute(handle, {**memory, y.uid: result}, space)
                        handle.synchronize()
                except CudnnError as error:
                    print(f"  {title} engine {config.choice.engine}: {error.status.name}")
                    continue
                values = result.numpy().astype(np.float64).ravel()[:8]
                print(f"  {title} engine {config.choice.engine}:", *(f"{v:g}" for v in values))
    except CudnnError as error:
        print(f"  {title}: {error.status.name}")


PARTS: dict[str, Callable[[Handle], None]] = {
    each.__name__: each for each in (softmax, remedy, pooling, sizes, reduce, nan)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    parser.add_argument("--seed", type=int, default=24)
    options = parser.parse_args()
    RNG.bit_generator.state = np.random.default_rng(options.seed).bit_generator.state
    parts = options.parts or list(PARTS)
    warnings.simplefilter("ignore", FaultWarning)
    warnings.simplefilter("ignore", ResourceWarning)
    with Handle() as handle:
        where = "reference device" if handle.on_reference_device else handle.device.name
        print(f"cuDNN {raw.load().version_text}, {where}")
        for part in parts:
            begin = time.monotonic()
            PARTS[part](handle)
            print(f"[{part}: {time.monotonic() - begin:.1f} s]", flush=True)


if __name__ == "__main__":
    main()
