#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py PRINTFDECODE RUN_COMP EXAMPLES: takes the steps of the
configurations in examples/ci and executes them as a build server does, but for
the installation of packages."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM, RUN_COMP, EXAMPLES = map(os.path.abspath, sys.argv[1:4])
INSTALLS = re.compile(r"(sudo )?apt-get (update|install) ?(.*)")
SKIPPED = 77
packages = set()


def block(text, at):
    """The lines of the text that stand deeper than this column."""
    ret = []
    for line in text:
        if line.strip() and len(line) - len(line.lstrip()) <= at:
            break
        ret.append(line)
    return ret


def github_steps(path):
    """[(name, commands, may it fail)] of every `run:`."""
    with open(path) as f:
        lines = f.read().splitlines()
    ret = []
    for i, line in enumerate(lines):
        m = re.fullmatch(r"( *)- name: (.*)", line)
        if not m:
            continue
        step = block(lines[i + 1:], len(m[1]) + 1)
        run = next(k for k, s in enumerate(step) if s.strip() == "run: |")
        commands = [s.strip() for s in block(step[run + 1:], len(m[1]) + 2)]
        ret.append((m[2], commands, any("continue-on-error: true" in s
                                        for s in step)))
    return ret


def gitlab_steps(path):
    with open(path) as f:
        lines = f.read().splitlines()
    ret = []
    for i, line in enumerate(lines):
        m = re.fullmatch(r"([a-z].*):", line)
        if not m:
            continue
        job = block(lines[i + 1:], 0)
        script = next(k for k, s in enumerate(job) if s == "  script:")
        commands = [s.strip()[2:] for s in block(job[script + 1:], 2)]
        ret.append((m[1], commands, "    exit_codes: 4" in job))
    return ret


def shell(commands, folder, **env):
    wanted = []
    for command in commands:
        m = INSTALLS.fullmatch(command)
        if m:
            packages.update(w for w in m[3].split() if w != "-y")
        else:
            wanted.append(command)
    path = f"{folder}/bin:{os.environ['PATH']}"
    return subprocess.run(["bash", "-e", "-c", "\n".join(wanted)], cwd=folder,
                          env={**os.environ, "PATH": path, **env}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def commands_of(text):
    return [line for line in text.splitlines() if line.startswith("::")]


def github(folder):
    steps = github_steps(f"{EXAMPLES}/shaders.github.yml")
    assert [step[2] for step in steps] == [False, False, True], steps
    for name, commands, may_fail in steps:
        p = shell(commands, f"{folder}/examples/ci", GITHUB_ACTIONS="true",
                  GITHUB_STEP_SUMMARY=f"{folder}/summary")
        assert p.returncode == (4 if may_fail else 0), (name, p)
        found = commands_of(p.stdout)
        if may_fail:
            assert len(found) == 1 and re.match(
                r"::error (file=sum\.comp,line=\d+,)?title=[^:]*::FAILED: the "
                r"sum of group \d is \d+, not 2080 \(4 times\)$", found[0]), p
            assert "--fail-on: FAILED: the sum" in p.stderr, p.stderr
        else:
            assert not found, p
    with open(f"{folder}/summary") as f:
        assert "(4 times)" in f.read()


def gitlab(folder):
    for name, commands, may_fail in gitlab_steps(
            f"{EXAMPLES}/shaders.gitlab.yml"):
        p = shell(commands, folder)
        assert p.returncode == (4 if may_fail else 0), (name, p)
        report = next(re.search(r"--report (\S+)", c)[1] for c in commands
                      if "--report" in c)
        suite = xml.dom.minidom.parse(
            f"{folder}/examples/ci/{report}").getElementsByTagName("testsuite")
        failures = int(suite[0].getAttribute("failures"))
        assert failures == (1 if may_fail else 0), (name, failures)
        assert p.stdout.count("is done") == 4, (name, p)


def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES, f"{folder}/examples/ci")
        for where in folder, f"{folder}/examples/ci":
            os.mkdir(f"{where}/bin")
            for program in PROGRAM, RUN_COMP:
                os.symlink(program, f"{where}/bin/{os.path.basename(program)}")
        has_layers = subprocess.run(
            [PROGRAM, "run", "--vulkan-debug-printf", "--", "true"],
            stderr=subprocess.PIPE, text=True)
        if has_layers.returncode:
            print(has_layers.stderr)
            sys.exit(SKIPPED)
        github(folder)
        gitlab(folder)
    assert packages == {"mesa-vulkan-drivers", "vulkan-validationlayers",
                        "glslang-tools"}, packages


main()
