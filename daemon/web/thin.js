/* Rows: records, where those that say the same behind one another are one. What
 * is the same: nothing; the message; the message but for its numbers; or the
 * format string, which our messages are made of. Findings stand alone. */
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

    /* One of KEYS: all rows are made anew. */
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
