# SPDX-License-Identifier: MIT
"""Writes SPIR-V modules from readable descriptions, and the buffers that the
Vulkan validation layer's instrumentation would write for them. No tools, no
GPU: just what the tests need."""
import struct

# Opcodes and numbers of the SPIR-V specification.
SOURCE_CONTINUED, SOURCE, STRING, LINE, EXT_INST_IMPORT, EXT_INST = \
    2, 3, 7, 8, 11, 12
MEMORY_MODEL, ENTRY_POINT, CAPABILITY = 14, 15, 17
VOID, BOOL, INT, FLOAT, VECTOR, ARRAY, STRUCT, POINTER, FUNCTION_TYPE = \
    19, 20, 21, 22, 23, 28, 30, 32, 33
UNDEF, CONSTANT, CONSTANT_COMPOSITE = 1, 43, 44
FUNCTION, FUNCTION_END, LABEL, RETURN = 54, 56, 248, 253
DECORATE, MEMBER_DECORATE, COMPOSITE_CONSTRUCT, NO_LINE = 71, 72, 80, 317
VARIABLE, LOAD = 59, 61
ABORT, CONSTANT_DATA = 5121, 5147
STAGES = {"vertex": 0, "tess_control": 1, "tess_eval": 2, "geometry": 3,
          "fragment": 4, "compute": 5, "raygen": 5313}


def literal(text):
    data = text if isinstance(text, bytes) else text.encode()
    data += b"\0" * (4 - len(data) % 4)
    return list(struct.unpack("<%dI" % (len(data) // 4), data))


class Module:
    """Instructions in sections; ids are handed out as they are needed."""

    def __init__(self, stage="compute", stages=None):
        self.bound = 1
        self.debug, self.types, self.body, self.calls = [], [], [], []
        self.known = {}
        self.printf = self.id()
        self.stages = stages or [stage]
        self.main = self.id()
        self.offsets = {}

    def id(self):
        self.bound += 1
        return self.bound - 1

    def op(self, section, opcode, *words):
        section.append((opcode, list(words)))

    def string(self, text):
        i = self.id()
        self.op(self.debug, STRING, i, *literal(text))
        return i

    def source(self, file, *chunks):
        self.op(self.debug, SOURCE, 2, 450, file, *literal(chunks[0]))
        for chunk in chunks[1:]:
            self.op(self.debug, SOURCE_CONTINUED, *literal(chunk))

    def type(self, name):
        """"i32", "f16x3", "bool", "ptr", "void"."""
        if name in self.known:
            return self.known[name]
        base, _, n = name.partition("x")
        if n:
            component = self.type(base)
            i = self.id()
            self.op(self.types, VECTOR, i, component, int(n))
        elif base == "ptr":
            to = self.type("u32")
            i = self.id()
            self.op(self.types, POINTER, i, 5349, to)
        else:
            i = self.id()
            form = {"b": (BOOL,), "v": (VOID,), "f": (FLOAT,),
                    "i": (INT, 1), "u": (INT, 0)}[base[0]]
            words = [] if form[0] in (BOOL, VOID) else [int(base[1:])]
            self.op(self.types, form[0], i, *words, *form[1:])
        self.known[name] = i
        return i

    def value(self, type_name):
        t = self.type(type_name)
        i = self.id()
        self.op(self.types, UNDEF, t, i)
        return i

    def constant(self, type_name, value):
        t = self.type(type_name)
        i = self.id()
        self.op(self.types, CONSTANT, t, i, value)
        return i

    def line(self, file, line, column=0):
        self.op(self.body, LINE, file, line, column)

    def call(self, format_id, types):
        """A debugPrintf call; returns its number in `calls`."""
        operands = [self.value(t) for t in types]
        self.calls.append((len(self.body), format_id))
        self.op(self.body, EXT_INST, self.type("void"), self.id(), self.printf,
                1, format_id, *operands)
        return len(self.calls) - 1

    def words(self):
        void = self.type("void")
        function = self.id()
        head = [(CAPABILITY, [1]),
                (EXT_INST_IMPORT,
                 [self.printf] + literal("NonSemantic.DebugPrintf")),
                (MEMORY_MODEL, [0, 1])]
        head += [(ENTRY_POINT, [STAGES[s], self.main] + literal("main"))
                 for s in self.stages]
        start = [(FUNCTION_TYPE, [function, void]),
                 (FUNCTION, [void, self.main, 0, function]),
                 (LABEL, [self.id()])]
        before = head + self.debug + self.types + start
        out, self.places = [0x07230203, 0x00010300, 0, self.bound, 0], []
        for k, (opcode, words) in enumerate(
                before + self.body + [(RETURN, []), (FUNCTION_END, [])]):
            self.places.append((k, len(out)))
            out.append((len(words) + 1) << 16 | opcode)
            out += words
        out[3] = self.bound
        self.first = len(before)
        return out

    def bytes(self, big_endian=False):
        words = self.words()
        return struct.pack((">" if big_endian else "<") + "%dI" % len(words),
                           *words)

    def ordinal(self, call):
        return self.places[self.first + self.calls[call][0]][0]

    def offset(self, call):
        return self.places[self.first + self.calls[call][0]][1]


# ---- buffers ----

def record(layout, shader, module, call, values, stage=5, info=(0, 0, 0),
           masks=(0, 0, 0)):
    """One printf record; module.words() was called before."""
    values, info, masks = list(values), list(info), list(masks)
    fmt = module.calls[call][1]
    place = module.offset(call) if layout == "p6" else module.ordinal(call)
    body = {
        "p1": lambda: [place, stage] + info + [fmt],
        "p2": lambda: [place, stage] + info + [fmt],
        "p3": lambda: [place, fmt],
        "p4": lambda: [place, fmt, masks[0], stage] + info,
        "p5": lambda: [place, fmt] + masks + [stage] + info,
        "p6": lambda: [stage << 27 | place] + info + [fmt] + masks,
    }[layout]()
    return [2 + len(body) + len(values), shader] + body + values


def printf_buffer(layout, records, n_bytes=None, wanted=None):
    words = [w for r in records for w in r]
    head = [len(words) if wanted is None else wanted & 0xffffffff]
    if layout in ("p2", "p3"):
        head.insert(0, 0)
    data = struct.pack("<%dI" % len(head + words), *head, *words)
    if n_bytes is None:
        n_bytes = len(data) + 64
    return data[:n_bytes] + bytes(max(0, n_bytes - len(data)))
