#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py PRINTFDECODE CASES: what text is on a terminal, and only there:
findings among the messages, colours, links to source files."""
import gzip
import json
import os
import pty
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "make"))
import llpc_cases  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, CASES = map(os.path.abspath, sys.argv[1:3])


def environment(**keys):
    ret = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    return dict(ret, TERM="xterm-256color", **keys)


def on_terminal(folder, *words, stderr=None, **keys):
    """All that the terminal has shown."""
    main, side = pty.openpty()
    env = environment()
    env.update(keys)
    with subprocess.Popen([PROGRAM, *words], cwd=folder, stdin=side, stdout=side,
                          stderr=stderr or side, env=env) as p:
        os.close(side)
        shown = b""
        while True:
            try:
                more = os.read(main, 65536)
            except OSError:  # nobody has the other side any more
                break
            if not more:
                break
            shown += more
    os.close(main)
    return shown.decode().replace("\r\n", "\n")


def piped(folder, *words):
    return subprocess.run([PROGRAM, *words], cwd=folder, env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode()


def standard_input():
    """What waits for bytes says so, once."""
    main, side = pty.openpty()
    with subprocess.Popen([PROGRAM, "-"], stdin=side, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment()) as p:
        os.close(side)
        os.write(main, b"\x04" * 8)
        told = p.communicate(timeout=60)[1].decode()
    os.close(main)
    assert told.count("reads a buffer from the terminal") == 1, told


def findings():
    folder = f"{CASES}/llpc/corrupt_20_hole_mid_flight"
    files = "buffer.bin", "image.elf"
    shown = on_terminal(folder, "--color", "never", *files).splitlines()
    assert [line.split(":")[0] for line in shown] == [
        "one 7", "! buffer.bin", "two 8 2.500000", "printfdecode"], shown
    assert "dword 7: unwritten: " in shown[1], shown
    follow = on_terminal(folder, "follow", "--until-idle", "0.3", "--color",
                         "never", *files).splitlines()
    assert follow[0] == "one 7" and "unwritten" in follow[1], follow
    assert follow[2] == "two 8 2.500000", follow
    # Runs do not move them.
    shown = on_terminal(folder, "--collapse", "--color", "never", *files)
    assert shown.splitlines()[1].startswith("! buffer.bin: "), shown
    # Where standard error goes elsewhere, all of them go there.
    with tempfile.TemporaryFile() as err:
        shown = on_terminal(folder, "--color", "never", *files, stderr=err)
        err.seek(0)
        said = err.read().decode()
    assert shown.splitlines() == ["one 7", "two 8 2.500000"], shown
    assert "buffer.bin: dword 7: unwritten: " in said, said
    assert "\033[33m! buffer.bin" in on_terminal(folder, *files)
    assert "\033" not in on_terminal(folder, *files, NO_COLOR="1")
    assert piped(folder, *files) == "one 7\ntwo 8 2.500000\n"


def nothing():
    """That nothing passed is told to people; scripts read the exit status."""
    folder = f"{CASES}/llpc/corrupt_20_hole_mid_flight"
    words = "-m", "zzz", "--color", "never", "buffer.bin", "image.elf"
    said = "printfdecode: no entry is what the options ask for"
    assert said in on_terminal(folder, *words).splitlines()
    # An error says enough.
    shown = on_terminal(folder, "table", "--format-string", "one", "--columns",
                        "zzz", "--color", "never", "buffer.bin", "image.elf")
    assert "no column is called 'zzz'" in shown and said not in shown, shown
    with tempfile.TemporaryFile() as err:
        on_terminal(folder, *words, stderr=err)
        err.seek(0)
        assert said not in err.read().decode()


def links():
    with tempfile.TemporaryDirectory(suffix=" ä") as folder:
        for name in "buffer.bin", "hello.cubin":
            path = f"{CASES}/llpc/printed_by_cuda/{name}"
            with open(path, "rb") if os.path.exists(path) else \
                    gzip.open(path + ".gz") as f, \
                    open(f"{folder}/{name}", "wb") as to:
                to.write(f.read())
        words = "--show", "line", "-n", "1", "buffer.bin", "hello.cubin"
        where = os.path.realpath(folder).replace(" ", "%20").replace(
            "ä", "%C3%A4")
        link = (f"\033]8;;file://{socket.gethostname()}{where}/hello.cu#8\033\\"
                "hello.cu:8\033]8;;\033\\")
        plain = "[hello.cu:8] ray 0 t=0.000000\n"
        shown = on_terminal(folder, *words)
        assert f"[{link}]" in shown, repr(shown)
        for keys in {"TERM": "dumb"}, {"TERM": "linux"}, {"TERM": ""}:
            shown = on_terminal(folder, "--color", "never", *words, **keys)
            assert shown == plain, (keys, shown)
        assert on_terminal(folder, "--links", "never", "--color", "never",
                           *words) == plain
        assert piped(folder, *words) == plain
        assert piped(folder, "--links", "always", *words) == \
            f"[{link}] ray 0 t=0.000000\n"


def controls():
    """C1 and the controls of direction drive no terminal, in no form, but stay
    what they are in files and raw."""
    bad = "\x9b31m \u202e\u2066\u200f\u061c \u2069é\u20ac"
    shown = "".join(c if ord(c) in (0x20, 0xe9, 0x20ac) or ord(c) < 0x7f else
                    "".join(f"\\x{b:02x}" for b in c.encode()) for c in bad)
    in_json = "".join(c if ord(c) in (0x20, 0xe9, 0x20ac) or ord(c) < 0x7f else
                      f"\\u{ord(c):04x}" for c in bad)
    with tempfile.TemporaryDirectory() as folder:
        string = llpc_cases.Str(7, bad.encode())
        for name, data in (("b", llpc_cases.buffer(string(), string())),
                           ("e", llpc_cases.image(string))):
            with open(f"{folder}/{name}", "wb") as f:
                f.write(data)
        words = "--color", "never", "b", "e"
        assert on_terminal(folder, *words) == 2 * f"{shown}\n"
        assert piped(folder, *words) == 2 * f"{shown}\n"
        for verb in "decode", "strings", "stats":
            text = on_terminal(folder, verb, "-o", "json", *words,
                               stderr=subprocess.DEVNULL)
            lines = piped(folder, verb, "-o", "json", *words)
            assert f"{in_json}" in text and bad in lines, (verb, text, lines)
            shown = [json.loads(line) for line in text.splitlines()]
            # Arguments by their names are there for people.
            is_by_name = [row.pop("fields", None) is not None for row in shown]
            assert is_by_name[0] == (verb == "decode"), shown[0]
            assert shown == [
                json.loads(line) for line in lines.splitlines()], verb
            assert not set(bad) & set(text) - set(in_json), verb
        for at in (lambda *w: on_terminal(folder, *w),
                   lambda *w: piped(folder, *w)):
            assert bad in at("-o", "raw", *words)


def names():
    """Nor do names of files drive it, or begin a line, in any verb's words."""
    name = b"a\x1b]0;x\x07\xc2\x9b31m\xe2\x80\xae\n\x7f\x9bz\r\b"
    shown = ("a\\x1b]0;x\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\\x7f\\x9bz\\x0d"
             "\\x08")
    in_json = ("a\\u001b]0;x\\u0007\\u009b31m\\u202e\\n\\u007f\ufffdz\\r\\b")
    never = "--color", "never", "--links", "never"
    with tempfile.TemporaryDirectory() as folder:
        string = llpc_cases.Str(7, b"seven")
        b, e = name + b".b", name + b".e"
        for path, data in ((b, llpc_cases.buffer(string())),
                           (e, llpc_cases.image(string)), (b"no", b"\x7fELF")):
            with open(folder.encode() + b"/" + path, "wb") as f:
                f.write(data)
        for words in (
                ["decode", *never, "--with-filename", b, e],
                ["decode", *never, name], ["decode", *never, b, e, name],
                ["decode", *never, b, e, "--where", b"x" + name + b" > 1"],
                ["decode", *never, b, e, "--format", name],
                ["inspect", "--color", "never", "--with-filename", b, e],
                ["info", "--color", "never", b, e],
                ["strings", "--color", "never", name],
                ["extract", "--color", "never", e, "--to", "out"],
                ["capture", "--color", "never", b, e, "-o", name + b"/x"],
                ["table", "--color", "never", b, e, "--columns", name],
                ["follow", *never, b"unix:" + name], ["run", name],
                ["scan", "--color", "never", name, "-o", "x", "--strings", "s"],
                ["help", name]):
            text = on_terminal(folder, *words, NO_COLOR="1")
            assert shown in text.replace("\\n", "\\x0a"), (words, text)
            assert not [c for c in text if ord(c) < 0x20 and c != "\n" or
                        0x7f <= ord(c) < 0xa0 or c == "\u202e"], (words, text)
            assert not [line for line in text.splitlines() if
                        line.startswith("\\x7f")], (words, text)
        for words in (["decode", b, e], ["strings", e], ["inspect", b, e],
                      ["info", b, e]):
            text = on_terminal(folder, *words, "-o", "json", "--color", "never")
            assert in_json in text and "\x7f" not in text, (words, text)
            assert "\x7f" in piped(folder, *words, "-o", "json")


standard_input()
findings()
nothing()
links()
controls()
names()
