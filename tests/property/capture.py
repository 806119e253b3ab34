# SPDX-License-Identifier: MIT
"""Writes captures as the page of the capture format says: a buffer of any
format with its strings, in frames, and damages them between and in frames.
"""
import struct

import debugprintf
import hip
import llpc
import llpc_cases as box
import opencl
from case import Case

MAGIC = b"\x89PFDCAP\n"
NAME = "run.pfcap"
PIECE = 1 << 12



def shifted(c):
    for _ in range(8):
        c = c >> 1 ^ 0x82f63b78 * (c & 1)
    return c


SHIFTED = [shifted(i) for i in range(256)]


def crc32c(data):
    c = 0xffffffff
    for byte in data:
        c = SHIFTED[(c ^ byte) & 255] ^ c >> 8
    return c ^ 0xffffffff


class Bytes(box.Verbatim):
    """bin of MessagePack."""

    def __init__(self, data):
        super().__init__(struct.pack(">BI", 0xc6, len(data)) + data)


def frame(**keys):
    body = box.pack(keys)
    n = struct.pack("<I", len(body))
    return n + struct.pack("<I", crc32c(n + body)) + body


def object_frames(rng, number, name, data):
    """A code object, whole or in parts."""
    if rng.random() < 0.6:
        return [frame(type="code_object", code_object=number, name=name,
                      bytes=Bytes(data))]
    middle = rng.randrange(1, len(data))
    return [frame(type="code_object", code_object=number, name=name,
                  offset=at, total=len(data), bytes=Bytes(part))
            for at, part in ((0, data[:middle]), (middle, data[middle:]))]


def data_frames(rng, data):
    """Bytes, and what is zero at the end."""
    full = len(data.rstrip(b"\0"))
    piece = rng.choice((64, PIECE, 1 << 20))
    out = [frame(type="data", buffer=1, offset=at, bytes=Bytes(
        data[at:min(full, at + piece)])) for at in range(0, full, piece)]
    if full < len(data):
        out.append(frame(type="data", buffer=1, offset=full,
                         zeros=len(data) - full))
    return out


def frames_of(rng, case, format_name):
    """The frames of a capture of a case, without its beginning and end."""
    out = [frame(type="hello", host="somewhere", process="truth", pid=1)]
    number = 0
    for name, data in case.files.items():
        if name == case.buffer:
            continue
        number += 1
        out += object_frames(rng, number, name, data)
        if name.endswith(".spv"):
            out.append(frame(type="shader", shader=int(name[1:-4]),
                             code_object=number))
    data = case.files[case.buffer]
    out.append(frame(type="buffer", buffer=1, name="b", format=format_name,
                     size=len(data)))
    out += data_frames(rng, data)
    return out + [frame(type="done", buffer=1)]


def joined(frames):
    """A stream of these frames with its end."""
    data = MAGIC + struct.pack("<II", 1, 1) + b"".join(frames)
    return data + frame(type="end", frames=len(frames), total=len(data),
                        crc=crc32c(data))


def sound_case(rng):
    """(format, a case of it that is right outside of captures)"""
    name, kinds = rng.choice((
        ("llpc", (llpc.sound,)), ("opencl", (opencl.numbers,)),
        ("hip", (hip.numbers, hip.inline)),
        ("debugprintf", (debugprintf.modern, debugprintf.any_layout))))
    return name, rng.choice(kinds)(rng)


def build(rng, kind, damage=None):
    name, case = sound_case(rng)
    frames = frames_of(rng, case, name)
    made = Case([NAME], {NAME: joined(frames)}, case.messages, case.held,
                case.lost, kind, NAME)
    if damage:
        made.held = made.lost = None
        made.may_fail = True
        made.files[NAME] = damage(rng, frames)
    return made


def sound(rng):
    return build(rng, "sound")


def cut_anywhere(rng, frames):
    data = joined(frames)
    return data[:rng.randrange(len(data))]


def cut_between(rng, frames):
    data = MAGIC + struct.pack("<II", 1, 1)
    return data + b"".join(frames[:rng.randrange(len(frames) + 1)])


def without_one(rng, frames):
    """The end counts a frame that is not there."""
    data = joined(frames)
    gone = rng.choice(frames)
    return data.replace(gone, b"", 1)


def flipped(rng, frames):
    data = bytearray(joined(frames))
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def damaged(damage):
    def kind(rng):
        return build(rng, damage.__name__, damage)
    kind.__name__ = damage.__name__
    return kind


DAMAGES = [damaged(d) for d in (cut_anywhere, cut_between, without_one,
                                flipped)]
KINDS = [(sound, 2)] + [(k, 1) for k in DAMAGES]
SOUND = (sound,)
