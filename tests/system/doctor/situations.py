#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""situations.py PRINTFDECODE LAYERS RUN_COMP GLSLANG PLAY SHADERS NULL PRETEND FAQ:
the ten situations of the FAQ, each as users reported it: the sentence that says
what is wrong, and what to type."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, LAYERS, RUN_COMP, GLSLANG, PLAY, SHADERS, NULL, PRETEND, FAQ = map(
    os.path.abspath, sys.argv[1:])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
OURS = {"VK_ADD_LAYER_PATH": LAYERS,
        "VK_INSTANCE_LAYERS": "VK_LAYER_PFD_debug_printf"}
PRINTF = ("khronos_validation.enables = "
          "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT\n")
SHADER = """#version 450
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 1) in;
%s
void main() { %s; }
"""
SET = "layout(set = 0, binding = 0) buffer B { uint n; };"


def call(*words, **env):
    """What it wrote, to both outputs."""
    plain = {k: v for k, v in os.environ.items()
             if not k.startswith(("VK_", "PFD_", "PRINTFDECODE", "JPY_"))
             or k == "VK_ICD_FILENAMES"}
    plain |= {"HOME": os.getcwd(), "XDG_DATA_HOME": f"{os.getcwd()}/data"}
    return subprocess.run(words, env=plain | env, text=True, timeout=200,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def doctor(*words, **env):
    return call(PROGRAM, "doctor", *words, **env)


def run(*words, **env):
    return call(PROGRAM, "run", "--vulkan-debug-printf", "--", *words, **env)


def write(name, text):
    os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return name


def shader(name, declared="", does='debugPrintfEXT("it is %d", 1)'):
    write(f"{name}.comp", SHADER % (declared, does))
    call(GLSLANG, "-V", "--target-env", "vulkan1.1", f"{name}.comp", "-o",
         f"{name}.spv")
    return f"{name}.spv"


def shader_objects():
    """They print, but validation has not changed them."""
    shutil.copy(PRETEND, "libVkLayer_khronos_validation.so")
    write("null.json", json.dumps({
        "file_format_version": "1.0.0",
        "ICD": {"library_path": NULL, "api_version": "1.3.0"}}))
    return call(PLAY, "named", f"{ROOT}/examples/data/small.bin",
                VK_ICD_FILENAMES=f"{os.getcwd()}/null.json",
                VK_ADD_LAYER_PATH=LAYERS,
                VK_INSTANCE_LAYERS="VK_LAYER_PFD_capture",
                LD_PRELOAD=f"{os.getcwd()}/libVkLayer_khronos_validation.so",
                PLAY_OBJECT="1", PLAY_SHADER=f"{SHADERS}/values.spv",
                PFD_LAYER="to=run.pfcap")


def quick_exit():
    """The program is gone before its GPU has printed."""
    quiet = shader("quiet", does="")
    return run("sh", "-c", f"{RUN_COMP} {quiet} 1 1 1; kill -9 $$")


def unused_set():
    return doctor(shader("plain"), shader("other", SET, "n = 1"))


def hostcall():
    with gzip.open(f"{ROOT}/tests/cases/cli/vain_hostcall/kh.co.gz") as f:
        image = f.read()
    with open("kh.co", "wb") as f:
        f.write(image)
    return doctor("kh.co")


def no_atomics():
    for node, simds in (0, 0), (1, 64):
        write(f"kfd/nodes/{node}/properties", f"simd_count {simds}\n")
    write("kfd/nodes/1/io_links/0/properties", "type 2\nflags 5\n")
    return doctor("--kfd", "kfd")


def silent_backend():
    """A compiler dropped the print: its shaders have none."""
    module = shader("dropped", does="")
    return run(RUN_COMP, module, "1", "1", "1") + doctor(module)


def settings_elsewhere():
    write("elsewhere/vk_layer_settings.txt", PRINTF)
    return doctor(**OURS)


def severity():
    """Messages of severity info are not reported: run shows them."""
    path = write("errors.txt", PRINTF +
                 "khronos_validation.report_flags = error\n")
    shown = run(RUN_COMP, shader("info"), "1", "1", "1",
                VK_LAYER_SETTINGS_PATH=path)
    assert "it is 1" in shown, shown
    return doctor(**OURS, VK_LAYER_SETTINGS_PATH=path)


def small_buffer():
    case = f"{ROOT}/tests/cases/debugprintf/capture_tiny_1"
    return doctor("--shaders", f"{case}/map.json", f"{case}/buffer.bin")


def notebook():
    return doctor(JPY_PARENT_PID="1")


# Number; what makes it; the sentence; what to type or to do.
SITUATIONS = [
    ("VVL#12597", shader_objects,
     "validation has left shader objects (vkCreateShadersEXT) as they are",
     "Pipelines made of the same shaders print"),
    ("VVL#9456", quick_exit,
     "no entry came: a signal ended it: what its GPU had not finished by then "
     "is lost", ""),
    ("VVL#8763", unused_set,
     "plain.spv: it uses no descriptor set, and other.spv does",
     "vkCmdBindPipeline and vkCmdDispatch of it before vkCmdBindDescriptorSets"),
    ("hip#3161", hostcall,
     "its kernels print through hostcall, which needs a host thread and PCIe "
     "atomics", "hipcc -mprintf-kind=buffered"),
    ("hip#3368", no_atomics, "the device of node 1 has no PCIe atomics",
     "hipcc -mprintf-kind=buffered"),
    ("taichi#5660", silent_backend, "no debugPrintf is called in it",
     "its shaders print nothing, or it ended by _exit()"),
    ("Vulkan-Samples#125", settings_elsewhere,
     "no setting turns on debugPrintf, unless the program does so itself",
     "printfdecode run --vulkan-debug-printf -- ./app"),
    ("VVL#1796", severity,
     "the validation layer reports no messages of severity info",
     "printfdecode, which reads its buffer, shows them"),
    ("VVL#6063", small_buffer, "bytes are lost: it is too small",
     "printfdecode run --vulkan-debug-printf --buffer-bytes"),
    ("jupyterhub#2035", notebook, "this runs below Jupyter",
     "fflush it, or write a dump and decode that"),
]


def main():
    if not os.path.exists(VALIDATION):
        print("no validation layer")
        sys.exit(77)
    with open(FAQ, encoding="utf-8") as f:
        faq = f.read()
    assert len(SITUATIONS) == 10
    for number, make, sentence, remedy in SITUATIONS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            said = " ".join(make().split())
            os.chdir("/")
        assert sentence in said and remedy in said, (number, said)
        rows = [line for line in faq.splitlines() if f"{number} " in line]
        assert len(rows) == 1 and rows[0].startswith("|"), (number, rows)
        print(f"{number}: {sentence}")


main()
