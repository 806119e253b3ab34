# SPDX-License-Identifier: MIT
"""Does to a module what the validation layer does to it since SDK 1.3.296: in
front of each debugPrintf call one of a function that writes a record, and a
block cut in pieces for a check.
"""
import copy
import struct

import spirv_module as spv

NAME, FUNCTION_CALL, STORE, ACCESS_CHAIN, I_ADD = 5, 57, 62, 65, 128
SELECTION_MERGE, BRANCH, BRANCH_CONDITIONAL = 247, 249, 250
HEADERS = {"p5a": 11, "p5b": 11, "p5c": 11, "p6": 10}


class Copy:
    """A copy of a module, to which functions are added."""

    def __init__(self, module, ident):
        self.module, self.ident = copy.deepcopy(module), ident
        self.functions, self.tail = {}, []

    def constant(self, value):
        return self.module.constant("u32", value & 0xffffffff)

    def function(self, name):
        """Of this name, which stores the shader's number."""
        if name in self.functions:
            return self.functions[name]
        m = self.module
        i = self.functions[name] = m.id()
        m.op(m.debug, NAME, i, *spv.literal(name))
        void, u32, pointer = m.type("void"), m.type("u32"), m.type("ptr")
        buffer, one = m.value("ptr"), self.constant(1)
        at, place = m.id(), m.id()
        self.tail += [
            (spv.FUNCTION, [void, i, 0, m.type("void")]),
            (spv.LABEL, [m.id()]),
            (I_ADD, [u32, at, m.value("u32"), one]),
            (ACCESS_CHAIN, [pointer, place, buffer, one, at]),
            (STORE, [place, self.constant(self.ident)]),
            (spv.RETURN, []), (spv.FUNCTION_END, [])]
        return i

    def bytes(self):
        words = self.module.words()
        for opcode, operands in self.tail:
            words += [(len(operands) + 1) << 16 | opcode] + operands
        words[3] = self.module.bound
        return struct.pack("<%dI" % len(words), *words)


def printf_call(c, layout, call, stage, n_values):
    """The words of a call that writes the record of this call."""
    m = c.module
    size = HEADERS[layout] + n_values
    stages = [c.constant(x) for x in (7, 0, 0)]
    masks = [c.constant(0) for _ in range(3)]
    position = call.offset if layout in ("p5c", "p6") else call.ordinal
    format_id = c.constant(call.format)
    if layout == "p6":
        head = [c.constant(stage << 27 | position)] + stages + [format_id] + \
            masks
    else:
        head = [c.constant(position), format_id] + masks + \
            [c.constant(stage)] + stages
    values = [m.value("u32") for _ in range(n_values)]
    function = c.function("inst_debug_printf_%d" % size)
    return [m.type("void"), m.id(), function] + head + values


def printing(rng, module, layout, ident, calls, stage, sizes):
    """sizes: dwords of each call's values; None: the layer leaves it out."""
    c, body = Copy(module, ident), []
    at = {place: k for k, (place, _) in enumerate(c.module.calls)}
    for k, op in enumerate(c.module.body):
        if k in at and sizes[at[k]] is not None:
            body.append((FUNCTION_CALL, printf_call(
                c, layout, calls[at[k]], stage, sizes[at[k]])))
        body.append(op)
    c.module.body = body
    return c.bytes()


def checking(module, ident, places, where):
    """Checks of instructions: places: {index in the body: position}, the last
    one first; where: the set and binding of all."""
    c = Copy(module, ident)
    m = c.module
    for index, position in sorted(places.items(), reverse=True):
        blocks, made = [m.id() for _ in range(3)], m.id()
        arguments = [c.constant(position), m.value("u32x4")] + \
            [c.constant(x) for x in where] + [c.constant(0)] * 3
        call = [m.type("bool"), made,
                c.function("inst_descriptor_indexing_oob_bindless")] + arguments
        m.body[index:index + 1] = [
            (FUNCTION_CALL, call), (SELECTION_MERGE, [blocks[2], 0]),
            (BRANCH_CONDITIONAL, [made] + blocks[:2]),
            (spv.LABEL, [blocks[0]]), m.body[index], (BRANCH, [blocks[2]]),
            (spv.LABEL, [blocks[1]]), (BRANCH, [blocks[2]]),
            (spv.LABEL, [blocks[2]])]
    return c.bytes()
