/* Format strings of the received entries: how many entries each has, and the
 * recent counts for each second. */
import { Columns } from './columns.js';

const KEPT = 500; /* format strings; all others share one pattern */
const SECONDS = 60;
const HISTORY = 4096; /* entries of each whose arguments are stored */
const COLUMNS = 16;

class Pattern {
    constructor(key, id, text, hasText) {
        this.key = key;
        this.id = id;
        this.text = text;
        this.hasText = hasText;
        this.count = 0;
        this.findings = 0;
        this.rates = new Array(SECONDS).fill(0);
        this.now = 0;
        this.columns = null;
    }

    add(record) {
        const { args } = record.json;
        this.count++;
        this.now++;
        this.findings += record.isFinding ? 1 : 0;
        if (!args?.length || !this.key)
            return;
        const n = Math.min(args.length, COLUMNS);
        if (this.columns?.data.length !== n)
            this.columns = new Columns(this.text, n, HISTORY);
        this.columns.push(args);
    }
}

export class Patterns {
    #all = new Map();
    #others = new Pattern('', '', 'all others');
    #last = this.#others; /* of the entry before: the next one is often alike */

    constructor() {
        this.count = 0;
    }

    /* Returns true if it is the first of its format string. */
    add(record) {
        const { id, format_string: text } = record.json;
        this.count++;
        if (this.#last.id === id && this.#last.text === text) {
            this.#last.add(record);
            return false;
        }
        const key = id + text;
        let pattern = this.#all.get(key);
        const isFirst = !pattern && this.#all.size < KEPT;
        if (isFirst) {
            pattern = new Pattern(key, id, text ?? `(no format string has the id ${id})`,
                Boolean(text));
            this.#all.set(key, pattern);
        }
        this.#last = pattern ?? this.#others;
        this.#last.add(record);
        return isFirst;
    }

    /* Called once a second. */
    tick() {
        for (const pattern of [...this.#all.values(), this.#others]) {
            pattern.rates.shift();
            pattern.rates.push(pattern.now);
            pattern.now = 0;
        }
    }

    /* The n patterns with the most entries. */
    top(n) {
        const all = [...this.#all.values(), this.#others].filter((p) => p.count);
        return all.sort((a, b) => b.count - a.count).slice(0, n);
    }

    /* The pattern with this text, or the most frequent one that contains it. */
    find(text) {
        const all = this.top(KEPT + 1).filter((p) => p.text.includes(text));
        return all.find((p) => p.text === text) ?? all[0];
    }

    clear() {
        this.#all.clear();
        this.#last = this.#others = new Pattern('', '', 'all others');
        this.count = 0;
    }
}
