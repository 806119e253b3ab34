#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py PRINTFDECODE [COUNT]: a shader's text is no command for the runner
of a build server, in any form; a file has it as it is."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "make"))
import llpc_cases as llpc  # noqa: E402
import spirv_module as spv  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else \
    100000 if "TEST_WHOLE" in os.environ else 20000
IMAGE = 50000  # strings of an image
# Of .NET's char.IsWhiteSpace(), by which the runner trims.
SPACE = ("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
         + "".join(chr(c) for c in range(0x2000, 0x200b)))
ODD = SPACE + "\u180e\u200b\ufeff\x00\x1b"
PIECES = ["::", "::error::", "::error file=a,line=1::x", "::set-output name=a::b",
          "::add-mask::x", "::stop-commands::end", "##[error]", "##[group]",
          "##[add-path]", "##vso[task.setvariable variable=a]b", "##VSO[x]",
          "#", "##", "[", ":", "::::", "%0A::error::", "x", "error", "\\", '"']


def message(rng):
    parts = [rng.choice([rng.choice(PIECES), rng.choice(ODD),
                         rng.choice(PIECES) + rng.choice(ODD)])
             for _ in range(rng.randrange(1, 7))]
    text = "".join(parts).replace("%", "%%").replace("\0", "")
    return text + rng.choice(["", "\n"])


def commands(text):
    """What GitHub's runner and Azure's agent take for commands: as their
    readers, lines end at CR, LF and both; white space before :: is trimmed; the
    older ##[ and ##vso[ stand anywhere."""
    found = []
    for line in re.split("\r\n|\r|\n", text):
        trimmed = line.lstrip(SPACE + "\u180e\u200b\ufeff")
        if trimmed.startswith("::") or "##[" in line or \
                "##vso[" in line.lower():
            found.append(line)
    return found


def run(folder, to_file=False, **more):
    words = more.pop("words")
    env = {**os.environ, **more}
    out = open(f"{folder}/out", "wb") if to_file else subprocess.PIPE
    images = sorted(f for f in os.listdir(folder) if f.endswith(".elf"))
    p = subprocess.run([PROGRAM, "buffer.bin", *images, *words], env=env,
                       cwd=folder, stdout=out, stderr=subprocess.PIPE)
    if to_file:
        out.close()
        with open(f"{folder}/out", "rb") as f:
            return f.read(), p
    return p.stdout, p


def main():
    rng = random.Random(COUNT)
    texts = [message(rng) for _ in range(COUNT)]
    strings = [llpc.Str(i + 1, text) for i, text in enumerate(texts)]
    ours = re.compile(r"::(error|warning) (file=[^:,]*,(line=\d+,)?)?title=")
    with tempfile.TemporaryDirectory() as folder:
        for i in range(0, COUNT, IMAGE):
            with open(f"{folder}/{i}.elf", "wb") as f:
                f.write(llpc.image(*strings[i:i + IMAGE]))
        with open(f"{folder}/buffer.bin", "wb") as f:
            f.write(llpc.buffer(*(s() for s in strings)))
        exact, _ = run(folder, True, words=["-o", "raw"], GITHUB_ACTIONS="true")
        wanted = "".join(texts).replace("%%", "%").encode()
        assert exact == wanted, "a file is not exact"
        assert len(commands(exact.decode())) > COUNT // 10, "nothing is hostile"
        for form in ("text", "raw", "quickfix", "json", "github", "junit",
                     "sarif", "tap"):
            shown, p = run(folder, words=["-o", form, "--fail-on", "error"],
                           GITHUB_ACTIONS="true")
            assert p.returncode == 4, (form, p.returncode, p.stderr[-300:])
            found = commands(shown.decode(errors="replace"))
            if form == "github":
                assert 0 < len(found) <= 20, len(found)
                found = [line for line in found if not ours.match(line)]
            assert not found, (form, found[:5])
            found = commands(p.stderr.decode(errors="replace"))
            assert not found, (form, found[:5])
            if form == "json":
                plain, _ = run(folder, True, words=["-o", form])
                for a, b in zip(plain.splitlines(), shown.splitlines()):
                    assert json.loads(a) == json.loads(b), (a, b)
        shown, _ = run(folder, words=["--fail-on", "error"], TF_BUILD="True")
        assert not commands(shown.decode(errors="replace"))


def names_of_files():
    """Nor does a name of a source file reach a terminal."""
    m = spv.Module()
    m.line(m.string("a\x1b[31m\x07,::b.comp"), 3)
    m.call(m.string("error"), [])
    m.words()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/m.spv", "wb") as f:
            f.write(m.bytes())
        with open(f"{folder}/buffer.bin", "wb") as f:
            f.write(spv.printf_buffer("p6", [spv.record("p6", 7, m, 0, [])]))
        for form in ("github", "junit", "tap", "quickfix", "sarif"):
            shown, p = run(folder, words=["--shader", "7=m.spv", "-o", form,
                                          "--fail-on", "error"])
            assert p.returncode == 4, (form, p.stderr)
            assert b"b.comp" in shown, (form, shown)
            assert not set(shown) & {0x1b, 7}, (form, shown)


main()
names_of_files()
