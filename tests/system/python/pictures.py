# SPDX-License-Identifier: MIT
"""Pictures are the command's, byte for byte: of strings in files, and of those that
come in the buffer."""
import os
import tempfile

import support

import printfdecode as pd

checks = support.Checks()
CASES = os.path.join(support.SOURCE, "tests/cases")


def compare(what, d, path, kind, columns, words=(), select=None):
    """d.plot() against `printfdecode plot`."""
    names = [word for name, column in columns.items() for word in ("--" + name, column)]
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "want.png")
        done = support.command("plot", kind, *names, *words, "-o", "png", "--to", to, *path)
        checks.true(what + ": the command draws", os.path.exists(to))
        if not os.path.exists(to):
            print(done.stderr.decode())
            return None
        want = support.read(to)
    picture = d.plot(**columns, kind=kind, select=select)
    checks.true(what + ": the same picture", picture.png == want)
    return picture


def case_file(name, folder):
    path = os.path.join(CASES, name)
    to = os.path.join(folder, "buffer.bin")
    with open(to, "wb") as file:
        file.write(support.read(path + ".gz" * os.path.exists(path + ".gz")))
    return to


def main():
    files = [support.SMALL, support.APP]
    words = ["--format-string", "^ray"]
    compare("a file's", pd.open(*files), files, "scatter", {"x": "prim", "y": "ray"}, words + [
        "--scale", "linear"], {"format": "^ray"})
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, columns, n in (
                ("hip/plot_inline/hip_inline.bin", "line", {"x": "step", "y": "residual"}, 8),
                ("hostcall/wave64/buffer.bin", "hist", {"x": "lane"}, 5)):
            path = case_file(name, folder)
            d = pd.open(path)
            picture = compare(name, d, [path], kind, columns)
            checks.equal(name + ": points", picture and picture.points, n)
            checks.equal(name + ": rows", len(d.table()), n)
            error = checks.raises(name + ": no column", pd.UsageError,
                                  lambda d=d, kind=kind: d.plot("nope", "nope", kind=kind))
            checks.true(name + ": there are", list(columns.values())[0] in str(error) or
                        kind == "hist")
        # An unknown id comes first, and is left out.
        path = case_file("hostcall/unknown_id/buffer.bin", folder)
        checks.equal("unknown", pd.open(path).plot("n", kind="hist").points, 1)
        path = case_file("hostcall/only_begin/buffer.bin", folder)
        checks.raises("all unknown", pd.UsageError, lambda: pd.open(path).plot("n", kind="hist"))
    checks.raises("nothing", pd.UsageError,
                  lambda: pd.open(*files).plot("prim", kind="hist", select={"format": "no such"}))
    checks.end()


main()
