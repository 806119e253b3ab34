/* Texts and numbers for people. Texts of programs are untrusted: they never
 * become HTML, and invisible or bidirectional control characters are
 * escaped. */

/* eslint-disable-next-line no-control-regex */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function code(c) {
    return '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
}

const HAS_UNSEEN = new RegExp(UNSEEN.source); /* nearly no text has any: the test is cheaper */

export function visible(text) {
    return !HAS_UNSEEN.test(text) ? text :
        text.replace(UNSEEN, (c) => (c === '\t' ? c : c === '\n' ? '⏎' : code(c)));
}

/* The newline at the end of a message is not shown. */
export function oneLine(text) {
    return visible(text.endsWith('\n') ? text.slice(0, -1) : text);
}

const NUMBER = new Intl.NumberFormat('en');

export function count(n) {
    return NUMBER.format(n);
}

/* "1 message", "3 messages" */
export function many(n, one, more = one + 's') {
    return `${count(n)} ${n === 1 ? one : more}`;
}

export function bytes(n) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (n >= 1024 && unit < units.length - 1) {
        n /= 1024;
        unit++;
    }
    return `${NUMBER.format(unit && n < 100 ? Math.round(n * 10) / 10 : Math.round(n))} ${units[unit]}`;
}

/* A number with six digits at most. */
export function short(value) {
    if (typeof value !== 'number' || !Number.isFinite(value))
        return String(value);
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

/* Makes an element with text and children; never parses HTML. */
export function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
        if (name === 'class') {
            element.className = value;
        } else if (name === 'text') {
            element.textContent = value;
        } else if (name.startsWith('on')) {
            element.addEventListener(name.slice(2), value);
        } else {
            element.setAttribute(name, value);
        }
    }
    element.append(...children);
    return element;
}

/* Two buttons, + and −: act(true) filters for a thing, act(false) filters it
 * out. */
export function choices(thing, act) {
    return [[true, '+', 'Filter for'], [false, '−', 'Filter out']].map(([isWanted, text, verb]) => {
        const label = `${verb} ${visible(thing)}`;
        return make('button', { text, title: label, 'aria-label': label, onclick: () => act(isWanted) });
    });
}

/* Copies a text as a user does who has selected it; false: it is not allowed. */
export function copySelected(text) {
    const { activeElement: before } = document;
    const area = make('textarea', { 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const ret = document.execCommand('copy');
    area.remove();
    before?.focus();
    return ret;
}
