#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Encoders written from the formats' descriptions alone, against the decoder:
truth.py PROGRAM SOURCE FORMAT [--seed N] [--count M] [--only N]

Fails when a message is wrong, missing or made up and nothing says so.
"""
import argparse
import collections
import importlib
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../make"))
import case as cases  # noqa: E402
import model  # noqa: E402
import mutate  # noqa: E402

AUTO = 0.25  # of cases whose format nobody names
SHOWN = 5  # failures that are written out


def load(format_name):
    """The encoders of a format."""
    return importlib.import_module(format_name)


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program")
    p.add_argument("source")
    p.add_argument("format")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=200,
                   help="times TRUTH_TIMES of the environment")
    p.add_argument("--only", type=int, help="this case, whatever --count says")
    p.add_argument("--kind", nargs="*", default=[],
                   help="cases of these kinds alone")
    p.add_argument("--damage", action="store_true", help="damaged inputs")
    p.add_argument("--keep", help="write the case's files to this folder")
    p.add_argument("--doubts", action="store_true", help="show flagged ones")
    return p.parse_args()


def numbers(o):
    """The cases that are asked for."""
    if o.only is not None:
        return [o.only]
    return range(o.count * int(os.environ.get("TRUTH_TIMES", "1")))


def make(module, o, i):
    """Case number i of a seed: the same wherever it is made."""
    rng = random.Random("%s %d %d" % (o.format, o.seed, i))
    case = sound_case(module, o, rng)
    if case.words[0] == "--format" and rng.random() < AUTO:
        case.words = case.words[2:]
        case.kind += ", auto"
        case.held = case.lost = None
    return mutate.damage(rng, o.format, case) if o.damage else case


def sound_case(module, o, rng):
    kinds = [k for k in module.KINDS if k[0].__name__ in o.kind or
             not o.kind and (not o.damage or k[0] in module.SOUND)]
    weights = [weight for _, weight in kinds]
    return rng.choices([k for k, _ in kinds], weights)[0](rng)


def table(totals):
    print("%-22s %7s %9s %9s %9s %9s" % ("kind", "cases", "right", "flagged",
                                         "offered", "FAILED"))
    for kind, t in sorted(totals.items()):
        print("%-22s %7d %9d %9d %9d %9d" % (
            kind, t["cases"], t["right"], t["flagged"], t["offered"],
            t["failed"]))


def main():
    o = options()
    problem = model.check_libc(random.Random(o.seed), 2000)
    if problem:
        print("the model: " + problem)
        return 1
    module = load(o.format)
    totals = collections.defaultdict(collections.Counter)
    shown = 0
    with tempfile.TemporaryDirectory() as folder:
        judge = cases.Judge(cases.Program(o.program, o.source, folder))
        for i in numbers(o):
            case = make(module, o, i)
            verdict = judge.judge(case)
            t = totals[case.kind]
            t.update(cases=1, right=verdict.right, flagged=verdict.flagged,
                     offered=verdict.offered, failed=len(verdict.failures))
            if verdict.failures and shown < SHOWN or o.doubts and \
                    verdict.doubts:
                shown += 1
                print("--seed %d --only %d (%s)" % (o.seed, i, case.kind))
                for line in verdict.failures[:3] + (
                        verdict.doubts[:3] if o.doubts else []):
                    print("    " + line[:600])
            if o.keep:
                case.write(o.keep)
                print(" ".join(["printfdecode decode"] + case.words))
    table(totals)
    return any(t["failed"] for t in totals.values())


if __name__ == "__main__":
    sys.exit(main())
