// SPDX-License-Identifier: MIT
// forward.js PORT [SHARED_KEY [USER PASSWORD]]: a FluentServer of @fluent-org/logger;
// each entry becomes a line of JSON on standard output, with the time to the
// nanosecond.
'use strict';
const { FluentServer } = require('@fluent-org/logger');

const [port, sharedKey, user, password] = process.argv.slice(2);
const users = user ? { authorize: true, userDict: { [user]: password } } : {};
const server = new FluentServer({
    listenOptions: { port: Number(port), host: '127.0.0.1' },
    ...(sharedKey ? { security: { serverHostname: 'sink', sharedKey, ...users } } : {}),
});
server.on('entry', (tag, time, record) => {
    const ns = BigInt(time.epoch) * 1000000000n + BigInt(time.nano);
    process.stdout.write(
        JSON.stringify({ tag, time: String(ns), record }) + '\n');
});
// It acknowledges a chunk before it hands the entries out, in one go: whoever
// kills it in between takes what was acknowledged with it.
process.on('SIGTERM', () => process.exit(0));
server.listen().then(() => process.stderr.write('listening\n'));
