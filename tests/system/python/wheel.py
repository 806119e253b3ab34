# SPDX-License-Identifier: MIT
"""`pip wheel` without a network makes a wheel of the package alone, which works in
an empty folder. Skipped where meson-python or pip is not installed."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import support

checks = support.Checks()
NEEDED = ("mesonpy", "pip", "pyproject_metadata")
# What git leaves out, and builds of this tree.
LEFT_OUT = shutil.ignore_patterns(".git", "build*", "node_modules", "shared")


def main():
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in NEEDED:
        if subprocess.run([sys.executable, "-c", "import " + name], env=env, check=False,
                          capture_output=True).returncode or not shutil.which("patchelf"):
            print(name + " or patchelf is not installed")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        source, out, to = (os.path.join(folder, name) for name in ("source", "out", "to"))
        shutil.copytree(support.SOURCE, source, ignore=LEFT_OUT, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                               "-w", out, source], env=env, capture_output=True, text=True,
                              check=False)
        checks.equal("pip wheel", (done.returncode, done.stderr[-2000:] * (done.returncode != 0)),
                     (0, ""))
        wheel, = glob.glob(os.path.join(out, "*.whl"))
        checks.true("its tag", os.path.basename(wheel).split("-")[2:4] == ["cp311", "abi3"])
        with zipfile.ZipFile(wheel) as file:
            names = file.namelist()
        checks.equal("no other files", [name for name in names
                                        if not name.startswith("printfdecode")], [])
        subprocess.run([*pip, "install", "-q", "--no-index", "--no-deps", "--target", to, wheel],
                       env=env, check=True, capture_output=True)
        shutil.copy(support.SMALL, folder)
        shutil.copy(support.APP, folder)
        code = ("import printfdecode as pd; print(pd.__file__);"
                "print(len(list(pd.open('small.bin', 'app.elf'))))")
        done = subprocess.run([sys.executable, "-c", code], env=dict(env, PYTHONPATH=to),
                              cwd=folder, capture_output=True, text=True, check=True)
        checks.true("it is that one", done.stdout.startswith(to))
        checks.true("entries", done.stdout.endswith("\n64\n"))
    checks.end()


main()
