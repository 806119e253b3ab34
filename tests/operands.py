#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dumps, code objects and captures, as they are, compressed, in folders and
through pipes, give the same messages: operands.py PROGRAM FOLDER_OF_SAMPLES"""
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "make"))
import captures  # noqa: E402
import container_cases as box  # noqa: E402
import llpc_cases as base  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
SAMPLES = os.path.abspath(sys.argv[2])
# The set-up `full` has all of them.
CUT_STEP, FLIPS = (7, 60) if "TEST_WHOLE" in os.environ else (49, 9)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def run(*words, stdin=b""):
    done = subprocess.run([PROGRAM] + list(words), input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def has_zstd():
    try:
        return bool(zstd(b"x"))
    except OSError:
        return False


KINDS = {"": bytes, ".gz": gzip.compress}
if has_zstd():
    KINDS[".zst"] = zstd


class Operands(unittest.TestCase):
    def setUp(self):
        self.old = os.getcwd()
        self.temp = tempfile.TemporaryDirectory()
        os.chdir(self.temp.name)
        self.dump = read(os.path.join(SAMPLES, "small.bin"))
        self.elf = read(os.path.join(SAMPLES, "app.elf"))
        write("b", self.dump)
        write("a", self.elf)
        rc, _, err = run("capture", "-o", "c", "b", "a")
        self.assertEqual((rc, err), (0, ""))
        self.capture = read("c")
        rc, self.text, _ = run("b", "a")
        self.assertEqual(rc, 0)

    def tearDown(self):
        os.chdir(self.old)
        self.temp.cleanup()

    def same(self, *words, **how):
        rc, out, err = run(*words, **how)
        self.assertEqual((rc, err), (0, ""), words)
        self.assertEqual(out, self.text, words)

    def test_compressed(self):
        for end, pack in KINDS.items():
            write("x.bin" + end, pack(self.dump))
            write("x.elf" + end, pack(self.elf))
            write("x.pfcap" + end, pack(self.capture))
            self.same("x.bin" + end, "x.elf" + end)
            self.same("x.pfcap" + end)
            self.same("-", "a", stdin=pack(self.dump))
            self.same("-", stdin=pack(self.capture))
            self.same("follow", "x.pfcap" + end)
            self.same("b", "--strings", "x.elf" + end)
            self.assertEqual(run("strings", "x.elf" + end)[1],
                             run("strings", "a")[1])
            rc = run("capture", "--force", "-o", "y", "x.bin" + end, "x.elf" + end)[0]
            self.assertEqual(rc, 0)
            self.same("y")
            rc = run("extract", "--to", "out", "--force", "x.elf" + end)[0]
            self.assertEqual(rc, 0)

    def test_several_members(self):
        write("x", gzip.compress(self.dump[:100]) +
              gzip.compress(self.dump[100:]))
        self.same("x", "a")

    def test_cut_and_damaged(self):
        """Each cut and change of compressed bytes is told."""
        seed = random.Random(1)
        lines = set(self.text.splitlines())
        for end, pack in KINDS.items():
            packed = pack(self.dump)
            if not end:
                continue
            for n in range(12, len(packed), CUT_STEP):
                write("x", packed[:n])
                rc, out, err = run("x", "a")
                self.assertEqual(rc, 2, (end, n, err))
                self.assertIn("bad_compressed", err)
                self.assertTrue(self.text.startswith(out[:-1]), (end, n))
            for _ in range(FLIPS):
                at = seed.randrange(10, len(packed))
                bad = bytearray(packed)
                bad[at] ^= 1 << seed.randrange(8)
                write("x", bad)
                rc, out, err = run("x", "a")
                self.assertTrue(rc == 2 or out == self.text, (end, at, err))
                if rc == 0:
                    self.assertTrue(lines)

    def test_bomb(self):
        write("x", gzip.compress(bytes(1 << 24)))
        rc, _, err = run("--max-inflated", "100000", "--format", "llpc", "x")
        self.assertEqual(rc, 2)
        self.assertIn("too_large", err)
        rc, _, err = run("--max-inflated", str(1 << 24), "--format", "llpc",
                         "x")
        self.assertEqual(rc, 0)
        self.assertIn("x: nothing was written: ", err)

    def test_findings_hide_no_code_object(self):
        """What is found in one keeps nobody from the next one."""
        many = [base.Str(0x123456, "t%d" % i) for i in range(30000)]
        last = [base.Str(0x999999, "the last one")]
        write("many", box.bundle([(box.GFX906, base.image(*s))
                                  for s in (many, last)], page=8))
        rc, out, err = run("strings", "many")
        self.assertEqual(rc, 2)
        self.assertIn(b"the last one", out)
        self.assertEqual(err.count("collision"), len(many) - 1)
        self.assertNotIn("too_large", err)

    def test_captures_everywhere(self):
        self.assertEqual(run("strings", "c")[:2], run("strings", "a")[:2])
        self.assertEqual(run("strings", "-v", "c")[0], 0)
        self.assertEqual(run("extract", "--to", "out", "c")[0], 0)
        self.assertEqual([read(os.path.join("out", n))
                          for n in os.listdir("out")], [self.elf])
        for verb in ("inspect", "stats", "recover"):
            one, two = run(verb, "c"), run(verb, "b", "a")
            self.assertEqual(one[:2], two[:2], verb)
        # Its strings are for other dumps as well.
        write("only", captures.stream([captures.code_object(1, self.elf)]))
        self.same("b", "only")

    def test_captured_again(self):
        """A capture without buffers gives its objects to the next one."""
        write("only", captures.stream([captures.code_object(1, self.elf)]))
        for words in (["b", "only"], ["b", "--strings", "only"]):
            self.same(*words)
            rc, _, err = run("capture", "--force", "-o", "y", *words)
            self.assertEqual((rc, err), (0, ""))
            self.same("y")

    def test_split_program(self):
        """Its own code is captured, as that of the archive beside it is."""
        code = box.code("of the program", 0x111111)
        other = box.code("of the archive", 0x222222)
        frame = box.zstd_frame(other)
        data = struct.pack("<II", 1, len(frame)) + frame
        write("x.kpack", b"KPAK" + struct.pack("<IQ", 1, 16 + len(data)) +
              data + captures.pack({
                  "compression_scheme": "zstd-per-kernel", "zstd_offset": 16,
                  "toc": {"x": {"gfx906": {"ordinal": 0, "original_size":
                                           len(other)}}}}))
        ref = b"\x82" + captures.pack("kernel_name") + captures.pack("x") + \
            captures.pack("kpack_search_paths") + b"\x91" + \
            captures.pack("x.kpack")
        for own in ([], [(".hip_fatbin", box.bundle([(box.GFX906, code)]))]):
            write("app", box.host(own + [(".rocm_kpack_ref", ref)]))
            rc, texts, err = run("strings", "app")
            self.assertEqual((rc, err), (0, ""))
            self.assertEqual(b"of the program" in texts, own != [])
            self.assertIn(b"of the archive", texts)
            for scan in ([], ["--scan"]):
                rc, _, err = run("capture", "--force", "-o", "y", "b", "app",
                                 *scan)
                self.assertEqual((rc, err), (0, ""))
                self.assertEqual(run("strings", "y")[1], texts)

    def test_split_program_names_others(self):
        """What it names is opened only if it is a file, and told."""
        ref = b"\x82" + captures.pack("kernel_name") + captures.pack("x") + \
            captures.pack("kpack_search_paths") + b"\x91" + \
            captures.pack("x@GFXARCH@.kpack")
        write("app", box.host([(".rocm_kpack_ref", ref)]))
        os.mkfifo("x1.kpack")
        os.mkdir("x2.kpack")
        os.symlink("/dev/null", "x3.kpack")
        write("x4.kpack", b"version https://git-lfs")
        rc, _, err = run("strings", "app")
        self.assertEqual(rc, 2)
        for what in ("x1.kpack: named by app, and not read: it is a pipe",
                     "x2.kpack: named by app, and not read: it is a folder",
                     "x3.kpack: named by app, and not read: it is a device",
                     "x4.kpack: named by app, and not read: it does not"):
            self.assertIn(what, err)

    def test_scan_hint(self):
        write("x", b"x" * 100 + box.code("inside"))
        rc, _, err = run("extract", "--to", "out", "x")
        self.assertEqual(rc, 1)
        self.assertIn("--scan", err)

    def test_scan_beyond(self):
        """A search goes on behind what is found without one, and finds each
        code object once; a capture of it has all."""
        one, two, three = (box.code(text, i + 0x111111) for i, text in
                           enumerate(("one", "two", "three")))
        bundle = box.bundle([(box.GFX906, one)])
        packed = box.compressed(3, 0, box.bundle([(box.GFX90A, two)]))
        os.mkdir("x")
        for name, data in {
            "app": box.host([(".hip_fatbin", bundle),
                             (".rodata", b"x" * 24 + three)]),
            "packed": box.host([(".hip_fatbin", packed),
                                (".rodata", b"x" * 24 + three)]),
            "row": one + b"x" * 8 + three,
            "any": b"x" * 100 + bundle + b"x" * 8 + three + packed,
        }.items():
            write(name, data)
            rc, texts, err = run("strings", "--scan", name)
            self.assertEqual((rc, err), (0, ""), name)
            words = [x.split()[-1] for x in texts.split(b"\n") if x]
            self.assertIn(b"three", words, name)
            self.assertEqual(len(words), len(set(words)), (name, texts))
            rc, out, err = run("extract", "--scan", "--to", "x/" + name, name)
            self.assertEqual((rc, err), (0, ""), name)
            written = [read(os.path.join("x", name, x))
                       for x in os.listdir("x/" + name)]
            self.assertEqual(len(written), len(words), name)
            self.assertTrue(any(three == x[:len(three)] for x in written))
            rc, _, err = run("capture", "--force", "-o", "y", "b", name,
                             "--scan")
            self.assertEqual((rc, err), (0, ""))
            again = run("strings", "y")[1]
            self.assertEqual(sorted(again.split(b"\n")),
                             sorted(texts.split(b"\n")), name)

    def test_folder(self):
        for end, pack in KINDS.items():
            write("d/sub%s/x.elf%s" % (end, end), pack(self.elf))
        write("d/dump", self.dump)
        write("d/notes.txt", b"no code")
        os.symlink("..", "d/sub/loop")
        os.symlink("nowhere", "d/dangling")
        os.symlink("sub", "d/again")
        os.mkfifo("d/pipe")
        self.same("b", "d")
        rc, _, err = run("-v", "b", "d")
        self.assertIn("d: %d files with code objects, 2 others passed over" %
                      len(KINDS), err)
        self.assertEqual(run("extract", "--to", "out", "d")[0], 0)
        self.assertEqual(len(os.listdir("out")), len(KINDS))
        self.assertEqual(run("capture", "-o", "y", "b", "d")[0], 0)
        self.same("y")
        # Nothing of use, or nothing that can be read.
        os.mkdir("empty")
        rc, _, err = run("b", "empty")
        self.assertEqual(rc, 1)
        self.assertIn("no code objects", err)

    @unittest.skipIf(os.geteuid() == 0, "root reads all files")
    def test_folder_unreadable(self):
        write("d/x.elf", self.elf)
        write("d/y.elf", self.elf)
        os.chmod("d/y.elf", 0)
        rc, out, err = run("b", "d")
        self.assertEqual((rc, out), (2, self.text))
        self.assertIn("not_read", err)

    def test_folder_of_many_links(self):
        """Links from each folder to all others, and each file once."""
        for i in range(12):
            write("d/%d/x%d.elf" % (i, i), self.elf)
        for i in range(12):
            for k in range(12):
                os.symlink("../%d" % k, "d/%d/to%d" % (i, k))
        rc, _, err = run("-v", "b", "d")
        self.assertEqual(rc, 0)
        self.assertIn("12 files with code objects, 0 others", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
