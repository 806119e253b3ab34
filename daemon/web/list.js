/* A virtual list: only the visible rows have elements, which are reused. A list
 * that is scrolled to its end stays at its end. The share of the list that is
 * scrolled past decides which row lies at the same share of the view, so rows
 * may be of any height: wrapped ones are as high as their text. */
import { COLUMNS, timeText } from './layout.js';
import { marked } from './marks.js';
import { many } from './text.js';

const MORE = 4; /* rows above and below, for scrolling */
const LONGEST = 5000; /* characters of a row */
const CURRENT = 'current_row';
const NO_MARKS = [];

/* A line may have a megabyte, which its record shows whole. */
function tell({ record: { message }, n }) {
    const more = message.length - LONGEST;
    const text = more > 0 ? `${message.slice(0, LONGEST)} … and ${many(more, 'character')}` : message;
    return n > 1 ? `×${n}  ${text}` : text;
}

/* One row of elements. While lines come, all of a screen change with each frame:
 * what is shown is remembered here, and only what differs is written. */
class Line {
    #shown = { id: '', marks: NO_MARKS }; /* texts of columns, attributes */
    #texts = {}; /* text nodes of columns */

    constructor() {
        this.element = document.createElement('div');
        this.element.setAttribute('role', 'row');
        this.number = -1;
        for (const name of COLUMNS) {
            const cell = document.createElement('span');
            cell.setAttribute('role', 'gridcell');
            cell.className = `of-${name}`;
            this.element.append(cell);
            this.#texts[name] = document.createTextNode('');
            this.#shown[name] = '';
            if (name !== 'where')
                cell.append(this.#texts[name]);
            if (name === 'message')
                this.message = cell;
        }
        /* A path is cut at its beginning: its cell runs from right to left, the
         * text in it does not. */
        const path = document.createElement('bdi');
        path.dir = 'ltr';
        path.append(this.#texts.where);
        this.element.querySelector('.of-where').append(path);
    }

    #set(name, text) {
        if (this.#shown[name] === text)
            return;
        this.#shown[name] = text;
        this.#texts[name].data = text;
    }

    #attribute(name, value) {
        if (this.#shown[name] === value)
            return;
        this.#shown[name] = value;
        if (value === '') {
            this.element.removeAttribute(name);
        } else {
            this.element.setAttribute(name, value);
        }
    }

    #setMessage(text, marks) {
        if (!marks.length && !this.#shown.marks.length) {
            this.#set('message', text);
        } else if (text !== this.#shown.message || marks !== this.#shown.marks) {
            this.#shown.message = this.#texts.message.data = text;
            this.message.replaceChildren(...(marks.length ? marked(text, marks) : [this.#texts.message]));
        }
        this.#shown.marks = marks;
    }

    /* number: counted from the first row ever. */
    fill(row, number, i, isCurrent, marks) {
        const { record } = row;
        this.number = number;
        this.#attribute('class', `row is-${record.severity}` +
            (record.isFinding ? ' is-finding' : '') + (isCurrent ? ' is-current' : ''));
        this.#attribute('id', isCurrent ? CURRENT : '');
        this.#attribute('aria-rowindex', i + 2);
        this.#attribute('aria-selected', isCurrent);
        this.#set('time', timeText(record.time));
        this.#set('severity', record.severity);
        this.#set('host', record.host);
        this.#set('source', record.source);
        this.#set('who', record.who);
        this.#set('where', record.where);
        this.#setMessage(tell(row), marks);
    }
}

export class List {
    #pool = [];
    #asked = false;
    #dropped = 0;
    #unit = 22; /* pixels of a row of one line */
    #mean = 22; /* of a row */
    #measured = 0; /* rows there were when #mean was measured */
    #held = null; /* { number, y } of a wrapped row that stays where it is */
    #scrolledTo = 0;
    #isMoved = true; /* it was scrolled by others since */
    #room = 0; /* pixels of the view below the titles */
    #told = { n: -1, height: -1 }; /* rows and pixels that the document has */

    /* rows: a Ring; layout: its columns; chosen(row): the current row has
     * changed. */
    constructor(element, rows, layout, chosen) {
        this.element = element;
        this.titles = element.querySelector('.titles');
        this.lines = element.querySelector('.lines');
        this.block = element.querySelector('.block');
        this.rows = rows;
        this.layout = layout;
        this.chosen = chosen;
        this.current = -1; /* counted from the first row ever */
        this.stays = true;
        this.wraps = false;
        this.marks = NO_MARKS; /* of marks.js */
        element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
        element.addEventListener('keydown', (event) => this.#key(event));
        this.lines.addEventListener('click', (event) => this.#click(event));
        const sizes = new ResizeObserver(() => this.#resized());
        sizes.observe(element);
        sizes.observe(this.titles);
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
        this.#measured = 0;
        this.#held = null;
        this.stays = true;
        this.#isMoved = true;
        this.element.removeAttribute('aria-activedescendant');
    }

    wrap(wraps) {
        const place = this.#share(this.element.scrollTop) * this.rows.length;
        this.wraps = wraps;
        this.element.classList.toggle('is-wrapped', wraps);
        this.#measure(this.#unit);
        if (!this.stays)
            this.#scrollTo(place);
        this.draw();
    }

    #resized() {
        this.#room = this.element.clientHeight - this.titles.offsetHeight;
        this.#isMoved = true;
        this.#unit = parseFloat(getComputedStyle(this.element).getPropertyValue('--row'));
        this.#measure(this.#unit);
        this.draw();
    }

    #measure(mean) {
        this.#mean = mean;
        this.#measured = 0;
        this.#held = null;
    }

    /* Pixels that can be scrolled. */
    get #most() {
        return Math.max(0, this.rows.length * this.#mean - this.#room);
    }

    /* The share of the list that is scrolled past. */
    #share(scrollTop) {
        return this.#most > 0 ? Math.min(scrollTop / this.#most, 1) : 0;
    }

    /* place: rows and parts of one before the place that is to be seen. */
    #scrollTo(place) {
        this.element.scrollTop = (place / this.rows.length) * this.#most;
        this.#held = null;
        this.#isMoved = true;
    }

    #scrolled() {
        const { scrollTop, scrollHeight, clientHeight } = this.element;
        if (scrollTop !== this.#scrolledTo) {
            this.#held = null;
            this.#isMoved = true;
        }
        this.stays = scrollTop + clientHeight >= scrollHeight - this.#unit;
        this.draw();
    }

    /* Asking the document where it stands makes it lay itself out: that is left
     * out where nothing has moved, as at the end of a full list. */
    #place() {
        const n = this.rows.length;
        const height = n * this.#mean;
        const isSame = n === this.#told.n && height === this.#told.height;
        const gone = this.rows.dropped - this.#dropped;
        this.#dropped = this.rows.dropped;
        if (isSame && !this.#isMoved && (this.stays || !gone))
            return;
        if (!isSame) {
            this.lines.style.height = `${height}px`;
            this.element.setAttribute('aria-rowcount', String(n + 1));
        }
        this.#told = { n, height };
        this.#isMoved = false;
        if (this.stays) {
            this.element.scrollTop = height;
        } else if (gone > 0) {
            this.element.scrollTop -= gone * this.#mean;
        }
        this.#scrolledTo = this.element.scrollTop;
    }

    #show() {
        if (this.layout.apply() && this.wraps)
            this.#held = null;
        this.#place();
        const n = this.rows.length;
        const share = this.#share(this.#scrolledTo);
        const place = share * n;
        const above = share * this.#room;
        const more = this.stays ? 0 : MORE;
        const first = Math.max(0, Math.floor(place - above / this.#unit) - more);
        const end = Math.min(n, Math.ceil(place + (this.#room - above) / this.#unit) + more);
        while (this.#pool.length < end - first) {
            this.#pool.push(new Line());
            this.block.append(this.#pool.at(-1).element);
        }
        while (this.#pool.length > end - first)
            this.#pool.pop().element.remove();
        this.#pool.forEach((line, i) => this.#fill(line, first + i));
        if (this.wraps) {
            this.#putWrapped(place, above, first, end);
        } else {
            this.block.style.top = `${first * this.#unit}px`;
        }
    }

    #fill(line, i) {
        const number = i + this.rows.dropped;
        line.fill(this.rows.at(i), number, i, number === this.current, this.marks);
    }

    /* Puts wrapped rows [first, end) so that `place` is `above` pixels below the
     * view's upper edge, or the row that is held where it was. */
    #putWrapped(place, above, first, end) {
        const { scrollTop } = this.element;
        const heldAt = this.#held ? this.#held.number - this.rows.dropped : -1;
        if (heldAt >= first && heldAt < end && !this.stays) {
            const { offsetTop } = this.#pool[heldAt - first].element;
            this.block.style.top = `${scrollTop + this.#held.y - offsetTop}px`;
        } else if (end > first) {
            const i = Math.min(Math.floor(place), end - 1);
            const { offsetTop, offsetHeight } = this.#pool[i - first].element;
            this.block.style.top = `${scrollTop + above - offsetTop - (place - i) * offsetHeight}px`;
        }
        this.#hold(first, end);
        if (this.rows.length > 2 * this.#measured || (!first && end === this.rows.length))
            this.#learn(place, end - first);
    }

    #hold(first, end) {
        const top = this.block.offsetTop - this.element.scrollTop;
        this.#held = null;
        for (let i = first; i < end && !this.#held; i++) {
            const { offsetTop, offsetHeight } = this.#pool[i - first].element;
            if (top + offsetTop + offsetHeight > 0)
                this.#held = { number: i + this.rows.dropped, y: top + offsetTop };
        }
    }

    /* How high a row is, by those that are there: from then on the list is as
     * long as all of them would be. */
    #learn(place, n) {
        const mean = n ? this.block.offsetHeight / n : this.#unit;
        this.#measured = this.rows.length;
        if (Math.abs(mean - this.#mean) < 0.01 * mean)
            return;
        this.#mean = mean;
        if (!this.stays)
            this.#scrollTo(place);
        this.draw();
    }

    #click(event) {
        const element = event.target.closest('.row');
        const line = this.#pool.find((one) => one.element === element);
        if (line && getSelection().isCollapsed)
            this.choose(line.number - this.rows.dropped);
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

    /* True: row i is in the view as a whole. */
    #isSeen(i) {
        if (!this.wraps) {
            const top = i * this.#unit - this.element.scrollTop;
            return top >= 0 && top + this.#unit <= this.#room;
        }
        const number = i + this.rows.dropped;
        const element = this.#pool.find((line) => line.number === number)?.element;
        const top = element ? this.block.offsetTop + element.offsetTop - this.element.scrollTop : -1;
        return element && top >= 0 && top + element.offsetHeight <= this.#room;
    }

    /* Makes row i the current row, and scrolls to it. */
    choose(i) {
        if (!this.rows.length)
            return;
        i = Math.min(Math.max(i, 0), this.rows.length - 1);
        this.current = i + this.rows.dropped;
        this.stays = false;
        this.#place();
        if (!this.#isSeen(i))
            this.#scrollTo(i + 0.5);
        this.element.setAttribute('aria-activedescendant', CURRENT);
        this.chosen(this.rows.at(i));
        this.draw();
    }

    toEnd() {
        this.stays = true;
        this.#isMoved = true;
        this.#held = null;
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
