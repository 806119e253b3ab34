#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opencl.py PRINTFDECODE: `doctor` shows OpenCL's devices, and names drivers that
end or hang what asks for them, each where there is such a driver."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SKIPPED = 77
DRIVER = """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { %s; }
"""


def start(folder, **env):
    env = {**os.environ, "HOME": folder, "OCL_ICD_VENDORS": folder, **env}
    return subprocess.Popen([PROGRAM, "doctor", "--json"], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer(p):
    """(facts of OpenCL or None, its faults by id)"""
    out, err = p.communicate(timeout=150)
    assert p.returncode in (0, 2) and not err, (p.returncode, err)
    rows = [r for r in map(json.loads, out.splitlines())
            if r["subject"] == "opencl"]
    return (next((r for r in rows if r["type"] == "facts"), None),
            {r["id"]: r for r in rows if r["type"] != "facts"})


def doctor(folder, **env):
    return answer(start(folder, **env))


def add_driver(folder, does):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/driver.c", "w", encoding="utf-8") as f:
        f.write(DRIVER % does)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder}/driver.so",
                    f"{folder}/driver.c"], check=True)
    with open(f"{folder}/driver.icd", "w", encoding="utf-8") as f:
        f.write(f"{folder}/driver.so\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        facts, faults = doctor(folder)
        if not facts:
            print("no loader of OpenCL")
            sys.exit(SKIPPED)
        assert facts["device_count"] == 0 and "devices" not in facts, facts
        assert set(faults) == {"no_platform"}, faults
        assert faults["no_platform"]["type"] == "advice", faults
        late = []
        if shutil.which("cc"):
            # These take a minute each, and do so beside the others; one has
            # closed its outputs before.
            for name, does in (("hangs", "for (;;) pause()"), (
                    "silent", "close(1); close(2); for (;;) pause()")):
                add_driver(f"{folder}/{name}", does)
                late.append(start(f"{folder}/{name}"))
            for fault, does in (("opencl_crashes", "__builtin_trap()"),
                                ("opencl_ends", "exit(3)")):
                add_driver(folder, does)
                facts, faults = doctor(folder)
                assert set(faults) == {fault}, faults
                assert faults[fault]["type"] == "fault", faults
            os.remove(f"{folder}/driver.icd")
        # A loader that is none.
        os.mkdir(f"{folder}/lib")
        with open(f"{folder}/lib/libOpenCL.so.1", "w", encoding="utf-8"):
            pass
        facts, faults = doctor(folder, LD_LIBRARY_PATH=":".join(filter(
            None, [f"{folder}/lib", os.environ.get("LD_LIBRARY_PATH")])))
        assert not facts and not faults, (facts, faults)
        vendors = "/etc/OpenCL/vendors"
        if os.path.isdir(vendors) and os.listdir(vendors):
            facts, faults = doctor(folder, OCL_ICD_VENDORS=vendors)
            assert not faults or "no_platform" in faults, faults
            assert len(facts.get("devices", [])) == facts["device_count"], facts
            for device in facts.get("devices", []):
                assert device["name"] and device["platform"], facts
        for p in late:
            _, faults = answer(p)
            assert set(faults) == {"opencl_hangs"}, faults
            assert faults["opencl_hangs"]["type"] == "fault", faults


main()
