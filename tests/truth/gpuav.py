# SPDX-License-Identifier: MIT
"""Writes the errors that instrumented shaders find, in the records of each
age since 2018, and those of the layer's own checks.
"""
import struct

import debugprintf as printf
import spirv_module as spv
from case import ABSENT, Case, Message

LOAD, IMAGE_SAMPLE, VARIABLE, ACCESS_CHAIN = 61, 87, 59, 65
# age: (dwords before the records, dwords of a record; None: by the error)
AGES = {"2018": (1, 9), "2019": (1, 10), "2020": (1, None), "2022": (2, None),
        "2023": (2, 13), "1.3.280": (2, 14), "1.3.283": (2, 16),
        "now": (2, 12)}


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


def group_error(rng, n):
    """A group and a code, parameters: no text of it is written down."""
    return [rng.randint(1, 7), rng.randint(1, 3)] + [
        number(rng) for _ in range(n)], None


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
        m.op(m.body, 0)
        words = m.words()
        self.offset = m.places[m.first + index][1]
        self.ordinal = printf.positions(words)[self.offset]


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
    elif age == "2023":
        tail, text = mid_error(rng)
    elif age == "1.3.280":
        tail, text = group_error(rng, 5)
    else:
        tail, text = group_error(rng, 5)
        tail = [rng.randint(0, 9), rng.randint(0, 9)] + tail
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
        words, text, tail = a_record(rng, age, shader, ident,
                                     LOADS if with_module else "biduwaz")
        more = {"origin.shader": ident}
        if text is not None:
            more["args"] = (tail + [0] * 9)[:len(words) - (
                7 if age != "2018" else 6)]
        if with_module and age == "now":
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
        while wrong and made.offset == shader.offset:
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
    return build(rng, "now", "with a module", True)


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


KINDS = [(wrapped, 1), (now, 3), (any_age, 6), (module, 1), (wrong_module, 1),
         (own_checks, 1)]
# Those whose damage is looked at.
SOUND = (now, any_age, module)
