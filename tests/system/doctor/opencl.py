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
__attribute__((constructor)) static void begin(void) { %s; }
"""


def doctor(folder, **env):
    """(facts of OpenCL or None, its faults by id)"""
    env = {**os.environ, "HOME": folder, "OCL_ICD_VENDORS": folder, **env}
    p = subprocess.run([PROGRAM, "doctor", "--json"], env=env, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=120)
    assert p.returncode in (0, 2) and not p.stderr, p
    rows = [r for r in map(json.loads, p.stdout.splitlines())
            if r["subject"] == "opencl"]
    return (next((r for r in rows if r["type"] == "facts"), None),
            {r["id"]: r for r in rows if r["type"] != "facts"})


def main():
    with tempfile.TemporaryDirectory() as folder:
        facts, faults = doctor(folder)
        if not facts:
            print("no loader of OpenCL")
            sys.exit(SKIPPED)
        assert facts["device_count"] == 0 and "devices" not in facts, facts
        assert set(faults) == {"no_platform"}, faults
        assert faults["no_platform"]["type"] == "advice", faults
        if shutil.which("cc"):
            for fault, does in (("opencl_crashes", "__builtin_trap()"),
                                ("opencl_ends", "exit(3)")):
                with open(f"{folder}/driver.c", "w", encoding="utf-8") as f:
                    f.write(DRIVER % does)
                subprocess.run(["cc", "-shared", "-fPIC", "-o",
                                f"{folder}/driver.so", f"{folder}/driver.c"],
                               check=True)
                with open(f"{folder}/driver.icd", "w", encoding="utf-8") as f:
                    f.write(f"{folder}/driver.so\n")
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


main()
