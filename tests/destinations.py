#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No verb writes over what it reads, nor over any file without --force:
destinations.py PROGRAM FOLDER_OF_SAMPLES"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1])
SAMPLES = os.path.abspath(sys.argv[2])
MAP = b'{"shaders": {"7": {"spv": "print.spv"}}}'
COMP = (b'#version 450\n#include "printf.h"\nlayout(local_size_x = 1) in;\n'
        b'void main() { PFD_PRINTF("%u\\n", gl_GlobalInvocationID.x); }\n')
FILES = ["small.bin", "app.elf"]
PLOT = ["plot", "hist", "--x", "0", "-o", "svg", "--id", "0x6000"]
# Each writes $OUT, or files into it.
VERBS = {
    "capture": ["capture", *FILES, "-o", "$OUT"],
    "table": ["table", "--all", "-o", "sqlite", *FILES, "--to", "$OUT"],
    "plot": [*PLOT, *FILES, "--to", "$OUT"],
    "report": ["decode", *FILES, "-o", "tap", "--report", "$OUT"],
    "scan": ["scan", "a.comp", "-o", "$OUT", "--strings", "new.pfdb"],
    "strings of scan": ["scan", "a.comp", "-o", "new.comp", "--strings",
                        "$OUT"],
}


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def snapshot():
    return {name: read(name) for name in os.listdir(".")
            if os.path.isfile(name)}


def run(*words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL):
    done = subprocess.run([PROGRAM, *words], stdin=stdin, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=120)
    assert 0 <= done.returncode < 4, done
    return done.returncode, done.stderr.decode()


