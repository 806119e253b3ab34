#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What hostile files cost: hostile.py PROGRAM [NAME ...]
(SHOW_TIMES=1 in the environment: processor seconds, and what was said.)

Each input is made in two sizes, one four times the other. Both must end with
findings (exit status 2) within memory that is a small multiple of the file,
and the large one must not take more than about four times as long as the small
one: no figure here is a time. What only states a size may take addresses for
it, and no memory, and no more time than some starts of the program.
"""
import gzip
import os
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "make"))
import container_cases as box  # noqa: E402
import captures  # noqa: E402
import llpc_cases as base  # noqa: E402
import rocm_cases as rocm  # noqa: E402

TIMES = 4         # how much larger the large one is
GROWTH = 2 * TIMES  # of processor time: linear would be TIMES, quadratic 16
STARTS = 10       # and so many times that of a run that reads nothing
STATED = 250      # what is not there may take so many times that
SPACE = 32 << 20  # address space beside SPACE_FACTOR times the files
SPACE_FACTOR = 4
TRIES = 3         # of which the quickest counts, where one is not enough
TIMEOUT_S = 300
SIZE = 1 << 32  # of a buffer of which little is there

INPUTS = {}


def hostile(size, command, expect=2, sparse=False):
    """An input: size -> {file: bytes}, and what reads it. sparse: it states
    sizes that nothing is behind."""
    def register(make):
        INPUTS[make.__name__] = (size, command.split(), make, expect, sparse)
        return make
    return register


def run(program, words, folder, space=None, sparse=False):
    """(exit status, processor seconds, standard error, bytes of memory)"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_S, TIMEOUT_S))
        if space:
            room = space + SIZE if sparse else space
            resource.setrlimit(resource.RLIMIT_AS, (room, room))
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            [program] + words, cwd=folder, preexec_fn=limit, stderr=err,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        text = err.read().decode("utf-8", "replace")
    return (child.returncode, used.ru_utime + used.ru_stime, text,
            used.ru_maxrss << 10)


class Sparse:
    """A file of `size` bytes that has these {place: bytes}, and holes."""
    def __init__(self, size, parts):
        self.size, self.parts = size, parts

    def __len__(self):
        return sum(map(len, self.parts.values()))

    def write(self, f):
        f.truncate(self.size)
        for at, data in self.parts.items():
            f.seek(at)
            f.write(data)


def cost(program, words, files, sparse):
    """A run's processor time, and its outcome."""
    space = SPACE + SPACE_FACTOR * sum(map(len, files.values()))
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                data.write(f) if isinstance(data, Sparse) else f.write(data)
        rc, took, err, memory = run(program, words, folder, space, sparse)
    # A child begins with what we have.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if sparse and memory > max(space, own):
        rc, err = "%d bytes of memory" % memory, "at most %d" % space
    return took, rc, err


def is_quick(times, start, sparse):
    return times[1] <= GROWTH * times[0] + STARTS * start and \
        (not sparse or times[1] <= STATED * start)


def check(program, name, start):
    size, words, make, expect, sparse = INPUTS[name]
    sizes = (size, TIMES * size)
    times = [float("inf")] * 2
    for _ in range(TRIES):
        for i, n in enumerate(sizes):
            took, rc, err = cost(program, words, make(n), sparse)
            times[i] = min(times[i], took)
            if rc != expect:
                print("%s: of size %d: exit status %s, not %d\n%s" % (
                    name, n, rc, expect, err[:2000]))
                return False
        if is_quick(times, start, sparse):
            break
    ok = is_quick(times, start, sparse)
    print("%s: %s, %.1f times as long for %d times the size, %.0f times a "
          "start" % (name, "ok" if ok else "FAILED",
                     times[1] / max(times[0], 1e-6), TIMES,
                     times[1] / max(start, 1e-6)))
    if os.environ.get("SHOW_TIMES"):
        print("   ", times, err.strip()[-300:])
    return ok


# ---- containers: size is bytes, more or less ----

def sound():
    return box.bundle([(box.GFX906, box.A)], page=8)


