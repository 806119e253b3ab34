// SPDX-License-Identifier: MIT
// Validates every line of JSON that the golden cases expect.
// usage: validate.js SCHEMA CASES_FOLDER
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

let Ajv;
try {
  Ajv = require('ajv/dist/2020');
} catch (e) {
  console.log('skipped: no node_modules; run npm ci in tests/schema');
  process.exit(77);
}

const schema = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const ajv = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true });
ajv.addSchema(schema);
const row = (name) => ajv.getSchema(schema.$id + '#/$defs/' + name);
const validators = {
  decode: [ajv.getSchema(schema.$id)],
  strings: [row('string'), row('object'), row('finding')],
  inspect: [row('dword'), row('region'), row('finding')],
  stats: [row('string_stats'), row('summary'), row('finding')],
};

function read(file) {
  const bytes = fs.readFileSync(file);
  return file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes;
}

let lines = 0;
let wrong = 0;
function check(file, verb) {
  // fatal: output that is not UTF-8 is wrong whatever it says.
  const text = new TextDecoder('utf-8', { fatal: true }).decode(read(file));
  for (const line of text.split('\n').slice(0, -1)) {
    const value = JSON.parse(line);
    lines++;
    if (validators[verb].some((validate) => validate(value))) continue;
    if (++wrong > 10) continue;
    console.log(`${file}: ${line.slice(0, 300)}`);
    for (const v of validators[verb])
      console.log('  ' + ajv.errorsText(v.errors).slice(0, 400));
  }
}

const root = process.argv[3];
for (const name of fs.readdirSync(root, { recursive: true })) {
  if (!/^expect\.json(\.gz)?$/.test(path.basename(name))) continue;
  const file = path.join(root, name);
  const cmd = fs.readFileSync(path.join(path.dirname(file), 'cmd'), 'utf8');
  const verb = cmd.split(/\s/)[0];
  check(file, verb in validators ? verb : 'decode');
}
console.log(`${lines} lines, ${wrong} wrong`);
process.exit(wrong || lines < 1000 ? 1 : 0);
