// SPDX-License-Identifier: MIT
// otlp.js PORT: a server of @elastic/mockotlpserver; each log record becomes a
// line of JSON on standard output. It answers before it hands records out, in
// one go: whoever kills it in between takes what was acknowledged with it.
'use strict';
const { MockOtlpServer } = require('@elastic/mockotlpserver');

function show(value) {
    return JSON.stringify(value, (_, v) =>
        typeof v === 'bigint' || (v && v.low !== undefined) ? String(v) : v);
}

const server = new MockOtlpServer({
    services: ['http'],
    logLevel: 'warn',
    httpHostname: '127.0.0.1',
    httpPort: Number(process.argv[2]),
    onLogs: (logs) => {
        for (const { resource, scopeLogs } of logs.resourceLogs) {
            for (const { scope, logRecords } of scopeLogs) {
                for (const record of logRecords) {
                    process.stdout.write(
                        show({ resource, scope, record }) + '\n');
                }
            }
        }
    },
});
process.on('SIGTERM', () => process.exit(0));
server.start().then(() => process.stderr.write('listening\n'));
