#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""checks.py PRINTFDECODE: --fail-on and its like, and reports."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "..", "cases")
LEVELS = [f"{CASES}/llpc/log_levels/{name}"
          for name in ("buffer.bin", "levels.pfdb")]
GPUAV = ["--shaders", "map.json", "buffer.bin"]
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("GITHUB_ACTIONS", "TF_BUILD", "GITHUB_STEP_SUMMARY")}


def run(*words, cwd=None, **env):
    return subprocess.run([PROGRAM, *words], cwd=cwd, text=True, timeout=60,
                          env={**PLAIN, **env}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def same(is_, wanted, what):
    if is_ != wanted:
        sys.exit(f"{what}: {is_!r}, not {wanted!r}")


def has(text, part, what):
    if part not in text:
        sys.exit(f"{what}: {part!r} is not in {text!r}")


def statuses(verb, *more):
    """Every option lets it fail where there is something, and else not."""
    lines = run(*verb, *LEVELS, *more)
    same(lines.returncode, 0, "nothing is asked")
    for words, rc, said in (
            (["--fail-on", "broke"], 4, "levels.comp:5: --fail-on: it broke"),
            (["--fail-on", "no such text"], 0, ""),
            (["--fail-on", "no such", "--fail-on", "took"], 4, "it took 4"),
            (["--fail-where", "a0 == 2"], 4, "--fail-where: it is late: 2"),
            (["--fail-where", "a0 > 100"], 0, ""),
            (["--fail-where", "level == 'debug'"], 4, "it took 4"),
            (["--fail-on-errors"], 4, "--fail-on-errors: it broke at 1"),
            (["--fail-on-loss"], 0, ""),
            (["--fail-on", "broke", "-m", "took"], 0, ""),
            (["--fail-on", "broke", "-o", "json"], 4, "it broke"),
            (["--fail-on", "broke", "--collapse"], 4, "it broke"),
            (["--fail-on", "("], 1, "")):
        p = run(*verb, *LEVELS, *words, *more)
        same(p.returncode, rc, f"{verb} {words}: {p.stderr}")
        has(p.stderr, said, f"{verb} {words}")
        if not set(words) & {"-m", "-o", "--collapse", "("}:
            same(p.stdout, lines.stdout, f"lines with {words}")
    p = run(*verb, *LEVELS, "--fail-where", "nonsense == 1", *more)
    same(p.returncode, 1, "a name that no entry has")


def loss():
    """A buffer that was too small."""
    with tempfile.TemporaryDirectory() as folder:
        with open(LEVELS[0], "rb") as f:
            whole = f.read()
        with open(f"{folder}/cut.bin", "wb") as f:
            f.write(whole[:-20])
        p = run("decode", "cut.bin", LEVELS[1], "--fail-on-loss", cwd=folder)
        same(p.returncode, 4, f"a cut buffer: {p.stderr}")
        has(p.stderr, "cut.bin: --fail-on-loss: ", "a cut buffer")
        p = run("decode", "cut.bin", LEVELS[1], cwd=folder)
        same(p.returncode, 2, "without the option")


def closed_pipe():
    """All entries are judged, also where nothing reads their lines."""
    small = os.path.join(HERE, "..", "..", "..", "examples", "data")
    p = subprocess.run(
        f"{PROGRAM} {small}/small.bin {small}/app.elf --fail-where "
        "'entry.index == 60'; echo $? >&2", shell=True, env=PLAIN,
        stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    has(p.stderr, "--fail-where", "a full disk")
    read, write = os.pipe()
    os.close(read)
    p = subprocess.run([PROGRAM, f"{small}/small.bin", f"{small}/app.elf",
                        "--fail-where", "entry.index == 60"], stdout=write,
                       stderr=subprocess.PIPE, env=PLAIN)
    os.close(write)
    same(p.returncode, 4, f"a closed pipe: {p.stderr}")


def undated(text):
    return re.sub('timestamp="[^"]*"', "", text)


def reports():
    folder = f"{CASES}/gpuav/capture_av_line"
    message = "Index of 48879 used to index descriptor array of length 6."

    def report(form, *words, **env):
        p = run("decode", *GPUAV, "-o", form, *words, cwd=folder, **env)
        same(p.returncode, 0, f"{form}: {p.stderr}")
        return p.stdout
    same(report("quickfix"), f"av_line.comp:103: error: {message}\n", "quickfix")
    chosen = run("decode", *LEVELS, "-o", "quickfix", "--fail-on", "took")
    same([line.split(": ")[1] for line in chosen.stdout.splitlines()
          if "took" in line], ["error"], "quickfix of what --fail-on names")
    same(report("github").splitlines(),
         [message, "::error file=av_line.comp,line=103,title=GPU error::"
          + message], "github")
    same(report("tap").splitlines(),
         ["TAP version 14", "1..1",
          f"not ok 1 - av_line.comp:103: GPU error: {message}"], "tap")
    case = xml.dom.minidom.parseString(
        report("junit")).getElementsByTagName("testcase")
    same(case[0].getElementsByTagName("failure")[0].firstChild.data, message,
         "junit")
    result = json.loads(report("sarif"))["runs"][0]["results"][0]
    same((result["level"], result["message"]["text"],
          result["locations"][0]["physicalLocation"]),
         ("error", message,
          {"artifactLocation": {"uri": "av_line.comp"},
           "region": {"startLine": 103}}), "sarif")
    with tempfile.TemporaryDirectory() as to:
        same(report("junit", "--report", f"{to}/r.xml").strip(), message,
             "lines beside a report")
        with open(f"{to}/r.xml") as f:
            text = report("junit")
            same(undated(f.read()), undated(text), "--report")
        report("github", GITHUB_STEP_SUMMARY=f"{to}/summary")
        with open(f"{to}/summary") as f:
            has(f.read(), "| GPU error | av", "the summary")
    quiet = run("decode", *LEVELS, "-m", "nothing of", "-o", "junit")
    has(quiet.stdout, 'tests="1" failures="0"', "junit of nothing wrong")
    p = run("decode", *LEVELS, "-o", "tap", "--fail-on", "went on")
    same([line.split(" - ")[0] for line in p.stdout.splitlines()[2:]],
         ["not ok 1", "ok 2", "not ok 3"], "tap of levels")


def schemas(folder):
    """Ours, and that of Ant's reports, which a package of npm has in its test."""
    yield f"{HERE}/junit.xsd"
    test = f"{HERE}/node_modules/junit-xml/src/index.test.ts"
    if not os.path.exists(test):
        print("no node_modules: JUnit's XML was checked by our schema alone")
        return
    with open(test, encoding="utf-8") as f:
        schema = re.search(r"antJunitSchema\s*=\s*'(.*?)';", f.read(), re.S)
    with open(f"{folder}/ant.xsd", "w", encoding="utf-8") as f:
        f.write(schema[1])
    yield f"{folder}/ant.xsd"


def validated():
    """By schemas of JUnit's XML."""
    if not shutil.which("xmllint"):
        print("no xmllint: JUnit's XML was not checked by a schema")
        return
    reports_of = [
        run("decode", *LEVELS, "-o", "junit", "--fail-on", "went on"),
        run("decode", *LEVELS, "-o", "junit", "-m", "nothing of"),
        run("decode", *GPUAV, "-o", "junit", cwd=f"{CASES}/gpuav/capture_av_line"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for schema in schemas(folder):
            for p in reports_of:
                spoilt = p.stdout.replace('failures="', 'failures="x')
                for text, is_valid in (p.stdout, True), (spoilt, False):
                    check = subprocess.run(
                        ["xmllint", "--noout", "--schema", schema, "-"],
                        input=text, text=True, stderr=subprocess.PIPE)
                    same(check.returncode == 0, is_valid, check.stderr)


statuses(["decode"])
statuses(["follow"], "--until-idle", "0.3")
loss()
closed_pipe()
reports()
validated()
