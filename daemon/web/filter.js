/* The filter: a form, the daemon's parameters for it, and a link to the same
 * filter. The link contains it after a #, which browsers do not send. */

const ASKED = ['where', 'match', 'format_string', 'source', 'from'];

export class Filter {
    /* changed(): the user has changed the filter. */
    constructor(form, link, changed) {
        this.form = form;
        this.link = link;
        this.opened = ''; /* text of the format string whose picture is open */
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

    get thin() {
        return this.form.elements.thin.value;
    }

    /* True: the filter excludes entries. */
    get chooses() {
        return ASKED.some((name) => name !== 'from' && this.form.elements[name].value);
    }

    /* Parameters for /lines. */
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
