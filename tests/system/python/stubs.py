# SPDX-License-Identifier: MIT
"""The stub: mypy and pyright find nothing in it and in a program that uses it, and
mypy's stubtest finds it to agree with the package. Each where it is installed."""
import os
import shutil
import subprocess
import sys
import tempfile

import support

PACKAGE = os.path.join(support.SOURCE, "python/printfdecode")
USER = os.path.join(os.path.dirname(__file__), "typed.py")
n_run = n_wrong = 0


def check(*words, **how):
    global n_run, n_wrong
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    n_run += 1
    if done.returncode:
        n_wrong += 1
        print(" ".join(words), done.stdout, done.stderr, sep="\n")


def has_mypy():
    return subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True,
                          check=False).returncode == 0


def main():
    where = os.path.dirname(PACKAGE)
    pyright = os.environ.get("PYRIGHT") or shutil.which("pyright")
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, MYPYPATH=where, MYPY_CACHE_DIR=cache)
        mypy = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"]
        if has_mypy():
            check(*mypy, os.path.join(PACKAGE, "__init__.pyi"), env=env)
            check(*mypy, "--follow-imports=silent", USER, env=env)
            # The package's own files have no types: its stub has.
            config = os.path.join(cache, "mypy.ini")
            with open(config, "w", encoding="utf-8") as file:
                file.write("[mypy]\n[mypy-printfdecode.*]\nignore_errors = True\n")
            inner = os.path.join(cache, "inner")
            with open(inner, "w", encoding="utf-8") as file:
                file.write("printfdecode\\.(_core|follow|notebook|pytest_plugin|run|table)\\..*\n"
                           # A cached_property is no property for mypy 1.0.
                           "printfdecode\\.Decoded\\.(buffers|findings)\n")
            check(sys.executable, "-m", "mypy.stubtest", "printfdecode", "--ignore-missing-stub",
                  "--mypy-config-file", config, "--allowlist", inner,
                  "--ignore-unused-allowlist",
                  env=dict(os.environ, MYPY_CACHE_DIR=cache), cwd=cache)
        else:
            print("mypy is not installed")
        if pyright:
            config = os.path.join(cache, "pyrightconfig.json")
            with open(config, "w", encoding="utf-8") as file:
                file.write('{"include": ["%s", "%s"], "extraPaths": ["%s"], "strict": ["%s"]}' % (
                    os.path.join(PACKAGE, "__init__.pyi"), USER, where,
                    os.path.join(PACKAGE, "__init__.pyi")))
            check(pyright, "--project", config)
        else:
            print("pyright is not installed")
    print("%d checks, %d wrong" % (n_run, n_wrong))
    sys.exit(n_wrong > 0 or (77 if not n_run else 0))


main()
