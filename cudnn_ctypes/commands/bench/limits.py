"""The peak rates of a GPU for computing and memory traffic, from its properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...absent_gpu.properties import later_value
from ...dtypes import data_type_name
from ...graph.backend.device_properties import DeviceProperties

__all__ = ["Limits", "limits_of"]

# Dense additions and multiplications per multiprocessor and clock, with tensor cores if they have
# the type. They are dense peaks of NVIDIA's data sheets and whitepapers, divided by multiprocessors
# and boost clock: 312 TFLOP/s / 108 / 1.41 GHz = 2048 (A100). Unconfirmed rates, like float64 of a
# B200, are absent. Sources, in TFLOP/s or TOP/s:
#   7.5   T4: float16 65, float32 8.1, int8 130 at 40 x 1.59 GHz; Quadro RTX 6000: float16 119.4
#   8.0   A100: float16 312, TF32 156, float64 19.5, int8 624
#   8.9   L40S: float16 362, TF32 183, fp8 and int8 733 at 142 x 2.52 GHz
#   9.0   H100 SXM: float16 989, TF32 495, float64 67 at 1.98 GHz, fp8 and int8 1979 at 1.83 GHz
#   10.0  CUTLASS, "Blackwell functionality": per instruction 2 times Hopper, 4 times its fp8 with
#         fp4. HGX B200, dense: float16 2250, TF32 1100, fp8 and int8 4500, fp4 9000
#   12.0  RTX 5090: fp4 1676, int8 838, and with float16 sums fp8 838 and float16 419, at
#         170 x 2.41 GHz
_RATES: dict[tuple[int, int], dict[str, int]] = {
    (7, 5): {"float16": 1024, "float32": 128, "int8": 2048},
    (8, 0): {"float16": 2048, "bfloat16": 2048, "float32": 1024, "float64": 128, "int8": 4096},
    (8, 9): {"float16": 1024, "bfloat16": 1024, "float32": 512, "fp8": 2048, "int8": 2048},
    (9, 0): {
        "float16": 4096,
        "bfloat16": 4096,
        "float32": 2048,
        "float64": 256,
        "fp8": 8192,
        "int8": 8192,
    },
    (10, 0): {
        "float16": 8192,
        "bfloat16": 8192,
        "float32": 4096,
        "fp8": 16384,
        "fp4": 32768,
        "int8": 16384,
    },
    (12, 0): {
        "float16": 1024,
        "bfloat16": 1024,
        "float32": 512,
        "fp8": 2048,
        "fp4": 4096,
        "int8": 2048,
    },
}
_NO_TF32 = (7, 5)
# On GeForce cards tensor cores halve the rate for sums in float32: RTX 2080 Ti 56.9, RTX 4090
# 165.2 (fp8 330.3, TF32 82.6), RTX 5090 209.5 (TF32 104.8). Blackwell's fp8 with block scales keeps
# the whole rate (737 TFLOP/s were measured on an RTX 5090).
_HALVED: dict[tuple[int, int], tuple[str, ...]] = {
    (7, 5): ("float16",),
    (8, 9): ("float16", "bfloat16", "float32", "fp8"),
    (12, 0): ("float16", "bfloat16", "float32"),
}
_NO_TENSOR_CORES = "GeForce GTX 16"


@dataclass(frozen=True)
class Limits:
    """The peak rates of a GPU.

    Attributes
    ----------
    flops : float or None
        Additions and multiplications per second; None if unknown for the data type or GPU.
    bandwidth : float or None
        Bytes of memory per second; None if the bus width is unknown.
    source : str
        The origin of these numbers.
    """

    flops: float | None
    bandwidth: float | None
    source: str

    def microseconds(self, flops: int, nbytes: int) -> float | None:
        """The least time by the roofline model (Williams et al., 2009); None if unknown."""
        if self.bandwidth is None:
            return None
        moving = nbytes / self.bandwidth
        if not flops:
            return 1e6 * moving
        return None if self.flops is None else 1e6 * max(flops / self.flops, moving)


def limits_of(
    device: DeviceProperties, data_type: Any = None, *, bus_width: int | None = None
) -> Limits:
    """The limits for operands of a data type; None for operations that only move data.

    float32 counts as TF32, which engines may compute in, where tensor cores have it.

    Parameters
    ----------
    device : DeviceProperties
    data_type : cudnnDataType_t, optional
    bus_width : int, optional
        Bits, from the driver: cuDNN before 9.27 does not report them.
    """
    if "memoryBusWidth" in device:
        bus_width = device["memoryBusWidth"]
    elif bus_width is None:
        bus_width = later_value("memoryBusWidth", device.name)
    # Two transfers per clock.
    bandwidth = None if bus_width is None else 2e3 * device["memClockRateKHz"] * bus_width / 8
    known = f"memory clock x bus width of {device.name}"
    if device.source == "public data":
        known += " by public data"
    rate = None if data_type is None else _rate(device, _kind(data_type))
    if rate is None:
        return Limits(None, bandwidth, known)
    flops = 1e3 * rate * device["multiProcessorCount"] * device["smClockRateKHz"]
    name = _kind(data_type)
    if name == "float32" and device.compute_capability != _NO_TF32:
        name = "TF32"
    return Limits(
        flops,
        bandwidth,
        f"{rate} {name} operations a clock (public data) x multiprocessors x clock, {known}",
    )


def _rate(device: DeviceProperties, kind: str) -> int | None:
    capability = device.compute_capability
    rate = _RATES.get(capability, {}).get(kind)
    if rate is None or (_NO_TENSOR_CORES in device.name and kind != "float32"):
        return None
    halved = "GeForce" in device.name and kind in _HALVED.get(capability, ())
    return rate // 2 if halved else rate


def _kind(data_type: Any) -> str:
    name = data_type_name(data_type)
    return next((kind for kind in ("fp8", "fp4") if name.startswith(kind)), name)
