/* All members of one record, with the source around its line. */
import { comparison } from './clauses.js';
import { excerptOf } from './excerpt.js';
import { choices, make, many, short, visible } from './text.js';

function row(name, value, ...buttons) {
    return make('tr', {}, make('th', { text: name, scope: 'row' }),
        make('td', { class: 'code' }, value), make('td', { class: 'choices' }, ...buttons));
}

function value(any) {
    return visible(typeof any === 'object' ? JSON.stringify(any) : String(any));
}

/* Members that each entry has for itself. */
const OWN = new Set(['sequence', 'time', 'index', 'offset']);

export class Detail {
    /* What the user wants: only(clause) to filter by it; link(record, button) the
     * link to it; copy(text, button) its text; among(record) to see what is around
     * it. closed(): it was closed. */
    constructor(element, { only, link, copy, among, closed }) {
        this.element = element;
        Object.assign(this, { only, link, copy, among, closed });
    }

    /* Buttons that choose lines by a member of the entry or its origin. */
    #choices(name, any) {
        return comparison(name, any, true) === null ? [] :
            choices(`${name} ${any}`, (isEqual) => this.only(comparison(name, any, isEqual)));
    }

    #rows({ record, n, latest }) {
        const { json } = record;
        const rows = [row('message', record.message)];
        if (n > 1)
            rows.push(row('so many', `${many(n, 'line')}; the last: ${latest.message}`));
        const isEntry = json.type === 'entry';
        const filters = (name, any) => (isEntry && !OWN.has(name) ? this.#choices(name, any) : []);
        if (json.format_string)
            rows.push(row('format string', visible(json.format_string),
                ...filters('format_string', json.format_string)));
        if (json.args?.length) {
            const exact = json.args.map((word, i) => json.args_exact?.[i] ?? short(word));
            rows.push(row('arguments', visible(exact.join(', '))));
        }
        if (json.findings)
            rows.push(row('findings', visible(json.findings.join(', '))));
        for (const name of ['id', 'sequence', 'time', 'source', 'index', 'offset', 'generation', 'kind']) {
            if (json[name] !== undefined)
                rows.push(row(name, value(json[name]), ...filters(name, json[name])));
        }
        for (const [name, said] of Object.entries(json.origin ?? {}))
            rows.push(row(visible(name), value(said), ...filters(name, said)));
        return rows;
    }

    show(shown) {
        const { record } = shown;
        const button = (text, act) => {
            const ret = make('button', { text, onclick: () => act(ret) });
            return ret;
        };
        const parts = [make('h2', { text: 'The line' }), make('div', { class: 'bar' },
            button('Copy link', (self) => this.link(record, self)),
            button('Copy text', (self) => this.copy(record.message, self)),
            button('Copy JSON', (self) => this.copy(record.line, self)),
            button('Show in context', () => this.among(record)),
            button('Close', () => this.close()))];
        const source = excerptOf(record.json);
        if (source)
            parts.push(source);
        parts.push(make('table', {}, make('tbody', {}, ...this.#rows(shown))));
        this.element.replaceChildren(...parts);
        this.element.scrollTop = 0;
        this.element.hidden = false;
    }

    close() {
        this.element.hidden = true;
        this.closed();
    }
}
