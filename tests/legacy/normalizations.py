"""Random batch normalizations, what they should give, and how far off a result may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle
from cudnn_ctypes import reference as ref

from .draws import ROUNDOFF, compute_roundoff, dtype_of

DATA_TYPES = ("float64", "float32", "float16", "bfloat16")
FAMILIES = ("batch", "batch_ex", "norm", "fused_ex", "fused_norm")
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Problem:
    """A normalization: by which functions, of what shape, with which options."""

    data_type: str
    family: str
    mode: str
    adds: bool
    shape: tuple[int, ...]
    layout: str
    gaps: bool
    epsilon: float
    average_factor: float
    saves: bool
    alpha: float
    beta: float
    alpha_param: float
    beta_param: float
    seed: int

    @property
    def fused(self) -> bool:
        return self.family.startswith("fused")

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.data_type)

    @property
    def param_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.data_type == "float64" else np.float32)

    @property
    def reference_mode(self) -> Any:
        return "per_activation" if self.mode == "per_activation" else "spatial"

    @property
    def param_shape(self) -> tuple[int, ...]:
        return ref.batch_normalization_parameter_shape(self.shape, self.reference_mode)

    @property
    def axes(self) -> tuple[int, ...]:
        return (0,) if self.mode == "per_activation" else (0, *range(2, len(self.shape)))


def random_problem(data_type: str, family: str, seed: int) -> Problem:
    """The problem number `seed` of a kind, one that cuDNN may well be able to do."""
    rng = np.random.default_rng([seed, DATA_TYPES.index(data_type), FAMILIES.index(family)])
    fused = family.startswith("fused")
    ndim = 2 if fused else int(rng.choice([0, 1, 2, 2, 2, 3]))
    channels = 4 * int(rng.integers(1, 6)) if fused else int(rng.integers(1, 10))
    modes = ["per_activation", "spatial", "spatial_persistent"]
    layout = "NHWC" if fused else str(rng.choice(["NCHW", "NHWC"]))
    blends = not fused and rng.random() < 0.5
    return Problem(
        data_type=data_type,
        family=family,
        mode="spatial_persistent" if fused else str(rng.choice(modes)),
        adds=fused and bool(rng.random() < 0.5),
        shape=(int(rng.integers(2, 9)), channels, *(int(n) for n in rng.integers(1, 9, ndim))),
        layout=layout,
        gaps=layout == "NCHW" and ndim >= 2 and bool(rng.random() < 0.15),
        epsilon=float(rng.choice([1e-5, 1e-3, 0.1])),
        average_factor=float(rng.choice([1.0, 0.1, 0.5])),
        saves=bool(rng.random() < 0.8),
        alpha=float(rng.uniform(-2, 2)) if blends else 1.0,
        beta=float(rng.uniform(-2, 2)) if blends else 0.0,
        alpha_param=float(rng.uniform(-2, 2)) if blends else 1.0,
        beta_param=float(rng.uniform(-2, 2)) if blends else 0.0,
        seed=seed,
    )


def random_operands(problem: Problem) -> Arrays:
    """x, z, dy and the parameters; "prior…" is what results hold before, NaN where it is not read.

    dy is 0 where ReLU's argument is so close to 0 that its sign is a matter of rounding.
    """
    rng = np.random.default_rng([problem.seed, 54321])
    shape, per = problem.shape, problem.param_shape
    x = rng.uniform(0.5, 2, per) * rng.standard_normal(shape) + rng.standard_normal(per)
    arrays = {"x": x, "z": rng.standard_normal(shape), "dy": rng.standard_normal(shape)}
    arrays |= {"prior_y": rng.standard_normal(shape), "prior_dx": rng.standard_normal(shape)}
    given = {name: array.astype(problem.dtype) for name, array in arrays.items()}
    for name in ("scale", "bias", "mean", "prior_dscale", "prior_dbias"):
        given[name] = rng.standard_normal(per).astype(problem.param_dtype)
    given["variance"] = rng.uniform(0.5, 2, per).astype(problem.param_dtype)
    if problem.beta == 0:
        given["prior_y"] = given["prior_dx"] = np.full(shape, np.nan).astype(problem.dtype)
    if problem.beta_param == 0:
        unread = np.full(per, np.nan).astype(problem.param_dtype)
        given["prior_dscale"] = given["prior_dbias"] = unread
    if problem.fused:
        wide = {name: array.astype(np.float64) for name, array in given.items()}
        total = ref.batch_normalization_forward_training(
            wide["x"],
            wide["scale"],
            wide["bias"],
            z=wide["z"] if problem.adds else None,
            epsilon=problem.epsilon,
            average_factor=1,
        ).y
        given["dy"][np.abs(total) < 0.01] = 0
    return given


def expected(problem: Problem, given: Arrays) -> tuple[Arrays, Arrays]:
    """What comes out, in float64, and by how much each result may differ.

    The bound follows the formulas with u, the unit roundoff of the computation, and
    (sqrt(m) + 16) * u as the error of a mean of m terms over the mean of their absolute values.
    """
    wide = {name: np.nan_to_num(array.astype(np.float64)) for name, array in given.items()}
    x, scale, dy = wide["x"], wide["scale"], wide["dy"]
    options: dict[str, Any] = {"mode": problem.reference_mode, "epsilon": problem.epsilon}
    blending = {"alpha": problem.alpha, "beta": problem.beta, "y": wide["prior_y"]}
    add = {"relu": problem.fused, "z": wide["z"] if problem.adds else None}
    forward = ref.batch_normalization_forward_training(
        x,
        scale,
        wide["bias"],
        average_factor=problem.average_factor,
        running_mean=wide["mean"],
        running_variance=wide["variance"],
        **options,
        **add,
        **blending,
    )
    back = ref.batch_normalization_backward(
        x=x,
        dy=dy,
        scale=scale,
        mask=forward.mask,
        alpha=problem.alpha,
        beta=problem.beta,
        alpha_param=problem.alpha_param,
        beta_param=problem.beta_param,
        dx=wide["prior_dx"],
        dscale=wide["prior_dscale"],
        dbias=wide["prior_dbias"],
        **options,
    )
    exact: Arrays = {
        "y": forward.y,
        "saved_mean": forward.saved_mean,
        "saved_inv_variance": forward.saved_inv_variance,
        "dx": back.dx,
        "dscale": back.dscale,
        "dbias": back.dbias,
        "dz": back.dz,
    }
    if forward.running_mean is not None and forward.running_variance is not None:
        exact |= {
            "running_mean": forward.running_mean,
            "running_variance": forward.running_variance,
        }
    exact["inference"] = ref.batch_normalization_forward_inference(
        x, scale, wide["bias"], wide["mean"], wide["variance"], **options, **blending
    )
    return exact, _bounds(problem, wide, exact)


def _bounds(problem: Problem, given: Arrays, exact: Arrays) -> Arrays:
    u, stored = compute_roundoff(problem.data_type), ROUNDOFF[problem.data_type]
    x, scale, bias, dy = (given[name] for name in ("x", "scale", "bias", "dy"))
    axes, count = problem.axes, x.size // scale.size
    g = (math.sqrt(count) + 16) * u

    def mean(array: NDArray[Any]) -> NDArray[Any]:
        result: NDArray[Any] = array.mean(axes, keepdims=True)
        return result

    inv = exact["saved_inv_variance"]
    off_mean, off_variance = g * mean(abs(x)), 2 * g * mean(x**2)
    x_hat = (x - exact["saved_mean"]) * inv
    off_inv = 0.5 * off_variance * inv**2 + 4 * u  # relative
    off_x_hat = inv * (u * abs(x) + off_mean) + abs(x_hat) * (off_inv + 2 * u)
    size = abs(scale * x_hat) + abs(bias) + (abs(given["z"]) if problem.adds else 0)
    off_y = abs(scale) * off_x_hat + 4 * u * size
    # With mean and variance given, only the rounding of each step is left.
    fixed = 1 / np.sqrt(given["variance"] + problem.epsilon)
    steps = abs(scale) * fixed * (abs(x) + abs(given["mean"])) + abs(bias)

    off_dbias = g * count * mean(abs(dy))
    off_dscale = g * count * mean(abs(dy * x_hat)) + count * mean(abs(dy) * off_x_hat)
    dscale = count * mean(dy * x_hat)
    inner = off_dbias + abs(x_hat) * off_dscale + off_x_hat * abs(dscale)
    size = abs(dy) + count * (mean(abs(dy)) + abs(x_hat) * mean(abs(dy * x_hat))) / count
    off_dx = abs(scale) * inv * (inner / count + size * (off_inv + 8 * u))

    data, param, factor = abs(problem.alpha), abs(problem.alpha_param), problem.average_factor
    prior = {name: abs(problem.beta * given[name]) for name in ("prior_y", "prior_dx")}
    prior_param = 4 * u * abs(problem.beta_param)
    # Half of a subnormal float16's last place.
    tiny = 2.0**-25 if problem.data_type == "float16" else 0
    return {
        "y": data * off_y + 2 * u * prior["prior_y"] + stored * abs(exact["y"]) + tiny,
        "inference": data * 8 * u * steps
        + 2 * u * prior["prior_y"]
        + stored * abs(exact["inference"])
        + tiny,
        "dx": data * off_dx + 2 * u * prior["prior_dx"] + stored * abs(exact["dx"]) + tiny,
        "dz": np.zeros_like(dy),
        "dscale": param * off_dscale + prior_param * abs(given["prior_dscale"]) + 4 * u,
        "dbias": param * off_dbias + prior_param * abs(given["prior_dbias"]) + 4 * u,
        "saved_mean": off_mean + 2 * u * abs(exact["saved_mean"]),
        "saved_inv_variance": inv * (off_inv + 2 * u),
        "running_mean": factor * off_mean + 4 * u * (abs(given["mean"]) + mean(abs(x))),
        "running_variance": factor * 2 * off_variance
        + 4 * u * (given["variance"] + mean(x**2) * count / max(count - 1, 1)),
    }


def run(handle: Handle, problem: Problem, given: Arrays) -> Arrays:
    """All results of a problem, through the functions that it names."""

    def put(name: str) -> DeviceTensor:
        array, strides = given[name], None
        layout = problem.layout if array.shape == problem.shape and array.ndim > 2 else None
        if problem.gaps and array.shape == problem.shape:
            roomy = np.empty([n + (i in (0, array.ndim - 1)) for i, n in enumerate(array.shape)])
            strides, layout = [step // roomy.itemsize for step in roomy.strides], None
        return DeviceTensor.from_numpy(array, layout=layout, strides=strides, stream=handle.stream)

    x, z, dy, scale, bias = (put(name) for name in ("x", "z", "dy", "scale", "bias"))
    mean, variance = put("mean"), put("variance")
    common: dict[str, Any] = {"epsilon": problem.epsilon, **_how(problem)}
    blending = {"alpha": problem.alpha, "beta": problem.beta}
    training = {
        "average_factor": problem.average_factor,
        "running_mean": mean,
        "running_variance": variance,
    }
    train, back, infer = _FUNCTIONS[problem.family]
    results: dict[str, Any] = {}
    if infer is not None:
        results["inference"] = put("prior_y")
        infer(handle, x, scale, bias, mean, variance, results["inference"], **common, **blending)
        results["inference"] = results["inference"].numpy()
    extra = {"activation": "relu", "z": z if problem.adds else None} if problem.fused else {}
    y = put("prior_y")
    forward = train(handle, x, scale, bias, y, **common, **blending, **training, **extra)
    results |= {
        "y": y,
        "running_mean": mean,
        "running_variance": variance,
        "saved_mean": forward.saved_mean,
        "saved_inv_variance": forward.saved_inv_variance,
    }
    dx, dscale, dbias = put("prior_dx"), put("prior_dscale"), put("prior_dbias")
    backward: dict[str, Any] = {"x": x, "dy": dy, "scale": scale, "dx": dx, "dscale": dscale}
    backward |= {"dbias": dbias, **blending}
    backward |= {"alpha_param": problem.alpha_param, "beta_param": problem.beta_param}
    if problem.saves or problem.fused:
        backward |= {
            "saved_mean": forward.saved_mean,
            "saved_inv_variance": forward.saved_inv_variance,
        }
    if problem.family == "batch":
        gradients = back(handle, **common, **backward)
    else:
        backward |= {"y": y, "bias": bias, "reserve_space": forward.reserve_space}
        if problem.fused:
            backward |= {"activation": "relu", "with_dz": problem.adds}
        gradients = back(handle, **common, **backward)
    results |= {"dx": dx, "dscale": dscale, "dbias": dbias}
    if problem.adds:
        results["dz"] = gradients.dz
    return {
        name: value if isinstance(value, np.ndarray) else value.numpy(stream=handle.stream)
        for name, value in results.items()
    }


_FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "batch": (
        cudnn.batch_normalization_forward_training,
        cudnn.batch_normalization_backward,
        cudnn.batch_normalization_forward_inference,
    ),
    "batch_ex": (
        cudnn.batch_normalization_forward_training_ex,
        cudnn.batch_normalization_backward_ex,
        None,
    ),
    "norm": (
        cudnn.normalization_forward_training,
        cudnn.normalization_backward,
        cudnn.normalization_forward_inference,
    ),
}
_FUNCTIONS |= {"fused_ex": _FUNCTIONS["batch_ex"], "fused_norm": (*_FUNCTIONS["norm"][:2], None)}


def _how(problem: Problem) -> dict[str, Any]:
    if not problem.family.endswith("norm"):
        return {"mode": problem.mode}
    persistent = problem.mode == "spatial_persistent"
    return {
        "mode": "per_activation" if problem.mode == "per_activation" else "per_channel",
        "algorithm": "persist" if persistent else "standard",
    }
