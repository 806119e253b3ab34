/* A table of the most frequent format strings, each with a graph of its
 * rate. */
import { choices, count, make, visible } from './text.js';

const SHOWN = 30;
const WIDTH = 120;
const HEIGHT = 22;
const SVG = 'http://www.w3.org/2000/svg';

function spark() {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('width', WIDTH);
    svg.setAttribute('height', HEIGHT);
    svg.setAttribute('role', 'img');
    const line = document.createElementNS(SVG, 'polyline');
    svg.append(line);
    return svg;
}

function drawSpark(svg, rates) {
    const most = Math.max(1, ...rates);
    const step = WIDTH / (rates.length - 1);
    const points = rates.map((rate, i) =>
        `${(i * step).toFixed(1)},${(HEIGHT - 1 - (rate / most) * (HEIGHT - 2)).toFixed(1)}`);
    svg.firstChild.setAttribute('points', points.join(' '));
    svg.setAttribute('aria-label', `the last minute: ${count(most)} a second at most`);
}

export class TopList {
    #rows = new Map();

    /* opened(pattern): the user wants to see its arguments; chosen(pattern,
     * isWanted): only its lines, or none of them. */
    constructor(element, opened, chosen) {
        this.opened = opened;
        this.chosen = chosen;
        this.body = make('tbody');
        const titles = ['Count', 'Share', 'A second', 'The last minute', 'Filter', 'Format string'];
        const head = make('tr', {}, ...titles.map((text, i) =>
            make('th', { text, scope: 'col', class: i < 3 ? 'number' : '' })));
        element.append(make('table', {}, make('thead', {}, head), this.body));
    }

    #make(pattern) {
        const number = () => make('td', { class: 'number' });
        const name = make('button', {
            class: 'code',
            text: visible(pattern.text),
            onclick: () => this.opened(pattern),
        });
        const buttons = pattern.key ?
            choices(pattern.text, (isWanted) => this.chosen(pattern, isWanted)) : [];
        const cells = [number(), number(), number(), make('td', {}, spark()),
            make('td', { class: 'choices' }, ...buttons), make('td', {}, name)];
        return make('tr', {}, ...cells);
    }

    draw(patterns) {
        const top = patterns.top(SHOWN);
        const rows = top.map((pattern) => {
            let row = this.#rows.get(pattern);
            if (!row) {
                row = this.#make(pattern);
                this.#rows.set(pattern, row);
            }
            const [n, share, rate, line] = row.children;
            n.textContent = count(pattern.count);
            share.textContent = `${((100 * pattern.count) / patterns.count).toFixed(1)} %`;
            rate.textContent = count(pattern.rates.at(-1));
            drawSpark(line.firstChild, pattern.rates);
            return row;
        });
        /* Move only rows that are out of place: moving a row loses its
         * focus. */
        rows.forEach((row, i) => {
            if (this.body.children[i] !== row)
                this.body.insertBefore(row, this.body.children[i] ?? null);
        });
        while (this.body.children.length > rows.length)
            this.body.lastChild.remove();
        for (const pattern of [...this.#rows.keys()]) {
            if (!top.includes(pattern))
                this.#rows.delete(pattern);
        }
    }
}
