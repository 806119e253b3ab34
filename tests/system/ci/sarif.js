// SPDX-License-Identifier: MIT
// sarif.js PRINTFDECODE: reports in SARIF are what sarif.schema.json says, and
// each result's rule is among those of its tool.
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const schemaTest = path.join(__dirname, '..', 'schema');
let Ajv;
try {
  Ajv = require(path.join(schemaTest, 'node_modules', 'ajv', 'dist', '2020'));
} catch (e) {
  console.log('skipped: no node_modules; run npm ci in tests/system/schema');
  process.exit(77);
}

const program = path.resolve(process.argv[2]);
const cases = path.join(__dirname, '..', '..', 'cases');
const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const valid = new Ajv({ strict: true }).compile(
  read(path.join(__dirname, 'sarif.schema.json')));

const levels = ['buffer.bin', 'levels.pfdb'];
// [case, status, least number of results, words]
const runs = [
  ['llpc/log_levels', 0, 2, levels],
  ['llpc/log_levels', 4, 3, [...levels, '--fail-on', 'it']],
  ['llpc/log_levels', 3, 0, [...levels, '-m', 'no such text']],
  ['gpuav/capture_av_line', 0, 1, ['--shaders', 'map.json', 'buffer.bin']],
  ['gpuav/capture_av_line', 4, 1,
    ['--shaders', 'map.json', 'buffer.bin', '--fail-on-errors']],
  ['llpc/log_levels', 2, 1, ['buffer.bin']],
];

function fail(what, why) {
  console.log(`${what}: ${JSON.stringify(why).slice(0, 1000)}`);
  process.exit(1);
}

for (const [name, status, least, words] of runs) {
  const what = `${name}: ${words.join(' ')}`;
  const p = spawnSync(program, ['decode', ...words, '-o', 'sarif'],
    { cwd: path.join(cases, name), encoding: 'utf8' });
  if (p.status !== status) fail(what, p);
  const log = JSON.parse(p.stdout);
  if (!valid(log)) fail(what, valid.errors);
  const run = log.runs[0];
  if (run.results.length < least) fail(what, run.results);
  const rules = new Set(run.tool.driver.rules.map((rule) => rule.id));
  const other = run.results.find((result) => !rules.has(result.ruleId));
  if (other) fail(what, other);
}

// It can fail.
for (const spoil of [
  (log) => { log.version = '2.0.0'; },
  (log) => { log.runs[0].results[0].level = 'bad'; },
  (log) => { delete log.runs[0].results[0].message; },
  (log) => { log.runs[0].more = 1; },
]) {
  const p = spawnSync(program, ['decode', ...levels, '-o', 'sarif'],
    { cwd: path.join(cases, 'llpc/log_levels'), encoding: 'utf8' });
  const log = JSON.parse(p.stdout);
  spoil(log);
  if (valid(log)) fail('spoilt', log);
}
