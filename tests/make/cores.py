# SPDX-License-Identifier: MIT
"""Core files from readable descriptions. Sources: elf(5), core(5), and LLVM's
AMDGPUUsage for AMD's note."""
import struct

HEADER, PROGRAM, SECTION = 64, 56, 64
PT_LOAD, PT_NOTE = 1, 4
PAGE = 4096


def note(owner, kind, desc):
    owner += b"\0"
    return struct.pack("<III", len(owner), len(desc), kind) + \
        owner + bytes(-len(owner) % 4) + desc + bytes(-len(desc) % 4)


def process(pid, name):
    """NT_PRSTATUS and NT_PRPSINFO of a process that signal 11 ended."""
    status = struct.pack("<12xh18xI", 11, pid) + bytes(336 - 36)
    info = struct.pack("<24xI12x16s80x", pid, name)
    return note(b"CORE", 1, status) + note(b"CORE", 3, info)


def auxiliary(values):
    rows = b"".join(struct.pack("<QQ", *row) for row in values.items())
    return note(b"CORE", 6, rows + bytes(16))


def files(rows, page=PAGE):
    """NT_FILE of (from, to, page in the file, name)."""
    desc = struct.pack("<QQ", len(rows), page)
    desc += b"".join(struct.pack("<QQQ", *row[:3]) for row in rows)
    desc += b"".join(row[3] + b"\0" for row in rows)
    return note(b"CORE", 0x46494c45, desc)


def agent(gpu=4711, target=90010, device=0x740f):
    """kfd_dbg_device_info_entry"""
    return struct.pack("<7Q16I", 0, *[0] * 6, gpu, 0x300, 0x1002, device,
                       0, 0, 0, 0, target, 416, 8, 0, 0, 0, 0, 0)


def queue(number=1, gpu=4711, ring=0, size=4096, save=0, n_save=0, status=0):
    """kfd_queue_snapshot_entry, of type AQL"""
    return struct.pack("<5Q6I", status, ring, 0, 0, save, number, gpu, size, 2,
                       n_save, 0)


def gpus(r_debug, agents, queues, version=1):
    desc = struct.pack("<QIIQ4I", version, 1, 13, 16,
                       len(agents), len(agents[0]) if agents else 120,
                       len(queues), len(queues[0]) if queues else 64)
    desc += struct.pack("<QII", r_debug, 1, 0)
    return note(b"AMDGPU", 33, desc + b"".join(agents) + b"".join(queues))


def core(segments, notes=b"", machine=62, extended=False):
    """Segments are (address, bytes, size in memory); extended: their number
    stands in section 0."""
    n = len(segments) + 1
    sections = HEADER + n * PROGRAM
    at = sections + SECTION
    out = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 4, machine,
                      1, 0, HEADER, sections if extended else 0, 0, HEADER,
                      PROGRAM, 0xffff if extended else n, SECTION,
                      1 if extended else 0, 0)
    body = notes
    out += struct.pack("<IIQQQQQQ", PT_NOTE, 4, at, 0, 0, len(notes), 0, 4)
    places = {}  # the same bytes stand there once
    for address, data, size in segments:
        if id(data) not in places:
            body += bytes(-(at + len(body)) % PAGE)
            places[id(data)] = at + len(body)
            body += data
        out += struct.pack("<IIQQQQQQ", PT_LOAD, 6, places[id(data)], address,
                           0, len(data), size, PAGE)
    return out + struct.pack("<44xI16x", n if extended else 0) + body


def core_32(segments, notes=b"", machine=3):
    """The same of a process of 32 bits."""
    n = len(segments) + 1
    at = 52 + n * 32
    out = struct.pack("<4sBBB9xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 4, machine,
                      1, 0, 52, 0, 0, 52, 32, n, 0, 0, 0)
    out += struct.pack("<8I", PT_NOTE, at, 0, 0, len(notes), 0, 0, 4)
    body = notes
    for address, data, size in segments:
        body += bytes(-(at + len(body)) % PAGE)
        out += struct.pack("<8I", PT_LOAD, at + len(body), address, 0, len(data),
                           size, 6, PAGE)
        body += data
    return out + body


def process_32(pid, name):
    status = struct.pack("<12xh", 6) + bytes(130)
    info = struct.pack("<12xI12x16s80x", pid, name)
    return note(b"CORE", 1, status) + note(b"CORE", 3, info)


def files_32(rows, page=PAGE):
    desc = struct.pack("<II", len(rows), page)
    desc += b"".join(struct.pack("<III", *row[:3]) for row in rows)
    return note(b"CORE", 0x46494c45, desc + b"".join(row[3] + b"\0" for row in rows))
