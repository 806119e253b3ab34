// SPDX-License-Identifier: MIT
// lint.js FILE...: the modules of the live page: each can be read, imports what
// there is and uses it, makes no markup of text, and begins with what it is.
// Runs with node --experimental-vm-modules.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const LONG = 400; // lines
const FORBIDDEN = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|createContextualFragment|srcdoc|localStorage|\bvar\b|[^=!]==[^=]|https?:(?!\/\/www\.w3\.org\/2000\/svg)/;

const files = process.argv.slice(2);
const texts = new Map(files.map((file) => [path.basename(file), fs.readFileSync(file, 'utf8')]));
const complaints = [];

function exportsOf(text) {
    return new Set([...text.matchAll(/^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm)].map((m) => m[1]));
}

function checkImports(name, text) {
    for (const [whole, names, from] of text.matchAll(/^import \{([^}]*)\} from '\.\/([\w.]+)';$/gm)) {
        const rest = text.replace(whole, '');
        const there = exportsOf(texts.get(from) ?? '');
        for (const word of names.split(',').map((n) => n.trim()).filter(Boolean)) {
            if (!there.has(word))
                complaints.push(`${name}: ${from} has no ${word}`);
            if (!new RegExp(`\\b${word}\\b`).test(rest))
                complaints.push(`${name}: ${word} is imported for nothing`);
        }
    }
}

for (const [name, text] of texts) {
    try {
        new vm.SourceTextModule(text, { identifier: name });
    } catch (error) {
        complaints.push(`${name}: ${error.stack.split('\n').slice(0, 4).join('\n')}`);
    }
    const lines = text.split('\n');
    if (!text.startsWith('/* '))
        complaints.push(`${name}: what is it?`);
    if (lines.length > LONG)
        complaints.push(`${name}: ${lines.length} lines`);
    lines.forEach((line, i) => {
        if (FORBIDDEN.test(line) || line.length > 110 || /\s$|\t/.test(line))
            complaints.push(`${name}:${i + 1}: ${line.trim()}`);
    });
    checkImports(name, text);
}
const used = [...texts.values()].join('\n');
for (const [name, text] of texts) {
    for (const word of exportsOf(text)) {
        if (used.split(new RegExp(`\\b${word}\\b`)).length < 3)
            complaints.push(`${name}: nobody uses ${word}`);
    }
}
complaints.forEach((line) => console.log(line));
process.exit(complaints.length ? 1 : 0);
