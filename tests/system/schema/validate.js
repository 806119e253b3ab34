// SPDX-License-Identifier: MIT
// Validates every line of JSON in folders as the golden cases are: cmd begins
// with the verb, expect.json is what it wrote.
// usage: validate.js SCHEMA FOLDER [RECORD...]
// RECORD: a definition of the schema that at least one line has to be.
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

let Ajv;
try {
  Ajv = require('ajv/dist/2020');
} catch (e) {
  console.log('skipped: no node_modules; run npm ci in tests/system/schema');
  process.exit(77);
}

const [schemaFile, root, ...wanted] = process.argv.slice(2);
const schema = JSON.parse(fs.readFileSync(schemaFile, 'utf8'));
const ajv = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true });
ajv.addSchema(schema);
const any = ajv.getSchema(schema.$id);
const of = (name) => ajv.getSchema(schema.$id + '#/$defs/' + name);

const decoded = ['entry', 'finding', 'summary'];
const records = {
  strings: ['string', 'call', 'object', 'finding'],
  inspect: ['dword', 'region', 'finding'],
  stats: ['string_stats', 'summary', 'finding'],
  diff: ['diff_string', 'diff_finding', 'diff_summary'],
  info: ['info'],
  doctor: ['facts', 'fault'],
  state: ['state'],
  excerpt: ['excerpt'],
  follow: [...decoded, 'gap', 'error', 'left_out'],
};

function read(file) {
  const bytes = fs.readFileSync(file);
  return file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes;
}

const met = new Set();
let lines = 0;
let wrong = 0;

// The schema's oneOf has to have it, as a record that this verb writes.
function checkLine(line, verb, where) {
  const value = JSON.parse(line);
  const names = records[verb] || decoded;
  const name = names.find((n) => of(n)(value));
  lines++;
  if (name) met.add(name);
  if (name && any(value)) return;
  if (++wrong > 10) return;
  console.log(`${where}: ${line.slice(0, 300)}`);
  for (const n of name ? [] : names)
    console.log(`  ${n}: ` + ajv.errorsText(of(n).errors).slice(0, 400));
  if (name) console.log('  as a line: ' + ajv.errorsText(any.errors).slice(0, 400));
}

function check(file) {
  const cmd = fs.readFileSync(path.join(path.dirname(file), 'cmd'), 'utf8').trim();
  // fatal: output that is not UTF-8 is wrong whatever it says.
  const text = new TextDecoder('utf-8', { fatal: true }).decode(read(file));
  for (const line of text.split('\n').slice(0, -1))
    checkLine(line, cmd.split(/\s/)[0], `${file}: ${cmd}`);
}

for (const name of fs.readdirSync(root, { recursive: true })) {
  if (/^expect\.json(\.gz)?$/.test(path.basename(name)))
    check(path.join(root, name));
}
const unmet = wanted.filter((name) => !met.has(name));
if (unmet.length) console.log('no line is of ' + unmet.join(', '));
console.log(`${lines} lines, ${wrong} wrong`);
process.exit(wrong || unmet.length || !lines ? 1 : 0);
