#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Mesa's OpenCL is about to print, read by gdb out of the process that
prints it: the buffer and the program are found in its memory. Also where it dies
of a full buffer, and prints nothing.
usage: rusticl_test.py PRINTFDECODE GDB_SCRIPT
Skipped, with a reason, where there is no rusticl, no device of it, or no gdb."""
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE = rb"""
__attribute__((noinline)) void helper(int a) { printf("helper %d\n", a); }
__kernel void k(__global uint *o)
{
    uint g = get_global_id(0);
    printf("item %u of %u\n", g, (uint)get_global_size(0));
    if (g == 1) {
        helper(-7);
        printf("%s %f %v4f\n", "text", 1.5f, (float4)(1, 2, 3, 4));
    }
    o[g] = g;
}
"""
NUMBER, POINTER = ctypes.c_size_t, ctypes.c_void_p


def skip(why):
    print(why)
    sys.exit(SKIPPED)


# ---- the program that prints ----

def find_platform(cl):
    platforms = (POINTER * 16)()
    n = ctypes.c_uint()
    cl.clGetPlatformIDs(16, platforms, ctypes.byref(n))
    for i in range(min(n.value, 16)):
        name = ctypes.create_string_buffer(256)
        cl.clGetPlatformInfo(POINTER(platforms[i]), 0x0902, NUMBER(256), name, None)
        if b"rusticl" in name.value:
            return POINTER(platforms[i])
    return skip("no platform of OpenCL is rusticl")


def print_items(n_items):
    try:
        cl = ctypes.CDLL("libOpenCL.so.1")
    except OSError as why:
        skip("no OpenCL: %s" % why)
    for name in ("clCreateContext", "clCreateCommandQueue",
                 "clCreateProgramWithSource", "clCreateKernel", "clCreateBuffer"):
        getattr(cl, name).restype = POINTER
    libc = ctypes.CDLL(None)
    libc.setvbuf(POINTER.in_dll(libc, "stdout"), None, 2, NUMBER(0))
    device = POINTER()
    if cl.clGetDeviceIDs(find_platform(cl), ctypes.c_uint64(0xffffffff), 1,
                         ctypes.byref(device), None):
        skip("rusticl has no device")
    status = ctypes.c_int()
    told = ctypes.byref(status)
    context = POINTER(cl.clCreateContext(None, 1, ctypes.byref(device), None, None,
                                         told))
    queue = POINTER(cl.clCreateCommandQueue(context, device, ctypes.c_uint64(0),
                                            told))
    program = POINTER(cl.clCreateProgramWithSource(
        context, 1, ctypes.byref(ctypes.c_char_p(SOURCE)), None, told))
    if cl.clBuildProgram(program, 1, ctypes.byref(device), b"", None, None):
        skip("rusticl builds no kernel here")
    kernel = POINTER(cl.clCreateKernel(program, b"k", told))
    memory = POINTER(cl.clCreateBuffer(context, ctypes.c_uint64(1),
                                       NUMBER(4 * n_items), None, told))
    cl.clSetKernelArg(kernel, 0, NUMBER(ctypes.sizeof(memory)),
                      ctypes.byref(memory))
    cl.clEnqueueNDRangeKernel(queue, kernel, 1, None,
                              ctypes.byref(NUMBER(n_items)), None, 0, None, None)
    cl.clFinish(queue)


# ---- the test ----

COMMANDS = """
set pagination off
set debuginfod enabled off
set style enabled off
source %s
catch syscall write
condition 1 $_thread != 1 && ($rdi == 1 || $rdi == 2)
run
info gpu-printf -- --scan
kill
"""


def run(program, script, n_items):
    """What Mesa prints by itself; what is in its memory; findings."""
    child = [sys.executable, os.path.abspath(__file__), "--print", str(n_items)]
    own = subprocess.run(child, capture_output=True, timeout=300, check=False)
    if own.returncode == SKIPPED:
        skip(own.stdout.decode().strip())
    with open("commands", "w", encoding="utf-8") as f:
        f.write(COMMANDS % script)
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", "commands", "--args", *child],
        capture_output=True, timeout=300, check=False,
        env=dict(os.environ, PRINTFDECODE=program))
    if b"Operation not permitted" in done.stderr:
        skip("no right to trace")
    if b"Python scripting is not supported" in done.stderr:
        skip("this gdb has no Python")
    return own.stdout, done.stdout, done.stderr


def main(program, script):
    program, script = os.path.abspath(program), os.path.abspath(script)
    if platform.machine() != "x86_64":
        skip("the condition of the commands names registers of x86_64")
    if not shutil.which("gdb"):
        skip("no gdb")
    os.environ["RUSTICL_ENABLE"] = "llvmpipe"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        own, found, told = run(program, script, 4)
        assert own.count(b"\n") == 6, own
        assert own in found, (own, found, told)
        own, found, told = run(program, script, 100000)
        items = {line for line in found.splitlines()
                 if line.startswith(b"item ") and line.endswith(b" of 100000")}
        assert len(items) > 60000, (len(items), found[-400:], told)
        assert b"overflow: calls asked for " in found + told, told
        if not own:
            print("Mesa died of the full buffer, and printed nothing")


if __name__ == "__main__":
    if sys.argv[1] == "--print":
        print_items(int(sys.argv[2]))
    else:
        main(*sys.argv[1:3])
