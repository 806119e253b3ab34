# SPDX-License-Identifier: MIT
"""Tables: NumPy's arrays where NumPy is, memoryviews where it is not."""
import ast
import functools
import struct

from . import _core
from .notebook import ROWS_SHOWN, rows_html


def how(columns, group_by, aggregates, sort, top):
    def words(value):
        return tuple(value.split(",") if isinstance(value, str) else value)
    return {"columns": words(columns), "group_by": words(group_by),
            "aggregates": words(aggregates), "sort": sort, "top": top}


class Table:
    """Columns of one format string. table[NAME] is a memoryview of its numbers,
    or a tuple of its texts; nulls(NAME) has a 1 where there is no value."""

    def __init__(self, of):
        self._of = of
        self.columns, self.format, self.name = of.columns, of.format, of.name

    def __len__(self):
        return len(self._of)

    def __getitem__(self, name):
        return self._of[name]

    def nulls(self, name):
        return self._of.nulls(name)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._of.__arrow_c_stream__(requested_schema)

    def __repr__(self):
        return "<Table %r: %d rows of %s>" % (self.name, len(self), ", ".join(self.columns))

    def _repr_html_(self):
        return rows_html(self.columns, [self[name] for name in self.columns], len(self))


def several(opened, selection, spec):
    return [Table(one) for one in _core.tables(opened, selection, spec)]


@functools.cache
def _array_type(numpy):
    class TableArray(numpy.ndarray):
        """A structured array that polars, pandas and pyarrow take as a table."""

        _again = None

        def __array_finalize__(self, of):
            # Of parts of a table only the values are known.
            self._again = None

        @property
        def columns(self):
            return self.dtype.names

        def __arrow_c_stream__(self, requested_schema=None):
            if self._again is None:
                raise TypeError("a part of a table: take the whole one, or select by where=")
            return _core.tables(*self._again)[0].__arrow_c_stream__(requested_schema)

        def _repr_html_(self):
            if self.dtype.names is None or self.ndim != 1:
                return None
            shown = [self[name][:ROWS_SHOWN].tolist() for name in self.dtype.names]
            return rows_html(self.dtype.names, shown, len(self))

    return TableArray


def one(opened, selection, spec):
    try:
        import numpy
    except ImportError:
        tables = several(opened, selection, spec)
        if not tables:
            raise _core.UsageError("no entry is selected: there is no table") from None
        return tables[0]
    data = _core.npy(opened, selection, spec)
    view = memoryview(data)
    if not len(view):
        raise _core.UsageError("no entry is selected: there is no table")
    size, = struct.unpack_from("<I", view, 8)
    head = ast.literal_eval(bytes(view[12:12 + size]).decode())
    array = numpy.frombuffer(data, numpy.dtype(head["descr"]), head["shape"][0], 12 + size)
    array = array.view(_array_type(numpy))
    array._again = opened, selection, spec
    return array
