/* Parses one record of the daemon, a line of JSON, into the texts that the page
 * shows. */
import { oneLine, visible } from './text.js';

/* Members of "origin" that identify the invocation, as far as the format has
 * them. */
const WHO = ['stage', 'workgroup', 'invocation', 'position', 'launch', 'vertex',
    'instance', 'primitive', 'fragment', 'tess_coord', 'wave', 'lane'];

const IS_WHO = new Set(WHO);

/* Most entries have none of them. */
function hasWho(origin) {
    for (const name in origin) {
        if (IS_WHO.has(name))
            return true;
    }
    return false;
}

function whoOf(origin) {
    if (!hasWho(origin))
        return '';
    const words = [];
    for (const name of WHO) {
        const value = origin[name];
        if (value !== undefined)
            words.push(name === 'stage' ? value : `${name} ${value}`);
    }
    return visible(words.join(' '));
}

/* The whole path: the list cuts it at its beginning. */
function whereOf(origin) {
    if (origin.file === undefined && origin.line === undefined)
        return '';
    const file = String(origin.file ?? '');
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

/* Findings that are notes, such as reset: shown, but no problem. */
const NOTES = new Set(['unused_arguments', 'duplicate_key', 'no_table', 'reset', 'late',
    'module_choice', 'other_service']);

function isFinding(json) {
    if (json.type === 'entry')
        return Boolean(json.findings?.some((kind) => !NOTES.has(kind)));
    return json.type !== 'finding' || !NOTES.has(json.kind);
}

const LEVELS = new Map([['error', 'error'], ['warning', 'warning'], ['info', 'info'],
    ['debug', 'debug'], ['trace', 'debug']]);

/* As the daemon's outputs to log services have it. */
function severityOf(json, hasFindings) {
    if (json.type !== 'entry')
        return json.type === 'error' ? 'error' : 'warning';
    const level = json.origin?.level;
    const isError = level === undefined && json.stream === 'stderr';
    const ret = isError ? 'error' : LEVELS.get(level) ?? 'info';
    return hasFindings && ret !== 'error' ? 'warning' : ret;
}

/* Throws if the line is not a record. */
export function readRecord(line) {
    const json = JSON.parse(line);
    const origin = json.origin ?? {};
    const text = TEXTS[json.type];
    const hasFindings = isFinding(json);
    return {
        type: json.type,
        json,
        line,
        sequence: json.sequence ?? json.next_sequence - 1,
        time: Number(json.time_unix_nano?.slice(0, -6) || NaN), /* ms since 1970 */
        severity: severityOf(json, hasFindings),
        host: visible(String(origin.host ?? '')),
        source: visible(json.source ?? ''),
        who: whoOf(origin),
        where: whereOf(origin),
        message: text ? visible(text(json)) : '',
        isFinding: hasFindings,
    };
}