def table(n, offset, size):
    """A bundle's table whose entries are all at one place."""
    return box.MAGIC + struct.pack("<Q", n) + \
        (struct.pack("<QQQ", offset, size, 3) + b"hip") * n


@hostile(1 << 22, "strings a")
def bundle_of_2_63_rows(n):
    return {"a": box.MAGIC + struct.pack("<Q", 1 << 63) + bytes(n) + sound()}


@hostile(1 << 22, "strings a")
def bundles_with_ids_of_2_60(n):
    one = box.MAGIC + struct.pack("<QQQQ", 1, 4096, 8, 1 << 60)
    return {"a": one * (n // len(one)) + sound()}


@hostile(1 << 22, "strings a")
def bundles_that_overlap(n):
    return {"a": table(n // 27, 64, n) + sound()}


@hostile(1 << 20, "strings a")
def entries_that_are_the_whole_file(n):
    """Each ELF file of them is the bundle's last one."""
    rows = n // 27
    return {"a": table(rows, 32 + 27 * rows, 1 << 40) + box.A + bytes(n)}


@hostile(1 << 11, "strings a")
def the_same_inflated_again_and_again(n):
    """Each entry of one table is the next table, and those of the last one all
    are a bundle that is broken where it is inflated."""
    inner = table(16, 0, 999)
    rows = n // 27 // 3
    one = table(rows, 32 + 27 * rows, 1 << 40)
    return {"a": one * 3 + box.compressed(3, 0, inner)}


@hostile(1 << 22, "strings a")
def magic_after_magic(n):
    return {"a": (box.MAGIC + b"CCOB\1\0\1\0" + b"\x10\xff\x10\xad\2\0\0\0") *
            (n // 40)}


@hostile(1 << 18, "strings a")
def compressed_without_sizes(n):
    """Version 1 does not say where it ends, and each of them is broken."""
    one = box.compressed(1, 0, b"", b"\xff" * 20, inflated=100, digest=bytes(8))
    return {"a": one * (n // len(one))}


@hostile(1 << 12, "strings --max-inflated 1000000 a")
def zstd_bomb(n):
    return {"a": box.compressed(3, 1, b"", box.zstd_zeros(n << 15, False),
                                inflated=1000000) + sound()}


@hostile(1 << 12, "strings a")
def zstd_bomb_stated(n):
    return {"a": box.compressed(3, 1, b"", box.zstd_zeros(n << 15),
                                inflated=(1 << 30) + n) + sound()}


@hostile(1 << 16, "strings --max-inflated 1000000 a")
def zlib_bomb(n):
    return {"a": box.compressed(3, 0, b"", box.zlib_zeros(n << 10),
                                inflated=1000000) + sound()}


@hostile(1 << 12, "-j 1 --format llpc --max-inflated 1000000 b")
def gzip_bomb(n):
    return {"b": gzip.compress(bytes(n << 10))}


@hostile(1 << 12, "-j 1 --format llpc b")
def gzip_members_of_nothing(n):
    return {"b": gzip.compress(b"") * n + gzip.compress(b"x")}


@hostile(1 << 5, "strings a")
def bombs_in_a_row(n):
    """Each is below the limit; all of them together are not."""
    one = box.compressed(3, 1, b"", box.zstd_zeros(1 << 20, False),
                         inflated=1 << 20)
    return {"a": one * n + sound()}


@hostile(1 << 20, "strings a")
def offload_binaries_of_2_60_entries(n):
    one = b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 2, 1 << 60, 32, 1 << 60)
    return {"a": one * (n // len(one))}


@hostile(1 << 20, "strings a")
def archive_members_that_are_too_long(n):
    one = b"a.o/            0           0     0     644     99999999  `\n"
    return {"a": b"!<arch>\n" + one * (n // 60) + b"\n"}


@hostile(1 << 18, "strings a")
def pal_entries_that_are_the_whole_file(n):
    count = n // 56
    blocks = [b"NTRY" + struct.pack("<IIII", i, 52 + 56 * (i + 1), n, 0) +
              bytes(36) for i in range(count)]
    return {"a": box.PAL_MAGIC + struct.pack("<IIII", 1, 3, 52, 0) +
            bytes(20) + b"".join(blocks) + b"FOTR" + bytes(28)}


@hostile(1 << 23, "strings a")
def cache_of_elf_headers(n):
    one = b"\x7fELF\2\1\1\x40" + bytes(8) + struct.pack("<HH", 3, 224)
    return {"a": box.pipeline_cache([one * (n // 20)])}


def elf_sections(names, data, row, n_rows):
    """A host's ELF file: a table of a section of names and n_rows alike."""
    at = 64
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at + len(names) + len(data), 0, 64,
        0, 0, 64, n_rows + 2, 1)
    strings = bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at,
                                      len(names), 0, 0, 1, 0)
    kind, flags, offset, size = row
    one = struct.pack("<IIQQQQIIQQ", 1, kind, flags, 0,
                      at + len(names) + offset, size, 0, 0, 1, 0)
    return header + names + data + strings + one * n_rows


@hostile(1 << 19, "strings a")
def kpack_refs_that_overlap(n):
    """Each would be read to its end."""
    data = b"\xdd" + struct.pack(">I", n) + b"\xc0" * n
    return {"a": elf_sections(b"\0.rocm_kpack_ref\0", data,
                              (1, 0, 0, len(data)), n // 128)}


NOTHING = b"\x50\x2a\x4d\x18" + bytes(4)  # a frame of zstd to be skipped


def kpack(frames, ordinals):
    """An archive whose programs' code objects are those frames."""
    code = {b"%d" % i: {b"ordinal": o, b"original_size": 100}
            for i, o in enumerate(ordinals)}
    table = captures.pack({b"compression_scheme": b"zstd-per-kernel",
                           b"zstd_offset": 16, b"toc": {b"x": code}})
    data = struct.pack("<I", len(frames)) + b"".join(
        struct.pack("<I", len(f)) + f for f in frames)
    return b"KPAK" + struct.pack("<IQ", 1, 16 + len(data)) + data + table


@hostile(1 << 18, "strings a")
def kpack_frames_to_be_skipped(n):
    return {"a": kpack([NOTHING * (n // 8)], [0])}


@hostile(1 << 18, "strings a")
def kpack_frame_of_many_programs(n):
    return {"a": kpack([NOTHING * (n // 16)], [0] * (n // 64))}


@hostile(1 << 13, "strings a")
def compressed_sections_that_overlap(n):
    """And the file is each entry of a bundle."""
    data = struct.pack("<IIQQ", 2, 0, 1 << 10, 8) + b"\x50\x2a\x4d\x18" \
        b"\0\0\0\0" * (n // 8)
    elf = elf_sections(b"\0.x\0\0\0\0\0", data,
                       (1, 1 << 11, 0, len(data)), 250)
    rows = n // 54
    return {"a": table(rows, 32 + 27 * rows, len(elf)) + elf}


@hostile(1 << 18, "strings a")
def coff_names_that_overlap(n):
    count = min(n // 40, 4096)
    rows = struct.pack("<8sIIIIIIHHI", b"/4", 0, 0, 0, 0, 0, 0, 0, 0, 0)
    head = struct.pack("<HHIIIHH", 0x8664, count, 0, 20 + 40 * count, 0, 0, 0)
    return {"a": head + b".text\0\0\0" + rows[8:] + rows * (count - 1) +
            b"a" * (16 * n)}


@hostile(1 << 18, "strings a")
def yaml_laughs(n):
    row = "".join("k%d: &a%d [ *a%d, *a%d ]\n" % (i, i, i - 1, i - 1)
                  for i in range(1, n // 30))
    return {"a": box.v2("---\nk0: &a0 [ ha ]\n" + row)}


@hostile(1 << 18, "strings a")
def yaml_deep_flow(n):
    return {"a": box.v2("---\nKernels: " + "[" * n)}


@hostile(1 << 18, "strings a")
def yaml_deep_block(n):
    return {"a": box.v2("---\nKernels:\n" + "- " * (n // 2))}


@hostile(1 << 20, "strings a")
def yaml_of_questions(n):
    return {"a": box.v2("? " * (n // 2))}


@hostile(1 << 16, "strings a")
def rows_of_one_id(n):
    rows = [b"1:1:4:%%d %d" % i for i in range(n // 16)]
    return {"a": rocm.hsa(rows)}


# ---- buffers: size is bytes of entries, more or less ----

def buffer(data, **rows):
    files = {"b": rocm.buffer(data, capacity=len(data) + 16)}
    if rows:
        files["a"] = rocm.hsa(rows["rows"])
    return files


@hostile(1 << 16, "-j 1 b a")
def opencl_ids_of_many_strings(n):
    """Which of 256 strings an entry is, is told by what follows."""
    rows = [b"1:%d:%s%%d %d" % (1 + i % 9, b"4:" * (1 + i % 9), i)
            for i in range(256)]
    return buffer(rocm.u32(*[1] * (n // 4)), rows=rows)


@hostile(1 << 16, "-j 1 b a")
def opencl_nothing_known(n):
    """Each ID has 256 strings, none of which leads to an entry."""
    rows = [b"1:1:4:%%d %d" % i for i in range(256)]
    return buffer(rocm.u32(*[3, 1, 4, 3] * (n // 16)), rows=rows)


@hostile(1 << 18, "-j 1 b a")
def opencl_strings_that_may_be_shifted(n):
    row = b":12:" + b"8:" * 12 + b"%s" * 12
    rows = [b"%d" % i + row for i in range(1, 2050)]
    entries = [struct.pack("<I", 1 + 1024 * (i % 2)) + b"abcdefgh" * 12
               for i in range(n // 100)]
    return buffer(b"".join(entries), rows=rows)


@hostile(1 << 20, "-j 1 b a")
def opencl_long_strings(n):
    row = b"1:16:" + b"2000:" * 16 + b"%s" * 16
    return buffer((rocm.u32(1) + b"x" * 32000) * (1 + n // 32004), rows=[row])


@hostile(1 << 18, "-j 1 b")
def hip_strings_that_may_be_null(n):
    text = b"%s" * 16
    one = rocm.hip(text, b"x" * 800, constant=False)
    return buffer(one * (n // len(one)))


@hostile(1 << 20, "-j 1 b")
def hip_long_strings_that_may_be_null(n):
    one = rocm.hip(b"%s%d" * 16, b"x" * 65000, constant=False)
    return buffer(one * (n // len(one)))


@hostile(1 << 22, "-j 1 --format hip b")
def hip_entries_that_lead_nowhere(n):
    return buffer(rocm.u32(*[16 << 2 | 2, 0, 0] * (n // 12)))


@hostile(1 << 22, "-j 1 --format hip b")
def hip_texts_in_one_another(n):
    """Everywhere stands an entry that is too long to be believed."""
    return buffer(struct.pack("<I", (n // 2) << 2) * (n // 4))


@hostile(1 << 18, "-j 1 --format abort b")
def abort_messages_without_bytes(n):
    """Each 8 zeros are one, as something stands behind the last."""
    return {"b": bytes(n) + b"x"}


@hostile(60, "-j 1 --format hostcall b")
def hostcall_beginnings_alone(n):
    r = rocm.Recording()
    for _ in range(n):
        r.message({lane: 1 for lane in range(64)}, rocm.u64(0), end=False)
    return {"b": r.bytes()}


@hostile(60, "-j 1 --format hostcall b")
def hostcall_ids_alone(n):
    r = rocm.Recording()
    for i in range(n):
        r.message({lane: 64 * i + lane + 1 for lane in range(64)},
                  rocm.text8(b"lost"), begin=False, end=False)
    return {"b": r.bytes()}


@hostile(400, "-j 1 --format hostcall b")
def hostcall_never_ending(n):
    """One message of many packets in each lane."""
    r = rocm.Recording()
    for i in range(n):
        r.message({lane: lane + 1 for lane in range(64)},
                  rocm.text8(b"x" * 40), begin=i == 0, end=False)
    return {"b": r.bytes()}


@hostile(60, "-j 1 --format hostcall b")
def hostcall_all_joined_late(n):
    """Beginnings first, then what each is to be joined to."""
    r = rocm.Recording()
    lanes = range(64)
    for _ in range(n):
        r.message({lane: 1 for lane in lanes}, rocm.u64(0), end=False)
    for i in range(n):
        r.message({lane: 64 * i + lane + 1 for lane in lanes},
                  rocm.text8(b"late\n"), begin=False)
    return {"b": r.bytes()}


# ---- what is stated and not there: size is buffers or frames ----

# For each format: what its buffer begins with, and how the zeros behind that
# come to be looked at.
HEADS = {
    "abort": struct.pack("<Q", 4) + b"abc\0" + bytes(4),
    "debugprintf": struct.pack("<II", 0xffffffff, 2),
    "gpuav": struct.pack("<III", 1, 0xffffffff, 10),
    "hip": struct.pack("<III", 0xfffffff0, 0xfffffff8, 3),
    "hostcall": struct.pack("<QII", 1, 2, 0) + bytes(100),
    "llpc": struct.pack("<QIIQ", 1 << 29, 0, 0, 1),
    "opencl": struct.pack("<III", 0xfffffff0, 0xfffffff8, 3),
}


def zeros(name, n, end=b"\1"):
    """n buffers of 4 GiB with a byte at their end."""
    head = HEADS[name]
    frames = []
    for i in range(1, n + 1):
        frames += [captures.buffer(i, SIZE, format=name),
                   captures.data(i, 0, head),
                   captures.zeros(i, len(head), SIZE - len(head) - len(end)),
                   captures.data(i, SIZE - len(end), end), captures.done(i)]
    return {"c": captures.stream(frames)}


def register_zeros():
    for name in HEADS:
        def make(n, name=name):
            return zeros(name, n)
        make.__name__ = "zeros_of_" + name
        hostile(40, "-j 1 c", sparse=True)(make)

        def file(n, name=name):
            return {"b": Sparse(SIZE, {0: HEADS[name], SIZE - n: bytes(n - 1) +
                                       b"\1"})}
        file.__name__ = "holes_of_" + name
        hostile(1 << 16, "-j 1 --format %s b" % name, sparse=True)(file)


register_zeros()


@hostile(1000, "-j 1 c", sparse=True)
def buffers_without_data(n):
    return {"c": captures.stream([captures.buffer(i, SIZE)
                                  for i in range(1, n + 1)])}


@hostile(1000, "-j 1 c", expect=0, sparse=True)
def buffers_far_apart(n):
    """Each has one byte, behind its header's zeros."""
    frames = []
    for i in range(1, n + 1):
        frames += [captures.buffer(i, SIZE, format="llpc"),
                   captures.data(i, SIZE - 1, b"x"), captures.done(i)]
    return {"c": captures.stream(frames, features=0)}


@hostile(100, "-j 1 c", sparse=True)
def bytes_far_apart(n):
    """In no order, with holes between all of them; each takes a page."""
    step = SIZE // (4 * n)
    places = [i * 7919 % n * step for i in range(n)]
    frames = [captures.buffer(1, SIZE, format="llpc")] + [
        captures.data(1, at, HEADS["llpc"] if at == 0 else b"x" * 2000)
        for at in places]
    return {"c": captures.stream(frames + [captures.done(1)], features=0)}


@hostile(5000, "-j 1 c", sparse=True)
def zeros_that_overlap(n):
    """Said over and over, over data that stays."""
    frames = [captures.buffer(1, SIZE, format="llpc"),
              captures.data(1, 0, bytes(1 << 16))]
    frames += [captures.zeros(1, 0, SIZE - i) for i in range(n)]
    return {"c": captures.stream(frames, end=False)}


@hostile(5000, "-j 1 c")
def shaders_of_one_module(n):
    """The first of many objects is sought again and again."""
    frames = [captures.code_object(i, b"\3\2\x23\7") for i in range(1, n + 1)]
    frames += [captures.frame(type="shader", shader=n, code_object=1)] * n
    return {"c": captures.stream(frames + [captures.buffer(1, 4)])}


def main():
    program = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or list(INPUTS)
    start = min(run(program, ["formats"], ".")[1] for _ in range(9))
    failed = [name for name in names if not check(program, name, start)]
    print("%d of %d failed" % (len(failed), len(names)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
