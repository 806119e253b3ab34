/* Source context of a record: its own line, which the record contains, at once,
 * and the lines around it when the daemon has answered. */
import { make, visible } from './text.js';

const FEW = 5; /* lines before and after */
const MANY = 20;

function number(line) {
    return make('th', { class: 'number code', scope: 'row', text: String(line ?? '') });
}

function marked({ line, column, source_line: text }) {
    const at = column > 0 ? Math.min(column - 1, text.length) : 0;
    const mark = make('mark', { text: visible(text.slice(at)) });
    return make('tr', { class: 'is-marked', 'aria-current': 'true' }, number(line),
        make('td', { class: 'code' }, visible(text.slice(0, at)), mark));
}

function neighbour({ line, text, cut }) {
    const seen = visible(text) + (cut ? ' …' : '');
    return make('tr', {}, number(line), make('td', { class: 'code', text: seen }));
}

/* Returns { lines, marked } or { lines: [], reason }; or throws. */
async function ask({ sequence, source }, lines) {
    const query = new URLSearchParams({ sequence, source, lines });
    const answer = await fetch(`/excerpt?${query}`, { cache: 'no-store' });
    if (!answer.ok)
        throw new Error((await answer.text()).trim());
    return answer.json();
}

export class Excerpt {
    /* json: a record whose origin contains a line of the source. */
    constructor(json) {
        const { file, line } = json.origin;
        this.json = json;
        this.rows = make('tbody', {}, marked(json.origin));
        this.more = make('button', { text: 'More of the source', onclick: () => this.#fill(MANY) });
        this.note = make('p', { class: 'soft', role: 'status' });
        this.element = make('div', { class: 'excerpt' },
            make('h3', { class: 'code', text: visible(`${file ?? ''}:${line ?? ''}`) }),
            make('table', {}, this.rows), this.note, this.more);
        this.#fill(FEW);
    }

    async #fill(lines) {
        const { origin } = this.json;
        try {
            const told = await ask(this.json, lines);
            if (told.lines.length) {
                this.rows.replaceChildren(...told.lines.map((one, i) =>
                    (i === told.marked ? marked(origin) : neighbour(one))));
            }
            this.note.textContent = told.reason ?? '';
            if (document.activeElement === this.more)
                this.element.closest('.panel').focus();
            this.more.hidden = lines === MANY || !told.lines.length;
        } catch (error) {
            this.note.textContent = `The lines around it are not shown: ${error.message}`;
        }
    }
}

/* An element with the source; null: the record's origin has no line. */
export function excerptOf(json) {
    const { line, source_line: text } = json.origin ?? {};
    if (line === undefined)
        return null;
    return text === undefined
        ? make('p', { class: 'soft', text: 'No module has the text of this line’s source.' })
        : new Excerpt(json).element;
}
