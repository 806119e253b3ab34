# SPDX-License-Identifier: MIT
"""Findings are objects, and warnings where they are asked for."""
import pickle
import struct
import warnings

import support

import printfdecode as pd

checks = support.Checks()


def damaged():
    """small.bin, which says that more was printed than is there."""
    data = bytearray(support.read(support.SMALL))
    words, = struct.unpack_from("<Q", data)
    struct.pack_into("<Q", data, 0, words + 1000)
    return bytes(data)


def caught(*files, **how):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        d = pd.open(*files, **how)
    return d, found


def main():
    data = damaged()
    d, found = caught(data, support.APP)
    checks.true("there are findings", d.findings)
    checks.equal("not asked for", found, [])
    d, found = caught(data, support.APP, warn=True, name="dump")
    checks.equal("all", [w.message.finding for w in found], list(d.findings))
    checks.true("their kind", all(w.category is pd.FindingWarning for w in found))
    checks.true("where open() is called", all(w.filename == __file__ for w in found))
    first = found[0].message
    checks.true("its text", str(first).startswith("dump: ") and str(first).endswith(
        "%s: %s" % (first.finding.kind, first.finding.text)))
    again = pickle.loads(pickle.dumps(first))
    checks.equal("copied", (str(again), again.finding), (str(first), first.finding))
    d, found = caught(support.SMALL, support.APP, warn=True)
    checks.equal("sound", (found, d.findings), ([], ()))
    # As an error it ends open().
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.FindingWarning)
        checks.raises("an error", pd.FindingWarning,
                      lambda: pd.open(data, support.APP, warn=True))
    checks.end()


main()
