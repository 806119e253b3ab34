#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases of clspv: modules with PrintfInfo, and buffers as
programs that clspv compiled leave them.

    clspv_cases.py CASES_FOLDER

Inputs, `cmd` and origin.md are rewritten; other expectations are made empty
where there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import os
import struct

import arguments
import khronos_cases as khronos
import spirv_module as spv

PRINTF_INFO, STORAGE_BUFFER, PUSH_CONSTANT = 38, 39, 40


class Module(spv.Module):
    """A module whose messages are in the reflection."""

    def __init__(self, messages, n_bytes=None, version=5, pointer=False):
        super().__init__()
        self.reflection = self.id()
        self.version = version
        for i, (text, *sizes) in enumerate(messages):
            self.info(PRINTF_INFO, self.constant("u32", i), self.string(text),
                      *[self.constant("u32", s) for s in sizes])
        if n_bytes is not None:
            self.info(PUSH_CONSTANT if pointer else STORAGE_BUFFER,
                      self.constant("u32", 0), self.constant("u32", 8),
                      self.constant("u32", n_bytes))

    def info(self, number, *operands):
        self.op(self.types, spv.EXT_INST, self.type("void"), self.id(),
                self.reflection, number, *operands)

    def words(self):
        self.debug.insert(0, (spv.EXT_INST_IMPORT, [self.reflection] +
                              spv.literal("NonSemantic.ClspvReflection.%d"
                                          % self.version)))
        return super().words()


def buffer(*entries, counter=None, tail=b"", n_bytes=None):
    data = b"".join(entries)
    if counter is None:
        counter = len(data) // 4
    data = struct.pack("<I", counter) + data + tail
    return data if n_bytes is None else data[:n_bytes].ljust(n_bytes, b"\0")


def entry(number, form="", *values):
    return struct.pack("<I" + form, number, *values)


MESSAGES = [
    ("gid %u of %u\n", 4, 4),
    ("plain\n",),
    ("f %f l %ld c %c\n", 8, 8, 4),
    ("str %s|%7s|\n", 4, 4),
    ("literal",),
    ("char2 %v2hhd char4 %v4hhu short2 %v2hd\n", 4, 4, 4),
    ("float3 %v3hlf long2 %v2ld int4 %v4d\n", 12, 16, 16),
    ("100%%, %d more\n", 4),
]


def main(root):
    os.makedirs(root, exist_ok=True)

    def case(name, origin, data, module=None, cmd=None, **more):
        modules = module or {"m.spv": Module(MESSAGES, 4096)}
        files = {"buffer.bin": data}
        files.update({k: m.bytes() for k, m in modules.items()})
        khronos.case(root, name,
                     cmd or "decode --format clspv buffer.bin "
                     + " ".join(modules),
                     origin, files, maker="clspv_cases.py", **more)

    several = [entry(0, "II", 0, 4), entry(1),
               entry(2, "dqI", 1.5, -(1 << 40), ord("x")),
               entry(3, "II", 4, 1), entry(4),
               entry(5, "hxx4BHH", -2 & 0x7fff, 1, 2, 3, 255, 65535, 7)[:16],
               entry(6, "3fqq4i", 1, 2, 3, -1, 1 << 33, 1, -2, 3, -4),
               entry(7, "i", -9)]
    several[5] = entry(5, "bbxx4BhH", -1, 5, 1, 2, 3, 255, -1, 7)
    case("messages", "Every kind of argument; messages without a conversion "
         "are followed by others.", buffer(*several))
    case("detected", "The same without --format.", buffer(*several),
         cmd="decode buffer.bin m.spv")
    case("stale", "Entries of an earlier kernel behind the used dwords.",
         buffer(entry(0, "II", 1, 2), counter=3,
                tail=entry(0, "II", 8, 9) * 3))
    case("overflow", "A call that found no room left its id.",
         buffer(*[entry(0, "II", i, 9) for i in range(340)],
                entry(2, "I", 7), counter=1020 + 6 + 12, n_bytes=4096))
    case("overflow_pointer", "The buffer's size is that of the push constant; "
         "the file goes on.",
         buffer(*[entry(0, "II", i, 9) for i in range(5)],
                entry(2, "I", 0xdead), counter=100, n_bytes=256),
         module={"m.spv": Module(MESSAGES, 64 + 8, pointer=True)})
    case("cut_file", "The file ends before the buffer does.",
         buffer(*[entry(0, "II", i, 9) for i in range(20)])[:150])
    case("unknown_id", "An id of no message in the middle.",
         buffer(entry(0, "II", 1, 2), entry(77, "II", 5, 6),
                entry(2, "dqI", 2.5, 3, ord("y")), entry(1)))
    case("unknown_text", "A %s with the id of no message.",
         buffer(entry(3, "II", 99, 4), entry(1)))
    case("used_0", "Nothing was printed.", buffer(tail=bytes(60)))
    case("used_all_ones", "The counter is damaged.",
         buffer(b"\xee" * 60, counter=0xffffffff))
    again = Module([("end\n",)])
    text = again.string("x" * 262000)
    for i in range(1, 260):
        again.info(PRINTF_INFO, again.constant("u32", i), text)
    case("texts_again", "Messages that share a text, more than are read.",
         buffer(entry(0), entry(259), entry(0)), module={"m.spv": again})
    case("odd_sizes", "short3 takes six bytes.",
         buffer(entry(0, "HH", 1, 2), entry(1)),
         module={"m.spv": Module([("short3 %v3hd\n", 6), ("end\n",)])})
    case("more_arguments", "More arguments than conversions, and fewer.",
         buffer(entry(0, "III", 1, 2, 3), entry(1, "I", 4)),
         module={"m.spv": Module([("one %d\n", 4, 4, 4),
                                  ("two %d %d\n", 4)])})
    case("version_4", "A reflection without messages.",
         buffer(entry(0, "II", 1, 2)),
         module={"m.spv": Module([], version=4)})
    case("version_7", "A later reflection.", buffer(entry(0, "II", 1, 2)),
         module={"m.spv": Module(MESSAGES, 4096, version=7)})
    two = {"a.spv": Module([("a %d\n", 4), ("a %f %f\n", 8, 8)]),
           "b.spv": Module([("b %d %d\n", 4, 4), ("b %d\n", 4)])}
    case("two_modules", "Only the second one's messages fit.",
         buffer(entry(1, "i", 5), entry(0, "ii", 3, 4), entry(1, "i", 6)),
         module=two)
    alike = {"a.spv": Module([("a %d\n", 4), ("same %d\n", 4)]),
             "b.spv": Module([("b %u\n", 4), ("same %d\n", 4)])}
    case("modules_alike", "Both fit.", buffer(entry(0, "i", 5),
                                              entry(1, "i", 6)), module=alike)
    case("inspect", "What each dword is.",
         buffer(entry(3, "II", 4, 1), tail=bytes(8)), expect=("out",),
         cmd="inspect --format clspv buffer.bin m.spv")
    case("strings", "What is in the module.", buffer(), expect=("out",),
         cmd="strings m.spv")


if __name__ == "__main__":
    main(*arguments.folders(__doc__, "CASES_FOLDER"))
