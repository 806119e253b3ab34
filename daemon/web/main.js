/* The page: connects its parts, keys and buttons. */
import { ofPattern } from './clauses.js';
import { Detail } from './detail.js';
import { FORMS, save } from './export.js';
import { Filter } from './filter.js';
import { literal, quickPattern } from './marks.js';
import { Patterns } from './patterns.js';
import { Picture } from './picture.js';
import { readRecord } from './record.js';
import { Sources } from './sources.js';
import { Stream } from './stream.js';
import { Tail } from './tail.js';
import { TopList } from './toplist.js';
import { copySelected, count, many } from './text.js';
import { Tally } from './tally.js';
import { Volume } from './volume.js';
import { leftOut, lineIsGone, silence } from './words.js';

const RATE = 15000; /* lines a second; more are sampled */
const BACK = 15000; /* lines before now that are requested */
const SECOND_MS = 1000;
const TYPED_MS = 150; /* without a key, until the page searches */

const at = (id) => document.getElementById(id);

/* Changes a text only when it differs: screen readers read out each change. */
function say(id, text) {
    const element = at(id);
    if (element.textContent !== text)
        element.textContent = text;
    if (id === 'left_out')
        element.hidden = !text;
}

/* Copies a text; a button says so. otherwise(): what is done, and said, without
 * the clipboard, which a page by plain HTTP of another machine has not. */
async function copy(text, button, otherwise) {
    const { textContent: name } = button;
    try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
    } catch {
        button.textContent = otherwise(text);
    }
    setTimeout(() => { button.textContent = name; }, 2 * SECOND_MS);
}

function toAddressBar(link) {
    history.replaceState(null, '', link);
    return 'It is in the address bar';
}

const copyLink = (link, button) => copy(link, button, toAddressBar);
const copyText = (text, button) => copy(text, button, () => (copySelected(text) ? 'Copied' :
    'The browser does not allow it'));

const only = (clause) => filter.add(clause);
const detail = new Detail(at('detail'), {
    only,
    link: (record, button) => copyLink(filter.linkTo(record), button),
    copy: copyText,
    among: (record) => filter.among(record),
    closed: () => at('tail').focus(),
});
const tail = new Tail(at('tail'), (row) => {
    detail.show(row);
    tellFound();
});
const patterns = new Patterns();
const tally = new Tally();
const volume = new Volume(at('volume'), (ms) => tail.toTime(ms), only);

const choosePattern = (pattern, isWanted) => only(ofPattern(pattern, isWanted));
const picture = new Picture(at('picture'), choosePattern, (text) => filter.open(text));
const top = new TopList(at('patterns'), (pattern) => picture.open(pattern), choosePattern);

function tellCounts() {
    const { waiting, isPaused, n } = tail;
    const { filtered, sampled } = tally.all();
    const all = n + filtered.entries + sampled.entries;
    const words = [`${filter.chooses ? `${count(n)} of ` : ''}${many(filter.chooses ? all : n, 'line')}, ` +
        many(tail.nFindings, 'finding')];
    if (isPaused)
        words.push(`${count(waiting.length + waiting.dropped)} wait`);
    if (isPaused && waiting.dropped)
        words.push(`the first ${count(waiting.dropped)} of them will not be shown`);
    say('counts', words.join('; '));
    say('left_out', leftOut(tally.all(), earlier.shown));
    tellFound();
}

let isTold = true;

/* Tells them with the next frame, even if called several times. */
function tellCountsSoon() {
    if (!isTold)
        return;
    isTold = false;
    requestAnimationFrame(() => {
        isTold = true;
        tellCounts();
    });
}

function tellFound() {
    const isSearched = at('find').value !== '';
    const { at: place, n } = tail.find.count(tail.list.current);
    say('found', !isSearched ? '' : n ? `${count(place)} of ${count(n)}` : 'none');
}

/* Marks what is searched, and what the pattern of the filter matches. */
function mark() {
    tail.list.marks = [literal(at('find').value), quickPattern(filter.match)].filter(Boolean);
    tail.list.draw();
}

let isKept = true; /* the daemon has the line that the link names */
let sought = null; /* the line that the link names: { sequence, time, number } */
const earlier = { asked: 0, shown: 0 }; /* lines of the ring before those that were asked for */

/* A line has come; is it the one that the link names? */
function seek(record) {
    if (record.sequence < sought.sequence)
        return;
    const isIt = record.sequence === sought.sequence &&
        (!sought.time || record.json.time_unix_nano === sought.time);
    if (isIt) {
        const { dropped, length } = tail.rows.rows;
        sought.number = dropped + length - 1;
    } else {
        say('notice', lineIsGone(sought, record));
        sought = null;
    }
}

/* Goes to the line that the link names, and stays there. */
function showSought() {
    const { number } = sought;
    sought = null;
    pause(true);
    tail.list.choose(number - tail.rows.rows.dropped);
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
    volume.add(record);
    tail.push(record);
    if (sought && sought.number === undefined)
        seek(record);
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
    if (sought?.number !== undefined)
        showSought();
    tail.draw();
    tellCountsSoon();
    if (before || !patterns.count)
        return;
    top.draw(patterns);
    volume.draw();
    openWanted();
    tellSilence(sources.state);
}

