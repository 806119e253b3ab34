# SPDX-License-Identifier: MIT
"""pytest --gpu-printf: what a test prints is in the fixture and beside its failure,
and errors fail it: plugin.py GPUAV_BUFFER."""
import os
import subprocess
import sys
import tempfile

import support

checks = support.Checks()
TESTS = '''
import subprocess, sys
import printfdecode as pd

SMALL, APP, GPUAV = %r

def give(data, name, format, code=None):
    client = pd.Client()
    if code:
        client.strings(code)
    with open(data, "rb") as file:
        shared = client.share(file.read(), name=name, format=format)
    shared.close()
    client.close()

def test_child(gpu_printf):
    program = "import test_gpu; test_gpu.give(test_gpu.SMALL, 'child', 'llpc', test_gpu.APP)"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert len(gpu_printf.wait(64)) == 64
    assert gpu_printf.messages[0].startswith("Output:")
    assert gpu_printf.missed == 0 and not gpu_printf.errors

def test_alone(gpu_printf):
    assert gpu_printf.entries == []

def test_fails():
    give(SMALL, "own", "llpc", APP)
    assert False, "as it should"

def test_error():
    give(GPUAV, "validation", "gpuav")

def test_allowed(gpu_printf):
    gpu_printf.allow_errors()
    give(GPUAV, "validation", "gpuav")
    assert gpu_printf.wait(1) and gpu_printf.errors

def test_silent():
    pass
'''


def pytest(folder, *words, **env):
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "printfdecode.pytest_plugin",
                           "-p", "no:cacheprovider", *words], cwd=folder, capture_output=True,
                          text=True, env=dict(os.environ, **env), check=False)


def main():
    if subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True,
                      check=False).returncode:
        print("pytest is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        gpuav = os.path.join(folder, "gpuav.bin")
        with open(gpuav, "wb") as file:
            file.write(support.read(sys.argv[1]))
        with open(os.path.join(folder, "test_gpu.py"), "w", encoding="utf-8") as file:
            file.write(TESTS % ((support.SMALL, support.APP, gpuav),))
        done = pytest(folder, "--gpu-printf", "-rA")
        text = done.stdout
        for name in ("child", "alone", "allowed", "silent"):
            checks.true(name, "PASSED test_gpu.py::test_" + name in text)
        for name in ("fails", "error"):
            checks.true(name, "FAILED test_gpu.py::test_" + name in text)
        checks.true("shown", "GPU printf" in text and "Output:" in text)
        checks.true("why", "the GPU reported" in text)
        if checks.n_wrong:
            print(text[-6000:], done.stderr[-2000:])
        # Without the option the fixture captures, and nothing else does.
        done = pytest(folder, "-rA", "-k", "child or error", PRINTFDECODE_DIR=folder)
        checks.true("without", "2 passed" in done.stdout)
        # Without a daemon the run ends, and says why.
        done = pytest(folder, "--gpu-printf", PRINTFDECODE="/nowhere/printfdecode", PATH="/nowhere")
        checks.equal("no daemon", done.returncode, 4)
        checks.true("it says so", "not installed" in done.stdout + done.stderr)
    checks.end()


main()
