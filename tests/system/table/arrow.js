// SPDX-License-Identifier: MIT
// arrow.js FILE...: what Arrow's files hold, by apache-arrow and by polars, as
// a line of JSON for each: names, types, and each value: numbers as the hex of
// their bytes, texts as they are.
'use strict';
const fs = require('fs');
let arrow, polars;
try {
  arrow = require('apache-arrow');
} catch (e) {
  console.log('skipped: no node_modules; run npm ci in tests/system/table');
  process.exit(77);
}
try {
  polars = require('nodejs-polars');
} catch (e) {
  console.error('no nodejs-polars for this machine: apache-arrow alone reads');
}

function hex(array, i) {
  const n = array.BYTES_PER_ELEMENT;
  return Buffer.from(array.buffer, array.byteOffset + i * n, n).toString('hex');
}

function values(vector) {
  const done = [];
  for (const data of vector.data) {
    const part = vector.type.dictionaryVector || arrow.DataType.isDictionary(vector.type)
      || arrow.DataType.isUtf8(vector.type);
    // Two numbers of 32 bits for one of 64, in some types.
    const raw = part ? null : new Uint8Array(
      data.values.buffer, data.values.byteOffset, data.values.byteLength);
    const size = part ? 0 : vector.type.bitWidth / 8 ||
      { 0: 2, 1: 4, 2: 8 }[vector.type.precision] || 8;
    const one = arrow.makeVector(data);
    for (let i = 0; i < data.length; i++) {
      if (!data.getValid(i)) done.push(null);
      else if (part) done.push(one.get(i));
      else done.push(Buffer.from(raw.slice(i * size, (i + 1) * size)).toString('hex'));
    }
  }
  return done;
}

for (const file of process.argv.slice(2)) {
  const bytes = fs.readFileSync(file);
  const table = arrow.tableFromIPC(bytes);
  const said = { names: [], types: [], columns: [],
    metadata: Object.fromEntries(table.schema.metadata) };
  table.schema.fields.forEach((field, i) => {
    said.names.push(field.name);
    said.types.push(String(field.type));
    said.columns.push(values(table.getChildAt(i)));
  });
  if (polars) {
    const frame = file.endsWith('.arrows') ? polars.readIPCStream(bytes)
                                           : polars.readIPC(bytes);
    said.polars = { names: frame.columns, height: frame.height,
      // As numbers: JavaScript's float keeps -0 and which are NaN.
      columns: frame.columns.map((name) => frame.getColumn(name).toArray()
        .map((v) => typeof v === 'bigint' ? String(v)
          : Object.is(v, -0) ? '-0' : typeof v === 'number' ? String(v) : v)) };
  }
  console.log(JSON.stringify(said));
}
