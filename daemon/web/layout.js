/* The columns of the lines: which ones are shown, and how wide. One that no
 * line fills takes no place. */

const TIME = 12; /* characters of a time of today */
const DATED = 18;

/* The columns before the message, with the most characters of each. */
const MOST = { severity: 8, host: 16, source: 16, who: 24, where: 26 };
const TITLES = { time: 'Time', severity: 'Severity', host: 'Host', source: 'Source',
    who: 'Invocation', where: 'Line of source', message: 'Message' };
export const COLUMNS = Object.keys(TITLES);

const today = { from: 0, to: 0 }; /* ms; days may have 23 hours */

function isToday(ms) {
    const now = Date.now();
    if (now < today.from || now >= today.to) {
        today.from = new Date(now).setHours(0, 0, 0, 0);
        today.to = new Date(now).setHours(24, 0, 0, 0);
    }
    return ms >= today.from && ms < today.to;
}

const latest = { ms: NaN, text: '' }; /* lines that came together have one time */

/* "14:03:59.120", of another day "11-25 14:03:59.120", in the browser's zone. */
export function timeText(ms) {
    if (ms !== latest.ms)
        Object.assign(latest, { ms, text: Number.isFinite(ms) ? makeTime(ms) : '' });
    return latest.text;
}

function makeTime(ms) {
    const at = new Date(ms);
    const two = (n) => String(n).padStart(2, '0');
    const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.` +
        String(at.getMilliseconds()).padStart(3, '0');
    return isToday(ms) ? time :
        `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

export class Layout {
    #widths = {};
    #isNew = true;
    #host; /* of the first line */
    #hasHosts = false;
    #time = NaN; /* of the last record: those that came together have one */

    /* element: the grid, whose row of titles is empty. */
    constructor(element) {
        this.element = element;
        this.titles = COLUMNS.map((name) => {
            const title = document.createElement('span');
            title.setAttribute('role', 'columnheader');
            title.className = `of-${name}`;
            title.textContent = TITLES[name];
            return title;
        });
        element.querySelector('.titles .row').append(...this.titles);
    }

    #widen(name, n) {
        if (n > (this.#widths[name] ?? 0)) {
            this.#widths[name] = n;
            this.#isNew = true;
        }
    }

    #noteText(name, { length: n }) {
        if (n > (this.#widths[name] ?? 0))
            this.#widen(name, Math.min(Math.max(n, TITLES[name].length), MOST[name]));
    }

    note(record) {
        const { severity, host, source, who, where, time } = record;
        this.#host ??= host;
        if (host !== this.#host)
            this.showHosts();
        this.#noteText('severity', severity);
        this.#noteText('host', host);
        this.#noteText('source', source);
        this.#noteText('who', who);
        this.#noteText('where', where);
        if (time !== this.#time && Number.isFinite(time))
            this.#widen('time', isToday(time) ? TIME : DATED);
        this.#time = time;
    }

    clear() {
        this.#widths = {};
        this.#time = NaN;
        this.#host = undefined;
        this.#isNew = true;
    }

    /* Hosts have a column once there are several: all lines of one machine would
     * say the same. */
    showHosts() {
        this.#isNew ||= !this.#hasHosts;
        this.#hasHosts = true;
    }

    #isShown(name) {
        return this.#widths[name] && (name !== 'host' || this.#hasHosts);
    }

    /* True: the columns have changed. */
    apply() {
        if (!this.#isNew)
            return false;
        this.#isNew = false;
        const shown = COLUMNS.filter((name) => this.#isShown(name));
        for (const name of Object.keys(TITLES))
            this.element.classList.toggle(`no-${name}`, name !== 'message' && !this.#isShown(name));
        const tracks = shown.map((name) => `${this.#widths[name]}ch`);
        this.element.style.setProperty('--columns', [...tracks, 'minmax(12rem, 1fr)'].join(' '));
        const narrow = shown.map((name) => (name === 'time' ? 'max-content' : 'minmax(0, max-content)'));
        this.element.style.setProperty('--narrow', [...narrow, 'minmax(0, 1fr)'].join(' '));
        return true;
    }
}
