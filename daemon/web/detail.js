/* All members of one record, with the source around its line. */
import { excerptOf } from './excerpt.js';
import { make, many, short, visible } from './text.js';

function row(name, value) {
    return make('tr', {}, make('th', { text: name, scope: 'row' }), make('td', { class: 'code' }, value));
}

function value(any) {
    return visible(typeof any === 'object' ? JSON.stringify(any) : String(any));
}

export class Detail {
    /* only(name, value): the user wants to filter by it. */
    constructor(element, only) {
        this.element = element;
        this.only = only;
    }

    #rows({ record, n, latest }) {
        const { json } = record;
        const rows = [row('message', record.message)];
        if (n > 1)
            rows.push(row('so many', `${many(n, 'line')}; the last: ${latest.message}`));
        if (json.format_string)
            rows.push(row('format string', visible(json.format_string)));
        if (json.args?.length) {
            const exact = json.args.map((word, i) => json.args_exact?.[i] ?? short(word));
            rows.push(row('arguments', visible(exact.join(', '))));
        }
        if (json.findings)
            rows.push(row('findings', visible(json.findings.join(', '))));
        for (const name of ['id', 'sequence', 'time', 'source', 'index', 'offset', 'generation', 'kind']) {
            if (json[name] !== undefined)
                rows.push(row(name, value(json[name])));
        }
        for (const [name, said] of Object.entries(json.origin ?? {}))
            rows.push(row(visible(name), value(said)));
        return rows;
    }

    show(shown) {
        const { json } = shown.record;
        const buttons = [];
        const button = (text, onclick) => buttons.push(make('button', { text, onclick }));
        if (json.source)
            button('Only this source', () => this.only('source', json.source));
        button('Close', () => { this.element.hidden = true; });
        const parts = [make('h2', { text: 'The line' })];
        const source = excerptOf(json);
        if (source)
            parts.push(source);
        parts.push(make('table', {}, make('tbody', {}, ...this.#rows(shown))),
            make('div', { class: 'bar' }, ...buttons));
        this.element.replaceChildren(...parts);
        this.element.hidden = false;
    }
}
