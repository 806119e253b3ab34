/* How many lines came when: a bar for each span of time, findings in a colour of
 * their own. A bar that is chosen can be gone to, taken alone or left out. */
import { during } from './clauses.js';
import { timeText } from './layout.js';
import { make, many } from './text.js';

const BARS = 120;
const DAY = 86400000;

/* Widths of bars in ms; each is a multiple of the one before. */
const WIDTHS = [100, 500, 1000, 5000, 10000, 30000, 60000, 300000, 600000, 1800000, 3600000,
    6 * 3600000, DAY, 10 * DAY, 100 * DAY, 1000 * DAY];

function widthText(ms) {
    const units = [[DAY, 'd'], [3600000, 'h'], [60000, 'min'], [1000, 's'], [1, 'ms']];
    const [unit, name] = units.find(([size]) => ms >= size);
    return `${ms / unit} ${name}`;
}

/* Counts of lines by their time. */
export class Bins {
    #level = 0; /* of WIDTHS */

    constructor() {
        this.clear();
    }

    clear() {
        this.#level = 0;
        this.all = new Map(); /* number of the span since 1970 -> { n, findings } */
        this.first = Infinity;
        this.last = -Infinity;
    }

    get width() {
        return WIDTHS[this.#level];
    }

    #put(at, n, findings) {
        const bin = this.all.get(at);
        if (bin) {
            bin.n += n;
            bin.findings += findings;
        } else {
            this.all.set(at, { n, findings });
        }
        this.first = Math.min(this.first, at);
        this.last = Math.max(this.last, at);
    }

    /* Wider bars, until there are few enough. */
    #widen() {
        while (this.last - this.first >= BARS && this.#level + 1 < WIDTHS.length) {
            const before = [this.all, this.width];
            this.#level++;
            this.all = new Map();
            [this.first, this.last] = [Infinity, -Infinity];
            for (const [at, { n, findings }] of before[0])
                this.#put(Math.floor((at * before[1]) / this.width), n, findings);
        }
    }

    add({ time, isFinding }) {
        if (!Number.isFinite(time))
            return;
        this.#put(Math.floor(time / this.width), 1, isFinding ? 1 : 0);
        if (this.last - this.first >= BARS)
            this.#widen();
    }

    /* { from, n, findings } of each span from the first to the last. */
    *[Symbol.iterator]() {
        for (let at = this.first; at <= this.last; at++)
            yield { from: at * this.width, n: 0, findings: 0, ...this.all.get(at) };
    }
}

export class Volume {
    #chosen = null; /* a time in the chosen bar, in ms since 1970 */
    #drawn = '';

    /* go(ms), only(clause): what a chosen bar is for. */
    constructor(element, go, only) {
        this.element = element;
        this.go = go;
        this.only = only;
        this.bins = new Bins();
        this.bars = make('div', { class: 'volume_bars', role: 'listbox', tabindex: 0,
            'aria-label': 'Lines over time' });
        this.bars.addEventListener('click', (event) => this.#click(event));
        this.bars.addEventListener('keydown', (event) => this.#key(event));
        this.said = make('span');
        this.about = this.#aboutChosen();
        const findings = make('button', { text: 'Only findings',
            onclick: () => this.only('entry.findings != ""') });
        const key = (name) => make('span', { class: `key ${name}` });
        const caption = make('div', { class: 'bar soft' }, this.said,
            key(''), 'lines', key('found'), 'findings', findings);
        element.append(this.bars, caption, this.about);
    }

    #aboutChosen() {
        const button = (text, onclick) => make('button', { text, onclick });
        const only = (inside) => this.only(during(this.#from, this.#from + this.bins.width, inside));
        this.chosenWords = make('span');
        return make('div', { class: 'bar', hidden: '' }, this.chosenWords,
            button('Go there', () => this.go(this.#from)),
            button('Only this time', () => only(true)),
            button('Not this time', () => only(false)),
            button('Close', () => this.#choose(null)));
    }

    add(record) {
        this.bins.add(record);
    }

    clear() {
        this.bins.clear();
        this.#choose(null);
    }

    draw() {
        const spans = [...this.bins];
        const most = Math.max(1, ...spans.map((span) => span.n));
        const drawn = spans.map(({ n, findings }) => `${n} ${findings}`).join() + this.#chosen;
        if (drawn === this.#drawn)
            return;
        this.#drawn = drawn;
        this.#drawChosen(spans);
        this.element.hidden = !spans.length;
        while (this.bars.children.length > spans.length)
            this.bars.lastChild.remove();
        while (this.bars.children.length < spans.length)
            this.bars.append(make('div', { role: 'option' }, make('span', { class: 'found' }), make('span')));
        spans.forEach((span, i) => this.#drawBar(this.bars.children[i], span, most, i));
        const [first, last] = [spans[0], spans.at(-1)];
        this.said.textContent = spans.length ? `${timeText(first.from)} to ` +
            `${timeText(last.from + this.bins.width)}; a bar is ${widthText(this.bins.width)}, ` +
            `the highest ${many(most, 'line')}` : '';
    }

    #drawBar(bar, span, most, i) {
        const { from, n, findings } = span;
        const isChosen = from === this.#from;
        bar.id = `bar${i}`;
        bar.dataset.from = from;
        bar.setAttribute('aria-selected', String(isChosen));
        bar.setAttribute('aria-label', this.#words(span));
        bar.title = this.#words(span);
        const height = (count) => `${count ? Math.max(4, (100 * count) / most) : 0}%`;
        bar.children[0].style.height = height(findings);
        bar.children[1].style.height = height(n - findings);
        if (isChosen)
            this.bars.setAttribute('aria-activedescendant', bar.id);
    }

    #words({ from, n, findings }) {
        return `${timeText(from)}: ${many(n, 'line')}` +
            (findings ? `, ${many(findings, 'finding')} among them` : '');
    }

    #choose(from) {
        this.#chosen = from;
        this.draw();
    }

    /* Start of the chosen bar. Where bars became wider, it is the one that holds
     * the time that was chosen. */
    get #from() {
        return this.#chosen === null ? null : Math.floor(this.#chosen / this.bins.width) * this.bins.width;
    }

    #drawChosen(spans) {
        const span = spans.find((one) => one.from === this.#from);
        this.about.hidden = !span;
        if (span)
            this.chosenWords.textContent = this.#words(span);
        else
            this.bars.removeAttribute('aria-activedescendant');
    }

    #click(event) {
        const bar = event.target.closest('[role=option]');
        if (bar)
            this.#choose(Number(bar.dataset.from));
    }

    #key(event) {
        const spans = [...this.bins];
        const at = spans.findIndex((one) => one.from === this.#from);
        const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -spans.length, End: spans.length };
        if (!(event.key in steps) || !spans.length)
            return;
        event.preventDefault();
        event.stopPropagation();
        const to = at < 0 ? spans.length - 1 : at + steps[event.key];
        this.#choose(spans[Math.min(Math.max(to, 0), spans.length - 1)].from);
    }
}
