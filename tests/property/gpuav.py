# SPDX-License-Identifier: MIT
"""Writes the errors that instrumented shaders find, in the records of each
age since 2018, and those of the layer's own checks.
"""
import struct

import debugprintf as printf
import instrument
import spirv_module as spv
from case import ABSENT, Case, Message

LOAD, IMAGE_SAMPLE, VARIABLE, ACCESS_CHAIN = 61, 87, 59, 65
# age: (dwords before the records, dwords of a record; None: by the error)
AGES = {"2018": (1, 9), "2019": (1, 10), "2020": (1, None), "2022": (2, None),
        "2023": (2, 13), "1.3.280": (2, 14), "1.3.283": (2, 16),
        "1.3.296": (2, 16), "1.4.304": (2, 16), "1.4.309": (2, 16),
        "now": (2, 12)}
# Ages whose errors have a group and a code, and those that count the later way.
GROUPED = ("1.3.280", "1.3.283", "1.3.296", "1.4.304", "1.4.309")
LATER = ("1.4.304", "1.4.309")
STORE = 62


# Errors that a load can have.
LOADS = "bidua"


def number(rng):
    return rng.choice((0, 1, 3, 6, 25, 128, 4096, 70000, rng.getrandbits(31)))


def address(rng):
    return rng.choice((0x1000, 0x7f0012345678, rng.getrandbits(47)))


def halves(v):
    return [v & 0xffffffff, v >> 32]


def old_error(rng, age):
    """(words from the error on, text) of 2018 to 2023-05."""
    kinds = {"2018": (0, 1), "2019": (0, 1, 2)}.get(age, (0, 1, 2, 4, 5, 6, 7))
    error, index, a, b = rng.choice(kinds), number(rng), number(rng), \
        number(rng) or 1
    if error == 0:
        words, text = [index, a], "Index of %d used to index descriptor " \
            "array of length %d." % (index, a)
    elif error == 1:
        words, text = [index, 0], "Descriptor index %d is uninitialized." % \
            index
    elif error == 2:
        at = address(rng)
        words, text = halves(at), "Device address 0x%x access out of " \
            "bounds." % at
    else:
        unit = ("", "byte") if error < 6 else (" texels", "texel")
        words, text = [index, a, b], "Descriptor index %d access out of " \
            "bounds. Descriptor size is %d%s and highest %s accessed was " \
            "%d" % (index, b, unit[0], unit[1], a)
    if error != 2 and age in ("2020", "2022"):
        words += [0] * (3 - len(words))
    return [error] + words, text


def mid_error(rng):
    """Of 2023-06: counted from 1, with set and binding."""
    error = rng.choice((1, 2, 3, 4, 7))
    where, index, a, b = [rng.randint(0, 7), rng.randint(0, 9)], number(rng), \
        number(rng), number(rng) or 1
    front = "(set = %d, binding = %d) " % tuple(where)
    if error == 3:
        at = address(rng)
        return [3] + halves(at) + [0, 0, 0], \
            "Device address 0x%x access out of bounds." % at
    if error == 1:
        return [1] + where + [index, a, 0], front + "Index of %d used to " \
            "index descriptor array of length %d." % (index, a)
    if error == 4:
        return [4] + where + [index, a, b], front + "Descriptor index %d " \
            "access out of bounds. Descriptor size is %d and highest byte " \
            "accessed was %d" % (index, b, a)
    return [error] + where + [index, 0, 0], front + "Descriptor index %d %s." \
        % (index, "is uninitialized" if error == 2 else
           "references a resource that was destroyed")


def resource(rng):
    return [rng.randint(0, 7), rng.randint(0, 9), rng.randint(0, 999)]


def front(where):
    return "(set = %d, binding = %d) " % tuple(where[:2])


def indexing_error(rng, age):
    """Group 1. What the array's length was not asked for is 0 until 1.3.296."""
    where = resource(rng)
    length = where[2] + rng.randint(1, 9) if age in LATER else 0
    kind = rng.choice("biud") if age in LATER else rng.choice("biudo")
    if kind == "b":
        length = rng.randint(0, where[2])
        return 1, where + [length, 0], front(where) + "Index of %d used to " \
            "index descriptor array of length %d." % (where[2], length)
    if kind in "iu":
        return 2, where + [length, 0], front(where) + \
            "Descriptor index %d is uninitialized." % where[2]
    if kind == "d":
        return (3 if age in LATER else 4), where + [length, 0], \
            front(where) + "Descriptor index %d references a resource that " \
            "was destroyed." % where[2]
    size = rng.randint(1, 4096)
    offset = size + rng.randint(0, 70000)
    return 3, where + [offset, size], out_of(where, offset, size, "")


