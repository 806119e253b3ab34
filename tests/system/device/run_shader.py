#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_shader.py PRINTFDECODE HELLO: `run` takes shaders in place of programs.
HELLO: the folder of the shaders that print hello."""
import os
import shutil
import subprocess
import sys
import tempfile

BOTH = """#version 450
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 1) in;
void main() { PFD_PRINTF("one %d\\n", 1); debugPrintfEXT("two %d\\n", 2); }
"""
PLAIN = """
__kernel void plain(int y, PFD_PARAMETERS)
{ printf("%d of %d\\n", (int)get_global_id(0), y); }
"""
PROGRAM, HELLO = map(os.path.abspath, sys.argv[1:3])


def run(*words, env=None):
    return subprocess.run([PROGRAM, "run", *words], text=True, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lines_of(p):
    return p.returncode, p.stdout.splitlines()


def same(is_, wanted):
    assert is_ == wanted, (is_, wanted)


def main():
    def lines(language):
        return [f"hello from {i}: {i / 4:.6f} of {language}" for i in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        os.chdir(folder)
        for name in "hello.comp", "hello.cl", "debug.comp":
            shutil.copy(f"{HELLO}/{name}", ".")
        p = run("hello.comp", "1", "1", "1")
        same((p.returncode, p.stdout.splitlines()), (0, lines("GLSL")))
        same(run("hello.comp").stdout, p.stdout)  # sizes are 1
        # A name that begins like an option is none.
        for name in "hello", "debug":
            shutil.copy(f"{name}.comp", f"-{name}.comp")
            same(run("--", f"-{name}.comp").stdout, run(f"{name}.comp").stdout)
        same(len(run("hello.comp", "3").stdout.splitlines()), 12)
        p = run("--fail-on", "from 2", "-c", "hello.comp", "2", "1", "1")
        same((p.returncode, p.stdout), (4, "8\n"))
        # As large as it is asked for: 64 bytes have room for two entries.
        p = run("--buffer-bytes", "64", "hello.comp", "1", "1", "1")
        assert 0 < p.stdout.count("hello") < 4, p
        same(run("--buffer-bytes", "64", "hello.comp").stdout, p.stdout)
        p = run("--buffer-bytes", "1MiB", "-c", "hello.comp", "300", "1", "1")
        same((p.returncode, p.stdout), (0, "1200\n"))
        with open("bad.comp", "w") as f:
            f.write("#version 450\nvoid main() { PFD_PRINTF(\"%d\\n\", x); }\n")
        p = run("bad.comp")
        same((p.returncode, p.stdout), (1, ""))
        assert "'x' : undeclared" in p.stderr, p.stderr
        # Shaders of others, without the layer: what they call is known.
        same(lines_of(run("debug.comp", "1", "1", "1")),
             (0, lines("debugPrintf")))
        lines_shown = [f"[debug.comp:8] {line}" for line in lines("debugPrintf")]
        p = run("--show", "line", "debug.comp")
        same(lines_of(p), (0, lines_shown))
        with open("both.comp", "w") as f:
            f.write(BOTH)
        same(lines_of(run("both.comp")), (0, ["one 1", "two 2"]))
        p = run("both.comp", env={**os.environ, "PATH": "/none"})
        assert p.returncode == 1 and "glslang-tools" in p.stderr, p
        # A runner that refuses has said why.
        p = run("hello.comp", "1", "1", "1", "--nothing")
        assert p.returncode == 1 and "not connected" not in p.stderr, p
        # A ring of one's own goes into a file, and nothing is sent.
        subprocess.run(["glslangValidator", "-V", "-o", "own.spv",
                        os.path.join(HELLO, "../../rings/own.comp")],
                       stdout=subprocess.DEVNULL, check=True)
        p = run("--", "run_comp", "own.spv", "8", "1", "1", "--to", "own.bin")
        same((p.returncode, p.stdout, os.path.exists("own.bin")),
             (0, "", True))
        assert "written to own.bin" in p.stderr, p
        assert "not connected" not in p.stderr, p
        os.remove("own.spv")
        os.remove("own.bin")
        if "cl" in sys.argv[3:]:
            with open("plain.cl", "w") as f:
                f.write(PLAIN)
            same(lines_of(run("plain.cl", "plain", "2", "--arg", "5")),
                 (0, ["0 of 5", "1 of 5"]))
            with open("lacks.cl", "w") as f:
                f.write(PLAIN.replace(", PFD_PARAMETERS", ""))
            p = run("lacks.cl", "plain", "2", "--arg", "5")
            same((p.returncode, p.stdout), (1, ""))
            assert "need the parameter PFD_PARAMETERS" in p.stderr, p
            assert "no entry came" not in p.stderr, p
            shutil.copy("hello.cl", "-hello.cl")
            for name in "hello.cl", "-hello.cl":
                p = run("--", name, "hello", "4")
                same((p.returncode, p.stdout.splitlines()),
                     (0, lines("OpenCL")))
        if subprocess.run([PROGRAM, "run", "--vulkan-debug-printf", "--", "true"],
                          stderr=subprocess.PIPE).returncode == 0:
            p = run("--vulkan-debug-printf", "debug.comp", "1", "1", "1")
            assert p.returncode == 0 and p.stdout, p
            p = run("--vulkan-debug-printf", "--show", "line", "debug.comp")
            same(lines_of(p), (0, lines_shown))
            p = run("--vulkan-debug-printf", "--", "-debug.comp")
            same((p.returncode, len(p.stdout.splitlines())), (0, 4))
        assert not [name for name in os.listdir(".")
                    if not name.endswith((".comp", ".cl"))], os.listdir(".")


main()
