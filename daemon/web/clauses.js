/* Clauses of conditions that choose what has a value, or what has not. */

/* A text between quotes, as conditions have it. */
function quoted(text) {
    const escapes = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\', '"': '\\"' };
    /* eslint-disable-next-line no-control-regex */
    return `"${text.replace(/[\u0000-\u001f"\\]/g, (c) =>
        escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
}

/* The member of an entry or its origin with a value: what a condition compares,
 * or null: conditions have no such value. */
export function comparison(name, value, isEqual) {
    const operator = `${isEqual ? '=' : '!'}=`;
    if (!/^[A-Za-z_]\w*$/.test(name))
        return null;
    if (name === 'id')
        return `entry.id ${operator} ${value}`;
    if (typeof value === 'string')
        return `entry.${name} ${operator} ${quoted(value)}`;
    return Number.isSafeInteger(value) ? `entry.${name} ${operator} ${value}` : null;
}

/* Only entries of a format string, or none of them. Two programs may use one id
 * for two format strings. */
export function ofPattern({ id, text, hasText }, isWanted) {
    const sign = isWanted ? '=' : '!';
    const words = [`entry.id ${sign}= ${id}`];
    if (hasText)
        words.push(`entry.format_string ${sign}= ${quoted(text)}`);
    return isWanted ? words.join(' && ') : `(${words.join(' || ')})`;
}

/* Times from..to, in ms; the text of a time compares as a prefix. */
export function during(from, to, isWithin) {
    const [first, end] = [from, to].map((ms) => quoted(new Date(ms).toISOString().slice(0, -1)));
    return isWithin ? `entry.time >= ${first} && entry.time < ${end}` :
        `(entry.time < ${first} || entry.time >= ${end})`;
}
