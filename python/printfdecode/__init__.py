# SPDX-License-Identifier: MIT
"""What GPU programs printed, as objects: printfdecode.open(...) yields entries.

README.md beside the sources has the tour; help(printfdecode.open) the details.
"""
import functools
import json
import os
import warnings

from ._core import (Client, Entry, Error, Finding, Shared, Strings, UsageError,
                    version as __version__)
from . import _core, table as _table
from .follow import Follow, is_error
from .notebook import Picture, decoded_html
from .run import Result, Session, run
from .table import Table

__all__ = ["Client", "Decoded", "Entry", "Error", "Finding", "FindingWarning", "Follow",
           "Picture", "Result", "Session", "Shared", "Strings", "Summary", "Table",
           "UsageError", "follow", "is_error", "open", "run"]

BY_CONTENT, IS_STRINGS, IS_BUFFER = range(3)


class FindingWarning(UserWarning):
    """A finding as a warning, for open(..., warn=True); `finding` is its object."""

    @property
    def finding(self):
        return self.args[0]

    def __str__(self):
        one = self.finding
        place = [] if one.offset is None else ["byte %d" % one.offset]
        return ": ".join([one.source, *place, one.kind, one.text])


class Summary:
    """Counts of one buffer, or of several together."""

    __slots__ = ("name", "size", "entries", "unknown", "bytes", "lost_bytes",
                 "skipped_bytes", "n_findings", "findings")

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)

    def __repr__(self):
        return "Summary(%s)" % ", ".join(
            "%s=%r" % (name, getattr(self, name)) for name in self.__slots__[:-1])


_ACTIONS = ("", "graphics", "compute", "ray_tracing")


def _handle(value):
    return int(value, 0) if isinstance(value, str) else value or 0


def _set_capture(strings, facts):
    """What the validation layer knew, as printfdecode(1) lists it."""
    def named(key):
        value = facts.get(key) or {}
        return value.get("name"), _handle(value.get("handle"))
    groups = facts.get("limits", {}).get("maxComputeWorkGroupCount", (0, 0, 0))
    point = facts.get("bind_point")
    strings._set_capture(
        named("command_buffer"), named("pipeline"),
        _ACTIONS.index(point) if point in _ACTIONS else 0,
        facts.get("operation_index", 0), tuple(groups),
        facts.get("verbose") is True)


def _read_shaders(strings, path):
    """A map of --shaders: ids to modules, and what the layer knew."""
    with _builtin_open(path, encoding="utf-8") as file:
        facts = json.load(file)
    shaders = facts.get("shaders", facts)
    for key, value in shaders.items():
        info = value if isinstance(value, dict) else {"spv": value}
        strings.add_shader(os.path.join(os.path.dirname(path), info["spv"]),
                           int(key, 0), info.get("name"), _handle(info.get("handle")))
    if shaders is not facts:
        _set_capture(strings, facts)


_builtin_open = open


class Decoded(_core.Opened):
    """Buffers and the strings to read them; iterate over it for the entries.

    Any number of threads may use it; each iterator belongs to one thread at a
    time. Decoding runs while other threads have the interpreter.
    """

    def __iter__(self):
        return _core.entries(self, {}, False, 0)

    def entries(self, match=None, *, findings=False, **selection):
        """Entries that match: match=, format= (regular expressions of messages
        and format strings, or lists of them), ids=, sources=, where= (a
        condition such as "t > 0.5"), ignore_case=, invert=, skip=, limit=,
        ranges=[(from, to), ...] of indexes. findings=True: findings between
        entries, too, in their places."""
        return _core.entries(self, _selection(match, selection), findings, 0)

    def batches(self, size=4096, match=None, **selection):
        """The same as lists of `size` entries; the last one may be shorter."""
        if size < 1:
            raise UsageError("a batch has at least one entry")
        return _core.entries(self, _selection(match, selection), False, size)

    def table(self, format=None, *, columns=(), group_by=(), aggregates=(),
              sort=None, top=None, **selection):
        """The arguments of one format string as columns: a structured array of
        NumPy if that is installed, else a Table of memoryviews. Neither copies.
        format: a pattern that selects the string; columns=, group_by=,
        aggregates=, sort=, top= as of `printfdecode table`."""
        how = _table.how(columns, group_by, aggregates, sort, top)
        return _table.one(self, _selection(None, dict(selection, format=format)), how)

    def tables(self, match=None, **selection):
        """A Table of each format string."""
        how = dict(_table.how((), (), (), None, None), all=True)
        return _table.several(self, _selection(match, selection), how)

    def collapse(self, match=None, *, equal=False, window=0, **selection):
        """Runs of entries of one format string as one record each, with what
        varies in it: dicts, as `printfdecode --collapse -o json` has them."""
        lines = _core.collapse(self, _selection(match, selection), equal, window)
        return [json.loads(line) for line in lines.splitlines()]

    def plot(self, x=None, y=None, value=None, *, kind="heat", select=None, **how):
        """A Picture of arguments by their names: kind heat, hist, scatter or line;
        by=, reduce=, scale=, x_range=, y_range=, range=, cells=, pixel=, dark=,
        map=, title= as of `printfdecode plot`; select: a dict of what entries()
        takes. Of several format strings the first entry's is drawn; one that came
        in the buffer has its names by its text."""
        wrong = set(how) - _HOW
        if wrong:
            raise TypeError("no such option: " + ", ".join(sorted(wrong)))
        select = _selection(None, select or {})
        first = next((entry for entry in _core.entries(self, select, False, 0)
                      if entry.format is not None), None)
        if first is None:
            raise UsageError("no entry with a format string is selected: there is "
                             "nothing to draw")
        how.update(x=x, y=y, value=value, kind=kind)
        return Picture(*_core.plot(self, select, how, "png", first))

    def _repr_html_(self):
        return decoded_html(self)

    @functools.cached_property
    def buffers(self):
        """A Summary of each buffer, which is read for it once."""
        return tuple(Summary(*values) for values in self._scan())

    @functools.cached_property
    def findings(self):
        """Everything that a careful reader wants to know, of files and buffers."""
        return self._findings + tuple(
            finding for buffer in self.buffers for finding in buffer.findings)

    def _sum(self, name):
        return sum(getattr(buffer, name) for buffer in self.buffers)

    @property
    def lost_bytes(self):
        """Bytes that the device wrote and that are not there."""
        return self._sum("lost_bytes")

    @property
    def size_needed(self):
        """Bytes that the largest buffer needed to lose nothing."""
        return max((b.size + b.lost_bytes for b in self.buffers), default=0)

    def __len__(self):
        return self._sum("entries")

    def __bool__(self):
        return True


