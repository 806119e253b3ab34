# SPDX-License-Identifier: MIT
"""Writes what instrumented shaders write for the validation layer, in each
layout since 2019, and the modules that their calls are in. Positions are
counted here, from the modules' words.
"""
import struct

import instrument
import model
import spirv_module as spv
from case import ABSENT, Case, Message

LAYOUTS = ("p1", "p2", "p3", "p4", "p4s", "p4d", "p5a", "p5b", "p5c", "p6")
OLD = ("p1", "p2", "p3")
TAKES_STAGE = {"vertex": (0, 0), "fragment": (4, 4), "compute": (5, 5),
               "raygen": (9, 5313), "mesh": (16, 5365)}
spv.STAGES.setdefault("mesh", 5365)

# Opcodes of what ends a block, and of types and constants.
ENDS = tuple(range(249, 256))
DECLARED = set(range(19, 53)) | {1, 59}


def positions(words):
    """{dword offset: ordinal} of a module's instructions: each counts one,
    and so does each line in front of types, constants and what is in a block;
    a line stays current until OpNoLine or the block's end and is then counted
    again in front of each instruction."""
    out, at, n = {}, 5, 0
    own, current, in_block = 0, False, False
    while at < len(words):
        opcode, size = words[at] & 0xffff, words[at] >> 16
        if opcode in (spv.LINE, spv.NO_LINE):
            own, current = own + 1, opcode == spv.LINE
        else:
            if in_block or opcode in DECLARED:
                n += own or current
            own = 0
            out[at] = n
            n += 1
        if opcode == spv.LABEL:
            in_block = True
        if opcode in ENDS:
            in_block, current, own = False, False, 0
        at += size
    return out


