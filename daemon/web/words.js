/* Explains the daemon's state in sentences. */
import { bytes, count, many, visible } from './text.js';

const NAMED = 4; /* sources in a sentence of their own */

/* "gpu0", "gpu0 on node1": machines may have sources of one name. */
export function nameOf({ name, host }) {
    return visible(host ? `${name} on ${host}` : name);
}

/* "b lost about 1,204 messages: ...". The number is estimated from the number
 * of messages that the buffer held. */
export function loss(source) {
    const name = nameOf(source);
    const { overflow, lost_bytes: lost } = source;
    if (!lost)
        return '';
    if (!overflow)
        return `${name} lost ${bytes(lost)}: a buffer was too small.`;
    const n = Math.round((overflow.lost_bytes * overflow.entries) / overflow.size);
    const what = n > 0 ? `about ${many(n, 'message')}` : bytes(overflow.lost_bytes);
    const all = lost > overflow.lost_bytes ? ` With what other buffers lost: ${bytes(lost)}.` : '';
    return `${name} lost ${what}: the buffer of ${bytes(overflow.size)} is too small, ` +
        `${bytes(overflow.size + overflow.lost_bytes)} would have held everything.${all}`;
}

/* Other problems of a source. */
export function troubles(source) {
    const name = nameOf(source);
    const words = [];
    if (source.unknown) {
        const ids = source.unknown_ids.join(', ');
        words.push(`${name}: there was no code object for ` +
            `${source.unknown_ids.length > 1 ? 'the ids' : 'the id'} ${ids}: ` +
            `${many(source.unknown, 'message')} could not be printed when they came.`);
    }
    if (source.skipped_bytes)
        words.push(`${name}: ${bytes(source.skipped_bytes)} made no sense, and no message was made of them.`);
    if (source.with_holes)
        words.push(`${name}: messages are begun, and not written yet.`);
    if (source.unread)
        words.push(`${name} cannot be read; the daemon's log says why.`);
    return words;
}

function silentSource(source) {
    const name = nameOf(source);
    if (source.waiting)
        return `${name} waits for code objects that are on their way.`;
    if (source.unwritten) {
        const size = source.size ? ` of ${bytes(source.size)}` : '';
        return `${name}: its buffer${size} is there and has not been written yet.`;
    }
    return '';
}

function noProducer(state) {
    if (state.sources.some((source) => source.buffers))
        return [];
    const ways = state.inputs.map((input) => visible(input.text)).join('; ');
    const why = state.n_sources ? 'No producer is there any more' : 'No producer has come yet';
    return [`${why}: ${ways || 'there is no input'}.`];
}

/* Sentences that explain why no message is shown. left: counts of hidden
 * records. */
export function silence(state, left) {
    if (!state)
        return ['The daemon does not answer.'];
    const words = [];
    if (left.entries) {
        words.push(`The filter hides ${left.entries === 1 ? 'the only message' :
            `all ${count(left.entries)} messages`} that came since you look` +
            `${left.findings ? `, with ${many(left.findings, 'finding')}` : ''}.`);
    } else if (state.entries) {
        words.push(`Nothing was printed since you look; before that, ${many(state.entries, 'message')}.`);
    }
    words.push(...noProducer(state));
    words.push(...state.sources.map(silentSource).filter(Boolean).slice(0, NAMED));
    if (!state.strings)
        words.push('No format string is known: no code object has come.');
    for (const source of state.sources.filter((s) => s.unknown).slice(0, NAMED))
        words.push(troubles(source)[0]);
    return words;
}

/* Sentences on omitted records, or ''. earlier: lines of the ring that were not
 * asked for. */
export function leftOut({ filtered, sampled, missed, condition }, earlier) {
    const words = condition ? [`Where: ${visible(condition)}.`] : [];
    const one = (what, { entries, findings }) => {
        if (entries || findings)
            words.push(`${what} ${many(entries, 'message')} and ${many(findings, 'finding')}.`);
    };
    one('The filter hides', filtered);
    one('This is a sample: left out for being too many a second are', sampled);
    if (earlier)
        words.push(`Before these ${earlier === 1 ? 'is 1 line' : `are ${count(earlier)} lines`} ` +
            'that are not shown; a filter looks through all.');
    if (missed)
        words.push(`This page was too slow for ${many(missed, 'record')}.`);
    return words.join(' ');
}

/* Why the line that a link names is not shown; record: one that came instead. */
export function lineIsGone({ sequence }, record) {
    const name = `Line ${count(sequence)}`;
    if (!record)
        return `${name} is not here: the daemon does not keep it any more.`;
    return record.sequence === sequence ?
        `${name} is another one than the link meant: the daemon has begun to count anew.` :
        `${name} is not here: the filter hides it.`;
}
