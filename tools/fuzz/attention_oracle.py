"""What a random attention must give, in float64 by PyTorch, and how much rounding may change it.

The bound is that of an error analysis, element by element: what the softmax, the gradient of the
scores and each result lose when they are rounded to the data type of the operands, and what is lost
in float32 besides. So small results between large ones are looked at as closely as these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from tests.graph.attentions import CAP

__all__ = ["SCALES", "TYPES", "Numbers", "compared"]

Case = dict[str, Any]
Tensors = dict[str, Any]
TYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "fp8_e4m3": torch.float8_e4m3fn,
    "fp8_e5m2": torch.float8_e5m2,
}
_UNITS = {"float16": 11, "bfloat16": 8, "float32": 24, "fp8_e4m3": 4, "fp8_e5m2": 3}
# Of bfloat16 and float32 the smallest normal one: exponentials below are 0.
_SMALLEST = {"float16": 25, "bfloat16": 126, "float32": 126, "fp8_e4m3": 10, "fp8_e5m2": 17}
_FLOAT32 = 2.0**-20  # sums and exponentials
_SUMS_OF_8_BITS = 2.0**-12  # tensor cores of Hopper keep fewer bits of sums of 8-bit products
_ALLOWED = {"16 bits": 4.0, "8 bits": 2.5}  # times the bound
_FEW = 1 / 256  # of the elements, of which rounding to a unit of the largest is no fault
SCALES = {"q": 2.0, "k": 4.0, "v": 8.0, "s": 256.0, "o": 16.0, "dO": 3.0, "dP": 16.0}
SCALES |= {"dQ": 5.0, "dK": 6.0, "dV": 7.0}
"""What 8-bit tensors are multiplied with before they are stored."""


def half_unit(kind: str) -> float:
    """Half a unit in the last place of a data type, relative."""
    return 2.0 ** -_UNITS[kind]


def smallest(kind: str) -> float:
    """Half of the smallest number of a data type."""
    return 2.0 ** -_SMALLEST[kind]


def slopes(heads: int) -> list[float]:
    """Those of alibi (Press, Smith, Lewis; 2022)."""
    below = 2 ** int(math.log2(heads))
    found = [2 ** (-8 * (head + 1) / below) for head in range(below)]
    return found + [2 ** (-4 * (2 * head + 1) / below) for head in range(heads - below)]


class Numbers:
    """The operands of a case, and its exact results.

    Attributes
    ----------
    stored : dict of str to torch.Tensor
        Operands as they lie in memory, before padding is filled; 8-bit ones with their scales.
    lengths : dict of str to torch.Tensor
        Tokens of each sequence that count, (b, 1, 1, 1), of "q" and "k".
    """

    def __init__(self, case: Case, device: str) -> None:
        self.case, self.device = case, device
        self.narrow = "fp8" in case["operation"]
        self.backward = case["operation"].endswith("backward")
        self.sums = _SUMS_OF_8_BITS if self.narrow else _FLOAT32
        self.generator = torch.Generator().manual_seed(case["seed"])
        b, h, s_q, s_kv = (case[each] for each in ("batch", "heads", "queries", "keys"))
        self.dims = (b, h, s_q, s_kv)
        whole = [[s_q] * b, [s_kv] * b]
        self.lengths = {
            name: torch.tensor(each, device=device).view(b, 1, 1, 1)
            for name, each in zip("qk", case.get("lengths") or whole, strict=True)
        }
        scale = case.get("scale")
        self.factor = 0.2 if scale == "tensor" else case["size"] ** -0.5 if scale is None else scale
        self.exact: Tensors = {}
        self.stored: Tensors = {}
        self._made: Any = None
        self._draw()

    # --- operands --------------------------------------------------------------------------------

    def _normal(self, *dims: int) -> Any:
        return torch.randn(dims, generator=self.generator).to(self.device, torch.float64)

    def rounded(self, tensor: Any, kind: str | None = None) -> Any:
        return tensor.to(TYPES[kind or self.case["io"]]).double()

    def _draw(self) -> None:
        case, (b, h, s_q, s_kv) = self.case, self.dims
        a: Tensors = {
            "q": self._normal(b, h, s_q, case["size"]),
            "k": self._normal(b, case["key_heads"], s_kv, case["size"]),
            "v": self._normal(b, case["key_heads"], s_kv, case["value_size"]),
        }
        if self.backward:
            a["dO"] = self._normal(b, h, s_q, case["value_size"])
        self._shape_values(a)
        for name, tensor in a.items():
            kind = case.get("gradient") if name == "dO" else None
            scale = SCALES[name] if self.narrow else 1.0
            self.stored[name] = self.rounded(tensor * scale, kind)
            self.exact[name] = self.stored[name] / scale * self.valid(name)
        row = torch.arange(s_q, device=self.device).view(1, 1, -1, 1)
        column = torch.arange(s_kv, device=self.device).view(1, 1, 1, -1)
        self.distance = column - row
        if case.get("bottom_right"):
            row = row + self.lengths["k"] - self.lengths["q"]
        allowed = (column < self.lengths["k"]).expand(b, 1, s_q, s_kv)
        if case.get("left") is not None:
            allowed = allowed & (column > row - case["left"])
        if case.get("right") is not None:
            allowed = allowed & (column <= row + case["right"])
        if case.get("modifier") == "causal":
            allowed = allowed & (self.distance <= 0)
        self.allowed = allowed
        self.known = torch.ones(b, h, s_q, 1, dtype=torch.bool, device=self.device)
        self._draw_scores()

    def _shape_values(self, a: Tensors) -> None:
        """Make scores low or high, rows 0 or NaN."""
        kind, factor = self.case["values"], self.factor
        wanted = {"low": -120.0, "very low": -1000.0, "high": 120.0}
        if kind in wanted and abs(factor) > 0.02:
            a["q"][..., 0], a["k"][..., 0] = 1.0, wanted[kind] / factor
        elif kind in ("large", "peaked"):
            a["q"] *= 8 if kind == "large" else 40
        elif kind == "tiny":
            a["v"] *= 2.0**-18
        elif kind == "ones":
            a["v"][:] = 1.0
        elif kind == "zero rows":
            for name in "qkv":
                a[name][:, :, ::3] = 0.0
        elif kind == "NaN query":
            a["q"][0, 0, self.dims[2] // 2] = math.nan

    def _draw_scores(self) -> None:
        case, (_, h, s_q, s_kv) = self.case, self.dims
        a, stored = self.exact, self.stored
        if "bias" in case:
            a["bias"] = stored["bias"] = self._bias(case["bias"])
        if case.get("modifier") == "relative":
            a["r"] = stored["r"] = self.rounded(self._normal(1, h, s_q, s_kv))
        if case.get("sink"):
            away = {"normal": 0.0, "low": -200.0, "high": 200.0, "-inf": -math.inf}
            sink = (self._normal(1, h, 1, 1) + away[case["sink"]]).float().double()
            a["sink"] = stored["sink"] = sink
        if case.get("dropout") == "mask":
            kept = torch.rand(self.dims, generator=self.generator) < 0.75
            a["kept"] = stored["kept"] = kept.to(self.device, torch.float64)

    def _bias(self, bias: Case) -> Any:
        case, kind = self.case, bias["kind"]
        if kind == "alibi":
            return self._slopes() * self.distance
        tensor = self._normal(*bias["dims"])
        shift = {"low": -100.0, "very low": -1000.0, "high": 100.0, "very high": 1000.0}
        if kind in shift:
            tensor += shift[kind]
        elif kind == "tail":
            tensor[:, :, ::2] -= 150
        elif kind == "tril":
            tensor = torch.zeros_like(tensor).masked_fill(self.distance > 0, -math.inf)
        tensor = self.rounded(tensor, bias.get("type"))
        if kind in ("-inf", "lowest"):
            hidden = torch.rand(tensor.shape, generator=self.generator).to(self.device) < 0.3
            value = -math.inf if kind == "-inf" else torch.finfo(TYPES[case["io"]]).min
            tensor[hidden] = value
            # What a row gives that sees nothing else nobody has said.
            seen = self.allowed & ~hidden
            self.known = self.known & (
                seen.any(3, keepdim=True) | ~self.allowed.any(3, keepdim=True)
            )
            if self.backward and not bool(self.known.all()):
                tensor[hidden] = 0.0
                self.known[:] = True
        return tensor

    def _slopes(self) -> Any:
        found = slopes(self.dims[1])
        return torch.tensor(found, device=self.device, dtype=torch.float64).view(1, -1, 1, 1)

    def valid(self, name: str) -> Any:
        """Which tokens are no padding, (b, 1, s, 1)."""
        keys = name in ("k", "v", "dk", "dv")
        tokens = torch.arange(self.dims[3 if keys else 2], device=self.device).view(1, 1, -1, 1)
        return tokens < self.lengths["k" if keys else "q"]

    # --- results ---------------------------------------------------------------------------------

    def results(self) -> tuple[Tensors, Tensors]:
        """As `compute`, once for each mask of dropout."""
        mask = self.exact.get("kept")
        if self._made is None or self._made[0] is not mask:
            self._made = (mask, *self.compute())
        return self._made[1], self._made[2]

    def alibi(self) -> Any:
        """What alibi adds to the scores, (1, h, s_q, s_kv)."""
        return self._slopes() * self.distance

    def compute(self) -> tuple[Tensors, Tensors]:
        """All results, and what they may be off by; NaN where nothing is known."""
        case, a = self.case, self.exact
        group = self.dims[1] // case["key_heads"]
        k, v = (a[each].repeat_interleave(group, 1) for each in "kv")
        unit, least = half_unit(case["io"]), smallest(case["io"])
        scores, loose, slope = self._scores(k)
        sink = a.get("sink")
        empty = ~self.allowed.any(3, keepdim=True).expand(*self.dims[:3], 1)
        if case.get("sink") == "-inf":
            self.known = self.known & ~empty
        scores = scores.masked_fill(~self.allowed, -math.inf)
        whole = scores if sink is None else torch.cat([scores, sink.expand(*self.dims[:3], 1)], 3)
        stats = whole.logsumexp(3, keepdim=True)
        top = scores.amax(3, keepdim=True)
        total = (scores - top).exp().sum(3, keepdim=True)
        p = (scores - stats).exp().masked_fill(~self.allowed, 0.0)
        loose = (loose + _FLOAT32 * (1 + stats.nan_to_num(0, 0, 0).abs())).masked_fill(
            ~self.allowed, 0.0
        )
        tiny = torch.where(self.allowed, least / (SCALES["s"] if self.narrow else 1.0), 0.0)
        p_bound = p * (loose + unit) + tiny
        keep = 1.0
        if case.get("dropout"):
            # What cuDNN tells of its mask leaves out blocks that no query sees.
            keep = torch.where(self.allowed, a["kept"].nan_to_num(0.0), 0.0) / 0.75
        o = (p * keep) @ v
        o_bound = (p_bound * keep + self.sums * p) @ v.abs()
        results: Tensors = {"o": o, "stats": stats, "score_max": top, "score_sum_exp": total}
        off = loose.amax(3, keepdim=True) + 2.0**-23 * stats.nan_to_num(0, 0, 0).abs()
        bounds: Tensors = {
            "o": o_bound + self._end("o", o, case["io"]),
            "stats": off + _FLOAT32,
            "score_max": off,
            "score_sum_exp": total * (off + _FLOAT32),
        }
        for name in ("stats", "score_max", "score_sum_exp"):
            nothing = empty if sink is None or name != "stats" else torch.zeros_like(empty)
            results[name] = results[name].masked_fill(nothing, math.nan)
            bounds[name] = bounds[name].masked_fill(nothing, math.inf)
        inside = self.valid("q")
        if self.narrow:
            for name, each in (("amax_s", p), ("amax_o", o)):
                results[name] = (each * inside).abs().amax().view(1, 1, 1, 1)
                bounds[name] = unit * results[name] + bounds["o"].amax() + least
        if self.backward:
            self._gradients(results, bounds, p, p_bound, loose, k, v, keep, slope)
        return results, bounds

    def _end(self, name: str, result: Any, kind: str) -> Any:
        """What rounding a result to its own type loses."""
        scale = SCALES[name] if self.narrow else 1.0
        return half_unit(kind) * result.abs() + smallest(kind) / scale

    def _scores(self, k: Any) -> tuple[Any, Any, Any]:
        """Scores, what they may be off by, and the derivative of their modifier."""
        case, a = self.case, self.exact
        scores = a["q"] @ k.transpose(2, 3) * self.factor
        loose = self.sums * abs(self.factor) * (a["q"].abs() @ k.abs().transpose(2, 3))
        slope: Any = 1.0
        if case.get("modifier") == "cap":
            turned = (scores / CAP).tanh()
            scores, slope = CAP * turned, 1 - turned**2
            loose = loose + CAP * 2.0**-10
        elif case.get("modifier") == "relative":
            scores, slope = (scores + a["r"]) * 0.5, 0.5
            loose = loose + _FLOAT32 * scores.abs()
        if "bias" in a:
            scores = scores + a["bias"]
            loose = loose + _FLOAT32 * a["bias"].nan_to_num(0, 0, 0).abs().clamp(max=1e5)
        if case.get("alibi"):
            away = self._slopes() * self.distance
            scores, loose = scores + away, loose + _FLOAT32 * away.abs()
        return scores, loose.nan_to_num(0.0), slope

    def _gradients(
        self,
        results: Tensors,
        bounds: Tensors,
        p: Any,
        p_bound: Any,
        loose: Any,
        k: Any,
        v: Any,
        keep: Any,
        slope: Any,
    ) -> None:
        case, a = self.case, self.exact
        inside = self.valid("q")
        kind = case.get("gradient", case["io"])
        unit = max(half_unit(case["io"]), half_unit(kind))
        least = max(smallest(case["io"]), smallest(kind)) / (SCALES["dP"] if self.narrow else 1.0)
        least /= min(abs(self.factor) or 1.0, 1.0)  # it is rounded when it is scaled
        scale = SCALES["o"] if self.narrow else 1.0
        o = self.rounded(results["o"] * scale) / scale * inside
        self.stored |= {"o": o * scale, "stats": results["stats"].nan_to_num(-math.inf, -math.inf)}
        d_o = a["dO"] * inside
        row = (d_o * o).sum(3, keepdim=True)
        row_size = (d_o * o).abs().sum(3, keepdim=True)
        p, p_bound = p * inside, p_bound * inside
        dv = (p * keep).transpose(2, 3) @ d_o
        dv_bound = (p_bound * keep).transpose(2, 3) @ d_o.abs()
        dp = (d_o @ v.transpose(2, 3)) * keep
        size = (d_o.abs() @ v.abs().transpose(2, 3)) * keep + row_size
        ds = p * (dp - row)
        ds_bound = ds.abs() * (loose + unit) + p * self.sums * size
        ds_bound = ds_bound + torch.where(self.allowed & inside, least, 0.0)
        if "bias" in a and case["bias"].get("gradient"):
            dims = case["bias"]["dims"]
            axes = [axis for axis, n in enumerate(dims) if n != self.dims[axis]]
            found, bound = ds, ds_bound + unit * ds.abs()
            for axis in axes:
                found, bound = found.sum(axis, keepdim=True), bound.sum(axis, keepdim=True)
            results["dbias"], bounds["dbias"] = found, bound + self._end("dP", found, case["io"])
        if "sink" in a:
            share = (a["sink"] - results["stats"]).exp().nan_to_num(0.0) * inside
            results["dsink"] = -(share * row).sum((0, 2), keepdim=True)
            off = share * ((loose.amax(3, keepdim=True) + unit) * row_size + _FLOAT32 * row_size)
            bounds["dsink"] = off.sum((0, 2), keepdim=True) + 1e-30
        if case.get("modifier") == "cap":
            ds_bound = ds_bound * slope + 2.0**-9 * ds.abs()
        else:
            ds_bound = ds_bound * slope
        ds = ds * slope
        f = self.factor
        dq, dq_bound = f * ds @ k, abs(f) * ds_bound @ k.abs()
        dk = f * ds.transpose(2, 3) @ a["q"]
        dk_bound = abs(f) * ds_bound.transpose(2, 3) @ a["q"].abs()
        for name, each, bound in (("dk", dk, dk_bound), ("dv", dv, dv_bound)):
            results[name] = self._grouped(each)
            single = half_unit(kind) * each.abs()
            bounds[name] = self._grouped(bound + single)
        results["dq"], bounds["dq"] = dq, dq_bound
        for name in ("dq", "dk", "dv"):
            end = self._end(f"d{name[1].upper()}", results[name], kind)
            bounds[name] = bounds[name] + end
            if self.narrow:
                full = f"amax_d{name[1].upper()}"
                results[full] = results[name].abs().amax().view(1, 1, 1, 1)
                bounds[full] = unit * results[full] + bounds[name].amax()
        if self.narrow:
            results["amax_dP"] = (ds * f).abs().amax().view(1, 1, 1, 1)
            bounds["amax_dP"] = 2 * unit * results["amax_dP"] + (abs(f) * ds_bound).amax()

    def _grouped(self, tensor: Any) -> Any:
        heads = self.case["key_heads"]
        return tensor.view(self.dims[0], heads, -1, *tensor.shape[2:]).sum(2)


def compared(
    numbers: Numbers, found: Mapping[str, Any], results: Tensors, bounds: Tensors
) -> tuple[dict[str, str], float]:
    """What is wrong of each result, and the largest error of the others in bounds."""
    wrong: dict[str, str] = {}
    worst = 0.0
    allowed = _ALLOWED["8 bits" if numbers.narrow else "16 bits"]
    for name, tensor in found.items():
        if name not in results:
            continue
        exact, bound = results[name], bounds[name]
        look = torch.ones_like(exact, dtype=torch.bool)
        if name in ("o", "stats", "score_max", "score_sum_exp", "dq", "dk", "dv"):
            look = look & numbers.valid(name)
        if name in ("o", "stats", "score_max", "score_sum_exp"):
            look = look & numbers.known
        if name in ("stats", "score_max", "score_sum_exp"):
            look = look & ~torch.isinf(bound)
            if name != "stats":
                look = look & ~exact.isnan()
        if name == "dbias":  # rows of padding in all sequences
            look = look & numbers.valid("q").any(0, keepdim=True)
        nan = exact.isnan()
        error = (tensor - exact).abs()
        if name in ("amax_s", "amax_o") and not bool(numbers.valid("q").all()):
            error = error * (tensor < exact)  # what rows of padding hold counts too
        same = (error == 0) | (nan & tensor.isnan())
        ratio = torch.where(look & ~same, error / bound, 0.0)
        bad = ~(ratio <= allowed)
        if 0 < float(bad.sum()) <= _FEW * float(look.sum()):
            # The bound knows the mean of what 16 bits lose where gradients cancel.
            unit = (
                2 * half_unit(numbers.case["io"]) * float(exact[look].nan_to_num(0.0).abs().max())
            )
            bad = bad & ~(error <= unit)
        if bool(bad.any()):
            share = float(bad.sum() / look.sum())
            lost = float((tensor.isnan() & look & ~nan).sum() / look.sum())
            scale = float(exact[look].nan_to_num(0.0).abs().max())
            largest = float(torch.where(look, error, 0.0).nan_to_num(0.0).max())
            first = [int(each) for each in bad.nonzero()[0]]
            wrong[name] = (
                f"by {largest:.1e} of {scale:.1e}, "
                f"{float(ratio.nan_to_num(0.0).max()):.1e} bounds, in {share:.1%}, "
                f"NaN in {lost:.1%}, first {first}"
            )
        else:
            worst = max(worst, float(ratio.max()))
    return wrong, worst
