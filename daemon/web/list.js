/* A virtual list: only the visible rows have elements, which are reused. A list
 * that is scrolled to its end stays at its end. */

const ROW = 22; /* pixels, as in page.css */
const MORE = 4; /* rows above and below */
const CELLS = 4;

function makeRow() {
    const row = document.createElement('div');
    row.setAttribute('role', 'row');
    for (let i = 0; i < CELLS; i++) {
        const cell = document.createElement('span');
        cell.setAttribute('role', 'gridcell');
        row.append(cell);
    }
    return row;
}

function set(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}

function tell(row) {
    return row.n > 1 ? `×${row.n}  ${row.record.message}` : row.record.message;
}

export class List {
    #pool = [];
    #asked = false;
    #dropped = 0;

    /* rows: a Ring; chosen(row): the current row has changed. */
    constructor(element, rows, chosen) {
        this.element = element;
        this.lines = element.querySelector('.lines');
        this.rows = rows;
        this.chosen = chosen;
        this.current = -1; /* counted from the first row ever */
        this.stays = true;
        this.lines.id = 'lines';
        element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
        element.addEventListener('keydown', (event) => this.#key(event));
        this.lines.addEventListener('click', (event) => this.#click(event));
        new ResizeObserver(() => this.draw()).observe(element);
    }

    /* Draws once with the next frame, even if called several times. */
    draw() {
        if (this.#asked)
            return;
        this.#asked = true;
        requestAnimationFrame(() => {
            this.#asked = false;
            this.#show();
        });
    }

    clear() {
        this.current = -1;
        this.#dropped = 0;
        this.stays = true;
        this.element.removeAttribute('aria-activedescendant');
    }

    get #room() {
        return this.element.clientHeight - ROW;
    }

    #scrolled() {
        const { scrollTop, scrollHeight, clientHeight } = this.element;
        this.stays = scrollTop + clientHeight >= scrollHeight - ROW;
        this.draw();
    }

    #place() {
        this.lines.style.height = `${this.rows.length * ROW}px`;
        this.element.setAttribute('aria-rowcount', String(this.rows.length + 1));
        const gone = this.rows.dropped - this.#dropped;
        this.#dropped = this.rows.dropped;
        if (this.stays) {
            this.element.scrollTop = this.rows.length * ROW;
        } else if (gone > 0) {
            this.element.scrollTop -= gone * ROW;
        }
    }

    #show() {
        this.#place();
        const top = this.element.scrollTop;
        const first = Math.max(0, Math.floor(top / ROW) - MORE);
        const end = Math.min(this.rows.length, Math.ceil((top + this.#room) / ROW) + MORE);
        while (this.#pool.length < end - first) {
            this.#pool.push(makeRow());
            this.lines.append(this.#pool.at(-1));
        }
        for (let i = 0; i < this.#pool.length; i++)
            this.#fill(this.#pool[i], first + i, first + i < end);
    }

    #fill(element, i, isThere) {
        element.hidden = !isThere;
        if (!isThere)
            return;
        const row = this.rows.at(i);
        const { record } = row;
        const isCurrent = i + this.rows.dropped === this.current;
        const classes = 'row' + (record.isFinding ? ' is-finding' : '') +
            (isCurrent ? ' is-current' : '');
        if (element.className !== classes)
            element.className = classes;
        element.style.top = `${i * ROW}px`;
        element.id = `row${i + this.rows.dropped}`;
        element.setAttribute('aria-rowindex', String(i + 2));
        element.setAttribute('aria-selected', String(isCurrent));
        const cells = element.children;
        set(cells[0], record.source);
        set(cells[1], record.who);
        set(cells[2], record.where);
        set(cells[3], tell(row));
    }

    #click(event) {
        const element = event.target.closest('.row');
        if (element)
            this.choose(Number(element.id.slice(3)) - this.rows.dropped);
    }

    #key(event) {
        const at = this.current - this.rows.dropped;
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };
        if (event.key === 'End') {
            this.toEnd();
        } else if (event.key in steps) {
            this.choose(at < 0 ? this.rows.length - 1 : at + steps[event.key]);
        } else {
            return;
        }
        event.preventDefault();
    }

    /* Makes row i the current row, and scrolls to it. */
    choose(i) {
        if (!this.rows.length)
            return;
        i = Math.min(Math.max(i, 0), this.rows.length - 1);
        this.current = i + this.rows.dropped;
        this.stays = false;
        this.#place();
        const top = i * ROW;
        const { scrollTop } = this.element;
        if (top < scrollTop || top + ROW > scrollTop + this.#room)
            this.element.scrollTop = Math.max(0, top - this.#room / 2);
        this.element.setAttribute('aria-activedescendant', `row${this.current}`);
        this.chosen(this.rows.at(i));
        this.draw();
    }

    toEnd() {
        this.stays = true;
        this.draw();
    }

    /* Goes to the next finding (1) or the previous one (-1). False: there is
     * none. */
    toFinding(step) {
        const at = this.current - this.rows.dropped;
        const from = this.current < 0 || at < 0 ? (step > 0 ? -1 : this.rows.length) : at;
        for (let i = from + step; i >= 0 && i < this.rows.length; i += step) {
            if (this.rows.at(i).record.isFinding) {
                this.choose(i);
                return true;
            }
        }
        return false;
    }
}
