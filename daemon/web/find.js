/* A search in the lines that are here: which ones have a text. Rows are numbered
 * from the first row ever, so that numbers stay when old rows go. */
export class Find {
    #hits = [];
    #seen = 0; /* rows below this number have been looked at */
    #wanted = '';

    /* rows: a Ring. */
    constructor(rows) {
        this.rows = rows;
    }

    /* '': nothing is searched. Upper and lower case are the same. */
    start(text) {
        this.#wanted = text.toLowerCase();
        this.reset();
    }

    reset() {
        this.#hits = [];
        this.#seen = 0;
    }

    /* Looks at the rows that have come, and forgets those that have gone. */
    #update() {
        const { rows } = this;
        const end = rows.dropped + rows.length;
        for (let at = Math.max(this.#seen, rows.dropped); at < end && this.#wanted; at++) {
            if (rows.at(at - rows.dropped).record.message.toLowerCase().includes(this.#wanted))
                this.#hits.push(at);
        }
        this.#seen = end;
        const gone = this.#hits.findIndex((at) => at >= rows.dropped);
        this.#hits.splice(0, gone < 0 ? this.#hits.length : gone);
    }

    /* The next found row behind the current one, or before it (-1), around the
     * ends; -1: there is none. */
    step(current, step) {
        this.#update();
        if (!this.#hits.length)
            return -1;
        return step > 0 ? this.#hits.find((at) => at > current) ?? this.#hits[0] :
            this.#hits.findLast((at) => current >= 0 && at < current) ?? this.#hits.at(-1);
    }

    /* { at, n }: the current row is the at-th of n; at 0: it is none of them. */
    count(current) {
        this.#update();
        return { at: this.#hits.indexOf(current) + 1, n: this.#hits.length };
    }
}
