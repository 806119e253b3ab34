/* The filter: a form, the daemon's parameters for it, and a link to the same
 * filter. The link contains it after a #, which browsers do not send. */

const ASKED = ['where', 'match', 'format_string', 'source', 'host', 'from'];
const NAMES = [...ASKED, 'thin'];

export class Filter {
    #asked = new URLSearchParams(); /* fields of the last query */
    #applied = this.#asked; /* those that the daemon has accepted */

    /* changed(): the user has changed the filter. */
    constructor(form, changed) {
        this.form = form;
        this.changed = changed;
        this.opened = ''; /* text of the format string whose picture is open */
        this.line = null; /* { sequence, time } of the line that the link names */
        form.addEventListener('submit', (event) => {
            event.preventDefault();
            this.line = null;
            changed();
        });
        form.elements.thin.addEventListener('change', () => this.#group());
        window.addEventListener('hashchange', () => {
            if (this.#hash() === location.hash)
                return;
            this.#read();
            changed();
        });
        this.#read();
    }

    #fields() {
        const said = new URLSearchParams();
        for (const name of NAMES) {
            const field = this.form.elements[name];
            const isUsual = field.options ? field.selectedIndex <= 0 : !field.value;
            if (!isUsual)
                said.set(name, field.value);
        }
        return said;
    }

    /* more: parameters that only this link has. */
    #hash(more = {}) {
        const said = new URLSearchParams(this.#applied);
        if (this.opened)
            said.set('open', this.opened);
        for (const [name, value] of Object.entries(more))
            said.set(name, value);
        const text = said.toString();
        return text ? '#' + text : '';
    }

    #write() {
        const more = this.line ? { line: this.line.sequence, at: this.line.time } : {};
        history.replaceState(null, '', location.pathname + this.#hash(more));
    }

    #read() {
        const said = new URLSearchParams(location.hash.slice(1));
        for (const name of NAMES) {
            const field = this.form.elements[name];
            field.value = said.get(name) ?? '';
            if (field.options && field.selectedIndex < 0)
                field.selectedIndex = 0;
        }
        if (said.has('host'))
            document.getElementById('host').hidden = false;
        this.opened = said.get('open') ?? '';
        const sequence = Number(said.get('line'));
        this.line = Number.isSafeInteger(sequence) && sequence > 0 ?
            { sequence, time: said.get('at') ?? '' } : null;
    }

    /* Grouping needs no query: other fields may be half written. */
    #group() {
        const thin = this.#fields().get('thin');
        this.#applied.delete('thin');
        if (thin)
            this.#applied.set('thin', thin);
        this.#write();
    }

    /* The daemon has accepted the last query: the link follows. */
    accept() {
        this.#applied = this.#asked;
        this.#write();
    }

    /* Notes the format string whose picture is open; '': none. */
    open(text) {
        this.opened = text;
        this.#write();
    }

    /* Sets a field of the form and applies the filter. */
    set(name, value) {
        this.form.elements[name].value = value;
        this.form.requestSubmit();
    }

    /* Adds a clause to the condition, and applies the filter. */
    add(clause) {
        const { value } = this.form.elements.where;
        const before = value.includes('||') ? `(${value})` : value;
        this.set('where', before ? `${before} && ${clause}` : clause);
    }

    /* Shows a line among all others: without a filter. */
    among({ sequence, json }) {
        for (const name of NAMES)
            this.form.elements[name].value = '';
        this.form.elements.from.selectedIndex = this.form.elements.thin.selectedIndex = 0;
        this.line = { sequence, time: json.time_unix_nano ?? '' };
        this.changed();
    }

    /* The link to what is seen; to one line of it. */
    link() {
        return location.origin + location.pathname + this.#hash();
    }

    linkTo({ sequence, json }) {
        const more = { line: sequence, at: json.time_unix_nano ?? '' };
        return location.origin + location.pathname + this.#hash(more);
    }

    /* Shows what the daemon says of a mistake beside the field that has it. */
    mark(text) {
        const { where, match, format_string: format } = this.form.elements;
        const wrong = text.startsWith('condition') ? where :
            [match, format].find((field) => field.value && text.includes(`'${field.value.slice(0, 20)}`));
        for (const field of [where, match, format])
            field.toggleAttribute('aria-invalid', false);
        if (text && wrong)
            wrong.setAttribute('aria-invalid', 'true');
    }

    get thin() {
        return this.form.elements.thin.value;
    }

    get match() {
        return this.#applied.get('match') ?? '';
    }

    /* True: the accepted filter excludes entries. */
    get chooses() {
        return ASKED.some((name) => name !== 'from' && this.#applied.get(name));
    }

    /* True: the form, accepted or not, does. */
    get wouldChoose() {
        return ASKED.some((name) => name !== 'from' && this.form.elements[name].value);
    }

    /* Parameters for /lines; "since" are seconds before now. */
    query() {
        const query = new URLSearchParams();
        this.#asked = this.#fields();
        for (const name of ASKED) {
            const { value } = this.form.elements[name];
            if (value)
                query.set(name, value);
        }
        if (/^\d+$/.test(query.get('from'))) {
            query.set('since', query.get('from'));
            query.delete('from');
        }
        return query;
    }
}
