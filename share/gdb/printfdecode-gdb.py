# SPDX-License-Identifier: MIT
"""What a GPU printed, in gdb: of a stopped process or of a core.

    info gpu-printf [EXPRESSION SIZE] [ELF...] [-- OPTION...]
    gpu-printf follow [EXPRESSION SIZE] [ELF...] [-- OPTION...]
    gpu-printf follow off

gdb loads this file with libprintfdecode.so where it is installed as a package is;
elsewhere: source printfdecode-gdb.py. All work is the command's, through a pipe,
so that any gdb with Python has it, ROCm's and CUDA's as well. The command is the
one in PATH, or $PRINTFDECODE.
"""
import os
import re
import subprocess

import gdb


def command():
    return os.environ.get("PRINTFDECODE", "printfdecode")


def core_file():
    """The core that is debugged, or None."""
    found = re.search(r"core dump file:\s*`(.*)', file type",
                      gdb.execute("info files", to_string=True))
    return found and found.group(1)


def target():
    """Options that name the memory of the current inferior."""
    core = core_file()
    if core:
        return ["--core", core]
    pid = gdb.selected_inferior().pid
    if not pid:
        raise gdb.GdbError("there is neither a process nor a core")
    return ["--pid", str(pid)]


def number(expression):
    try:
        return int(gdb.parse_and_eval(expression))
    except (gdb.error, TypeError, ValueError) as why:
        raise gdb.GdbError("%s: not a number or an address: %s" % (expression, why))


def printf_words(text):
    """EXPRESSION and SIZE, or None; files; options."""
    words = gdb.string_to_argv(text)
    options = []
    if "--" in words:
        at = words.index("--")
        words, options = words[:at], words[at + 1:]
    place = None
    if len(words) >= 2 and not os.path.exists(words[0]):
        place, words = (words[0], words[1]), words[2:]
    elif words and not os.path.exists(words[0]):
        raise gdb.GdbError("%s: an expression needs a size, a file has to be there" % words[0])
    return place, words, options


def decode(text):
    """What the command prints, and what it says."""
    place, files, options = printf_words(text)
    data = None
    words = [command(), "decode", "--color", "never", *options]
    if place:
        address, size = number(place[0]), number(place[1])
        if size <= 0:
            raise gdb.GdbError("%s: a buffer has at least one byte" % place[1])
    if place and files:
        try:
            data = gdb.selected_inferior().read_memory(address, size).tobytes()
        except (gdb.error, MemoryError, OverflowError) as why:
            raise gdb.GdbError("%s: %s" % (place[0], why))
        words += ["--buffer", "-", *files]
    else:
        # Without files the strings are those of the process, or of its core.
        words += target() + files
        if place:
            words += ["--address", hex(address), "--size", str(size)]
    try:
        done = subprocess.run(words, input=data, capture_output=True, check=False,
                              stdin=None if data is not None else subprocess.DEVNULL)
    except OSError as why:
        raise gdb.GdbError("%s: %s" % (command(), why.strerror))
    return (done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


class InfoGpuPrintf(gdb.Command):
    """What the GPU printed: info gpu-printf [EXPRESSION SIZE] [ELF...] [-- OPTION...]

EXPRESSION is where a buffer begins, SIZE how many bytes it has. Without them
buffers are found in the memory of the process or core, as with --pid and --core.
ELF: files that have the format strings; without them those of the process are
read. OPTION: of `printfdecode decode`."""

    def __init__(self):
        super().__init__("info gpu-printf", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        printed, said = decode(text)
        gdb.write(printed)
        gdb.write(said, gdb.STDERR)


class GpuPrintf(gdb.Command):
    """Prints what a GPU printed while the program runs."""

    def __init__(self):
        super().__init__("gpu-printf", gdb.COMMAND_DATA, prefix=True)


class Follow(gdb.Command):
    """Prints at each stop what is new: gpu-printf follow [EXPRESSION SIZE] [ELF...]

`gpu-printf follow off` ends it. The words are those of `info gpu-printf`; the
expression is evaluated at each stop."""

    def __init__(self):
        super().__init__("gpu-printf follow", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
        self.words = None
        self.before = ""

    def invoke(self, text, from_tty):
        self.dont_repeat()
        was = self.words is not None
        off = text.strip() == "off"
        self.words = None if off else text
        self.before = ""
        if was and off:
            gdb.events.stop.disconnect(self.stopped)
        elif not was and not off:
            gdb.events.stop.connect(self.stopped)
        if not off and gdb.selected_inferior().pid:
            self.stopped(None)

    def stopped(self, event):
        try:
            printed, said = decode(self.words)
        except gdb.GdbError as why:
            gdb.write("gpu-printf: %s\n" % why, gdb.STDERR)
            return
        if not printed.startswith(self.before):
            gdb.write("(the buffer begins anew)\n")
            self.before = ""
        new = printed[len(self.before):]
        gdb.write(new)
        if new:
            gdb.write(said, gdb.STDERR)
        self.before = printed


InfoGpuPrintf()
GpuPrintf()
Follow()
