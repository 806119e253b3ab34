#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files.py PRINTFDECODE: `doctor` says what is wrong with buffers, modules, code
objects and AMD's devices."""
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
DATA = f"{ROOT}/examples/data"
CASES = f"{ROOT}/tests/cases"
SMALL = [f"{DATA}/small.bin", f"{DATA}/app.elf"]
sys.path.insert(0, f"{ROOT}/tests/make")
import spirv_module as spv  # noqa: E402


def doctor(*words):
    p = subprocess.run([PROGRAM, "doctor", "--json", *words], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=60)
    assert not p.stderr, p.stderr
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    facts = {r["subject"]: r for r in rows if r["type"] == "facts"}
    faults = {r["id"]: r for r in rows if r["type"] != "facts"}
    is_wrong = any(r["type"] == "fault" for r in faults.values())
    assert p.returncode == (2 if is_wrong else 0), p
    return facts, faults


def expect(ids, *words):
    facts, faults = doctor(*words)
    assert set(faults) == set(ids), (ids, words, faults)
    return facts, faults


def buffers(folder):
    facts, _ = expect([], *SMALL)
    small = facts[SMALL[0]]
    assert (small["format"], small["entries"]) == ("llpc", 64), small
    expect(["no_strings"], SMALL[0])
    hostile = f"{folder}/;touch x #.bin"
    os.symlink(SMALL[0], hostile)
    _, faults = expect(["no_strings"], hostile)
    assert shlex.split(faults["no_strings"]["command"])[1] == hostile, faults
    expect(["other_strings"], f"{DATA}/rays.bin", SMALL[1])
    expect(["filtered"], "-m", "no such text", *SMALL)
    expect([], "-m", "half", *SMALL)
    expect(["buffer_small"], f"{DATA}/h200_cut.bin", SMALL[1])
    expect(["no_buffer"], f"{ROOT}/README.md")
    p = subprocess.run([PROGRAM, "doctor", f"{folder}/none"], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (p.returncode, p.stdout) == (1, "") and "none" in p.stderr, p
    with open(f"{folder}/zeros", "wb") as f:
        f.write(bytes(4096))
    expect(["zeros"], f"{folder}/zeros")
    with open(SMALL[0], "rb") as f:
        head = f.read(16)
    with open(f"{folder}/empty", "wb") as f:
        f.write(bytes(4) + head[4:] + bytes(4080))
    _, faults = doctor(f"{folder}/empty", SMALL[1])
    assert set(faults) & {"no_entries", "zeros"}, faults


def module(texts):
    ret = spv.Module()
    for text in texts:
        ret.call(ret.string(text), ["u32"])
    return ret.bytes()


def modules(folder):
    printing = f"{folder}/printing.spv"
    silent = f"{folder}/silent.spv"
    nothing = f"{folder}/nothing.spv"
    for path, texts in ((printing, ["it is %u"]), (silent, ["it is %u", "%s"]),
                        (nothing, [])):
        with open(path, "wb") as f:
            f.write(module(texts))
    facts, _ = expect([], printing)
    assert facts[printing]["calls"] == 1, facts
    facts, faults = expect(["silent_calls"], silent)
    assert facts[silent]["silent_calls"] == 1, facts
    assert faults["silent_calls"]["command"].endswith(silent), faults
    expect(["no_calls"], nothing)
    # What is to be typed is typed as it stands.
    hostile = f"{folder}/it's $(touch x); `a`.spv"
    os.rename(silent, hostile)
    _, faults = expect(["silent_calls"], hostile)
    command = faults["silent_calls"]["command"]
    assert shlex.split(command)[-1] == hostile, command


def code(folder):
    """HIP's default, which needs PCIe atomics (hip#3161, hip#3368)."""
    path = f"{folder}/kh.co"
    with gzip.open(f"{CASES}/cli/vain_hostcall/kh.co.gz") as f:
        image = f.read()
    with open(path, "wb") as f:
        f.write(image)
    facts, faults = expect(["hostcall"], path)
    assert facts[path]["hostcall_objects"] == 1, facts
    assert "-mprintf-kind=buffered" in faults["hostcall"]["command"], faults


def kfd(folder):
    """A processor and a device, whose link has these flags."""
    def write(path, **values):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"{k} {v}\n" for k, v in values.items())
    for flags, ids in ((1, set()), (1 | 4, {"no_atomics"}),
                       (1 | 8, {"no_atomics"})):
        nodes = f"{folder}/{flags}/nodes"
        write(f"{nodes}/0/properties", cpu_cores_count=8, simd_count=0)
        write(f"{nodes}/1/properties", cpu_cores_count=0, simd_count=64,
              gfx_target_version=100300)
        write(f"{nodes}/1/io_links/0/properties", type=2, flags=flags)
        facts, faults = doctor("--kfd", f"{folder}/{flags}")
        assert {i for i, f in faults.items() if f["subject"] == "hip"} == ids, \
            faults
        device = facts["hip"]["devices"]
        assert device == [{"node": "1", "gfx_target_version": 100300,
                           "pcie_atomics": not ids}], device
    _, faults = doctor("--kfd", f"{folder}/none")
    assert "no_topology" in faults, faults


def main():
    for part in buffers, modules, code, kfd:
        with tempfile.TemporaryDirectory() as folder:
            part(folder)


main()
