# SPDX-License-Identifier: MIT
"""Writes what HIP kernels send over hostcall, packet by packet: each wave's
lanes begin a message, get its id, append qwords and end it, while other waves
do the same.
"""
import struct

import hip
import model
from case import Case, Message

BEGIN, END, SLOT, LANES = 1, 2, 64, 64
PRINTF = 2


def chunks(data, n=56):
    return [data[i:i + n] for i in range(0, len(data), n)]


def padded(data):
    return data + bytes(-len(data) % 8)


class Text(hip.Text):
    """A null string is sent as an empty one."""

    def store(self, rng):
        text = self.constant
        text = model.string_value(rng) if text is None else text
        return padded(text + b"\0"), model.text(self.spec, text)


class Site(hip.Site):
    def __init__(self, rng, n_max, convs):
        super().__init__(rng, n_max, convs)
        for part in self.parts:
            if isinstance(part, tuple) and isinstance(part[1][-1], hip.Text):
                part[1][-1].__class__ = Text


class Call:
    """One printf call of some lanes of a wave: the packets that are still to
    be sent, {lane: data} each."""

    def __init__(self, rng, site, lanes):
        self.lanes, self.sent, self.messages = lanes, 0, {}
        control = rng.random() < 0.3
        made = {lane: site.arguments(rng) for lane in lanes}
        self.texts = {lane: made[lane][1] for lane in lanes}
        self.stream = "stderr" if control else "stdout"
        per_lane = {lane: self.pieces(site, control, made[lane][0])
                    for lane in lanes}
        self.packets = self.aligned(per_lane)
        self.ids = {}

    @staticmethod
    def pieces(site, control, arguments):
        """The data of one lane: of each part, its packets."""
        out = [[struct.pack("<Q", control)]]
        out.append(chunks(padded(site.text + b"\0")))
        out += [chunks(a) for a in arguments]
        return out

    def aligned(self, per_lane):
        """Lanes whose string is longer go on alone; all go on together with
        the next argument."""
        packets = []
        n_parts = max(map(len, per_lane.values()))
        for k in range(n_parts):
            longest = max(len(p[k]) for p in per_lane.values())
            for i in range(longest):
                packets.append({lane: p[k][i] for lane, p in per_lane.items()
                                if i < len(p[k])})
        return packets

    def last_of(self, lane):
        return max(i for i, p in enumerate(self.packets) if lane in p)


class Host:
    """Gives ids, in the order in which messages begin."""

    def __init__(self, rng, reuse):
        self.next, self.free = rng.choice((1, 5, 1000)), []
        self.reuse = reuse

    def id(self):
        if self.reuse and self.free:
            return self.free.pop()
        self.next += 1
        return self.next - 1

    def end(self, ident):
        self.free.append(ident)


class Recording:
    def __init__(self, rng, host, new):
        self.rng, self.host, self.new = rng, host, new
        self.data, self.messages, self.slots = b"", [], 0

    def serve(self, call):
        """Sends a call's next packet."""
        rng, k = self.rng, call.sent
        payload = bytearray(rng.choice((bytes, rng.randbytes))(SLOT * LANES))
        mask, at = 0, len(self.data) + (16 if self.new else 24)
        for lane in sorted(call.packets[k]):
            data, flags = call.packets[k][lane], 0
            mask |= 1 << lane
            ident = call.ids.get(lane, 0)
            if k == 0:
                flags |= BEGIN
                call.ids[lane] = self.host.id()
                call.messages[lane] = at + SLOT * lane
            if k == call.last_of(lane):
                flags |= END
                self.host.end(call.ids[lane])
            desc = ident << 8 | len(data) // 8 << 5 | flags
            slot = struct.pack("<Q", desc) + data
            payload[SLOT * lane:SLOT * lane + len(slot)] = slot
            self.slots += 1
        head = struct.pack("<QII", mask, PRINTF, 0) if self.new else \
            struct.pack("<QQII", rng.getrandbits(48), mask, PRINTF, 1)
        self.data += head + bytes(payload)
        call.sent += 1
        return call.sent < len(call.packets)

    def finish(self, call):
        for lane in call.lanes:
            self.messages.append(Message(
                call.messages[lane], SLOT, call.texts[lane],
                {"stream": call.stream, "origin.lane": lane}))


