#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_options.py PRINTFDECODE RUN_COMP GLSLANG: every option of `run` does to what
debugPrintf prints, through the validation layer and ours, what it does elsewhere."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM, RUN_COMP, GLSLANG = map(os.path.abspath, sys.argv[1:4])
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
SKIPPED = 77
COUNT = 64
SHADER = """#version 450
%s
layout(local_size_x = 64) in;
void main()
{
    uint i = gl_LocalInvocationIndex;
    %s("ray %%u took %%u steps\\n", i, i / 8u);
    if (i %% 16u == 3u)
        %s("lost ray %%u\\n", i);
}
"""
RAYS = [f"ray {i} took {i // 8} steps" for i in range(COUNT)]
LOST = [f"lost ray {i}" for i in range(3, COUNT, 16)]
VULKAN = ["--vulkan-debug-printf"]
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("GITHUB_ACTIONS", "TF_BUILD", "GITHUB_STEP_SUMMARY")}
DEBUG = [RUN_COMP, "debug.spv", "1", "1", "1"]
OWN = [RUN_COMP, "own.spv", "1", "1", "1", "--strings", "own.pfdb"]


def run(*words, status=0, program=None, vulkan=True, err=False):
    p = subprocess.run([PROGRAM, "run", *(VULKAN if vulkan else []), *words,
                        "--", *(program or (DEBUG if vulkan else OWN))],
                       text=True, errors="replace", env=PLAIN,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=120)
    assert p.returncode == status, (words, p)
    assert err or not p.stderr, (words, p.stderr)
    return p


def same(out, wanted, what):
    lines = out.splitlines()
    assert sorted(lines) == sorted(wanted), (what, lines, wanted)


def filters():
    """All that choose, from the layer's buffers and from ours."""
    for vulkan in True, False:
        def lines(wanted, *words):
            same(run(*words, vulkan=vulkan).stdout, wanted, words)
        lines(RAYS + LOST)
        lines(LOST, "-m", "^lost")
        lines(LOST, "-i", "-m", "^LOST")
        lines(RAYS, "-m", "^lost", "--invert-match")
        lines(RAYS[40:], "--where", "a1 >= 5")
        lines(LOST, "--format-string", "^lost")
        lines([str(len(LOST))], "-c", "-m", "lost")
        p = run("-n", "5", vulkan=vulkan)
        assert len(p.stdout.splitlines()) == 5, p
        every = run(vulkan=vulkan).stdout.splitlines()
        assert run("--tail", "3", vulkan=vulkan).stdout.splitlines() == \
            every[-3:]
        rows = [json.loads(line) for line in
                run("-o", "json", vulkan=vulkan).stdout.splitlines()]
        rows = [r for r in rows if r["type"] == "entry"]
        same("".join(r["message"] for r in rows), RAYS + LOST, "json")
        number = next(r["id"] for r in rows if "lost" in r["message"])
        lines(LOST, "--id", number)
        p = run("-m", "no such", vulkan=vulkan, err=True)
        assert not p.stdout and "passes the filter" in p.stderr, p


def looks():
    """How lines look."""
    out = run("--prefix").stdout
    same(out, [f"gpu: {line}" for line in RAYS + LOST], "--prefix")
    out = run("--prefix=> ", "-m", "lost").stdout
    same(out, [f"> {line}" for line in LOST], "--prefix=")
    same(run("--collapse").stdout,
         [f"ray [0\u2013{COUNT - 1}] took [0\u20137] steps  \u00d7{COUNT}",
          "lost ray [3, 19, 35, 51]  \u00d74"], "--collapse")
    for what, pattern in (("time", r"\d\d:\d\d:\d\d"), ("id", r"0x[0-9a-f]+"),
                          ("line", r"debug\.comp:\d+"), ("source", r"\w")):
        # Below the validation layer modules have lost their lines.
        out = run("--show", what, "-m", "lost ray 19", "--strings",
                  "debug.spv").stdout
        assert out.endswith("lost ray 19\n") and len(out) > 12, (what, out)
        assert re.search(pattern, out), (what, out)