def out_of(where, offset, size, unit):
    return "(set = %d, binding = %d, index %d) access out of bounds. The size " \
        "is %d%s, and the highest out of bounds access was at %d" % (
            *where, size, unit, offset)


def class_error(rng, age, texels=True):
    """Group 8."""
    where, size = resource(rng), rng.randint(1, 4096)
    offset = size + rng.randint(0, 70000)
    of_texels = texels and rng.random() < 0.5
    unit = " texels" if of_texels else " bytes"
    if age in LATER:
        return 1 + of_texels, where + [offset, size], \
            out_of(where, offset, size, unit)
    if texels and rng.random() < 0.5:
        length = rng.randint(0, where[2])
        return 1 + 2 * of_texels, where + [length, 0], front(where) + \
            "Index of %d used to index descriptor array of length %d." % (
                where[2], length)
    return 2 + 2 * of_texels, where + [offset, size], \
        out_of(where, offset, size, unit)


def address_error(rng, age, opcodes=(LOAD, STORE)):
    """Group 2."""
    at, opcode, n, aligned = address(rng), rng.choice(opcodes), \
        rng.randint(1, 64), rng.choice((4, 8, 16))
    words = halves(at) + [n, opcode, aligned]
    if age in LATER and rng.random() < 0.5:
        return 2, words, "Unaligned pointer access: The %s at buffer device " \
            "address 0x%x is not aligned to the instruction Aligned operand " \
            "of %d." % ("OpStore" if opcode == STORE else "OpLoad", at, aligned)
    return 1, words, "Out of bounds: trying to %s %d bytes at [0x%x, 0x%x) " \
        "but no buffer device address was found at this range." % (
            "write" if opcode == STORE else "read", n, at, at + n)


RAY_QUERIES = (
    "Tmin is negative", "Tmax is negative",
    "the ray flags 0x%x skip triangles and AABBs",
    "the ray flags 0x%x skip triangles and cull them",
    "the ray flags 0x%x contradict each other on opacity",
    "Tmax is less than Tmin", "Tmin is NaN", "Tmax is NaN",
    "the origin contains a NaN", "the direction contains a NaN",
    "the origin is not finite", "the direction is not finite")


def ray_query_error(rng, age):
    code, flags = rng.randint(1, 12), rng.getrandbits(10)
    text = "Ray query: " + RAY_QUERIES[code - 1]
    return code, [flags, 0, 0, 0, 0], text % flags if "%" in text else text


def draw_error(rng, age):
    code = rng.randint(1, 9 if age in LATER else 7)
    a, b, c = number(rng), number(rng), number(rng)
    over = ", which exceeds the device's limit"
    texts = (
        "Indirect draw count of %d exceeds the size of the draw buffer" % a,
        "Indirect draw count of %d exceeds the limit" % a,
        "The drawIndirectFirstInstance feature is not enabled, but "
        "firstInstance of the indirect draw at index %d is not zero" % a,
        "In draw %d, the mesh group count x is %d" % (b, a) + over,
        "In draw %d, the mesh group count y is %d" % (b, a) + over,
        "In draw %d, the mesh group count z is %d" % (b, a) + over,
        "In draw %d, the total mesh group count is %d" % (b, a) + over,
        "Draw %d reads %d indices from index %d on, which the bound index "
        "buffer does not have" % (a, c, b),
        "Vertex index %d (index %d of the index buffer, vertex offset %d) is "
        "not within the smallest bound vertex buffer" % (c, a, -b))
    if code == 9:
        b = -b & 0xffffffff
    return code, [a, b, c, 0, 0], texts[code - 1]


def dispatch_error(rng, age):
    code, count = rng.randint(1, 3), number(rng)
    return code, [count, 0, 0, 0, 0], "Indirect dispatch of %d work groups " \
        "in %s exceeds the device's limit" % (count, "xyz"[code - 1])


def rays_error(rng, age):
    code, words = rng.randint(1, 4 if age in LATER else 3), \
        [number(rng) for _ in range(3)]
    what = ("width", "height", "depth", "")[code - 1]
    text = "Indirect trace rays: %d x %d x %d invocations exceed the " \
        "device's limit" % tuple(words) if code == 4 else "Indirect trace " \
        "rays: a %s of %d exceeds the device's limit" % (what, words[0])
    return code, words + [0, 0], text


def copy_error(rng, age):
    at = number(rng)
    return 1, [at, 0, 0, 0, 0], "The source buffer of a copy to an image has " \
        "a value at offset %d that is not in the range 0 to 1" % at


ERRORS = {1: indexing_error, 2: address_error, 3: ray_query_error,
          4: draw_error, 5: dispatch_error, 6: rays_error, 7: copy_error,
          8: class_error}
VERTICES = "%s index %d is not within the smallest bound vertex buffer%s"


