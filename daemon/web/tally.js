/* Counts of records that did not arrive, over all connections of a query:
 * hidden by the filter, omitted by the sampler, or missed because this page was
 * too slow. The daemon's counts begin anew with each connection. */

function sum(a, b) {
    return { entries: a.entries + b.entries, findings: a.findings + b.findings };
}

const NONE = { entries: 0, findings: 0 };

export class Tally {
    constructor() {
        this.clear();
    }

    clear() {
        this.filtered = this.sampled = NONE; /* of earlier connections */
        this.now = { filtered: NONE, sampled: NONE };
        this.missed = 0;
    }

    /* A connection was made. */
    begin() {
        this.filtered = sum(this.filtered, this.now.filtered);
        this.sampled = sum(this.sampled, this.now.sampled);
        this.now = { filtered: NONE, sampled: NONE };
    }

    note({ type, json }) {
        if (type === 'left_out')
            this.now = json;
        this.missed += type === 'gap' ? json.missed ?? 0 : 0;
    }

    all() {
        return {
            filtered: sum(this.filtered, this.now.filtered),
            sampled: sum(this.sampled, this.now.sampled),
            missed: this.missed,
            condition: this.now.condition ?? '',
        };
    }
}
