/* Rows: consecutive equal entries share one row. Entries are compared by one of
 * these keys: none; the message; the message without its numbers; the format
 * string. Findings are never merged. */
import { Ring } from './ring.js';

const NUMBERS = /0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\b(?:nan|inf)\b/gi;

const KEYS = {
    none: () => null,
    exact: (record) => record.message,
    numbers: (record) => record.message.replace(NUMBERS, '#'),
    signature: (record) => record.json.id + record.json.format_string,
};

export class Rows {
    constructor(size) {
        this.records = new Ring(size);
        this.rows = new Ring(size);
        this.key = KEYS.none;
    }

    #add(record) {
        const key = record.type === 'entry' && !record.isFinding ? this.key(record) : null;
        const last = this.rows.last;
        if (key !== null && last && last.key === key && last.record.source === record.source) {
            last.n++;
            last.latest = record;
        } else {
            this.rows.push({ record, latest: record, key, n: 1 });
        }
    }

    push(record) {
        this.records.push(record);
        this.#add(record);
    }

    /* mode: one of KEYS. Builds all rows again. */
    thin(mode) {
        this.key = KEYS[mode] ?? KEYS.none;
        this.rows.clear();
        for (let i = 0; i < this.records.length; i++)
            this.#add(this.records.at(i));
    }

    clear() {
        this.records.clear();
        this.rows.clear();
    }
}