def grouped_record(rng, age, shader, ident, of_load):
    """(words, text, payload, more) of SDK 1.3.280 to 1.4.309."""
    groups = [1, 2, 3, 4, 5, 6, 7]
    groups += [8, 8] if age not in GROUPED[:2] else []
    groups += [9] if age == "1.4.309" else []
    group = rng.choice((1, 2, 8) if of_load and 8 in groups else
                       (1, 2) if of_load else groups)
    raw = printf.TAKES_STAGE[shader.stage][1]
    head = [ident, shader.ordinal if age in GROUPED[:2] else shader.plain, raw]
    where = printf.info(rng, shader.stage)
    more = {"origin.group": group, "origin.shader": ident}
    if group == 9:
        code, words, head = rng.randint(1, 2), [0] * 5, [ident, 0, 0]
        where = [number(rng), number(rng), 0]
        text = VERTICES % ("Vertex", where[0], "") if code == 1 else \
            VERTICES % ("Instance", where[1], " of instances")
    elif group == 2 and of_load:
        code, words, text = address_error(rng, age, (LOAD,))
    elif group == 8 and of_load:
        code, words, text = class_error(rng, age, False)
    else:
        code, words, text = ERRORS[group](rng, age)
    if 4 <= group <= 7:
        head, where = [0, 0, 0], [0, 0, 0]
        more["origin.shader"] = more["origin.stage"] = ABSENT
    action = [rng.randint(0, 9), rng.randint(0, 9)]
    if AGES[age][1] == 16:
        more["origin.action"] = action[0]
    tail = (action if AGES[age][1] == 16 else []) + [group, code] + words
    return [AGES[age][1]] + head + where + tail, text, tail, more


def record_now(rng, shader, stage, where, position, kinds="biduwaz"):
    """(words, text) of SDK 1.4.313 and later."""
    kind, action = rng.choice(kinds), rng.randint(0, 99)
    at, n, index = rng.randint(0, 7), rng.randint(1, 64), rng.randint(0, 999)
    length, binding = number(rng), rng.randint(0, 9)
    front = "(set = %d, binding = %d) " % (at, binding)
    if kind in "bid":
        code = "bid".index(kind) + 1
        group, words = 1, [at << 27 | index, length, binding]
        text = front + {
            "b": "Index of %d used to index descriptor array of length %d." %
                 (index, length),
            "i": "Descriptor index %d is uninitialized." % index,
            "d": "Descriptor index %d references a resource that was "
                 "destroyed." % index}[kind]
    elif kind in "uw":
        group, code, address_ = 2, 1, address(rng)
        words = halves(address_) + [(kind == "w") << 31 | n]
        text = "Out of bounds: trying to %s %d bytes at [0x%x, 0x%x) but no " \
            "buffer device address was found at this range." % (
                "write" if kind == "w" else "read", n, address_, address_ + n)
    elif kind == "a":
        group, code, address_ = 2, 2, address(rng)
        words = halves(address_) + [4]
        text = "Unaligned pointer access: The OpLoad at buffer device " \
            "address 0x%x is not aligned to the instruction Aligned operand " \
            "of 4." % address_
    else:
        group, code = rng.choice((8, 9, 11, 13, 15, 40)), rng.randint(1, 4)
        words, text = [number(rng) for _ in range(3)], None
    head = [12, group << 24 | code << 18 | shader, stage << 27 | position]
    return head + where + [action << 16 | 3] + words + [0, 0], text


class Shader:
    """A module with a load on a known line."""

    def __init__(self, rng, stage="compute"):
        self.stage = stage
        m = self.module = spv.Module(stage)
        for _ in range(rng.randint(0, 6)):
            m.string(b"other")
        file = m.string("shader.glsl")
        m.source(file, "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n")
        pointer, u32 = m.type("ptr"), m.type("u32")
        variable = m.id()
        m.op(m.types, VARIABLE, pointer, variable, 5349)
        self.line, self.at = rng.randint(1, 6), None
        for _ in range(rng.randint(0, 8)):
            m.op(m.body, 0)
        m.line(file, self.line)
        index = len(m.body)
        m.op(m.body, LOAD, u32, m.id(), variable)
        m.op(m.body, LOAD, u32, m.id(), variable)
        m.op(m.body, 0)
        self.index = index
        words = m.words()
        self.offset = m.places[m.first + index][1]
        self.ordinal = printf.positions(words)[self.offset]
        self.plain = m.places[m.first + index][0]


def a_record(rng, age, shader, ident, kinds):
    stage, raw = printf.TAKES_STAGE[shader.stage]
    where = printf.info(rng, shader.stage)
    if age == "now":
        words, text = record_now(rng, ident, stage, where, shader.offset,
                                 kinds)
        return words, text, words[7:]
    head = [ident, shader.ordinal, raw] + where
    if age == "2018":
        head.pop()
    if age in ("2018", "2019", "2020", "2022"):
        tail, text = old_error(rng, age)
    else:
        tail, text = mid_error(rng)
    words = [0] + head + tail
    size = AGES[age][1]
    words += [0] * ((size or 0) - len(words))
    words[0] = len(words)
    return words, text, tail


