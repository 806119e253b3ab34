# SPDX-License-Identifier: MIT
"""run(vulkan=True), and pytest --gpu-printf-vulkan and -validation: what a shader
prints, and what validation finds in one: vulkan.py PLAY SHADER SHADER_WITH_AN_ERROR."""
import glob
import os
import subprocess
import sys
import tempfile

import support

import printfdecode as pd

LAVAPIPE = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"

TESTS = '''
import os, subprocess

PLAY, SHORT, ADDRESS = %r

def play(shader, **env):
    subprocess.run([PLAY, "print", shader, "1"], check=True, env=dict(os.environ, **env))

def test_prints(gpu_printf):
    play(SHORT)
    gpu_printf.wait(32)
    assert gpu_printf.messages == ["short %%d" %% i for i in range(32)]

def test_fails():
    play(SHORT)
    assert False, "as it should"

def test_error():
    play(ADDRESS, PLAY_IDLE="device")
'''


def check_pytest(checks, words):
    if subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True,
                      check=False).returncode:
        print("left out: pytest is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "test_gpu.py"), "w", encoding="utf-8") as file:
            file.write(TESTS % (tuple(map(os.path.abspath, words)),))

        def run(option, *names):
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "printfdecode.pytest_plugin", "-p",
                 "no:cacheprovider", "-rA", "--gpu-printf", option, "-k", " or ".join(names)],
                cwd=folder, capture_output=True, text=True, check=False)
            return done.stdout
        text = run("--gpu-printf-vulkan", "prints", "fails")
        checks.true("the fixture", "PASSED test_gpu.py::test_prints" in text)
        checks.true("shown: " + text[-3000:], "GPU printf" in text and "short 31" in text)
        text = run("--gpu-printf-validation", "error")
        checks.true("an error fails: " + text[-3000:], "the GPU reported" in text and
                    "1 failed" in text)


def main():
    if not LAVAPIPE or not os.path.exists(VALIDATION):
        print("no lavapipe or no validation layer")
        sys.exit(77)
    checks = support.Checks()
    play, short, address = sys.argv[1:]
    for name in [name for name in os.environ if name.startswith("VK_")]:
        del os.environ[name]
    os.environ.update(VK_DRIVER_FILES=LAVAPIPE[0], VK_ICD_FILENAMES=LAVAPIPE[0])
    result = pd.run([play, "print", short, "2"], vulkan=True)
    checks.equal("status", (result.returncode, result.missed), (0, 0))
    checks.equal("messages", [entry.message for entry in result.entries],
                 ["short %d" % i for i in range(64)])
    checks.true("no errors", not any(map(pd.is_error, result.entries)))
    result = pd.run([play, "print", address, "1"], gpu_validation=True,
                    env=dict(os.environ, PLAY_IDLE="device"))
    checks.true("an error", any(map(pd.is_error, result.entries)))
    check_pytest(checks, sys.argv[1:])
    checks.end()


main()