/* The daemon has accepted the query: its lines replace those of the one before. */
function accepted() {
    filter.accept();
    sought = isKept && filter.line && { ...filter.line };
    earlier.shown = earlier.asked;
    tail.clear();
    tail.thin(filter.thin);
    patterns.clear();
    picture.close();
    tally.clear();
    volume.clear();
    detail.element.hidden = true;
    say('notice', isKept ? '' : lineIsGone(filter.line));
    mark();
    tellCounts();
    volume.draw();
}

function heard(state, text) {
    const isRefused = state === 'refused';
    say('refusal', isRefused ? text : '');
    filter.mark(isRefused ? text : '');
    say('status', { open: 'live', closed: text,
        refused: stream.isOpen ? 'live, with the filter before' : 'nothing is asked for' }[state]);
    if (state === 'open')
        tally.begin();
}

const stream = new Stream(take, accepted, heard);

let turn = 0; /* number of the current query */

/* The time so many seconds ago, by the daemon's clock. */
function before(state, seconds) {
    const now = state ? Number(state.time_unix_nano.slice(0, -6)) : Date.now();
    return new Date(now - seconds * SECOND_MS).toISOString();
}

/* Starts a query. Of "all that is there" a filter looks through the whole ring;
 * without one the page takes as many of the last lines as it can show. */
async function begin() {
    const mine = ++turn;
    const query = filter.query();
    const { line } = filter;
    query.set('sample', RATE);
    const state = await sources.fetch();
    if (mine !== turn)
        return;
    const { oldest_sequence: oldest, next_sequence: next } = state ?? {};
    const seconds = Number(query.get('since'));
    query.delete('since');
    if (seconds)
        query.set('from', before(state, seconds));
    /* Without a filter an hour may have any number of lines: of these a sample. */
    if (!seconds || filter.wouldChoose)
        query.set('sample_history', 'false');
    isKept = !line || !(line.sequence < oldest || line.sequence >= next);
    if (line && isKept && !filter.wouldChoose)
        query.set('from', Math.max(oldest ?? 0, line.sequence - BACK / 2));
    if (query.get('from') === 'oldest' && !filter.wouldChoose && next - oldest > BACK)
        query.set('from', next - BACK);
    earlier.asked = Math.max(0, Number(query.get('from')) - oldest) || 0;
    stream.open(query);
}

function tellSilence(state) {
    const isAsked = stream.isOpen || !state;
    const words = tail.n > tail.nFindings || !isAsked || at('refusal').textContent ? [] :
        silence(state, tally.all().filtered);
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

const filter = new Filter(at('filter'), begin);
const sources = new Sources(at('sources'), (state) => {
    if (state?.sources.some((source) => source.host))
        tail.layout.showHosts();
    tellSilence(state);
});

setInterval(() => {
    patterns.tick();
    if (document.hidden)
        return;
    top.draw(patterns);
    volume.draw();
    openWanted();
    picture.draw();
}, SECOND_MS);

function pause(isPaused) {
    tail.pause(isPaused);
    at('pause').setAttribute('aria-pressed', String(isPaused));
    say('pause', isPaused ? 'Go on' : 'Pause');
    tellCounts();
}

function wrap() {
    tail.list.wrap(!tail.list.wraps);
    at('wrap').setAttribute('aria-pressed', String(tail.list.wraps));
}

function toFilter() {
    at('asked').open = true;
    filter.form.elements.where.focus();
}

const KEYS = {
    n: () => tail.list.toFinding(1),
    p: () => tail.list.toFinding(-1),
    ' ': () => pause(!tail.isPaused),
    '/': toFilter,
    f: () => at('find').focus(),
    w: wrap,
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

let typed = 0; /* timer */

function search() {
    clearTimeout(typed);
    tail.find.start(at('find').value);
    mark();
    tellFound();
}

at('find').addEventListener('input', () => {
    clearTimeout(typed);
    typed = setTimeout(search, TYPED_MS);
});
at('find').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter')
        return;
    search();
    tail.toFound(event.shiftKey ? -1 : 1);
});

at('find_next').addEventListener('click', () => tail.toFound(1));
at('find_previous').addEventListener('click', () => tail.toFound(-1));
at('pause').addEventListener('click', () => pause(!tail.isPaused));
at('next').addEventListener('click', KEYS.n);
at('previous').addEventListener('click', KEYS.p);
at('last').addEventListener('click', KEYS.End);
at('wrap').addEventListener('click', wrap);
at('link').addEventListener('click', () => copyLink(filter.link(), at('link')));
filter.form.elements.thin.addEventListener('change', () => tail.thin(filter.thin));
for (const form of Object.keys(FORMS))
    document.querySelector(`[data-export=${form}]`).addEventListener('click', () => save(form, tail));

/* Where there is little room the lines come first. */
const narrow = matchMedia('(max-width: 40rem)');
at('asked').open = filter.wouldChoose || !narrow.matches;
narrow.addEventListener('change', () => { at('asked').open = true; });
begin();
