/* Marks what a search or a pattern matches in a message. Marks help the eye and
 * decide nothing: the daemon has its own engine for patterns. */

const REACH = 500; /* characters that a pattern looks at which repeats something */
const MARKS = 50; /* in one message */

/* { expression, reach } of the browser for a pattern of the daemon's, or null: a
 * pattern that this engine does not have, or could take long for. Links bring
 * patterns, so none may hang the page. */
export function quickPattern(text) {
    const plain = text.replace(/\\.|\[[^\]]*\]/g, 'x');
    const repeats = plain.match(/[*+]|\{\d*,/g) ?? [];
    if (!text || repeats.length > 2 || /\)[*+?{]|\\\d/.test(plain))
        return null;
    try {
        return { expression: new RegExp(text, 'gu'), reach: repeats.length ? REACH : Infinity };
    } catch {
        return null;
    }
}

/* Likewise for a text, in upper or lower case; null: none. */
export function literal(text) {
    const expression = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');
    return text ? { expression, reach: Infinity } : null;
}

/* [start, end] of what is matched, in order, without overlaps. */
function rangesOf(text, wanted) {
    const found = [];
    for (const { expression, reach } of wanted) {
        for (const match of text.slice(0, reach).matchAll(expression)) {
            if (match[0] && found.push([match.index, match.index + match[0].length]) > MARKS)
                break;
        }
    }
    found.sort((a, b) => a[0] - b[0]);
    const ret = [];
    for (const range of found) {
        if (range[0] >= (ret.at(-1)?.[1] ?? 0))
            ret.push(range);
    }
    return ret;
}

/* The text as nodes, with <mark> around what matches. */
export function marked(text, wanted) {
    const nodes = [];
    let at = 0;
    for (const [start, end] of rangesOf(text, wanted)) {
        const mark = document.createElement('mark');
        mark.textContent = text.slice(start, end);
        nodes.push(text.slice(at, start), mark);
        at = end;
    }
    nodes.push(text.slice(at));
    return nodes;
}
