"""The table of blocks and GPUs."""

from __future__ import annotations

import argparse
import time

from cudnn_ctypes import Handle, use_reference_device

from . import BLOCKS, error_of, kind


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.model_blocks")
    parser.add_argument("--device", action="append", help="presets; by default H100 and B200")
    parser.add_argument("--compute", action="store_true", help="on the reference device, too")
    parser.add_argument("--verbose", action="store_true", help="show the cuts")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    devices = given.device or ["H100", "B200"]
    counts: dict[tuple[str, str], int] = {}
    for each in BLOCKS:
        if given.names and each.name not in given.names:
            continue
        cells = []
        for device in devices:
            begun = time.perf_counter()
            found, pieces = kind(each, device)
            counts[device, found] = counts.get((device, found), 0) + 1
            cells.append(
                f"{device}: {found}"
                + (f" of {len(pieces)} ({pieces.launches} launches)" if pieces else "")
                + f" {time.perf_counter() - begun:.1f} s"
            )
            if given.verbose and pieces is not None:
                print(pieces)
        if given.compute:
            use_reference_device(device=devices[0])
            with Handle() as handle:
                try:
                    cells.append(f"error {error_of(each, handle):.1e}")
                except Exception as error:
                    cells.append(f"{type(error).__name__}: {str(error).splitlines()[0][:100]}")
        print(f"{each.name:34}{'; '.join(cells)}", flush=True)
    kinds = len({each.of for each in BLOCKS})
    print(f"{len(BLOCKS)} blocks of {kinds} kinds of models: {counts}")


if __name__ == "__main__":
    main()
