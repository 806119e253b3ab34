/* The lines: received records, records that wait while it is paused, and the
 * list that shows them. */
import { Find } from './find.js';
import { Layout } from './layout.js';
import { List } from './list.js';
import { Ring } from './ring.js';
import { Rows } from './thin.js';

const KEPT = 20000; /* lines */

export class Tail {
    /* chosen(row): the current row has changed. */
    constructor(element, chosen) {
        this.rows = new Rows(KEPT);
        this.waiting = new Ring(KEPT);
        this.isPaused = false;
        this.layout = new Layout(element);
        this.list = new List(element, this.rows.rows, this.layout, chosen);
        this.find = new Find(this.rows.rows);
        this.n = 0; /* records */
        this.nFindings = 0;
    }

    #add(record) {
        this.rows.push(record);
        this.layout.note(record);
    }

    push(record) {
        this.n++;
        this.nFindings += record.isFinding ? 1 : 0;
        if (this.isPaused) {
            this.waiting.push(record);
        } else {
            this.#add(record);
        }
    }

    draw() {
        if (!this.isPaused)
            this.list.draw();
    }

    pause(isPaused) {
        this.isPaused = isPaused;
        if (isPaused)
            return;
        for (let i = 0; i < this.waiting.length; i++)
            this.#add(this.waiting.at(i));
        this.waiting.clear();
        this.list.draw();
    }

    thin(mode) {
        this.rows.thin(mode);
        this.find.reset();
        this.list.clear();
        this.list.draw();
    }

    clear() {
        this.rows.clear();
        this.waiting.clear();
        this.list.clear();
        this.layout.clear();
        this.find.reset();
        this.n = this.nFindings = 0;
        this.list.draw();
    }

    /* Makes the next line that has the searched text the current one; step -1:
     * the one before. */
    toFound(step) {
        const number = this.find.step(this.list.current, step);
        if (number >= 0)
            this.list.choose(number - this.rows.rows.dropped);
    }

    /* Makes the first line from a time on the current one. */
    toTime(ms) {
        const { rows } = this.rows;
        for (let i = 0; i < rows.length; i++) {
            if (rows.at(i).record.time >= ms) {
                this.list.choose(i);
                return;
            }
        }
    }

    /* The rows, as the list shows them. */
    *[Symbol.iterator]() {
        const { rows } = this.rows;
        for (let i = 0; i < rows.length; i++)
            yield rows.at(i);
    }
}
