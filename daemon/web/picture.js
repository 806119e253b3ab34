/* One format string: its arguments as a table, a histogram or a heat picture,
 * updated live. */
import { REDUCERS, describeGrid, reduce, shade } from './heat.js';
import { bins, drawBars } from './histogram.js';
import { count, make, many, short, visible } from './text.js';

const HISTORY = 65536; /* entries of the open format string */
const SIZE = 448; /* pixels of a heat picture's longer side */

const SCALE_WORDS = { linear: 'by value', log: 'by logarithm', equal: 'as many of each' };

function choice(label, names, chosen, changed) {
    const options = names.map(([value, text]) => make('option', { value, text }));
    const select = make('select', { onchange: changed }, ...options);
    select.value = chosen;
    return [make('label', { class: 'soft', text: label + ' ' }, select), select];
}

function special({ nan, more, less }) {
    const words = [[nan, 'NaN (magenta)'], [more, '+inf (red)'], [less, '-inf (violet)']];
    return words.filter(([n]) => n).map(([n, word]) => `, ${word}: ${count(n)}`).join('');
}

export class Picture {
    /* wanted(pattern, isWanted): the user wants only its entries, or none of
     * them; opened(text): it was opened; '': it was closed. */
    constructor(element, wanted, opened) {
        this.element = element;
        this.wanted = wanted;
        this.opened = opened;
        this.pattern = null;
    }

    open(pattern) {
        this.pattern = pattern;
        this.opened(pattern.text);
        pattern.columns?.grow(HISTORY);
        const close = make('button', { text: 'Close', onclick: () => {
            this.close();
            this.opened('');
        } });
        const button = (text, isWanted) =>
            make('button', { text, onclick: () => this.wanted(pattern, isWanted) });
        const choices = pattern.key ?
            [button('Only these lines', true), button('Not these lines', false)] : [];
        this.says = make('p', { class: 'soft' });
        this.place = make('div');
        this.controls = make('div', { class: 'bar' });
        this.element.replaceChildren(
            make('h2', { class: 'code', text: visible(pattern.text) }),
            this.controls, this.place, this.says, make('div', { class: 'bar' }, ...choices, close));
        this.#choices();
        this.element.hidden = false;
        this.draw();
        this.element.scrollIntoView({ block: 'nearest' });
        this.view.focus();
    }

    close() {
        this.pattern = null;
        this.element.hidden = true;
    }

    #choices() {
        const about = this.pattern.columns?.about ?? [];
        const numbers = about.filter((column) => !column.isText);
        const names = numbers.map(({ name, word }) => [name.slice(1), word ? `${name} ${word}` : name]);
        const changed = () => this.#changed();
        const views = [['table', 'table']];
        if (numbers.length)
            views.push(['histogram', 'histogram']);
        if (numbers.length > 1)
            views.push(['heat', 'heat picture']);
        const of = (i) => names[Math.min(i, names.length - 1)]?.[0];
        const made = [choice('As', views, numbers.length > 2 ? 'heat' : 'table', changed),
            choice('x', names, of(0), changed), choice('y', names, of(1), changed),
            choice('value', names, of(2), changed),
            choice('of several, the', Object.keys(REDUCERS).map((name) => [name, name]), 'last', changed),
            choice('colours', Object.entries(SCALE_WORDS), 'linear', changed)];
        [this.view, this.x, this.y, this.value, this.reducer, this.scale] = made.map(([, select]) => select);
        this.controls.replaceChildren(...made.map(([label]) => label));
        this.#changed();
    }

    #changed() {
        const view = this.view.value;
        for (const select of [this.x, this.y, this.reducer, this.scale])
            select.parentElement.hidden = view !== 'heat';
        this.value.parentElement.hidden = view === 'table';
        this.place.replaceChildren();
        this.draw();
    }

    /* Draws it again with the latest entries. */
    draw() {
        const columns = this.pattern?.columns;
        if (!this.pattern || this.element.hidden)
            return;
        if (!columns?.length) {
            this.says.textContent = 'It has no arguments.';
            return;
        }
        ({ table: () => this.#table(columns), histogram: () => this.#histogram(columns),
            heat: () => this.#heat(columns) })[this.view.value]();
    }

    #canvas(className, label) {
        const canvas = this.place.querySelector('canvas') ??
            make('canvas', { class: className, role: 'img' });
        canvas.setAttribute('aria-label', label);
        if (!canvas.parentElement)
            this.place.replaceChildren(canvas);
        this.says.textContent = label;
        return canvas;
    }

    /* A remark, if only the latest entries are stored. */
    #kept({ length }) {
        const { count: n } = this.pattern;
        return n > length ? `; of the last ${count(length)} entries of ${count(n)}` : '';
    }

    #histogram(columns) {
        const all = bins(columns, Number(this.value.value));
        const about = columns.summary(Number(this.value.value));
        const range = all.n ? `from ${short(all.min)} to ${short(all.max)}, in ${all.counts.length} bars, ` +
            `of which the highest has ${count(Math.max(...all.counts))}` : 'none is a number';
        const label = `${many(columns.length, 'value')} ${range}${special(about)}`;
        drawBars(this.#canvas('bars', label + this.#kept(columns)), all);
    }

    #heat(columns) {
        const [x, y, value] = [this.x, this.y, this.value].map((select) => Number(select.value));
        const grid = reduce(columns, x, y, value, this.reducer.value);
        if (!grid) {
            this.says.textContent = 'No entry has a place.';
            return;
        }
        const about = describeGrid(grid);
        const { across, down } = grid;
        const label = `x from ${short(across.min)} to ${short(across.max)}, ` +
            `y from ${short(down.min)} to ${short(down.max)}, ` +
            `values from ${short(about.min)} (dark) to ${short(about.max)} (light); ` +
            `${many(about.n, 'cell')} with a value, ${count(about.several)} of them with several` +
            special(about) + (this.scale.value === 'log' && about.notAbove0 ?
            `, not above 0 (as the least): ${count(about.notAbove0)}` : '') + this.#kept(columns);
        const canvas = this.#canvas('grid', label);
        shade(canvas, grid, about, this.scale.value);
        const scale = SIZE / Math.max(across.cells, down.cells);
        canvas.style.width = `${Math.max(1, across.cells * scale)}px`;
    }

    #table(columns) {
        const names = ['Argument', 'Numbers', 'Least', 'Largest', 'Mean', 'NaN', 'Infinite', 'The last ones'];
        const head = make('tr', {}, ...names.map((text) => make('th', { text, scope: 'col' })));
        const rows = columns.about.map((column, i) => {
            const { n, min, max, sum, nan, more, less } = columns.summary(i);
            const numbers = column.isText ? ['', '', '', '', '', ''] :
                [count(n), n ? short(min) : '', n ? short(max) : '', n ? short(sum / n) : '',
                    count(nan), count(more + less)];
            const latest = columns.latest.map((args) => short(args[i])).join('  ');
            const name = make('th', { text: `${column.name} ${visible(column.word)}`, scope: 'row' });
            return make('tr', {}, name,
                ...numbers.map((text) => make('td', { class: 'number', text })),
                make('td', { class: 'code', text: visible(latest) }));
        });
        this.place.replaceChildren(make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)));
        this.says.textContent = `Of the last ${many(columns.length, 'entry', 'entries')} that came here.`;
    }
}
