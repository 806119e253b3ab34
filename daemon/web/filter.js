/* What is asked for: the form, the daemon's parameters, and a link that says the
 * same. The link has it behind a #, which no server sees. */

const ASKED = ['where', 'match', 'format_string', 'source', 'from'];

export class Filter {
    /* changed(): somebody has asked for something else. */
    constructor(form, link, changed) {
        this.form = form;
        this.link = link;
        this.opened = ''; /* text of the format string whose picture is seen */
        form.addEventListener('submit', (event) => {
            event.preventDefault();
            this.#write();
            changed();
        });
        form.elements.thin.addEventListener('change', () => this.#write());
        window.addEventListener('hashchange', () => {
            if (this.#hash() === location.hash)
                return;
            this.#read();
            changed();
        });
        this.#read();
    }

    #hash() {
        const said = new URLSearchParams();
        for (const name of [...ASKED, 'thin']) {
            const field = this.form.elements[name];
            const isUsual = field.options ? field.selectedIndex <= 0 : !field.value;
            if (!isUsual)
                said.set(name, field.value);
        }
        if (this.opened)
            said.set('open', this.opened);
        const text = said.toString();
        return text ? '#' + text : '';
    }

    #write() {
        history.replaceState(null, '', location.pathname + this.#hash());
        this.link.href = location.pathname + this.#hash();
    }

    #read() {
        const said = new URLSearchParams(location.hash.slice(1));
        for (const name of [...ASKED, 'thin']) {
            const field = this.form.elements[name];
            field.value = said.get(name) ?? '';
            if (field.options && field.selectedIndex < 0)
                field.selectedIndex = 0;
        }
        this.opened = said.get('open') ?? '';
        this.link.href = location.pathname + this.#hash();
    }

    /* This format string's picture is seen; '': none is. */
    open(text) {
        this.opened = text;
        this.#write();
    }

    /* Asks for entries of one format string, or source, as well. */
    set(name, value) {
        this.form.elements[name].value = value;
        this.form.requestSubmit();
    }

    get thin() {
        return this.form.elements.thin.value;
    }

    /* True: some entries are not wanted. */
    get chooses() {
        return ASKED.some((name) => name !== 'from' && this.form.elements[name].value);
    }

    /* For /lines. */
    query() {
        const query = new URLSearchParams();
        for (const name of ASKED) {
            const { value } = this.form.elements[name];
            if (value)
                query.set(name, value);
        }
        return query;
    }
}