def follow(address, match=None, *, start=None, findings=False, **selection):
    """Subscribes to a daemon: unix:PATH or tcp:HOST:PORT of an output of type
    `listen`. start: "oldest", "now", a sequence number or a time; match=, format=,
    ids=, where=, sources=, ignore_case=, invert= select. findings: the iterator
    gives findings and gaps, too, in their places."""
    words = _selection(match, selection)
    for name in ("skip", "limit", "ranges"):
        if name in words:
            raise TypeError("follow() has no selection by " + name)
    if start is not None:
        words["from"] = str(start)
    return Follow(address, words, findings)


_SELECTION = {"match", "format", "ids", "sources", "where", "ignore_case",
              "invert", "skip", "limit", "ranges"}


_HOW = {"by", "reduce", "scale", "x_range", "y_range", "range", "cells", "pixel", "dark",
        "map", "title"}


def _selection(match, words):
    wrong = set(words) - _SELECTION
    if wrong:
        raise TypeError("no such selection: " + ", ".join(sorted(wrong)))
    return dict({"match": match}, **words)


def open(*files, strings=(), buffers=(), shaders=None, format=None, name=None,
         notes=False, max_inflated=0, pid=None, core=None, address=None,
         size=None, scan=False, warn=False, **options):
    """Opens buffers and what they were printed with; returns a Decoded.

    files: paths, or objects with the buffer protocol; what each is, a buffer, a
    capture or code, its first bytes say. strings, buffers: the same where they
    do not; strings may also be a Strings. shaders: {id: file}, or the path of a
    map. name: of objects, in findings. format: the buffer format; options:
    compat, layout, opencl_strings, and kernel: whose messages a buffer of rusticl
    has; else it is searched. notes: findings have notes as well. warn: each
    finding is a FindingWarning, too; for that all buffers are read at once.

    pid, core: the memory of a process, or a core's file: the buffer at address with
    size (without it: up to the end of what is mapped there), else what a search
    finds. Format strings are those of files, without them those of the code objects
    that ROCm's runtime has loaded; scan: code is searched everywhere.
    """
    if isinstance(strings, (str, os.PathLike, Strings)):
        strings = [strings]
    sets = [one for one in strings if isinstance(one, Strings)]
    if len(sets) > 1:
        raise UsageError("one set of strings at most")
    ret = Decoded(sets[0] if sets else None, format, options, notes, max_inflated)
    n_before = len(ret.strings.findings)
    if isinstance(shaders, (str, os.PathLike)):
        _read_shaders(ret.strings, os.fspath(shaders))
    else:
        for number, file in (shaders or {}).items():
            ret.strings.add_shader(file, number)
    ret._hear(ret.strings.findings[n_before:])
    for file in files:
        ret._add(file, BY_CONTENT, name)
    for file in strings:
        if not isinstance(file, Strings):
            ret._add(file, IS_STRINGS, name)
    for file in [buffers] if isinstance(buffers, (str, os.PathLike)) else buffers:
        ret._add(file, IS_BUFFER, name)
    if any(one is not None for one in (pid, core, address, size)) or scan:
        ret._add_memory(pid, core, address, size, scan)
    ret._finish()
    for finding in ret.findings if warn else ():
        warnings.warn(FindingWarning(finding), stacklevel=2)
    return ret