def lanes_of(rng):
    kind = rng.randint(0, 3)
    if kind == 0:
        return [rng.randrange(LANES)]
    if kind == 1:
        return list(range(rng.choice((2, 4, 8))))
    return sorted(rng.sample(range(LANES), rng.choice((2, 3, 6))))


def record(rng, kind, n_waves, reuse, same_lanes):
    """Waves that go on one by one, in any order."""
    sites = [Site(rng, 4, hip.NUMBERS + "s" * 8) for _ in range(3)]
    new = rng.random() < 0.4
    out = Recording(rng, Host(rng, reuse), new)
    common = lanes_of(rng)
    waves = []
    for _ in range(n_waves):
        lanes = common if same_lanes else lanes_of(rng)
        waves.append([Call(rng, rng.choice(sites), lanes)
                      for _ in range(rng.choice((1, 2, 4)))])
    while waves:
        wave = rng.choice(waves)
        if out.serve(wave[0]):
            continue
        out.finish(wave.pop(0))
        if not wave:
            waves.remove(wave)
    return Case(["--format", "hostcall", "buffer.bin"],
                {"buffer.bin": out.data}, out.messages, kind=kind)


def one_wave(rng):
    return record(rng, "one wave", 1, rng.random() < 0.5, False)


def waves(rng):
    return record(rng, "waves, ids in turn", rng.randint(2, 5), False, False)


def same_lanes(rng):
    return record(rng, "waves, same lanes", rng.randint(2, 5), False, True)


def reused(rng):
    return record(rng, "waves, ids reused", rng.randint(2, 5), True,
                  rng.random() < 0.5)


def cut_front(rng):
    """A recording that began late: of some messages the beginning is missing,
    and others of their lanes begin."""
    case = rng.choice((waves, same_lanes, reused))(rng)
    data = case.files["buffer.bin"]
    size = 4112 if len(data) % 4112 == 0 else 4120
    cut = size * rng.randrange(len(data) // size)
    case.files["buffer.bin"] = data[cut:]
    case.messages = [m for m in case.messages if m.offset >= cut]
    for m in case.messages:
        m.offset -= cut
    case.kind += ", late"
    return case


def whole_call(rng, site):
    """(data, message, stream) of a call that fits a packet, or None."""
    call = Call(rng, site, [0])
    data = b"".join(p[0] for p in call.packets)
    return (data, call.texts[0], call.stream) if len(data) <= 56 else None


def pool(rng):
    """A pool as it lies in memory: packets that are handed over, with whole
    messages, and others, which show what was there before."""
    new, n = rng.random() < 0.5, rng.choice((1, 2, 4, 8))
    sites = [Site(rng, 1, "duxs") for _ in range(20)]
    ready = [rng.random() < 0.7 for _ in range(n)]
    ready[0] = True
    arrays = 12 * n if new else 0
    payloads = 56 + arrays + (16 if new else 24) * n
    heads, body, messages = b"", b"", []
    for i in range(n):
        payload, mask = bytearray(SLOT * LANES), 0
        for lane in lanes_of(rng):
            call = whole_call(rng, rng.choice(sites))
            if not call:
                continue
            data, text, stream = call
            mask |= 1 << lane
            desc = len(data) // 8 << 5 | BEGIN | END
            slot = struct.pack("<Q", desc) + data
            payload[SLOT * lane:SLOT * lane + len(slot)] = slot
            if ready[i]:
                messages.append(Message(
                    payloads + len(body) + SLOT * lane, SLOT, text,
                    {"stream": stream, "origin.lane": lane}))
        heads += struct.pack("<QII", mask, PRINTF, 0) if new else \
            struct.pack("<QQII", 0, mask, PRINTF, ready[i])
        body += payload
    at = 0x7f0000001000
    if new:
        phases = struct.pack("<%dI" % n, *ready) + bytes(8 * n)
        head = struct.pack("<7Q", at, at + 4 * n, at + 8 * n, at + 12 * n,
                           at + payloads - 56, 0, n)
        data = head + phases + heads + body
    else:
        head = struct.pack("<7Q", at, at + payloads - 56, 0, 0, 0, n - 1, 0)
        data = head + heads + body
    return Case(["--format", "hostcall", "buffer.bin"], {"buffer.bin": data},
                messages, kind="pool")


KINDS = [(pool, 1), (one_wave, 2), (waves, 2), (same_lanes, 2), (reused, 2),
         (cut_front, 1)]
# Those whose damage is looked at.
SOUND = (one_wave, waves)