class Destinations(unittest.TestCase):
    def setUp(self):
        self.old = os.getcwd()
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        for name in FILES:
            shutil.copy(os.path.join(SAMPLES, name), name)
        ids = subprocess.run([PROGRAM, "strings", "-o", "json", "app.elf"],
                             capture_output=True, check=True).stdout
        self.id = ids.decode().split('"id":"')[1].split('"')[0]
        write("a.comp", COMP)

    def tearDown(self):
        os.chdir(self.old)
        self.folder.cleanup()

    def words(self, verb, out):
        return [{"$OUT": out, "0x6000": self.id}.get(w, w)
                for w in VERBS[verb]]

    def refused(self, words, why):
        """It fails, says why, and all files are what they were."""
        before = snapshot()
        rc, err = run(*words)
        self.assertEqual((rc, snapshot()), (1, before), (words, err))
        self.assertIn(why, err)

    def test_written(self):
        for verb in VERBS:
            with self.subTest(verb):
                out = verb.replace(" ", "_")
                self.assertEqual(run(*self.words(verb, out), "--force")[0], 0)
                first = read(out)
                self.refused(self.words(verb, out), "--force overwrites")
                write(out, b"old")
                self.assertEqual(run(*self.words(verb, out), "--force")[0], 0)
                self.assertEqual(len(read(out)), len(first))

    def test_inputs(self):
        os.mkdir("folder")
        for verb in VERBS:
            for name in ["a.comp"] if "scan" in verb else FILES:
                os.symlink(name, "soft")
                os.link(name, "hard")
                os.symlink(f"../{name}", "folder/soft")
                for out in name, "soft", "hard", "folder/soft", f"./{name}":
                    with self.subTest(verb=verb, out=out):
                        self.refused([*self.words(verb, out), "--force"],
                                     "is read")
                for out in "soft", "hard", "folder/soft":
                    os.unlink(out)

    def test_found(self):
        """What a folder, a URI, a map of shaders or a shader names."""
        os.mkdir("code")
        shutil.copy("app.elf", "code/x.elf")
        self.refused(["capture", "small.bin", "code", "-o", "code/x.elf",
                      "--force"], "code/x.elf: is read")
        for uri in ("file://app.elf", f"file://{os.getcwd()}/app.elf#offset=0"
                    f"&size=9"):
            self.refused(["capture", "small.bin", uri, "-o", "app.elf",
                          "--force"], "is read")
        write("map.json", MAP)
        write("print.spv", b"x")
        for out in "map.json", "print.spv":
            self.refused(["capture", "small.bin", "--shaders", "map.json", "-o",
                          out, "--force"], "map.json: is read")
        self.refused(["capture", "small.bin", "--shader", "7=print.spv", "-o",
                      "print.spv", "--force"], "print.spv: is read")

    def options_of(self, verb):
        """Those that read a file, as help has them."""
        text = subprocess.run([PROGRAM, "help", verb], capture_output=True,
                              check=True).stdout.decode()
        return [(name, "7=key" if value == "ID=FILE" else "key") for name, value
                in re.findall(r"^ +(--[a-z-]+) ((?:ID=)?FILE)\b", text, re.M)
                if name not in ("--to", "--report") and
                (verb, name) != ("scan", "--strings")]

    def test_options(self):
        """What any option reads is an input, for standard output, too."""
        verbs = re.findall(r"^  ([a-z-]+) ", subprocess.run(
            [PROGRAM, "help"], capture_output=True,
            check=True).stdout.decode(), re.M)
        self.assertIn("replay", verbs)
        seen = set()
        for verb in verbs:
            for option, value in self.options_of(verb):
                seen.add(option)
                write("key", b"-----BEGIN")
                words = [verb, *({"plot": ["hist"],
                                  "formats": ["--check", "--describe", "small.bin"]}
                                 .get(verb, [])), option,
                         value, *(["true"] if verb == "run" else
                                  ["small.bin"] if verb in ("diff", "view") else [])]
                with self.subTest(words), open("key", "ab") as f:
                    rc, err = run(*words, stdout=f)
                    self.assertEqual((rc, read("key")),
                                     (2 if verb == "diff" else 1,
                                      b"-----BEGIN"))
                    self.assertIn("key: is read, and standard output", err)
                    if verb in VERBS:
                        self.refused([*self.words(verb, "key"), option, value,
                                      "--force"], "key: is read")
        self.assertLessEqual({"--tls-ca", "--tls-certificate", "--tls-key",
                              "--credentials", "--password-file", "--core",
                              "--strings", "--shader"}, seen)

    def test_folders(self):
        write("code.co", read("app.elf"))
        shutil.copy("app.elf", "app")
        self.refused(["extract", "code.co", "--to", ".", "--force"], "is read")
        self.assertEqual(run("extract", "app", "--to", "out")[0], 0)
        rc, err = run("extract", "app", "--to", "out")
        self.assertEqual(rc, 1)
        self.assertIn("out/app.co: File exists (--force overwrites)", err)
        self.assertEqual(run("extract", "app", "--to", "out", "--force")[0], 0)
        self.refused(["scan", "a.comp", "-o", ".", "--strings", "s", "--force"],
                     "a.comp: is read")
        table = ["table", "--all", "-o", "csv", *FILES, "--to", "."]
        self.assertEqual(run(*table)[0], 0)
        self.refused(table, "--force overwrites")
        last = sorted(n for n in os.listdir(".") if n.endswith(".csv"))[-1]
        os.unlink(last)
        os.link("small.bin", last) # no table is written before all may be
        self.refused([*table, "--force"], "small.bin: is read")

    def test_each_other(self):
        for out, strings in (("x", "x"), ("x", "./x"), ("o", "o/a.comp")):
            if out == "o":
                os.mkdir(out)
            self.refused(["scan", "a.comp", "-o", out, "--strings", strings],
                         "written twice")

    def test_streams(self):
        before = read("small.bin")
        with open("small.bin", "ab") as f:
            rc, err = run(*FILES, stdout=f)
        self.assertEqual((rc, read("small.bin")), (1, before))
        self.assertIn("standard output goes there", err)
        with open("small.bin", "ab") as f, open("small.bin", "rb") as i:
            self.assertEqual(run("-", "app.elf", stdout=f, stdin=i)[0], 1)
        self.assertEqual(read("small.bin"), before)
        with open("c", "wb") as f:
            self.assertEqual(run("capture", *FILES, "-o", "/dev/stdout",
                                 stdout=f)[0], 0)
        self.assertEqual(run("decode", "c")[0], 0)
        self.assertGreater(len(read("c")), 100)

    def test_errors(self):
        """Nor do words about it go there."""
        before = read("small.bin")
        with open("small.bin", "ab") as f:
            done = subprocess.run([PROGRAM, *FILES], stdout=f, stderr=f,
                                  check=False)
            self.assertEqual((done.returncode, read("small.bin")), (1, before))
            done = subprocess.run([PROGRAM, *FILES], stdout=subprocess.PIPE,
                                  stderr=f, check=False)
        self.assertEqual((done.returncode, read("small.bin")), (1, before))
        self.assertIn(b"standard error goes there", done.stdout)

    def test_beside(self):
        """What SQLite takes for its own, and where a live picture grows."""
        for end in "-journal", "-wal":
            shutil.copy("app.elf", "db" + end)
            self.refused([*self.words("table", "db"), "db" + end, "--force"],
                         "is read")
            self.refused(self.words("table", "db"), "--force overwrites")
            write("db", b"")
            os.symlink("db", "soft")
            self.refused([*self.words("table", "soft"), "db" + end, "--force"],
                         "is read")
            os.unlink("soft")
            os.unlink("db")
            os.unlink("db" + end)
        script = ('ln small.bin p.svg.$$.part && exec "$0" plot hist --x 0 '
                  '--live --until-idle 0.1 -o svg --id "$1" small.bin app.elf '
                  '--to p.svg')
        before = read("small.bin")
        subprocess.run(["sh", "-c", script, PROGRAM, self.id], check=False,
                       stderr=subprocess.DEVNULL)
        self.assertEqual(read("small.bin"), before)
        self.assertTrue(os.path.exists("p.svg"))
        self.assertEqual(len([n for n in os.listdir(".") if "part" in n]), 1)

    def test_included(self):
        write("printf.h", b"// nothing\n")
        scan = ["scan", "a.comp", "--force", "-o"]
        self.refused([*scan, "printf.h", "--strings", "s"],
                     "printf.h: is read")
        self.refused([*scan, "o.comp", "--strings", "printf.h"],
                     "printf.h: is read")
        with open("printf.h", "ab") as f:
            rc, err = run(*scan, "-", "--strings", "s", stdout=f)
        self.assertEqual((rc, read("printf.h")), (1, b"// nothing\n"))
        self.assertIn("standard output goes there", err)

    def test_no_files(self):
        """Devices and pipes are written, and stay what they are."""
        os.symlink("/dev/null", "null")
        os.mkfifo("pipe")
        for verb in "capture", "scan":
            run(*self.words(verb, "null"))
            self.assertEqual(os.stat("null").st_rdev, os.stat("/dev/null").st_rdev)
        reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
        self.assertEqual(run("capture", *FILES, "-o", "pipe")[0], 0)
        self.assertGreater(len(reader.communicate()[0]), 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
