/* The latest arguments of one format string, as columns of numbers with
 * names. */

const CONVERSION = new RegExp('%(?:%|[-+ #0]*(\\*|\\d+)?(?:\\.(\\*|\\d+))?(?:v(\\d+))?' +
    '(?:hh|hl|h|ll|l|j|z|t|L)?([a-zA-Z]))', 'g');
const SPECIAL = { nan: NaN, inf: Infinity, '-inf': -Infinity };
const LATEST = 12;

/* For each argument: its name as in --where, the word before it in the format
 * string, and whether it is a text. */
export function describe(formatString, n) {
    const found = [];
    let before = 0;
    for (const match of formatString.matchAll(CONVERSION)) {
        const [whole, width, precision, lanes, letter] = match;
        if (whole === '%%')
            continue;
        const words = formatString.slice(before, match.index).match(/[\p{L}_][\p{L}\p{M}\p{N}_]*/gu);
        before = match.index + whole.length;
        for (const star of [width, precision]) {
            if (star === '*')
                found.push({ word: '', isText: false });
        }
        for (let i = 0; i < Number(lanes ?? 1) && found.length < n; i++)
            found.push({ word: words?.at(-1) ?? '', isText: letter === 's' });
    }
    while (found.length < n)
        found.push({ word: '', isText: false });
    return found.slice(0, n).map((column, i) => ({ ...column, name: `a${i}` }));
}

function numberOf(value, isText) {
    if (typeof value === 'number')
        return value;
    return isText ? NaN : SPECIAL[value] ?? NaN;
}

export class Columns {
    #next = 0;

    constructor(formatString, n, size) {
        this.about = describe(formatString, n);
        this.data = this.about.map(() => new Float64Array(size));
        this.size = size;
        this.length = 0;
        this.latest = [];
    }

    push(args) {
        for (let i = 0; i < this.data.length; i++)
            this.data[i][this.#next] = numberOf(args[i], this.about[i].isText);
        this.#next = (this.#next + 1) % this.size;
        this.length = Math.min(this.length + 1, this.size);
        this.latest.push(args);
        if (this.latest.length > LATEST)
            this.latest.shift();
    }

    /* Index of the i-th oldest value. */
    place(i) {
        return (this.#next - this.length + i + this.size) % this.size;
    }

    /* Grows the columns to a larger size. */
    grow(size) {
        if (size <= this.size)
            return;
        const order = Array.from({ length: this.length }, (_, i) => this.place(i));
        this.data = this.data.map((old) => {
            const more = new Float64Array(size);
            order.forEach((at, i) => { more[i] = old[at]; });
            return more;
        });
        this.size = size;
        this.#next = this.length;
    }

    /* Statistics of one column. */
    summary(column) {
        const values = this.data[column];
        const ret = { n: 0, min: Infinity, max: -Infinity, sum: 0, nan: 0, more: 0, less: 0 };
        for (let i = 0; i < this.length; i++) {
            const value = values[this.place(i)];
            if (Number.isNaN(value)) {
                ret.nan++;
            } else if (value === Infinity) {
                ret.more++;
            } else if (value === -Infinity) {
                ret.less++;
            } else {
                ret.n++;
                ret.sum += value;
                ret.min = Math.min(ret.min, value);
                ret.max = Math.max(ret.max, value);
            }
        }
        return ret;
    }
}
