/* One record of the daemon, as it stands in a line of JSON: what the page shows
 * of it. */
import { oneLine, visible } from './text.js';

/* Of "origin": who called printf, as far as the format says so. */
const WHO = ['stage', 'workgroup', 'invocation', 'position', 'launch', 'vertex',
    'instance', 'primitive', 'fragment', 'tess_coord', 'wave', 'lane'];

function whoOf(origin) {
    const words = [];
    for (const name of WHO) {
        const value = origin[name];
        if (value !== undefined)
            words.push(name === 'stage' ? value : `${name} ${value}`);
    }
    return visible(words.join(' '));
}

function whereOf(origin) {
    if (origin.file === undefined && origin.line === undefined)
        return '';
    const file = String(origin.file ?? '').replace(/^.*\//, '');
    return visible(origin.line === undefined ? file : `${file}:${origin.line}`);
}

function words(args) {
    return args.map((word) => `0x${Number(word).toString(16)}`).join(' ');
}

function entryText(json) {
    if (json.message !== null)
        return oneLine(json.message);
    return `no format string has the id ${json.id}: ${words(json.args)}`;
}

function gapText(json) {
    const n = json.missed ?? json.lost ?? 0;
    return `gap: ${n} lost: ${json.reason}`;
}

const TEXTS = {
    entry: entryText,
    finding: (json) => `${json.kind}: ${json.text}`,
    gap: gapText,
    error: (json) => `error: ${json.text}`,
};

/* Notes, such as reset, are told of and are nothing to worry about. */
const NOTES = new Set(['unused_arguments', 'duplicate_key', 'no_table', 'reset', 'late',
    'module_choice', 'other_service']);

function isFinding(json) {
    if (json.type === 'entry')
        return Boolean(json.findings?.some((kind) => !NOTES.has(kind)));
    return json.type !== 'finding' || !NOTES.has(json.kind);
}

/* Throws where the line is no record. */
export function readRecord(line) {
    const json = JSON.parse(line);
    const origin = json.origin ?? {};
    const text = TEXTS[json.type];
    return {
        type: json.type,
        json,
        line,
        sequence: json.sequence ?? json.next_sequence - 1,
        source: visible(json.source ?? ''),
        who: whoOf(origin),
        where: whereOf(origin),
        message: text ? visible(text(json)) : '',
        isFinding: isFinding(json),
    };
}
