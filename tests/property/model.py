# SPDX-License-Identifier: MIT
"""What C's printf prints, written from the C standard and, where that leaves
it open, from glibc; and random format strings to try it with. Knows nothing
of the decoder.

    check_libc(rng, n): the model against this machine's own printf
"""
import ctypes
import math
import struct


class Spec:
    """One conversion. width, precision: None, a number, or "*": the value is
    then in the arguments. vector: None or the number of components."""

    def __init__(self, conv, flags="", width=None, precision=None, length="",
                 vector=None):
        self.conv, self.flags, self.length = conv, flags, length
        self.width, self.precision, self.vector = width, precision, vector

    def text(self):
        out = "%" + self.flags
        out += "" if self.width is None else str(self.width)
        out += "" if self.precision is None else "." + str(self.precision)
        out += "" if self.vector is None else "v%d" % self.vector
        return out + self.length + self.conv

    def fixed(self, width, precision):
        """The same with what its stars stand for."""
        flags = self.flags
        if width is not None and width < 0:
            flags, width = flags + "-", -width
        if precision is not None and precision < 0:
            precision = None
        return Spec(self.conv, flags, width, precision, self.length)


def pad(spec, sign, body, zeros=True):
    room = (spec.width or 0) - len(sign) - len(body)
    if "-" in spec.flags:
        return sign + body + " " * room
    if zeros and "0" in spec.flags:
        return sign + "0" * room + body
    return " " * room + sign + body


def sign_of(spec, negative):
    if negative:
        return "-"
    return "+" if "+" in spec.flags else " " if " " in spec.flags else ""


def integer(spec, v):
    """v: as the conversion sees it, below zero only for d and i."""
    sign = sign_of(spec, v < 0) if spec.conv in "di" else ""
    form = {"o": "%o", "x": "%x", "X": "%X"}.get(spec.conv, "%d")
    digits = form % abs(v)
    if spec.precision is not None:
        digits = "" if spec.precision == 0 and v == 0 else digits
        digits = "0" * (spec.precision - len(digits)) + digits
    if "#" in spec.flags and spec.conv == "o" and digits[:1] != "0":
        digits = "0" + digits
    if "#" in spec.flags and spec.conv in "xX" and v != 0:
        sign = "0" + spec.conv
    return pad(spec, sign, digits, spec.precision is None)


def hexadecimal(spec, x):
    """%a of what is finite and not below zero: (prefix, digits)."""
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    exponent, fraction = bits >> 52, bits & (1 << 52) - 1
    lead = 1 if exponent else 0
    power = exponent - 1023 if exponent else -1022 if fraction else 0
    value, n = lead << 52 | fraction, 13
    if spec.precision is not None and spec.precision < 13:
        n = spec.precision
        drop = 4 * (13 - n)
        rest, value = value & (1 << drop) - 1, value >> drop
        half = 1 << (drop - 1)
        value += rest > half or (rest == half and value & 1)
    digits = "%0*x" % (n, value & (1 << 4 * n) - 1) if n else ""
    if spec.precision is None:
        digits = digits.rstrip("0")
    else:
        digits += "0" * (spec.precision - n)
    point = "." if digits or "#" in spec.flags else ""
    return "0x", "%d%s%sp%+d" % (value >> 4 * n, point, digits, power)


def floating(spec, x):
    sign = sign_of(spec, math.copysign(1, x) < 0)
    low = spec.conv.lower()
    if math.isnan(x) or math.isinf(x):
        out = pad(spec, sign, "nan" if math.isnan(x) else "inf", False)
    elif low == "a":
        prefix, body = hexadecimal(spec, abs(x))
        out = pad(spec, sign + prefix, body)
    else:
        precision = 6 if spec.precision is None else spec.precision
        hash_ = "#" if "#" in spec.flags else ""
        out = pad(spec, sign, "%%%s.%d%s" % (hash_, precision, low) % abs(x))
    return out.upper() if spec.conv.isupper() else out


def pointer(spec, v):
    """As glibc does: %#x, and (nil) is left to the caller."""
    digits = "%x" % v
    if spec.precision is not None:
        digits = "0" * (spec.precision - len(digits)) + digits
    return pad(spec, "0x", digits, False)


def text(spec, data):
    data = data if spec.precision is None else data[:spec.precision]
    room = b" " * ((spec.width or 0) - len(data))
    return data + room if "-" in spec.flags else room + data


def signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def narrowed(spec, v, bits):
    """What a conversion with hh or h makes of an integer of so many bits."""
    bits = min(bits, {"hh": 8, "h": 16}.get(spec.length, bits))
    return signed(v, bits) if spec.conv in "di" else v & (1 << bits) - 1


def show(spec, v, bits=64):
    """Bytes of one conversion of a scalar, or of one component of a vector;
    v is a number or bytes."""
    if spec.conv == "s":
        return text(spec, v)
    if spec.conv == "c":
        return text(Spec("s", spec.flags, spec.width), bytes([v & 255]))
    if spec.conv == "p":
        return pointer(spec, v & (1 << bits) - 1).encode()
    if spec.conv in "diouxX":
        return integer(spec, narrowed(spec, v, bits)).encode()
    return floating(spec, v).encode()


