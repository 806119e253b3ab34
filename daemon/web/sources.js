/* A table of sources with the daemon's counters, polled every second. */
import { loss, nameOf, troubles } from './words.js';
import { bytes, count, make, visible } from './text.js';

const AGAIN_MS = 1000;
const TITLES = ['Source', 'Host', 'Messages', 'A second', 'Buffers', 'Holes', 'Lost', 'Findings', 'Gaps'];
const WORDS = new Set(['Source', 'Host']);

function makeRow(source, rate, hasHosts) {
    const { entries, buffers, with_holes: holes, lost_bytes: lost, findings, gaps } = source;
    const texts = [count(entries), count(rate), count(buffers), count(holes),
        lost ? bytes(lost) : '0', count(findings), count(gaps)];
    const host = hasHosts ? [make('td', { text: visible(source.host ?? '') })] : [];
    return make('tr', {}, make('th', { scope: 'row', text: visible(source.name) }), ...host,
        ...texts.map((text) => make('td', { class: 'number', text })));
}

function offer(id, all) {
    const list = document.getElementById(id);
    const names = [...new Set(all)];
    if (names.join('\n') !== [...list.children].map((option) => option.value).join('\n'))
        list.replaceChildren(...names.map((value) => make('option', { value })));
}

export class Sources {
    #before = null;

    /* changed(state): a poll has ended; null: the daemon does not answer. */
    constructor(element, changed) {
        this.element = element;
        this.changed = changed;
        this.state = null;
        this.#ask();
    }

    async fetch() {
        try {
            const answer = await fetch('/state', { cache: 'no-store' });
            this.state = answer.ok ? await answer.json() : null;
        } catch {
            this.state = null;
        }
        return this.state;
    }

    async #ask() {
        for (;;) {
            await this.fetch();
            if (!document.hidden)
                this.#draw();
            this.changed(this.state);
            await new Promise((done) => setTimeout(done, AGAIN_MS));
        }
    }

    #rates(state) {
        const before = this.#before ?? state;
        const seconds = Number(BigInt(state.time_unix_nano) - BigInt(before.time_unix_nano)) / 1e9;
        const old = new Map(before.sources.map((source) => [nameOf(source), source.entries]));
        this.#before = state;
        return state.sources.map((source) => {
            const more = source.entries - (old.get(nameOf(source)) ?? source.entries);
            return seconds > 0 && more > 0 ? Math.round(more / seconds) : 0;
        });
    }

    #draw() {
        const { state } = this;
        if (!state)
            return;
        const rates = this.#rates(state);
        const hasHosts = state.sources.some((source) => source.host);
        const head = make('tr', {}, ...TITLES.filter((text) => hasHosts || text !== 'Host').map((text) =>
            make('th', { text, scope: 'col', class: WORDS.has(text) ? '' : 'number' })));
        const rows = state.sources.map((source, i) => makeRow(source, rates[i], hasHosts));
        const words = state.sources.flatMap((source) => [loss(source), ...troubles(source)].filter(Boolean));
        const more = state.n_sources - state.sources.length;
        const parts = rows.length ? [make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows))] :
            [make('p', { class: 'soft', text: 'None has come yet.' })];
        if (more > 0)
            parts.push(make('p', { class: 'soft', text: `and ${count(more)} more` }));
        parts.push(...words.map((text) => make('p', { class: 'loss', text })));
        this.element.replaceChildren(...parts);
        this.#names(state);
    }

    /* Names to choose from in the filter. */
    #names({ sources }) {
        const hosts = sources.map((source) => source.host).filter(Boolean);
        offer('names', sources.map((source) => source.name));
        offer('hosts', hosts);
        if (hosts.length)
            document.getElementById('host').hidden = false;
    }
}
