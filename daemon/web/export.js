/* Saves the visible rows as a file: text, NDJSON as the daemon wrote it, or
 * CSV. */

const COLUMNS = {
    sequence: (row) => row.record.sequence,
    time: (row) => row.record.json.time ?? '',
    type: (row) => row.record.type,
    source: (row) => row.record.json.source ?? '',
    invocation: (row) => row.record.who,
    line: (row) => row.record.where,
    message: (row) => (row.record.json.message ?? row.record.message).replace(/\n$/, ''),
    lines: (row) => row.n,
};

/* RFC 4180. A text that a spreadsheet would run as a formula gets a quote
 * before it. */
function cell(value) {
    let text = String(value);
    if (/^[=+@\t\r]|^-(?![\d.]|inf)/.test(text))
        text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(rows) {
    const lines = [Object.keys(COLUMNS).join(',')];
    for (const row of rows)
        lines.push(Object.values(COLUMNS).map((of) => cell(of(row))).join(','));
    return lines.join('\r\n') + '\r\n';
}

function ndjson(rows) {
    let text = '';
    for (const row of rows)
        text += row.record.line + '\n';
    return text;
}

function plain(rows) {
    let text = '';
    for (const { record, n } of rows) {
        const { json, host, source, who, where } = record;
        const words = [json.time, host, source, who, where].filter(Boolean);
        text += `${words.join(' ')}: ${n > 1 ? `×${n} ` : ''}${record.message}\n`;
    }
    return text;
}

export const FORMS = {
    text: { make: plain, name: 'lines.txt', type: 'text/plain' },
    ndjson: { make: ndjson, name: 'lines.ndjson', type: 'application/x-ndjson' },
    csv: { make: csv, name: 'lines.csv', type: 'text/csv' },
};

export function save(form, rows) {
    const { make, name, type } = FORMS[form];
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([make(rows)], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
