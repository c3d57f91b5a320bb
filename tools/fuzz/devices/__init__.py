"""Draw calls once, run them on two devices, and compare.

``python -m tools.fuzz devices --cases 100000 --processes 16 --out FOLDER`` runs random calls on the
GPU and on the reference device. Each case is drawn from its family and seed, so that no option of
a family is rare, and runs in children: one with each device. Statuses, values, integers, NaN and
whatever must not be written are compared exactly, numbers with a tolerance (`comparison`);
`freedoms` lists what cuDNN leaves open. A GPU runs each case twice and compares the bits.
Afterwards one difference of each kind is minimized, and printed as JSON that ``--replay`` runs
again.

``--devices reference reference`` needs no GPU and must find nothing, and ``--devices reference
planted`` must find the planted fault. ``--table FOLDER`` prints what stands in a folder of results:
the calls by function and status, how many options each family has, and those drawn less than 50
times. ``--again FOLDER`` runs the cases that differed there again, and prints what still differs.
``--keep NAME`` with one of them keeps the figures for the site's page of known faults.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..workers import add_arguments
from . import catalogue
from .batches import DEVICES, judge
from .survey import Plan, again, keep, run, table

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz devices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--families", nargs="+", choices=catalogue.FAMILIES, metavar="FAMILY")
    add_arguments(parser, "batch")
    parser.add_argument("--batch", type=int, default=400, help="cases of one pair of children")
    parser.add_argument("--minimize", type=float, default=60, help="seconds for it")
    parser.add_argument("--devices", nargs=2, choices=DEVICES, default=["reference", "gpu"])
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="of the results")
    parser.add_argument("--options", action="store_true", help="with counts of all options")
    parser.add_argument("--table", type=Path, metavar="FOLDER", help="print earlier results")
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="run what differed again")
    parser.add_argument("--keep", metavar="NAME", help='keep the figures: "cuDNN 9.19, H200"')
    parser.add_argument("--replay", metavar="JSON", help="run one case")
    parser.add_argument("--list", action="store_true", help="print the families")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(catalogue.FAMILIES))
        return 0
    if options.table:
        print(table(options.table, options=options.options))
        if options.keep:
            keep(options.table, options.keep)
        return 0
    if options.again:
        count, found = again(options.again, tuple(options.devices))
        for judged, difference in found:
            print(f"{judged.key(difference)}: {difference}\n       {json.dumps(judged.draw.case)}")
        kinds = len({judged.key(difference) for judged, difference in found})
        print(f"{count} cases again: {len(found)} differences of {kinds} kinds")
        if options.keep:
            keep(options.again, options.keep, len(found))
        return int(bool(found))
    if options.replay:
        return _replay(options.replay, options.devices)
    folder = options.out or Path(tempfile.mkdtemp(prefix="devices-"))
    plan = Plan(
        pair=tuple(options.devices),
        families=tuple(options.families or catalogue.FAMILIES),
        cases=options.cases,
        seed=options.seed,
        seconds=options.seconds,
        processes=options.processes,
        batch=options.batch,
        minimize=options.minimize,
        out=folder,
    )
    run(plan)
    text = table(folder, options=options.options)
    print(text)
    print(f"results are in {folder}")
    return int(not text.count("\n0 differences"))


def _replay(text: str, devices: Sequence[str]) -> int:
    (judged,) = judge([json.loads(text)], devices)
    program, found = judged.program, judged.differences
    for name, described in program.descriptors.items():
        print(f"{name}: {described.kind} {[args for _, args in described.calls()]}")
    for function, given in program.steps:
        print(f"{function}({', '.join(f'{name}={value}' for name, value in given.items())})")
    for device, result in zip(devices, (judged.one, judged.other), strict=True):
        print(f"{device}: {getattr(result, 'statuses', result)}")
    print("\n".join(map(str, found)) or "no difference")
    return int(bool(found))