def value(spec, v, bits):
    """An integer as its conversion looks at it."""
    return v & 255 if spec.conv == "c" else narrowed(spec, v, bits)


# ---- random strings and values ----

WORDS = [b"x=", b" ", b"lane ", b"done", b"[", b"] ", b", ", b"100%%", b"%%",
         b" h ", b"light ", b"\xc3\xa9t\xc3\xa9 ", b"a;b ", b"-", b" ll",
         b"(", b") ", b"\t", b"\x1b[31m", b"\"q\" ", b"0x", b"\n"]
INTS = "dduxiXoc"
FLOATS = "ffffgeGEFaA"


def literal(rng, bad_start=b""):
    """Some text without conversions, as it stands in a format string."""
    out = b"".join(rng.choice(WORDS) for _ in range(rng.choice((1, 1, 2, 3))))
    return b" " + out if out[:1] in bad_start else out


def plain(data):
    """What text of a format string prints."""
    return data.replace(b"%%", b"%")


def flags(rng, conv):
    """Flags that mean something with this conversion."""
    if rng.random() < 0.6:
        return ""
    allowed = {"c": "-", "s": "-", "p": "-", "d": "-+ 0", "i": "-+ 0",
               "u": "-0"}.get(conv, "-#0" if conv in "oxX" else "-+ #0")
    return "".join(rng.sample(allowed, rng.randint(1, min(2, len(allowed)))))


def spec(rng, convs, lengths=("",), star=0.0):
    conv = rng.choice(convs)
    width = rng.choice((None,) * 5 + (1, 5, 8, 12, 20))
    precision = None
    if conv not in "cp" and rng.random() < 0.25:
        precision = rng.choice((0, 1, 2, 3, 6, 10, 17))
    if star and rng.random() < star:
        width = "*"
    if star and precision is not None and rng.random() < star:
        precision = "*"
    return Spec(conv, flags(rng, conv), width, precision, rng.choice(lengths))


def int_value(rng, bits):
    edge = rng.choice((0, 1, -1, 2, 7, 42, 65, 100, 255, 256, 1000, 65535,
                       1 << (bits - 1), (1 << (bits - 1)) - 1, None, None))
    v = rng.getrandbits(bits) if edge is None else edge
    return v & (1 << bits) - 1


def as_float(v):
    """v as a binary32 holds it."""
    try:
        return struct.unpack("<f", struct.pack("<f", v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def as_half(v):
    try:
        return struct.unpack("<e", struct.pack("<e", v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def float_value(rng, bits):
    kind = rng.random()
    if kind < 0.1:
        v = rng.choice((0.0, -0.0, math.inf, -math.inf, math.nan))
    elif kind < 0.5:
        v = rng.choice((1.0, 1.5, -2.0, 0.5, 3.25, 0.1, 1000.0, -7.125))
    elif kind < 0.8:
        v = rng.uniform(-1000, 1000)
    else:
        v = math.ldexp(rng.uniform(-2, 2), rng.randint(-140, 127))
    return {16: as_half, 32: as_float, 64: float}[bits](v)


def string_value(rng):
    """The bytes of a %s: none is zero."""
    n = rng.choice((0, 1, 2, 3, 4, 4, 5, 7, 8, 8, 9, 11, 12, 15, 16, 17, 31,
                    64, 100))
    kind = rng.random()
    if kind < 0.6:
        return bytes(rng.choice(b"abcdefgh ABCZ0189._-:,%\\") for _ in range(n))
    if kind < 0.75:
        return (b"\x1b[31m" + b"red" * 40)[:n]
    if kind < 0.85:
        return ("\u00e9\u4e2d" * 60).encode()[:n]
    return bytes(rng.randint(1, 255) for _ in range(n))


# ---- the model itself ----

def check_libc(rng, n):
    """Random conversions through this machine's printf; the first that
    differs as a sentence, or None."""
    libc = ctypes.CDLL(None)
    room = ctypes.create_string_buffer(4096)
    for _ in range(n):
        s = spec(rng, INTS + FLOATS + "sp", ("",), 0)
        if s.conv == "p" and rng.random() < 0.5:
            s.precision = rng.choice((1, 8, 16, 20))
        if s.conv == "s":
            v = string_value(rng)
            have = ctypes.c_char_p(v)
        elif s.conv in FLOATS:
            v = float_value(rng, 64)
            have = ctypes.c_double(v)
        else:
            v = int_value(rng, 32) or (s.conv == "p")
            have = ctypes.c_ulonglong(v)
        length = libc.snprintf(room, 4096, s.text().encode(), have)
        if room.raw[:length] != show(s, v, 32):
            return "%s of %r: libc %r, model %r" % (
                s.text(), v, room.raw[:length], show(s, v, 32))
    return None