class Value:
    """An operand: its dwords, its bits in the masks, what it is."""

    def __init__(self, rng, base):
        size = 64 if base == "ptr" else 1 if base == "bool" else int(base[1:])
        self.bits, self.base = size, base
        if base[0] == "f":
            self.value = model.float_value(rng, size)
            data = struct.pack("<d" if size == 64 else "<f", self.value)
        else:
            self.value = model.int_value(rng, size)
            if base == "ptr":
                self.value = self.value or 4096
            data = struct.pack("<Q" if size == 64 else "<I", self.value)
        self.words = list(struct.unpack("<%dI" % (len(data) // 4), data))

    def shown(self, spec):
        if self.base == "bool":
            return model.show(spec, self.value, 32)
        return model.show(spec, self.value, self.bits)


class Argument:
    """A conversion with an operand of its type."""

    def __init__(self, rng, layout):
        conv = rng.choice("dduuixXofffegEGFaAp")
        sizes = (8, 32, 32, 64) if layout in OLD else (8, 16, 32, 32, 64)
        size = rng.choice(sizes)
        if conv == "p":
            self.base = "ptr"
        elif conv in model.FLOATS:
            self.base = "f%d" % rng.choice((16, 32, 32, 64))
        elif rng.random() < 0.1:
            self.base = "bool"
        elif conv in "di":
            self.base = "i%d" % size
        else:
            signed = conv in "xXo" and rng.random() < 0.3
            self.base = ("i%d" if signed else "u%d") % size
        self.n = rng.choice((1, 1, 1, 2, 3, 4)) if conv != "p" else 1
        self.type = self.base if self.n == 1 else "%sx%d" % (self.base, self.n)
        self.spec, self.text = self.written(rng, conv)

    def written(self, rng, conv):
        """(how each component is printed, what the format string says)"""
        spec = model.Spec(conv)
        if rng.random() < 0.3 and conv != "p":
            spec.width = rng.choice((None, 1, 8, 12))
            spec.flags = rng.choice(("", "0")) if spec.width else ""
            spec.precision = rng.choice((None, 2, 3)) \
                if conv in model.FLOATS else None
        tail = conv
        if self.base in ("i64", "u64"):
            tail = "l" + conv
            if conv == "u" and rng.random() < 0.5 and not spec.width:
                spec.conv, tail = "x", "ul"
        front = model.Spec("", spec.flags, spec.width, spec.precision).text()
        return spec, front + ("v%d" % self.n if self.n > 1 else "") + tail

    def draw(self, rng):
        values = [Value(rng, self.base) for _ in range(self.n)]
        return values, b", ".join(v.shown(self.spec) for v in values)


class Call:
    """A call in a module: its place is known once the words are."""

    def __init__(self, rng, layout, parts=None):
        self.parts = parts or self.random_parts(rng, layout)
        self.text = b"".join(p if isinstance(p, bytes) else p.text.encode()
                             for p in self.parts)
        self.types = [p.type for p in self.parts if isinstance(p, Argument)]

    @staticmethod
    def random_parts(rng, layout):
        parts = [model.literal(rng)]
        for _ in range(rng.choice((0, 1, 2, 4, 8))):
            parts += [Argument(rng, layout), model.literal(rng, b"l")]
        return parts

    def record(self, rng):
        """(values, masks, message)"""
        values, masks, bit, out = [], [0, 0, 0], 0, b""
        for part in self.parts:
            if isinstance(part, bytes):
                out += model.plain(part)
                continue
            drawn, shown = part.draw(rng)
            out += shown
            for v in drawn:
                values += v.words
                which = {"f64": 0, "i8": 1, "i16": 2}.get(v.base)
                if which is not None and bit < 32:
                    masks[which] |= 1 << bit
                bit += 2 if v.base == "ptr" else 1
        return values, masks, out


class Shader:
    def __init__(self, rng, layout, calls, stage=None, lines=False):
        self.stage = stage or rng.choice(list(TAKES_STAGE))
        self.calls = calls
        m = self.module = spv.Module(self.stage)
        for _ in range(rng.randint(0, 5)):
            m.string(rng.choice((b"main.comp", b"a", b"some other text")))
        shared, file, line = {}, m.string("shader.glsl"), None
        for i, call in enumerate(calls):
            if lines and rng.random() < 0.7:
                m.line(file, 10 + i)
                line = 10 + i
            call.line = line
            if call.text not in shared:
                shared[call.text] = m.string(call.text)
            for _ in range(rng.randint(0, 3)):
                m.op(m.body, 0)  # OpNop, which counts
            m.call(shared[call.text], call.types)
            call.format = shared[call.text]
            if lines and rng.random() < 0.2:
                m.op(m.body, spv.NO_LINE)
                line = None
        words = m.words()
        ordinals = positions(words)
        for i, call in enumerate(calls):
            call.offset = m.offset(i)
            call.ordinal = ordinals[call.offset]


def info(rng, stage):
    if stage == "fragment":
        return list(struct.unpack("<2I", struct.pack(
            "<2f", rng.randint(0, 99) + 0.5, rng.randint(0, 99) + 0.5))) + [0]
    if stage == "vertex":
        return [rng.randint(0, 999), rng.randint(0, 3), 0]
    return [rng.randint(0, 999), rng.randint(0, 7), rng.randint(0, 3)]


def record(rng, layout, ident, shader, call):
    values, masks, out = call.record(rng)
    stage, raw = TAKES_STAGE[shader.stage]
    where = info(rng, shader.stage)
    old = raw if rng.random() < 0.8 or layout in OLD else 0x7fffffff
    head = {
        "p1": lambda: [call.ordinal, raw] + where + [call.format],
        "p2": lambda: [call.ordinal, raw] + where + [call.format],
        "p3": lambda: [call.ordinal, call.format],
        "p4": lambda: [call.ordinal, call.format],
        "p4s": lambda: [call.ordinal, call.format, raw] + where,
        "p4d": lambda: [call.ordinal, call.format, masks[0], raw] + where,
        "p5a": lambda: [call.ordinal, call.format] + masks + [old] + where,
        "p5b": lambda: [call.ordinal, call.format] + masks + [stage] + where,
        "p5c": lambda: [call.offset, call.format] + masks + [stage] + where,
        "p6": lambda: [stage << 27 | call.offset] + where + [call.format] +
        masks,
    }[layout]()
    words = [2 + len(head) + len(values), ident] + head + values
    return struct.pack("<%dI" % len(words), *words), out


def build(rng, layout, shaders, kind, n_records=(1, 2, 8, 40), words=None,
          where="--shader"):
    """shaders: {id: Shader}"""
    start = 8 if layout in ("p2", "p3") else 4
    messages, body = [], b""
    for _ in range(rng.choice(n_records)):
        ident = rng.choice(list(shaders))
        call = rng.choice(shaders[ident].calls)
        data, out = record(rng, layout, ident, shaders[ident], call)
        messages.append(Message(start + len(body), len(data), out,
                                {"origin.shader": ident}))
        messages[-1].call = call
        body += data
    lost = rng.choice((0, 0, 0, 4 * rng.randint(9, 900)))
    head = struct.pack("<I", (len(body) + lost) // 4)
    head = bytes(start - 4) + head
    tail = b"" if lost else bytes(rng.choice((0, 4, 64, 4096)))
    files = {"buffer.bin": head + body + tail}
    line = ["--format", "debugprintf", "buffer.bin"] + (words or [])
    for ident, shader in shaders.items():
        name = "s%d.spv" % ident
        files[name] = shader.module.bytes(rng.random() < 0.1)
        line += [where, "%d=%s" % (ident, name)] if where else [name]
    return Case(line, files, messages, held=len(body), lost=lost, kind=kind)


def make_shaders(rng, layout, n=None, lines=False):
    idents = rng.sample(range(40), n or rng.choice((1, 1, 2, 4)))
    return {i: Shader(rng, layout, [
        Call(rng, layout) for _ in range(rng.choice((1, 3, 6)))],
        lines=lines) for i in idents}


def modern(rng):
    layout = rng.choice(("p6", "p6", "p5c"))
    return build(rng, layout, make_shaders(rng, layout), layout)


def any_layout(rng):
    layout = rng.choice(LAYOUTS)
    return build(rng, layout, make_shaders(rng, layout), layout)


def with_lines(rng):
    layout = rng.choice(LAYOUTS)
    return build(rng, layout, make_shaders(rng, layout, lines=True),
                 "with lines")


def forced(rng):
    layout = rng.choice(LAYOUTS)
    return build(rng, layout, make_shaders(rng, layout), "--layout",
                 words=["--layout", layout[:2]])


def lonely(rng):
    layout = rng.choice(LAYOUTS)
    return build(rng, layout, make_shaders(rng, layout, 1), "one record",
                 (1,))


def twins(rng):
    """Calls that share a string and differ in the types of what they print:
    the position tells, and where it cannot be understood, size and masks."""
    layout = rng.choice(LAYOUTS)
    pairs = [("u8", "i8", "%d"), ("u64", "u32", "%u"), ("f64", "f32", "%f"),
             ("i8", "i32", "%d"), ("f32", "u32", "%x")]
    sizes = rng.choice(pairs)
    calls = []
    for base in sizes[:2] * rng.choice((1, 2)):
        a = Argument(rng, layout)
        a.base, a.n, a.type = base, 1, base
        a.text = sizes[2]
        a.spec = model.Spec(true_conv(base, sizes[2][-1]))
        calls.append(Call(rng, layout, [b"value ", a, b" "]))
    for _ in range(rng.choice((0, 2))):
        calls.insert(rng.randrange(len(calls) + 1), Call(rng, layout))
    shader = Shader(rng, layout, calls, lines=rng.random() < 0.3)
    return build(rng, layout, {rng.randrange(9): shader}, "twins")


def true_conv(base, conv):
    """What is printed where the conversion is for another type."""
    if base[0] == "f":
        return "f" if conv not in model.FLOATS else conv
    return {"d": "d" if base[0] == "i" else "u"}.get(conv, conv)


def in_order(rng):
    """Modules without ids: in the order of the command line, from 0."""
    layout = rng.choice(LAYOUTS)
    made = make_shaders(rng, layout, rng.choice((2, 3, 4)))
    shaders = dict(enumerate(made.values()))
    return build(rng, layout, shaders, "plain files", (8, 40), where=None)


def shuffled(rng):
    case = in_order(rng)
    names = [w for w in case.words if w.endswith(".spv")]
    rng.shuffle(names)
    case.words = case.words[:-len(names)] + names
    case.kind = "plain files, shuffled"
    for m in case.messages:
        m.more = {}
    return case


def wrong_module(rng):
    """Another module than the shader's, with calls of the same ids."""
    layout = rng.choice(LAYOUTS)
    case = build(rng, layout, make_shaders(rng, layout, 1), "wrong module",
                 (4, 20))
    name = [n for n in case.files if n.endswith(".spv")][0]
    other = make_shaders(rng, layout, 1)
    case.files[name] = list(other.values())[0].module.bytes()
    return case


def by_layer(rng):
    """Modules as the layer instruments them: all there is of inline modules.
    Some calls it leaves out; lines are those of the calls."""
    layout = rng.choice(("p5a", "p5b", "p5c", "p6"))
    shaders = make_shaders(rng, layout, lines=rng.random() < 0.7)
    case = build(rng, layout, shaders, "by the layer", where=None)
    printed = {id(m.call) for m in case.messages}
    for ident, shader in shaders.items():
        sizes = [len(call.record(rng)[0])
                 if id(call) in printed or rng.random() < 0.7 else None
                 for call in shader.calls]
        case.files["s%d.spv" % ident] = instrument.printing(
            rng, shader.module, layout, ident, shader.calls,
            TAKES_STAGE[shader.stage][layout == "p5a"], sizes)
    for m in case.messages:
        m.more["origin.line"] = m.call.line or ABSENT
    return case


def wrapped(rng):
    """The count passed 2^32: what is stored is gapless up to where the first
    record did not fit, and the count says anything."""
    layout = rng.choice(LAYOUTS)
    case = build(rng, layout, make_shaders(rng, layout), "wrapped count",
                 (8, 20, 60))
    return miscounted(rng, case)


def miscounted(rng, case):
    data = case.files["buffer.bin"]
    start = case.messages[0].offset
    end = max(m.offset + m.size for m in case.messages)
    count = rng.randrange((end - start) // 4)
    case.files["buffer.bin"] = data[:start - 4] + struct.pack("<I", count) + \
        data[start:end] + bytes(rng.choice((0, 4, 16)))
    case.held = case.lost = None
    return case


def cut_by_one(rng):
    """Since SDK 1.4.350 the last record can be a dword longer than the
    buffer."""
    case = build(rng, "p6", make_shaders(rng, "p6"), "cut by one", (1, 3, 20))
    end = max(m.offset + m.size for m in case.messages)
    count = struct.pack("<I", (end - 4) // 4)
    case.files["buffer.bin"] = count + case.files["buffer.bin"][4:end - 4]
    case.held = case.lost = None
    last = case.messages.pop()
    case.touched = last.offset, last.offset + last.size
    return case


KINDS = [(wrapped, 2), (cut_by_one, 1), (modern, 4), (any_layout, 6),
         (with_lines, 2), (forced, 2), (by_layer, 3), (lonely, 2), (twins, 2), (in_order, 1), (shuffled, 2),
         (wrong_module, 1)]
# Those whose damage is looked at.
SOUND = (modern, any_layout, with_lines, by_layer, in_order)
