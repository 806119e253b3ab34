/* The page: connects its parts, keys and buttons. */
import { Detail } from './detail.js';
import { FORMS, save } from './export.js';
import { Filter } from './filter.js';
import { Patterns } from './patterns.js';
import { Picture } from './picture.js';
import { readRecord } from './record.js';
import { Sources } from './sources.js';
import { Stream } from './stream.js';
import { Tail } from './tail.js';
import { TopList } from './toplist.js';
import { count, many } from './text.js';
import { Tally } from './tally.js';
import { leftOut, silence } from './words.js';

const RATE = 15000; /* lines a second; more are sampled */
const BACK = 15000; /* lines before now that are requested */
const SECOND_MS = 1000;

const at = (id) => document.getElementById(id);

/* Changes a text only when it differs: screen readers read out each change. */
function say(id, text) {
    const element = at(id);
    if (element.textContent !== text)
        element.textContent = text;
    if (id === 'left_out')
        element.hidden = !text;
}

const detail = new Detail(at('detail'), (name, value) => filter.set(name, value));
const tail = new Tail(at('tail'), (row) => detail.show(row));
const patterns = new Patterns();
const tally = new Tally();
const picture = new Picture(at('picture'), (pattern) => {
    filter.set('format_string', `^${pattern.text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);
}, (text) => filter.open(text));
const top = new TopList(at('patterns'), (pattern) => picture.open(pattern));

function tellCounts() {
    const { waiting, isPaused } = tail;
    const words = [`${many(tail.n, 'line')}, ${many(tail.nFindings, 'finding')}`];
    if (isPaused)
        words.push(`${count(waiting.length + waiting.dropped)} wait`);
    if (isPaused && waiting.dropped)
        words.push(`the first ${count(waiting.dropped)} of them will not be shown`);
    say('counts', words.join('; '));
    say('left_out', leftOut(tally.all()));
}

function takeOne(line) {
    const record = readRecord(line);
    stream.note(record.sequence);
    tally.note(record);
    if (record.type === 'left_out')
        return;
    /* Open it at once: a pattern that is not open keeps few entries. */
    if (record.type === 'entry' && patterns.add(record))
        openWanted();
    tail.push(record);
}

/* Opens the picture that the link names, once its pattern has entries. */
function openWanted() {
    if (picture.pattern || !filter.opened)
        return;
    const pattern = patterns.find(filter.opened);
    if (pattern)
        picture.open(pattern);
}

function take(lines) {
    const before = patterns.count;
    for (const line of lines) {
        if (line)
            takeOne(line);
    }
    tail.draw();
    tellCounts();
    if (before || !patterns.count)
        return;
    top.draw(patterns);
    openWanted();
    tellSilence(sources.state);
}

function heard(state, text) {
    say('refusal', state === 'refused' ? text : '');
    say('status', { open: 'live', closed: text, refused: 'nothing is asked for' }[state]);
    if (state === 'open')
        tally.begin();
}

const stream = new Stream(take, heard);

let turn = 0; /* number of the current query */

/* Starts a query. "All that is there" means as many of the last lines as the
 * page can show. */
async function begin() {
    const mine = ++turn;
    const query = filter.query();
    stream.close();
    tail.clear();
    tail.thin(filter.thin);
    patterns.clear();
    picture.close();
    tally.clear();
    detail.element.hidden = true;
    tellCounts();
    query.set('sample', RATE);
    if (query.get('from') === 'oldest') {
        const state = await sources.fetch();
        if (state && state.next_sequence - state.oldest_sequence > BACK)
            query.set('from', state.next_sequence - BACK);
    }
    if (mine === turn)
        stream.open(query);
}

function tellSilence(state) {
    const words = tail.n > tail.nFindings ? [] : silence(state, tally.all().filtered);
    const text = words.join('\n');
    const element = at('silence');
    if (element.dataset.text === text)
        return;
    element.dataset.text = text;
    element.hidden = !text;
    element.replaceChildren(...words.map((word) => {
        const line = document.createElement('p');
        line.textContent = word;
        return line;
    }));
}

const filter = new Filter(at('filter'), at('link'), begin);
const sources = new Sources(at('sources'), tellSilence);

setInterval(() => {
    patterns.tick();
    if (document.hidden)
        return;
    top.draw(patterns);
    openWanted();
    picture.draw();
}, SECOND_MS);

function pause(isPaused) {
    tail.pause(isPaused);
    at('pause').setAttribute('aria-pressed', String(isPaused));
    say('pause', isPaused ? 'Go on' : 'Pause');
    tellCounts();
}

const KEYS = {
    n: () => tail.list.toFinding(1),
    p: () => tail.list.toFinding(-1),
    ' ': () => pause(!tail.isPaused),
    '/': () => filter.form.elements.where.focus(),
    End: () => tail.list.toEnd(),
};

document.addEventListener('keydown', (event) => {
    const isTyped = event.target.closest('input, select, textarea');
    const isPressed = event.key === ' ' && event.target.closest('button, a, summary');
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || isTyped || isPressed || event.ctrlKey || event.metaKey || event.altKey)
        return;
    event.preventDefault();
    act();
});

at('pause').addEventListener('click', () => pause(!tail.isPaused));
at('next').addEventListener('click', KEYS.n);
at('previous').addEventListener('click', KEYS.p);
at('last').addEventListener('click', KEYS.End);
filter.form.elements.thin.addEventListener('change', () => tail.thin(filter.thin));
for (const form of Object.keys(FORMS))
    document.querySelector(`[data-export=${form}]`).addEventListener('click', () => save(form, tail));

begin();