def build(rng, age, kind, with_module=False, wrong=False):
    start = AGES[age][0]
    ident = rng.randint(1, 40)
    shader = Shader(rng)
    messages, body = [], b""
    for _ in range(rng.choice((1, 2, 6, 30))):
        more = {"origin.shader": ident}
        if age in GROUPED:
            words, text, tail, more = grouped_record(
                rng, age, shader, ident, with_module)
        else:
            words, text, tail = a_record(rng, age, shader, ident,
                                         LOADS if with_module else "biduwaz")
        if text is not None:
            more["args"] = (tail + [0] * 9)[:len(words) - (
                7 if age != "2018" else 6)]
        if with_module:
            more["origin.line"] = shader.line
        if wrong:
            more = {"origin.line": ABSENT}
        messages.append(Message(4 * start + len(body), 4 * len(words),
                                text and text.encode(), more))
        body += struct.pack("<%dI" % len(words), *words)
    lost = rng.choice((0, 0, 4 * rng.randint(20, 999)))
    head = [rng.choice((0, 1))] * (start - 1) + [(len(body) + lost) // 4]
    tail = b"" if lost else bytes(rng.choice((0, 64, 4096)))
    files = {"buffer.bin": struct.pack("<%dI" % start, *head) + body + tail}
    words = ["--format", "gpuav", "buffer.bin"]
    if with_module:
        made = Shader(rng) if wrong else shader
        # Of either of its two loads, of four words.
        while wrong and shader.offset in (made.offset, made.offset + 4):
            made = Shader(rng)
        files["s.spv"] = made.module.bytes()
        words += ["--shader", "%d=s.spv" % ident]
    for m in messages:
        if age == "now":
            m.more.pop("args", None)
    return Case(words, files, messages, held=len(body), lost=lost, kind=kind)


def now(rng):
    return build(rng, "now", "now")


def any_age(rng):
    age = rng.choice(list(AGES))
    return build(rng, age, age)


def module(rng):
    age = rng.choice(("now",) + GROUPED)
    return build(rng, age, "with a module", True)


def checked(rng):
    """The module as the layer instruments it, whose checks cut a block: the
    line goes on behind the first."""
    shader, ident = Shader(rng), rng.randint(1, 40)
    where = resource(rng)
    words = [16, ident, shader.plain + rng.randint(0, 1), 5,
             *printf.info(rng, "compute"), 3, 4, 1, 1, *where, where[2], 0]
    text = front(where) + "Index of %d used to index descriptor array of " \
        "length %d." % (where[2], where[2])
    more = {"origin.shader": ident, "origin.line": shader.line}
    if rng.random() < 0.2:  # a check of another resource
        words[12] += 1
        more, text = {"origin.line": ABSENT}, text.replace(
            "binding = %d" % where[1], "binding = %d" % words[12])
    data = struct.pack("<18I", 1, 16, *words)
    module_ = instrument.checking(shader.module, ident, {
        shader.index: shader.plain, shader.index + 1: shader.plain + 1},
        where[:2])
    return Case(["--format", "gpuav", "buffer.bin", "s.spv"],
                {"buffer.bin": data, "s.spv": module_},
                [Message(8, 64, text.encode(), more)], held=64, lost=0,
                kind="checked by the layer")


def wrong_module(rng):
    return build(rng, "now", "wrong module", True, True)


def own_checks(rng):
    """Records of the layer itself until 2023: seven zeros and an error."""
    start = rng.choice((1, 2))
    words, text = [0] * 7 + [rng.choice((8, 9)), rng.randint(1, 3),
                             number(rng)], None
    n = len(words)
    head = [rng.choice((0, 1))] * (start - 1) + [n]
    data = struct.pack("<%dI" % (start + n), *head, *words)
    message = Message(4 * start, 4 * n, text, {"origin.error": words[7]})
    return Case(["--format", "gpuav", "buffer.bin"],
                {"buffer.bin": data + bytes(rng.choice((0, 64)))}, [message],
                held=None, lost=0, kind="the layer's own")


def wrapped(rng):
    """The count is smaller than what is stored."""
    age = rng.choice(list(AGES))
    case = build(rng, age, "small count")
    return printf.miscounted(rng, case)


KINDS = [(wrapped, 1), (now, 3), (any_age, 6), (module, 1), (checked, 1),
         (wrong_module, 1), (own_checks, 1)]
# Those whose damage is looked at.
SOUND = (now, any_age, module)
