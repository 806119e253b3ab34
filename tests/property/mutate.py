# SPDX-License-Identifier: MIT
"""Damages a case, and says what of it still is as it was.

Each mutation: (rng, case, header) -> None; header: bytes before the entries.
It sets case.touched, [from, to): what is told of these bytes may be anything,
what is told of others has to be right, or said not to be.
"""
import struct


def buffer_of(case):
    return bytearray(case.files[case.buffer])


def used_end(case, header):
    last = [m.offset + m.size for m in case.messages]
    return max(last + [header])


def entry_at(case, at):
    """The entry that a byte belongs to: what is between counts alone."""
    for m in case.messages:
        if m.offset <= at < m.offset + m.size:
            return m.offset, m.offset + m.size
    return at, at + 1


def flip(rng, case, header):
    """One bit of an entry."""
    data = buffer_of(case)
    at = rng.randrange(header, used_end(case, header) or 1)
    data[at] ^= 1 << rng.randrange(8)
    case.touched = entry_at(case, at)
    case.files[case.buffer] = bytes(data)


def flip_front(rng, case, header):
    """One bit of the first bytes of an entry: its id, size, position."""
    data = buffer_of(case)
    m = rng.choice(case.messages)
    at = m.offset + rng.randrange(min(12, m.size))
    data[at] ^= 1 << rng.randrange(8)
    case.touched = m.offset, m.offset + m.size
    case.files[case.buffer] = bytes(data)


def smear(rng, case, header):
    """Some bytes that are anything."""
    data = buffer_of(case)
    at = rng.randrange(header, used_end(case, header))
    n = min(rng.choice((4, 16, 64)), used_end(case, header) - at)
    data[at:at + n] = rng.choice((bytes, rng.randbytes))(n)
    case.touched = entry_at(case, at)[0], entry_at(case, at + n - 1)[1]
    case.files[case.buffer] = bytes(data)


def hole(rng, case, header):
    """An entry that was reserved and never written."""
    data = buffer_of(case)
    m = rng.choice(case.messages)
    data[m.offset:m.offset + m.size] = bytes(m.size)
    case.touched = m.offset, m.offset + m.size
    case.files[case.buffer] = bytes(data)


def cut(rng, case, header):
    """The file ends early: what was behind is lost."""
    end = rng.randrange(header, used_end(case, header) + 1)
    case.files[case.buffer] = case.files[case.buffer][:end]
    case.touched = entry_at(case, end)
    case.messages = [m for m in case.messages if m.offset + m.size <= end]


def grow(rng, case, header):
    """Stale bytes behind everything, as an earlier use left them."""
    if case.lost:
        return  # what its header claims would be there
    data = case.files[case.buffer]
    end = used_end(case, header)
    case.files[case.buffer] = data[:end] + rng.choice((
        data[header:end], rng.randbytes(200), b"text " * 40))


MUTATIONS = [flip, flip, flip_front, smear, hole, cut, grow]


# ---- what a header claims ----

def llpc_claims(data):
    """(bytes held, bytes lost) of a buffer of LLPC."""
    if len(data) < 16:
        return len(data), 0
    wanted = struct.unpack("<Q", data[:8])[0]
    used = min(wanted, (len(data) - 16) // 4, 1 << 29)
    return 4 * used + len(data) % 4, None


def rocm_claims(data):
    if len(data) < 8:
        return len(data), 0
    used = struct.unpack("<I", data[:4])[0]
    held = min(len(data) - 8, used)
    return held, None


# format: (what is claimed, mutations that make sense)
NO_TAIL = [m for m in MUTATIONS if m != grow]
FORMATS = {
    "llpc": (llpc_claims, MUTATIONS),
    "opencl": (rocm_claims, MUTATIONS),
    "hip": (rocm_claims, MUTATIONS),
    "hostcall": (None, [flip_front, cut]),
    "debugprintf": (None, NO_TAIL),
    "gpuav": (None, NO_TAIL),
    "abort": (None, NO_TAIL),
}


def damage(rng, format_name, case):
    """The case with one mutation, or as it is where there is nothing."""
    if not case.messages:
        return case
    claims, mutations = FORMATS[format_name]
    header = case.messages[0].offset
    mutation = rng.choice(mutations)
    mutation(rng, case, header)
    case.kind = mutation.__name__
    case.held = case.lost = None
    if claims:
        case.held, case.lost = claims(case.files[case.buffer])
    return case
