# SPDX-License-Identifier: MIT
"""Writes what VK_KHR_shader_abort hands over: the messages of shaders as each
of the compilers lays them out, and the modules they are in.
"""
import struct

import model
import spirv_module as spv
from case import Case, Message

SIZES = {"i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8,
         "u64": 8, "f16": 2, "f32": 4, "f64": 8}
FORMS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
         "i64": "q", "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}
LENGTHS = {"8": "hh", "16": "h", "32": "", "64": "ll"}


def up(at, n):
    return -(-at // n) * n


class Argument:
    """A value with its conversion. plain: of the type that its conversion
    means to who does not know the types."""

    def __init__(self, rng, plain):
        self.base = rng.choice(list(SIZES))
        size, signed = self.base[1:], self.base[0]
        self.n = rng.choice((1, 1, 1, 2, 3, 4))
        conv = rng.choice("fffgeE") if signed == "f" else \
            rng.choice("di") if signed == "i" else rng.choice("uuxXo")
        self.spec = model.Spec(conv)
        length = LENGTHS[size] if signed != "f" else \
            {"16": "h", "32": "", "64": "l"}[size]
        if not plain and rng.random() < 0.7:
            length = ""
        # A conversion for more or fewer components than there are.
        self.shown = self.n if plain or rng.random() < 0.8 else \
            rng.choice((1, 2, 3, 4))
        vector = "v%d" % self.shown if self.shown > 1 else ""
        self.text = "%" + vector + length + conv
        self.align = SIZES[self.base]
        self.size = self.n * self.align
        self.type = self.base if self.n == 1 else "%sx%d" % (self.base, self.n)

    def draw(self, rng):
        bits, out, data = int(self.base[1:]), [], b""
        for _ in range(self.n):
            if self.base[0] == "f":
                v = model.float_value(rng, bits)
            else:
                v = model.int_value(rng, bits)
                v = model.signed(v, bits) if self.base[0] == "i" else v
            data += struct.pack("<" + FORMS[self.base], v)
            out.append(model.show(self.spec, v, bits))
        return data, b", ".join(out[:self.shown])


class Site:
    """abort(text, ...) of one compiler: pieces of text and where they and the
    values stand."""

    def __init__(self, rng, producer, plain, n_max=4):
        self.producer = producer
        parts = [literal(rng)]
        for _ in range(rng.randint(0, n_max)):
            parts += [Argument(rng, plain), literal(rng)]
        self.parts = parts
        self.text = b"".join(p if isinstance(p, bytes) else p.text.encode()
                             for p in parts)
        self.arguments = [p for p in parts if isinstance(p, Argument)]
        self.texts = self.texts_of(producer)
        self.lay_out()

    def texts_of(self, producer):
        """The constant members: [bytes]."""
        text = self.text
        if producer == "proposal":
            return [text + b"\0"]
        if producer == "example":
            return [text[:len(text) // 2], text[len(text) // 2:]]
        if producer == "glslang 1":
            pieces = [p if isinstance(p, bytes) else p.text.encode()
                      for p in self.parts]
            return [(p + b"\0").ljust(up(len(p) + 1, 4), b"\0")
                    for p in pieces]
        return [(text + b"\0").ljust(up(len(text) + 1, 4), b"\0")]

    def lay_out(self):
        at, self.places = 0, []
        order = []
        if self.producer == "glslang 1":
            texts = iter(self.texts)
            for p in self.parts:
                order.append(next(texts))
                if isinstance(p, Argument):
                    order.append(p)
        else:
            order = self.texts + self.arguments
        for member in order:
            if isinstance(member, Argument):
                at = up(at, member.align)
            elif self.producer == "glslang 1":
                at = up(at, 4)
            self.places.append((at, member))
            at += member.size if isinstance(member, Argument) else len(member)
        self.size = at

    def payload(self, rng):
        shown, data = {}, bytearray(rng.choice((bytes, rng.randbytes))(
            self.size))
        for at, member in self.places:
            if isinstance(member, Argument):
                stored, shown[id(member)] = member.draw(rng)
            else:
                stored = member
            data[at:at + len(stored)] = stored
        out = b"".join(model.plain(p) if isinstance(p, bytes) else
                       shown[id(p)] for p in self.parts)
        return bytes(data), out


def literal(rng):
    return model.literal(rng, b"l")


def array_of_text(rng, m, site, data):
    """(type, constant) of a text member."""
    words = struct.unpack("<%dI" % (up(len(data), 4) // 4),
                          data.ljust(up(len(data), 4), b"\0"))
    if site.producer == "slang":
        array, constant = m.id(), m.id()
        length = m.constant("u32", len(words))
        m.op(m.types, spv.ARRAY, array, m.type("u32"), length)
        m.op(m.debug, spv.DECORATE, array, 6, 4)
        parts = [m.constant("u32", w) for w in words]
        m.op(m.types, spv.CONSTANT_COMPOSITE, array, constant, *parts)
        return array, constant
    array, constant = m.id(), m.id()
    element = m.type(rng.choice(("u8", "i8")))
    length = m.constant("u32", len(data))
    m.op(m.types, spv.ARRAY, array, element, length)
    m.op(m.debug, spv.DECORATE, array, 6, 1)
    m.op(m.types, spv.CONSTANT_DATA, array, constant, *words)
    return array, constant


def module_of(rng, sites):
    m = spv.Module()
    for site in sites:
        members = []
        for at, member in site.places:
            if isinstance(member, Argument):
                members.append((at, m.type(member.type), m.value(member.type)))
            else:
                members.append((at,) + array_of_text(rng, m, site, member))
        struct_id, message = m.id(), m.id()
        m.op(m.types, spv.STRUCT, struct_id, *[t for _, t, _ in members])
        for i, (at, _, _) in enumerate(members):
            m.op(m.debug, spv.MEMBER_DECORATE, struct_id, i, 35, at)
        m.op(m.body, spv.COMPOSITE_CONSTRUCT, struct_id, message,
             *[v for _, _, v in members])
        m.op(m.body, spv.ABORT, struct_id, message)
        m.op(m.body, spv.LABEL, m.id())
    return m.bytes()


def build(rng, sites, kind, modules=True):
    messages, data = [], b""
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        site = rng.choice(sites)
        payload, out = site.payload(rng)
        messages.append(Message(len(data), 8 + len(payload), out))
        data += struct.pack("<Q", len(payload)) + payload
        data += bytes(-len(data) % 8)
    data += bytes(rng.choice((0, 0, 8, 64)))
    files = {"buffer.bin": data}
    words = ["--format", "abort", "buffer.bin"]
    if modules:
        split = rng.randint(0, len(sites))
        for i, part in enumerate(p for p in (sites[:split], sites[split:])
                                 if p):
            files["m%d.spv" % i] = module_of(rng, part)
            words += ["--shader", "%d=m%d.spv" % (i + 3, i)]
    return Case(words, files, messages, lost=0, kind=kind)


PRODUCERS = ("slang", "glslang 3", "glslang 2", "proposal", "example",
             "glslang 1")


def with_modules(rng):
    producer = rng.choice(PRODUCERS)
    return build(rng, [Site(rng, producer, False) for _ in range(
        rng.choice((1, 2, 5)))], "modules, " + producer)


def alike(rng):
    """Sites of one text and size, of other types: bytes cannot tell."""
    first = Site(rng, "slang", False)
    second = Site(rng, "slang", False, 0)
    second.parts = []
    swaps = {"f32": "u32", "u32": "f32", "i8": "u8", "u8": "i8", "i32": "u32",
             "f64": "i64", "i64": "u64", "u64": "f64", "f16": "u16",
             "i16": "f16", "u16": "i16"}
    for p in first.parts:
        if isinstance(p, Argument):
            other = Argument(rng, True)
            other.__dict__.update(p.__dict__)
            other.base = swaps[p.base]
            other.type = other.type.replace(p.base, other.base)
            other.spec = model.Spec(conversion(other.base, p.spec.conv))
            p = other
        second.parts.append(p)
    second.arguments = [p for p in second.parts if isinstance(p, Argument)]
    second.text, second.texts = first.text, first.texts
    second.lay_out()
    return build(rng, [first, second], "modules, alike")


def conversion(base, conv):
    """What prints a value of this type where the string says conv."""
    if base[0] == "f":
        return conv if conv in "feEgG" else "g"
    if conv in "xXo":
        return conv
    return "d" if base[0] == "i" else "u"


def other_modules(rng):
    """Messages of sites that no loaded module has."""
    producer = rng.choice(PRODUCERS)
    case = build(rng, [Site(rng, producer, False)], "other modules")
    for name in list(case.files):
        if name.endswith(".spv"):
            case.files[name] = module_of(rng, [Site(rng, producer, False)])
    return case


def bytes_plain(rng):
    """Without modules; values of the types that their conversions mean."""
    return build(rng, [Site(rng, rng.choice(("slang", "glslang 3")), True)
                       for _ in range(3)], "bytes, plain", False)


def bytes_other(rng):
    """Without modules, values of any types, any compiler."""
    return build(rng, [Site(rng, rng.choice(PRODUCERS), rng.random() < 0.3)
                       for _ in range(3)], "bytes, any", False)


KINDS = [(with_modules, 6), (alike, 1), (other_modules, 1), (bytes_plain, 2),
         (bytes_other, 2)]
# Those whose damage is looked at.
SOUND = (with_modules,)