def forms():
    """-o of every form, and --report."""
    same(run("-o", "raw").stdout, RAYS + LOST, "raw")
    out = run("-o", "quickfix", "-m", "lost").stdout
    same(re.sub(r"debug\.comp:\d+: ", "", out),
         [f"note: {line}" for line in LOST], "quickfix")
    assert len(run("-o", "perfetto").stdout) > 100
    fail = ["--fail-on", "lost"]
    p = run("-o", "github", "--strings", "debug.spv", *fail, status=4, err=True)
    assert re.search(r"^::error file=debug\.comp,line=9,title=[^:]*::lost ray "
                     r"\d+ \(4 times\)$", p.stdout, re.M), p
    p = run("-o", "tap", *fail, status=4, err=True)
    assert p.stdout.startswith("TAP version 14\n"), p
    p = run("-o", "junit", *fail, status=4, err=True)
    suite = xml.dom.minidom.parseString(p.stdout)
    assert suite.getElementsByTagName("failure"), p
    p = run("-o", "sarif", *fail, status=4, err=True)
    assert json.loads(p.stdout)["runs"][0]["results"], p
    p = run("-o", "junit", "--report", "report.xml", *fail, status=4, err=True)
    same(p.stdout, RAYS + LOST, "--report")
    xml.dom.minidom.parse("report.xml")
    run("--fail-on-errors")
    run("--fail-on-loss")
    run("--fail-where", "a1 > 100")
    run("--fail-where", "a1 == 7", status=4, err=True)


def captures():
    """--to is decoded again."""
    for vulkan in True, False:
        same(run("--to", "run.pfcap", "--force", vulkan=vulkan).stdout,
             RAYS + LOST, "--to")
        p = subprocess.run([PROGRAM, "run.pfcap"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        same(p.stdout, RAYS + LOST, "decoded again")
        assert p.returncode == 0, p


def buffers():
    """--buffer-bytes: too small, and told what would have done."""
    p = run("--buffer-bytes", "1KiB", err=True)
    assert 0 < len(p.stdout.splitlines()) < COUNT, p
    wanted = re.search(r"--buffer-bytes (\d+) nothing", p.stderr)
    assert wanted, p.stderr
    same(run("--buffer-bytes", wanted[1]).stdout, RAYS + LOST, "enough")
    p = run("--buffer-bytes", "1KiB", "--fail-on-loss", status=4, err=True)
    assert "--fail-on-loss" in p.stderr, p


def strings():
    """--strings: those that the program does not send."""
    with open("none.pfdb", "wb") as f, open("other.pfdb", "rb") as other:
        f.write(other.read())
    program = [*OWN[:-1], "none.pfdb"]
    p = run(vulkan=False, program=program, err=True)
    assert "ray" not in p.stdout, p
    p = run("--strings", "own.pfdb", vulkan=False, program=program, err=True)
    same(p.stdout, RAYS + LOST, "--strings")


def attached():
    """--attach-env: a program that others start."""
    p = subprocess.Popen([PROGRAM, "run", *VULKAN, "--attach-env"], text=True,
                         stdout=subprocess.PIPE, env=PLAIN)
    words = []
    while not words or not words[-1].startswith("export PFD_LAYER="):
        words.append(p.stdout.readline())
        assert words[-1].startswith("export "), words
    subprocess.run(["sh", "-c", "".join(words) + '"$@"', "sh", *DEBUG],
                   check=True, env=PLAIN)
    lines = [p.stdout.readline() for _ in RAYS + LOST]
    same("".join(lines), RAYS + LOST, "--attach-env")
    p.terminate()
    assert p.wait() == 0 and not p.stdout.read()


def compile_all():
    texts = {
        "debug": SHADER % ("#extension GL_EXT_debug_printf : require",
                           "debugPrintfEXT", "debugPrintfEXT"),
        "source": SHADER % ("", "PFD_PRINTF", "PFD_PRINTF"),
        "else": SHADER.replace("ray", "sun") % ("", "PFD_PRINTF", "PFD_PRINTF"),
    }
    for name, text in texts.items():
        with open(f"{name}.comp", "w", encoding="utf-8") as f:
            f.write(text)
    for name, made in ("source", "own"), ("else", "other"):
        subprocess.run([PROGRAM, "scan", f"{name}.comp", "-o", f"{made}.comp",
                        "--strings", f"{made}.pfdb"], check=True,
                       stdout=subprocess.DEVNULL)
    for name in "debug", "own":
        subprocess.run([GLSLANG, "-V", "-g", "--target-env", "vulkan1.1",
                        f"{name}.comp", "-o", f"{name}.spv"], check=True,
                       stdout=subprocess.DEVNULL)


def main():
    if not os.path.exists(VALIDATION):
        print("no validation layer")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        compile_all()
        for part in looks, filters, forms, captures, buffers, strings, attached:
            part()
            print("ok:", part.__name__)
        os.chdir("/")


main()
