#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden cases of rusticl: OpenCL modules of a few functions, and
buffers as Mesa fills them.

    rusticl_cases.py CASES_FOLDER

Inputs, `cmd` and origin.md are rewritten; other expectations are made empty
where there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import struct

import arguments
import khronos_cases as khronos
import spirv_module as spv

PRINTF, CALL, KERNEL, CONSTANT_STORAGE = 184, 57, 6, 0


class Program(spv.Module):
    """functions: name -> list of calls: a printf is (text, *types), where a
    text as type is a literal; a name alone calls that function."""

    def __init__(self, functions, kernels):
        super().__init__()
        self.std = self.id()
        self.names = {name: self.id() for name in functions}
        self.kernels = kernels
        self.texts = {}
        void = self.type("void")
        kind = self.id()
        self.op(self.types, spv.FUNCTION_TYPE, kind, void)
        for name, calls in functions.items():
            self.op(self.body, spv.FUNCTION, void, self.names[name], 0, kind)
            self.op(self.body, spv.LABEL, self.id())
            for call in calls:
                self.add(void, call)
            self.op(self.body, spv.RETURN)
            self.op(self.body, spv.FUNCTION_END)

    def add(self, void, call):
        if isinstance(call, str):
            self.op(self.body, CALL, void, self.id(), self.names[call])
            return
        text, *types = call
        arguments = [self.text(t[1:]) if t.startswith("'") else self.value(t)
                     for t in types]
        self.op(self.body, spv.EXT_INST, void, self.id(), self.std, PRINTF,
                self.text(text), *arguments)

    def text(self, text):
        if text not in self.texts:
            self.texts[text] = self.new_text(text)
        return self.texts[text]

    def new_text(self, text):
        data = text.encode() + b"\0"
        array, pointer, whole, variable = (self.id() for _ in range(4))
        byte = self.type("u8")
        self.op(self.types, spv.ARRAY, array, byte,
                self.constant("u32", len(data)))
        self.op(self.types, spv.POINTER, pointer, CONSTANT_STORAGE, array)
        self.op(self.types, spv.CONSTANT_COMPOSITE, array, whole,
                *[self.constant("u8", c) for c in data])
        self.op(self.types, spv.VARIABLE, pointer, variable, CONSTANT_STORAGE,
                whole)
        return variable

    def words(self):
        head = [(spv.CAPABILITY, [KERNEL]),
                (spv.EXT_INST_IMPORT, [self.std] + spv.literal("OpenCL.std")),
                (spv.MEMORY_MODEL, [2, 2])]
        head += [(spv.ENTRY_POINT, [KERNEL, self.names[k]] + spv.literal(k))
                 for k in self.kernels]
        out = [0x07230203, 0x00010000, 0, self.bound, 0]
        for opcode, words in head + self.debug + self.types + self.body:
            out.append((len(words) + 1) << 16 | opcode)
            out += words
        return out


def binary(program):
    return struct.pack("<III", 1, len(program), 4) + program


def buffer(*entries, used=None, n_bytes=None):
    data = b"".join(entries)
    data = struct.pack("<I", 4 + len(data) if used is None else used) + data
    return data if n_bytes is None else data[:n_bytes].ljust(n_bytes, b"\0")


def entry(number, form="", *values):
    return struct.pack("<I" + form, number, *values)


def main(root):
    def case(name, origin, data, functions, kernels, wrap=True, option="",
             **more):
        program = Program(functions, kernels).bytes()
        khronos.case(root, name, "decode --format rusticl %sp.bin buffer.bin" %
                     option, origin,
                     {"buffer.bin": data,
                      "p.bin": binary(program) if wrap else program},
                     maker="rusticl_cases.py", **more)

    helper = {"helper": [("helper %d\n", "i32")],
              "k": [("first %d\n", "i32"), "helper", ("last\n",)],
              "late": [("late %f\n", "f32")]}
    case("helper_before", "A helper that stands before its kernel is met "
         "after it.",
         buffer(entry(1, "i", -1), entry(3, "i", 5), entry(2)), helper, ["k"])
    case("spirv_alone", "SPIR-V without a program binary around it.",
         buffer(entry(1, "i", -1), entry(2)), helper, ["k"], wrap=False)
    kernels = {"a": [("a %d\n", "i32"), ("b %d %d\n", "i32", "i32")],
               "b": [("c %d %d\n", "i32", "i32"), ("d %d\n", "i32")]}
    case("kernel_searched", "Only the second kernel's messages fit.",
         buffer(entry(2, "i", 7), entry(1, "ii", 8, 9), entry(2, "i", 10)),
         kernels, ["a", "b"])
    alike = {"a": [("a %d\n", "i32")], "b": [("b %d\n", "i32")]}
    case("kernels_alike", "Both kernels fit.", buffer(entry(1, "i", 7)),
         alike, ["a", "b"])
    for name, kernel in (("given", "b"), ("unknown", "c")):
        case("kernel_" + name, "Both kernels fit, and one is asked for.",
             buffer(entry(1, "i", 7)), alike, ["a", "b"],
             option="--kernel %s " % kernel)
    texts = {"k": [("%s and %8s|%d\n", "'one", "'two", "i32"),
                   ("empty '%s'\n", "'")]}
    at = len("%s and %8s|%d\n") + 1
    case("texts", "Constant texts by offset; an offset inside of one, and one "
         "behind all, are no text.",
         buffer(entry(1, "QQi", at, at + 4, 3),
                entry(2, "Q", len("empty '%s'\n") + 1),
                entry(1, "QQi", at + 1, 1 << 40, 4)), texts, ["k"])
    case("texts_again", "Calls that share a text, more than are read.",
         buffer(entry(1), entry(2900)),
         {"k": [("begin\n",)] + [("x" * 6000,)] * 2900}, ["k"])
    case("hole", "A number 0 in the middle was not written.",
         buffer(entry(1, "i", 7), entry(0, "i", 0), entry(1, "i", 9)),
         {"k": [("a %d\n", "i32")]}, ["k"])
    case("overflow", "The last place fits exactly, and stays free.",
         buffer(*[entry(1, "i", i) for i in range(7)], used=4 + 8 * 20,
                n_bytes=4 + 8 * 8), {"k": [("a %d\n", "i32")]}, ["k"])
    case("vectors", "Vectors, and a third component with a fourth behind.",
         buffer(entry(1, "bbxx4f4Hi", -1, 5, 1, 2, 3, 9, 1, 2, 3, 4, -7)),
         {"k": [("%v2hhd %v3hlf %v4hu %d\n", "u8x2", "f32x3", "u16x4",
                 "i32")]}, ["k"])


if __name__ == "__main__":
    main(*arguments.folders(__doc__, "CASES_FOLDER"))
