#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""silence.py PRINTFDECODE RUN_COMP GLSLANG SHADER: `run` says why a program ended
without a line, and nothing where a line came."""
import os
import subprocess
import sys
import tempfile

PROGRAM, RUN_COMP, GLSLANG, SHADER = sys.argv[1:5]
PROGRAM, RUN_COMP = os.path.abspath(PROGRAM), os.path.abspath(RUN_COMP)
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
SKIPPED = 77
QUIET = """#version 450
layout(local_size_x = 1) in;
void main() {}
"""


def run(folder, *words, status=0, **env):
    plain = {k: v for k, v in os.environ.items()
             if not k.startswith("VK_") or k == "VK_ICD_FILENAMES"}
    plain |= {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data"}
    p = subprocess.run([PROGRAM, "run", *words], cwd=folder, text=True,
                       env=plain | env, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120)
    assert p.returncode == status, p
    return p


def has(p, *texts):
    assert not p.stdout, p
    for text in texts:
        assert text in p.stderr, (text, p.stderr)


def compile_to(folder, name, text=None):
    if text:
        with open(f"{folder}/{name}.comp", "w", encoding="utf-8") as f:
            f.write(text)
    source = f"{folder}/{name}.comp" if text else SHADER
    subprocess.run([GLSLANG, "-V", "--target-env", "vulkan1.1", source, "-o",
                    f"{folder}/{name}.spv"], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    if not os.path.exists(VALIDATION):
        print("no validation layer")
        sys.exit(SKIPPED)
    vulkan = "--vulkan-debug-printf"
    printing = [RUN_COMP, "printing.spv", "1", "1", "1"]
    with tempfile.TemporaryDirectory() as folder:
        compile_to(folder, "printing")
        compile_to(folder, "quiet", QUIET)
        p = run(folder, vulkan, "--", *printing)
        assert p.stdout and not p.stderr, p
        # A runner of the package need not be in PATH.
        same = run(folder, vulkan, "--", "run_comp", *printing[1:])
        assert sorted(same.stdout) == sorted(p.stdout), (same, p)
        # taichi#5660: a shader that prints nothing.
        has(run(folder, vulkan, "--", RUN_COMP, "quiet.spv", "1", "1", "1"),
            "no entry came: its shaders print nothing, or")
        # A program's own log without messages of severity info has nothing.
        with open(f"{folder}/errors.txt", "w", encoding="utf-8") as f:
            f.write("khronos_validation.enables = "
                    "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT\n"
                    "khronos_validation.report_flags = error\n")
        same = run(folder, vulkan, "--", *printing,
                   VK_LAYER_SETTINGS_PATH=f"{folder}/errors.txt")
        # Newer validation layers write there, too.
        assert set(p.stdout.splitlines()) <= set(same.stdout.splitlines()), same
        # It needs the option.
        has(run(folder, "--", *printing), "debugPrintfEXT needs --vulkan-debug-")
        # Where errors are asked for, none is no fault.
        has(run(folder, "--vulkan-gpu-validation", "--", *printing),
            "no entry came: GPU-assisted validation found no error, or")
        has(run(folder, vulkan, "--", "true"), "it made no Vulkan device")
        # VVL#9456: it ends before its GPU has.
        has(run(folder, vulkan, "--", "sh", "-c",
                f"{RUN_COMP} quiet.spv 1 1 1; kill -9 $$", status=137),
            "no entry came: a signal ended it")
        has(run(folder, vulkan, "-m", "no such", "--", *printing),
            "no entry came that passes the filter")
        # Settings of vkconfig that turn it off, unseen.
        hiding = f"{folder}/data/vulkan/settings.d/vk_layer_settings.txt"
        os.makedirs(os.path.dirname(hiding))
        with open(hiding, "w", encoding="utf-8") as f:
            f.write("# nothing\n")
        has(run(folder, vulkan, "--", *printing), "no entry came\n",
            "vkconfig's settings hide", f"rm {hiding}")
        os.remove(hiding)
        has(run(folder, vulkan, "--", *printing, status=77,
                VK_ICD_FILENAMES="/none.json"),
            "VK_ICD_FILENAMES names a file that is not there")


main()
