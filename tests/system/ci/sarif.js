// SPDX-License-Identifier: MIT
// sarif.js PRINTFDECODE: reports in SARIF are what sarif.schema.json says, each
// result's rule is among those of its tool, and sarif-multitool finds no error
// (npm ci in this folder; for x86-64).
'use strict';
const fs = require('fs');
const os = require('os');
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

// ---- the validator of others ----

const validator = path.join(__dirname, 'node_modules', '@microsoft',
  'sarif-multitool-linux', 'Sarif.Multitool');
const hasValidator = process.arch === 'x64' && fs.existsSync(validator);

// What it says of reports: a list of its errors. It knows the standard's schema.
function errorsOf(logs) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sarif-'));
  const files = logs.map((log, i) => path.join(folder, `${i}.sarif`));
  logs.forEach((log, i) => fs.writeFileSync(files[i], JSON.stringify(log)));
  fs.chmodSync(validator, 0o755); // npm may leave its scripts out
  const p = spawnSync(validator, ['validate', ...files], {
    encoding: 'utf8',
    env: { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1', HOME: folder },
  });
  fs.rmSync(folder, { recursive: true });
  if (p.status !== 0 || !p.stdout.includes(`${logs.length} file`))
    fail('sarif-multitool', p);
  return p.stdout.split('\n').filter((line) => /: error [A-Z]+[0-9]+/.test(line));
}

const logs = [];
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
  logs.push(log);
}
if (hasValidator) {
  const errors = errorsOf(logs);
  if (errors.length) fail('sarif-multitool', errors);
} else {
  console.log('no sarif-multitool: reports were checked by our schema alone');
}

// It can fail.
const spoilt = [];
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
  spoilt.push(log);
}
if (hasValidator) {
  delete spoilt[1]; // a level that it does not know ends its reading, unsaid
  const errors = errorsOf(spoilt.filter((log) => log));
  if (errors.length < 3) fail('spoilt for sarif-multitool', errors);
}
