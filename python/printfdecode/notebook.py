# SPDX-License-Identifier: MIT
"""How things look in a notebook."""
import base64
import html
import itertools

ROWS_SHOWN = 20


def rows_html(names, columns, n):
    """The first rows as a table of HTML."""
    def text(value):
        return html.escape(value.decode("utf-8", "backslashreplace")
                           if isinstance(value, bytes) else str(value))

    def cells(kind, values):
        return "<tr>%s</tr>" % "".join(
            "<%s>%s</%s>" % (kind, text(value), kind) for value in values)
    rows = [cells("td", row) for row in zip(*(column[:ROWS_SHOWN] for column in columns))]
    more = "<p>%d rows, the first %d are shown</p>" % (n, ROWS_SHOWN) if n > ROWS_SHOWN else ""
    return "<table>%s%s</table>%s" % (cells("th", names), "".join(rows), more)


def decoded_html(decoded):
    """The first messages, and the counts of all."""
    entries = list(itertools.islice(decoded, ROWS_SHOWN + 1))
    lines = "".join(str(entry).rstrip("\n") + "\n" for entry in entries[:ROWS_SHOWN])
    facts = ["%d entries" % len(decoded)]
    if len(entries) > ROWS_SHOWN:
        facts.append("the first %d are shown" % ROWS_SHOWN)
    if decoded.lost_bytes:
        facts.append("%d bytes are lost: a buffer of %d would have held everything" % (
            decoded.lost_bytes, decoded.size_needed))
    found = "".join("<li>%s: %s</li>" % (html.escape(f.kind), html.escape(f.text))
                    for f in decoded.findings[:ROWS_SHOWN])
    if len(decoded.findings) > ROWS_SHOWN:
        found += "<li>%d more findings</li>" % (len(decoded.findings) - ROWS_SHOWN)
    return "<pre>%s</pre><p>%s</p>%s" % (
        html.escape(lines), "; ".join(facts), "<ul>%s</ul>" % found if found else "")


class Picture:
    """A plot: shows itself in a notebook; png has its bytes, points counts them.
    left_out: entries of other strings, of unknown ids, and without the columns."""

    def __init__(self, png, points, *left_out):
        self.png, self.points, self.left_out = png, points, left_out

    def _repr_png_(self):
        return self.png

    def _repr_html_(self):
        return '<img alt="%d points" src="data:image/png;base64,%s">' % (
            self.points, base64.b64encode(self.png).decode())

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.png)

    def __repr__(self):
        return "<Picture: %d points>" % self.points
