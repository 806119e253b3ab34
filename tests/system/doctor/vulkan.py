#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vulkan.py PRINTFDECODE LAYER_FOLDER: `doctor` names what is wrong with Vulkan,
each in an environment that has that fault, and nothing where nothing is wrong."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, LAYERS = map(os.path.abspath, sys.argv[1:3])
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
SKIPPED = 77
OURS = {"VK_ADD_LAYER_PATH": LAYERS,
        "VK_INSTANCE_LAYERS": "VK_LAYER_PFD_debug_printf"}
ENABLES = "khronos_validation.enables = "
PRINTF = ENABLES + "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT\n"
DRIVER = """
#include <stdlib.h>
#include <unistd.h>
int vk_icdNegotiateLoaderICDInterfaceVersion(unsigned *v)
{ (void)v; %s; return 0; }
void *vk_icdGetInstanceProcAddr(void *i, const char *n)
{ (void)i; (void)n; return 0; }
"""


def environment(folder, env):
    plain = {k: v for k, v in os.environ.items()
             if not k.startswith(("VK_", "PFD_", "PRINTFDECODE"))
             or k == "VK_ICD_FILENAMES"}
    plain |= {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data"}
    return {"cwd": folder, "env": plain | env, "text": True,
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def doctor(folder, **env):
    run = {**environment(folder, env), "timeout": 120}
    p = subprocess.run([PROGRAM, "doctor", "--json"], **run)
    assert not p.stderr, p.stderr
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    faults = {r["id"]: r for r in rows
              if r["type"] != "facts" and r["subject"] != "opencl"}
    is_wrong = any(r["type"] == "fault" for r in faults.values())
    assert p.returncode == (2 if is_wrong else 0), p
    text = subprocess.run([PROGRAM, "doctor"], **run)
    assert text.returncode == p.returncode, text
    for fault in faults.values():
        assert fault["text"] in text.stdout, (fault, text.stdout)
        assert fault.get("command", "") in text.stdout, (fault, text.stdout)
    return rows, faults


def expect(folder, ids, **env):
    rows, faults = doctor(folder, **env)
    assert set(faults) == set(ids), (ids, env, faults)
    return rows, faults


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def healthy(folder):
    rows, _ = expect(folder, [])
    facts = next(r for r in rows if r["subject"] == "vulkan")
    assert facts["devices"] and facts["loader"], facts
    assert [o["layer"] for o in facts["order"] if "MESA" not in o["layer"]] == [
        "VK_LAYER_PFD_messages", "VK_LAYER_KHRONOS_validation",
        "VK_LAYER_PFD_capture"], facts
    names = {s["name"] for s in facts["settings"]}
    assert "khronos_validation.enables" in names, facts


def settings(folder):
    """Where they come from, and what they say."""
    path = write(f"{folder}/own/vk_layer_settings.txt", PRINTF)
    rows, _ = expect(folder, [], **OURS, VK_LAYER_SETTINGS_PATH=path)
    assert rows[0]["settings_file"] == path, rows[0]
    assert rows[0]["settings_by"] == "VK_LAYER_SETTINGS_PATH", rows[0]
    expect(folder, [], **OURS, VK_LAYER_SETTINGS_PATH=f"{folder}/own")
    expect(folder, [], **OURS,
           VK_LAYER_ENABLES="VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT")
    expect(folder, ["printf_off"], **OURS)
    expect(folder, ["no_settings", "printf_off"], **OURS,
           VK_LAYER_SETTINGS_PATH=f"{folder}/none.txt")
    write(f"{folder}/vk_layer_settings.txt", PRINTF)
    rows, _ = expect(folder, [], **OURS)
    assert rows[0]["settings_file"] == "vk_layer_settings.txt", rows[0]
    os.remove(f"{folder}/vk_layer_settings.txt")
    _, faults = doctor(folder, **OURS, VK_LAYER_SETTINGS_PATH=write(
        f"{folder}/new.txt", "khronos_validation.printf_enable = true\n"))
    assert set(faults) <= {"setting_unknown"}, faults
    # VVL, pull request 8784: some messages are shown, and then none.
    _, faults = expect(folder, ["message_limit"], **OURS,
                       VK_LAYER_SETTINGS_PATH=write(
                           f"{folder}/limit.txt", PRINTF +
                           "khronos_validation.duplicate_message_limit = 10\n"))
    assert faults["message_limit"]["type"] == "advice", faults
    # vkconfig's file hides every other: nothing is printed by run, either.
    hiding = f"{folder}/data/vulkan/settings.d/vk_layer_settings.txt"
    write(hiding, "# nothing\n")
    _, faults = expect(folder, ["settings_hidden"])
    assert faults["settings_hidden"]["command"] == f"rm {hiding}", faults
    write(hiding, PRINTF)
    _, faults = expect(folder, ["settings_hidden"])
    assert faults["settings_hidden"]["type"] == "advice", faults
    os.remove(hiding)


def layers(folder):
    both = "VK_LAYER_PFD_capture:VK_LAYER_KHRONOS_validation"
    _, faults = doctor(folder, VK_ADD_LAYER_PATH=LAYERS, VK_INSTANCE_LAYERS=both)
    assert "layer_order" in faults, faults
    assert faults["layer_order"]["command"] == (
        "export VK_INSTANCE_LAYERS=VK_LAYER_PFD_debug_printf"), faults
    expect(folder, ["validation_off", "printf_off", "layer_says"],
           VK_ADD_LAYER_PATH=LAYERS, VK_INSTANCE_LAYERS="VK_LAYER_PFD_capture")
    expect(folder, ["capture_off", "printf_off"], VK_ADD_LAYER_PATH=LAYERS,
           VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation")
    _, faults = expect(folder, ["no_capture"],
                       VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation")
    assert LAYERS in os.path.realpath(
        faults["no_capture"]["command"].split("=")[1]), faults
    os.mkdir(f"{folder}/empty")
    expect(folder, ["no_validation"], VK_LAYER_PATH=f"{folder}/empty")
    path = write(f"{folder}/printf.txt", PRINTF)
    _, faults = expect(folder, ["layer_says"], **OURS, PFD_LAYER="nonsense=1",
                       VK_LAYER_SETTINGS_PATH=path)
    assert "'nonsense'" in faults["layer_says"]["text"], faults


def drivers(folder):
    _, faults = expect(folder, ["no_driver_file"],
                       VK_ICD_FILENAMES=f"{folder}/none.json")
    assert faults["no_driver_file"]["command"] == "unset VK_ICD_FILENAMES"
    def add_driver(name, does):
        write(f"{folder}/{name}.c", DRIVER % does)
        subprocess.run(["cc", "-shared", "-fPIC", "-o",
                        f"{folder}/lib{name}.so", f"{folder}/{name}.c"],
                       check=True)
        return write(f"{folder}/{name}.json", json.dumps({
            "file_format_version": "1.0.0",
            "ICD": {"library_path": f"{folder}/lib{name}.so",
                    "api_version": "1.3.0"}}))
    # It takes a minute, and does so beside the others.
    hung = {"VK_ICD_FILENAMES": add_driver("hangs", "for (;;) pause()")}
    late = subprocess.Popen([PROGRAM, "doctor", "--json"],
                            **environment(folder, hung))
    for fault, does in (("driver_crashes", "__builtin_trap()"),
                        ("driver_ends", "exit(3)")):
        expect(folder, [fault], VK_ICD_FILENAMES=add_driver(fault, does))
    # A loader that is none.
    write(f"{folder}/lib/libvulkan.so.1", "")
    _, faults = expect(folder, ["no_loader"], LD_LIBRARY_PATH=":".join(filter(
        None, [f"{folder}/lib", os.environ.get("LD_LIBRARY_PATH")])))
    assert "libvulkan.so.1" in faults["no_loader"]["text"], faults
    out, err = late.communicate(timeout=150)
    assert late.returncode == 2 and not err, (late.returncode, err)
    found = [r["id"] for r in map(json.loads, out.splitlines())
             if r["subject"] == "vulkan" and r["type"] == "fault"]
    assert found == ["driver_hangs"], found


def main():
    if not os.path.exists(VALIDATION) or not shutil.which("cc"):
        print("no validation layer, or no compiler")
        sys.exit(SKIPPED)
    for part in healthy, settings, layers, drivers:
        with tempfile.TemporaryDirectory() as folder:
            part(folder)


main()
