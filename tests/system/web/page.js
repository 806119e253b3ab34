// SPDX-License-Identifier: MIT
// page.js PORT SHOTS: the live page of a daemon on this machine, in Chromium.
// Asks who has started it, page.py, for what is to be printed.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const SKIP = 77;
const PATIENCE = 30000;
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function skip(why) {
    console.log(`skipped: ${why}`);
    process.exit(SKIP);
}

function load(name) {
    try {
        return require(name);
    } catch {
        return skip(`no ${name}: 'npm ci' in tests/system/web fetches it`);
    }
}

const puppeteer = load('puppeteer-core');
const axe = load('axe-core');
const [port, shots] = process.argv.slice(2);
const program = process.env.CHROMIUM ?? BROWSERS.find((file) => fs.existsSync(file));
const home = `http://127.0.0.1:${port}/`;

// ---- what is to be printed ----

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function feed(what, more = {}) {
    console.log(JSON.stringify({ do: what, ...more }));
    const { value } = await answers.next();
    return JSON.parse(value).answer;
}

// ---- the browser ----

let browser;
const complaints = [];

async function open(hash = '', options = {}) {
    const page = await browser.newPage();
    page.on('console', (message) => {
        if (['error', 'warn'].includes(message.type()))
            complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    // A page that is left cancels its requests.
    page.on('requestfailed', (request) => {
        if (!request.url().includes('/lines?') && request.failure().errorText !== 'net::ERR_ABORTED')
            complaints.push(`${request.url()}: ${request.failure().errorText}`);
    });
    page.on('request', (request) => {
        if (!request.url().startsWith(home) && !request.url().startsWith('blob:'))
            complaints.push(`it asks for ${request.url()}`);
    });
    page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
    page.setDefaultTimeout(PATIENCE);
    await page.setViewport(options.viewport ?? { width: 1200, height: 900 });
    if (options.dark)
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.goto(home + hash);
    await see(page, '#status', /^live/);
    return page;
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

// Waits until an element's text is so.
async function see(page, selector, pattern) {
    const end = Date.now() + PATIENCE;
    for (;;) {
        const element = await page.$(selector);
        const said = element ? await element.evaluate((e) => e.textContent) : '(nothing)';
        if (pattern.test(said))
            return said;
        if (Date.now() > end)
            throw new Error(`${selector} says '${said.slice(0, 2000)}', not ${pattern}`);
        await new Promise((done) => setTimeout(done, 50));
    }
}

// Opens the first line whose text fits, once it is there.
async function openLine(page, pattern) {
    await see(page, '#tail .lines', pattern);
    await page.evaluate((words) => [...document.querySelectorAll('#tail .lines .row')]
        .find((row) => new RegExp(words).test(row.textContent)).click(), pattern.source);
}

// The rows that are there, and their cells by column.
const rows = (page) => page.$$eval('#tail .lines .row:not([hidden])', (found) =>
    found.map((row) => Object.fromEntries([...row.children].map((cell) =>
        [cell.className.slice(3), cell.textContent]))));

// The titles of the columns that take a place.
const titles = (page) => page.$$eval('#tail [role=columnheader]', (all) =>
    all.filter((title) => title.offsetWidth).map((title) => title.textContent));

async function ask(page, fields) {
    await page.evaluate((said) => {
        const form = document.getElementById('filter');
        for (const name of ['where', 'match', 'format_string', 'source'])
            form.elements[name].value = said[name] ?? '';
        form.requestSubmit();
    }, fields);
}

async function accessible(page, what) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document, {
        resultTypes: ['violations'],
    }));
    const said = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html}\n${v.nodes[0].failureSummary}`);
    assert.deepEqual(said, [], what);
}

const shoot = (page, name) => page.screenshot({ path: path.join(shots, `${name}.png`) });

// ---- what is to be so ----

const downloads = fs.mkdtempSync(path.join(shots, 'files-'));
const RUN_SECONDS = Number(process.env.PAGE_SECONDS ?? 6);

async function saved(page, form, name) {
    const session = await page.createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
    await page.click(`[data-export=${form}]`);
    const file = path.join(downloads, name);
    const end = Date.now() + PATIENCE;
    while (!fs.existsSync(file)) {
        assert.ok(Date.now() < end, `${name} does not come`);
        await new Promise((done) => setTimeout(done, 50));
    }
    return fs.readFileSync(file, 'utf8');
}

// The current line: the one of the next frame but one.
const current = (page) => page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const row = document.querySelector('#tail .is-current');
        done(row ? [row.className, row.textContent] : ['', '']);
    }));
}));

async function choose(page, label, value) {
    await page.evaluate((wanted, to) => {
        const select = [...document.querySelectorAll('#picture label')]
            .find((l) => l.firstChild.textContent.trim() === wanted).querySelector('select');
        select.value = to;
        select.dispatchEvent(new Event('change'));
    }, label, value);
}

const pixels = (page) => page.$eval('#picture canvas', (canvas) => {
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    return { width, height, data: [...data] };
});

async function openPattern(page, words) {
    await see(page, '#patterns', new RegExp(words));
    await page.evaluate((wanted) => {
        [...document.querySelectorAll('#patterns button')]
            .find((button) => button.textContent.startsWith(wanted)).click();
    }, words);
}

const count = (n) => n.toLocaleString('en');

// Of the shader's lines, pixels that it says nothing of: x is y + 9.
const missing = (height) => Math.min(height, 64 - 9);

async function heap(page) {
    const session = await page.createCDPSession();
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize;
}

// Frames that are drawn, and the longest pause between two, until stopped.
const watchFrames = (page) => page.evaluate(() => {
    const seen = { n: 0, longest: 0, last: performance.now() };
    window.framesSeen = seen;
    const frame = (now) => {
        seen.n++;
        seen.longest = Math.max(seen.longest, now - seen.last);
        seen.last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
});

const tests = {
    async silenceHasReasons() {
        const page = await open();
        await see(page, '#silence', /No producer has come yet: .*producers connect to unix:/);
        await see(page, '#silence', /steady/);
        await see(page, '#silence', /No format string is known/);
        await shoot(page, 'silence');
        await feed('strings');
        await feed('empty', { name: 'idle' });
        await see(page, '#silence', /idle: its buffer of 4 KiB is there and has not been written yet/);
        await feed('unknown');
        await see(page, '#sources', /unknown: there was no code object for the id 0x1000000000a5: 3 messages/);
        await page.close();
    },

    async linesCome() {
        await feed('lanes', { name: 'gpu0', n: 40 });
        const page = await open('#source=gpu0');
        await see(page, '#counts', /^40 of \d+ lines, 0 findings/);
        await see(page, '#tail .lines', /lane 39 says/);
        const seen = await rows(page);
        const { time, ...last } = seen.at(-1);
        assert.deepEqual(last, { severity: 'info', host: '', source: 'gpu0', who: '', where: '',
            message: 'lane 39 says hello' });
        assert.match(time, /^\d\d:\d\d:\d\d\.\d{3}$/);
        // A column that no line fills takes no place.
        assert.deepEqual(await titles(page), ['Time', 'Severity', 'Source', 'Message']);
        // The words of log viewers.
        for (const word of ['Where', 'Group similar', 'Copy link', 'Download'])
            assert.ok((await text(page, 'main')).includes(word), word);
        await feed('lanes', { name: 'gpu0', n: 5, first: 100 });
        await see(page, '#counts', /^45 of \d+ lines/);
        await see(page, '#tail .lines', /lane 104 says hello/);
        assert.equal((await rows(page)).at(-1).message, 'lane 104 says hello');
        await page.close();
    },

    async pauseCounts() {
        const page = await open('#from=now');
        await page.keyboard.press('Space');
        await feed('lanes', { name: 'gpu1', n: 7 });
        await see(page, '#counts', /7 wait/);
        assert.equal((await rows(page)).length, 0);
        await page.click('#pause');
        await see(page, '#tail .lines', /lane 6 says/);
        assert.equal((await rows(page)).length, 7);
        await page.close();
    },

    async filtersRunInTheDaemon() {
        const page = await open('#where=a0%20%3E%3D%20102&source=gpu0');
        await see(page, '#counts', /^3 of \d+ lines/);
        assert.equal(await page.$eval('#filter [name=where]', (e) => e.value), 'a0 >= 102');
        await ask(page, { match: 'lane 3\\d says' });
        await see(page, '#counts', /^10 of \d+ lines/);
        const link = page.url();
        // A mistake keeps the lines, and says what it is where it is.
        await ask(page, { where: 'a0 >' });
        await see(page, '#refusal', /^condition 'a0 >'/);
        await see(page, '#status', /^live, with the filter before$/);
        assert.match(await text(page, '#counts'), /^10 of \d+ lines/);
        await current(page);
        assert.equal((await rows(page)).filter((row) => /lane 3\d says/.test(row.message)).length, 10);
        assert.equal(await page.$eval('#filter [aria-invalid=true]', (e) => e.name), 'where');
        assert.equal(page.url(), link);
        await accessible(page, 'a mistake');
        await feed('lanes', { name: 'gpu0', n: 1, first: 31 });
        await see(page, '#counts', /^11 of \d+ lines/);
        assert.match(complaints.splice(0).join(), /^[^,]* 400 \(Bad Request\)$/);
        await page.goto('about:blank');
        await page.goto(link);
        await see(page, '#counts', /^11 of \d+ lines/);
        // All are hidden, and whatever is amiss among them is counted.
        await ask(page, { where: 'a0 > 1000000' });
        await see(page, '#silence', /The filter hides all \d+ messages that came since you look, with 3 findings/);
        await see(page, '#left_out', /The filter hides \d+ messages and 3 findings/);
        // A name that no entry has is no mistake of grammar, and told as soon as one has come.
        await ask(page, { where: 'hots == "node1"' });
        await see(page, '#left_out', /^Where: no format string has an argument 'hots', and no entry has it; near to it: host; there is pixel\.x/);
        await page.close();
    },

    async lossesAreSaid() {
        await feed('small');
        const page = await open();
        await see(page, '#sources', /small lost about 41 messages: the buffer of 496 bytes is too small, 1,008 bytes would have held everything/);
        await page.close();
    },

    async keysFindFindings() {
        const page = await open();
        await see(page, '#counts', /[1-9] finding/);
        await page.keyboard.press('n');
        const [classes, first] = await current(page);
        assert.match(classes, /is-finding/);
        await page.keyboard.press('n');
        const [, second] = await current(page);
        assert.notEqual(second, first);
        await page.keyboard.press('p');
        assert.equal((await current(page))[1], first);
        await see(page, '#detail', /unknown_id/);
        await page.keyboard.press('/');
        await page.keyboard.type('np ');
        assert.equal(await page.$eval('#filter [name=where]', (e) => e.value), 'np ');
        await page.close();
    },

    async linesAreThinned() {
        const page = await open('#source=gpu0&thin=signature&entries');
        await see(page, '#tail .lines', /×46/);
        assert.equal((await rows(page)).filter((row) => row.source === 'gpu0').length, 1);
        await page.select('#filter [name=thin]', 'numbers');
        await see(page, '#tail .lines', /×46/);
        // What is not applied yet does not get into the link.
        await page.$eval('#filter [name=where]', (field) => { field.value = 'a0 >'; });
        await page.select('#filter [name=thin]', 'exact');
        assert.match(page.url(), /#source=gpu0&thin=exact$/);
        await see(page, '#tail .lines', /lane 104/);
        assert.doesNotMatch(await text(page, '#tail .lines'), /×/);
        await page.close();
    },

    async theSourceIsShown() {
        await feed('shader');
        const page = await open('#source=shader');
        await see(page, '#tail .lines', /shaders\/reduce\.comp:7.*sum 42/);
        await page.click('#tail .lines .row');
        await see(page, '#detail mark', /^debugPrintfEXT\("sum %u", sum\);$/);
        // Five lines before it and five behind, and on demand all of them.
        await see(page, '#detail .excerpt', /line 12/);
        const source = () => page.$$eval('#detail .excerpt tr', (all) => all.map((row) => row.textContent));
        const lines = Array.from({ length: 30 }, (_, i) => `${i + 1}// line ${i + 1}`);
        lines[6] = '7    debugPrintfEXT("sum %u", sum);';
        assert.deepEqual(await source(), lines.slice(1, 12));
        assert.equal(await page.$eval('#detail [aria-current]', (row) => row.rowIndex), 5);
        await shoot(page, 'source');
        await accessible(page, 'a line');
        await page.focus('#detail .excerpt button');
        await page.keyboard.press('Enter');
        await see(page, '#detail .excerpt', /line 27/);
        assert.deepEqual(await source(), lines.slice(0, 27));
        assert.equal(await page.evaluate(() => document.activeElement.id), 'detail');
        // Of the other file there is no text.
        await openLine(page, /bare 43/);
        await see(page, '#detail', /No module has the text/);
        assert.equal(await page.$('#detail .excerpt'), null);
        await page.close();
        const phone = await open('#source=shader', { dark: true, viewport: { width: 390, height: 800, isMobile: true } });
        await see(phone, '#tail .lines', /sum 42/);
        await phone.click('#tail .lines .row');
        await see(phone, '#detail .excerpt', /line 12/);
        assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth) <= 390);
        await accessible(phone, 'a line on a phone');
        await shoot(phone, 'source_phone');
        await phone.close();
    },

    async longLinesWrap() {
        await feed('long', { n: 300 });
        const page = await open('#source=long');
        await see(page, '#tail .lines', /long 299 /);
        // Where rows that can be seen are, in pixels below the view's upper edge.
        const seen = () => page.evaluate(() => new Promise((done) => {
            requestAnimationFrame(() => requestAnimationFrame(() => {
                const view = document.getElementById('tail').getBoundingClientRect();
                const top = document.querySelector('#tail .titles').getBoundingClientRect().bottom;
                const found = [...document.querySelectorAll('#tail .lines .row:not([hidden])')].map((row) => {
                    const { top: y, height } = row.getBoundingClientRect();
                    const message = row.querySelector('.of-message');
                    return { n: Number(/\d+/.exec(message.textContent)), y: y - top, height,
                        isCut: message.scrollWidth > message.clientWidth };
                });
                done({ room: view.bottom - 1 - top, found: found.filter(({ y, height }) =>
                    y + height > 0 && y < view.bottom - top) });
            }));
        }));
        const scrolled = async (share) => {
            await page.evaluate((to) => {
                const tail = document.getElementById('tail');
                tail.scrollTop = to * (tail.scrollHeight - tail.clientHeight);
            }, share);
            return seen();
        };
        assert.ok((await seen()).found.every((row) => row.height === 22 && row.isCut));
        await page.keyboard.press('w');
        assert.equal(await page.$eval('#wrap', (button) => button.ariaPressed), 'true');
        await seen();
        const end = await seen();
        assert.ok(end.found.every((row) => row.height > 50 && !row.isCut), JSON.stringify(end));
        assert.equal(end.found.at(-1).n, 299);
        assert.ok(Math.abs(end.found.at(-1).y + end.found.at(-1).height - end.room) < 3, JSON.stringify(end));
        const { found: [first] } = await scrolled(0);
        assert.equal(first.n, 0);
        assert.ok(Math.abs(first.y) < 3, String(first.y));
        const middle = await scrolled(0.5);
        assert.ok(middle.found.some(({ n }) => n > 140 && n < 160), JSON.stringify(middle));
        // It stays where it is while others come.
        await feed('long', { n: 50, first: 300 });
        await see(page, '#counts', /^350 of/);
        const later = await seen();
        assert.equal(later.found[0].n, middle.found[0].n);
        assert.ok(Math.abs(later.found[0].y - middle.found[0].y) < 3);
        // A huge one does not take all of the view; its record has all of it.
        await feed('huge', { size: 50000 });
        const huge = await open('#source=huge');
        await huge.keyboard.press('w');
        await see(huge, '#tail .lines', /x{5000} … and 45,000 characters$/);
        await huge.click('#tail .lines .row');
        await see(huge, '#detail', /x{50000}/);
        await huge.close();
        await accessible(page, 'wrapped lines');
        await shoot(page, 'wrapped');
        await page.close();
    },

    async widthIsUsed() {
        const place = (page, selector) => page.$eval(selector, (element) => {
            const { left, right, top, bottom, width } = element.getBoundingClientRect();
            return { left, right, top, bottom, width };
        });
        const page = await open('#source=shader', { viewport: { width: 1600, height: 900 } });
        await see(page, '#tail .lines', /sum 42/);
        await page.click('#tail .lines .row');
        await see(page, '#detail .excerpt', /line 12/);
        const [tail, detail] = [await place(page, '#tail'), await place(page, '#detail')];
        assert.ok(detail.left >= tail.right && detail.top < tail.bottom, 'beside the lines');
        await shoot(page, 'wide');
        await page.setViewport({ width: 1000, height: 900 });
        const below = await place(page, '#detail');
        assert.ok(below.top >= (await place(page, '#tail')).bottom, 'below the lines');
        await page.close();
        const phone = await open('#source=shader', { viewport: { width: 390, height: 800, isMobile: true } });
        await see(phone, '#tail .lines', /sum 42/);
        const message = await place(phone, '#tail .lines .of-message');
        assert.ok(message.width > 350, `${message.width} pixels`);
        // A path without room loses its beginning.
        const path = await phone.$eval('#tail .lines .of-where', (cell) => {
            cell.style.width = '5em';
            const end = document.createRange();
            const { firstChild: text } = cell.firstChild;
            end.setStart(text, text.length - 1);
            end.setEnd(text, text.length);
            const [view, letter] = [cell, end].map((one) => one.getBoundingClientRect());
            return { isCut: cell.scrollWidth > cell.clientWidth,
                isEndSeen: letter.right <= view.right + 1 && letter.left >= view.left };
        });
        assert.deepEqual(path, { isCut: true, isEndSeen: true });
        await phone.close();
    },

    async matchesAreMarkedAndCounted() {
        const page = await open('#source=gpu0');
        const marks = () => page.$$eval('#tail .row:not([hidden]) mark', (all) => all.map((mark) => mark.textContent));
        await see(page, '#tail .lines', /lane 104/);
        assert.deepEqual(await marks(), []);
        await page.keyboard.press('f');
        await page.keyboard.type('LANE 10');
        // 10 of the first lines, and 100 to 104.
        await see(page, '#found', /^0 of 6$/);
        await page.keyboard.press('Enter');
        await see(page, '#found', /^1 of 6$/);
        assert.match((await current(page))[1], /lane 10 says/);
        await page.keyboard.press('Enter');
        await see(page, '#found', /^2 of 6$/);
        assert.match((await current(page))[1], /lane 100 says/);
        assert.ok((await marks()).length >= 5 && (await marks()).every((mark) => mark === 'lane 10'));
        await accessible(page, 'marks');
        await shoot(page, 'found');
        await page.click('#find_previous');
        await page.click('#find_previous');
        await see(page, '#found', /^6 of 6$/);
        // What comes is counted, too.
        await feed('lanes', { name: 'gpu0', n: 1, first: 109 });
        await see(page, '#found', /^6 of 7$/);
        await page.focus('#find');
        await page.keyboard.type('xyz');
        await see(page, '#found', /^none$/);
        // A pattern of the filter is marked, unless it could take long.
        await ask(page, { match: 'lane (3\\d|7) says', source: 'gpu0' });
        await page.$eval('#find', (field) => {
            field.value = '';
            field.dispatchEvent(new Event('input'));
        });
        await see(page, '#counts', /^1\d of/);
        await current(page);
        await see(page, '#tail mark', /^lane 7 says$/);
        assert.equal(new Set(await marks()).size, 11);
        await ask(page, { match: '(a+)+$|says', source: 'gpu0' });
        await see(page, '#counts', /^4\d of/);
        await current(page);
        assert.deepEqual(await marks(), []);
        await page.close();
    },

    async theChosenBarStays() {
        const page = await open();
        const seen = await page.evaluate(async () => {
            const { Volume } = await import('/volume.js');
            const clauses = [];
            const volume = new Volume(document.createElement('div'), () => 0, (clause) => clauses.push(clause));
            const look = () => [...volume.element.querySelectorAll('[aria-selected=true]')]
                .map((bar) => [bar.ariaLabel, volume.about.firstChild.textContent]);
            const day = 86400000;
            const begin = 20000 * day;
            volume.add({ time: begin + 700 });
            volume.draw();
            volume.bars.children[0].click();
            const before = look();
            // More in the same bar, and then wider bars: days.
            volume.add({ time: begin + 710 });
            volume.draw();
            const more = look();
            volume.add({ time: begin + 100 * day });
            volume.draw();
            const wider = look();
            volume.about.querySelectorAll('button')[1].click();
            return { before, more, wider, clauses };
        });
        assert.match(seen.before[0][0], /: 1 line$/);
        assert.match(seen.more[0][0], /: 2 lines$/);
        assert.match(seen.wider[0][0], /: 2 lines$/);
        for (const [bar, about] of [...seen.before, ...seen.more, ...seen.wider])
            assert.equal(about, bar);
        const [, from, to] = /^entry\.time >= "(.*)" && entry\.time < "(.*)"$/.exec(seen.clauses[0]);
        assert.equal(new Date(to) - new Date(from), 86400000);
        await page.close();
    },

    async aClickExcludesAndIncludes() {
        await feed('lanes', { name: 'a "quoted" name', n: 3 });
        const page = await open();
        const press = (place, name) => page.evaluate((root, label) => {
            [...document.querySelectorAll(`${root} button`)]
                .find((button) => (button.ariaLabel ?? button.textContent) === label).click();
        }, place, name);
        const where = () => page.$eval('#filter [name=where]', (field) => field.value);
        // The bars have all lines, and findings among them.
        const bars = () => page.$$eval('#volume [role=option]', (all) => all.map((bar) => bar.ariaLabel));
        const sum = (labels, what) => labels.reduce((n, label) =>
            n + Number(new RegExp(`(\\d+) ${what}`).exec(label)?.[1] ?? 0), 0);
        await see(page, '#volume', /the highest \d+ lines/);
        // Lines that come while the page opens are in the counts first.
        let lines, findings;
        const agree = async () => {
            const { entries } = await page.evaluate(async () => (await fetch('/state')).json());
            [, lines, findings] = /^(\d+) lines?, (\d+) finding/.exec(await text(page, '#counts'));
            const labels = await bars();
            return Number(lines) >= entries && sum(labels, 'line') === Number(lines) &&
                sum(labels, 'finding') === Number(findings);
        };
        const allDrawn = async () => {
            for (const end = Date.now() + PATIENCE; !await agree() && Date.now() < end;)
                await new Promise((done) => setTimeout(done, 50));
        };
        await allDrawn();
        assert.equal(sum(await bars(), 'line'), Number(lines));
        assert.equal(sum(await bars(), 'finding'), Number(findings));
        assert.ok(await page.$$eval('#volume .found', (all) => all.some((part) => part.offsetHeight > 0)));
        await accessible(page, 'bars');
        // One of them, by keyboard: its time alone, or all but it.
        await page.focus('#volume [role=listbox]');
        await page.keyboard.press('End');
        const label = await page.$eval('#volume [aria-selected=true]', (bar) => bar.ariaLabel);
        await shoot(page, 'volume');
        // Findings that are no entry's stay, whatever a condition says.
        const about = async (n) => {
            const right = Array.from({ length: Number(findings) + 1 }, (_, i) => n + i);
            await see(page, '#counts', new RegExp(`^(${right.join('|')}) of `));
        };
        await press('#volume', 'Only this time');
        await about(sum([label], 'line'));
        await page.$eval('#filter [name=where]', (field) => { field.value = ''; });
        await press('#filter', 'Apply');
        await see(page, '#counts', new RegExp(`^${lines} lines`));
        await allDrawn();
        await page.click('#volume [role=option]:last-child');
        assert.equal(await page.$eval('#volume [aria-selected=true]', (bar) => bar.ariaLabel), label);
        await press('#volume', 'Not this time');
        await about(Number(lines) - sum([label], 'line'));
        await ask(page, {});
        await see(page, '#counts', new RegExp(`^${lines} lines`));
        await press('#volume', 'Only findings');
        await see(page, '#counts', new RegExp(`^${findings} of \\d+ lines, ${findings} findings`));
        // A format string, and a source.
        await ask(page, {});
        await see(page, '#counts', new RegExp(`^${lines} lines`));
        await see(page, '#patterns', /lane/);
        await press('#patterns', 'Filter for lane %u says hello⏎');
        await see(page, '#counts', /^[1-9]\d* of /);
        await see(page, '#tail .lines', /lane 2 says/);
        assert.match(await where(), /^entry\.id == 0x1000000000a2 && entry\.format_string == "lane %u says hello\\n"$/);
        assert.ok((await rows(page)).every((row) => /^lane|^\w+: /.test(row.message)));
        await openLine(page, /quoted/);
        await press('#detail', 'Filter out source a "quoted" name');
        assert.match(await where(), / && entry\.source != "a \\"quoted\\" name"$/);
        await see(page, '#tail .lines', /^(?!.*quoted).*small/);
        await ask(page, {});
        await see(page, '#patterns', /never loaded|no format string has/);
        await press('#patterns', 'Filter out (no format string has the id 0x1000000000a5)');
        await see(page, '#left_out', /The filter hides \d+ messages/);
        assert.doesNotMatch(await text(page, '#patterns'), /0x1000000000a5/);
        await page.close();
    },

    async aLineHasALink() {
        const page = await open('#source=gpu0');
        await see(page, '#tail .lines', /lane 104/);
        await openLine(page, /lane 102 /);
        // Without a clipboard the link is in the address bar.
        await page.evaluate(() => {
            Object.defineProperty(navigator, 'clipboard', { value: undefined });
            [...document.querySelectorAll('#detail button')].find((b) => b.textContent === 'Copy link').click();
        });
        await see(page, '#detail', /It is in the address bar/);
        // A line's text and its record are copied even so: what is pasted is it.
        for (const [name, pattern] of [['Copy text', /^lane 102 says hello$/],
            ['Copy JSON', /^\{"type":"entry",.*"args":\[102\].*\}$/]]) {
            const [button] = await page.$$(`xpath/.//section[@id="detail"]//button[text()="${name}"]`);
            await button.click();
            await see(page, '#detail', /Copied/);
            await page.focus('#find');
            await page.keyboard.down('Control');
            await page.keyboard.press('v');
            await page.keyboard.up('Control');
            assert.match(await page.$eval('#find', (field) => field.value), pattern);
            await page.$eval('#find', (field) => { field.value = ''; });
            await see(page, '#detail', new RegExp(name));
        }
        const link = page.url();
        await page.close();
        // Others that come do not carry it away: the page stands.
        const other = await open(link.slice(home.length));
        await see(other, '#detail', /lane 102 says/);
        await see(other, '#pause', /^Go on$/);
        assert.match((await current(other))[1], /lane 102 says/);
        await other.close();
        const asked = new URLSearchParams(new URL(link).hash.slice(1));
        const visit = async (changes) => {
            const hash = new URLSearchParams(asked);
            for (const [name, value] of Object.entries(changes))
                hash.set(name, value);
            const seen = await open('#' + hash);
            const said = await see(seen, '#notice', /^Line/);
            await seen.close();
            return said;
        };
        assert.match(await visit({ at: '1' }), /another one than the link meant: the daemon has begun/);
        assert.match(await visit({ line: '987654' }), /the daemon does not keep it any more/);
        assert.match(await visit({ where: 'a0 != 102' }), /the filter hides it/);
        // Its neighbours, by a click.
        const one = await open('#source=gpu0&where=a0%20%3D%3D%20102');
        await see(one, '#counts', /^1 of/);
        await openLine(one, /lane 102/);
        await one.evaluate(() => [...document.querySelectorAll('#detail button')]
            .find((button) => button.textContent === 'Show in context').click());
        await see(one, '#counts', /^\d+ lines/);
        await see(one, '#tail .is-current', /lane 102 says/);
        await see(one, '#tail .lines', /lane 103 says/);
        assert.equal(await one.$eval('#filter [name=where]', (field) => field.value), '');
        await one.close();
        // Its neighbours, without the filter.
        asked.delete('source');
        const all = await open('#' + asked);
        await see(all, '#detail', /lane 102 says/);
        await see(all, '#counts', /^\d+ lines/);
        await all.close();
    },

    async nothingIsEverHtml() {
        await feed('hostile');
        const page = await open('#match=.');
        await see(page, '#tail .lines', /onerror/);
        await see(page, '#patterns', /onerror/);
        await see(page, '#sources', /onerror/);
        await openLine(page, /onerror/);
        await openPattern(page, '<img');
        assert.equal(await page.$$eval('main img, main script, #tail svg, main [onload], main [onerror]',
            (all) => all.length), 0);
        assert.equal(await page.title(), 'printfdecode');
        const seen = (await rows(page)).map((row) => row.message).join('\n');
        assert.match(seen, /<img src=x onerror/);
        assert.match(seen, /\\u001b\[31m\\u202egnp\.exe\\u0007/);
        const csv = await saved(page, 'csv', 'lines.csv');
        assert.ok(csv.includes(`,'=cmd|`), 'a spreadsheet would run it');
        await page.close();
    },

    async whatIsSeenIsExported() {
        const page = await open('#source=gpu0&where=a0%20%3C%202');
        await see(page, '#counts', /^2 of \d+ lines/);
        fs.rmSync(path.join(downloads, 'lines.csv'), { force: true });
        const [head, first] = (await saved(page, 'csv', 'lines.csv')).split('\r\n');
        assert.equal(head, 'sequence,time,type,source,invocation,line,message,lines');
        // A message is one line: its newline is not part of the cell.
        assert.match(first, /,entry,gpu0,,,lane 0 says hello,1$/);
        const lines = (await saved(page, 'ndjson', 'lines.ndjson')).trimEnd().split('\n').map(JSON.parse);
        assert.deepEqual(lines.map((line) => line.args), [[0], [1]]);
        assert.match(await saved(page, 'text', 'lines.txt'),
            /^(20\S+Z gpu0: lane [01] says hello\n){2}$/);
        await page.close();
    },

    async picturesMove() {
        await feed('picture');
        await feed('odd');
        const page = await open();
        await openPattern(page, 'pixel');
        await see(page, '#picture', /256 cells with a value, 0 of them with several/);
        const before = await pixels(page);
        assert.deepEqual([before.width, before.height], [16, 16]);
        // The values' order is that of the colours' brightness.
        const lit = (at) => before.data[4 * at] + before.data[4 * at + 1] + before.data[4 * at + 2];
        const value = (at) => Math.sin((at % 16) / 3) * Math.cos(Math.floor(at / 16) / 3);
        const order = [...Array(256).keys()].sort((a, b) => value(a) - value(b));
        assert.ok(lit(order[0]) < lit(order[128]) && lit(order[128]) < lit(order[255]));
        for (let i = 0; i + 16 < 256; i++)
            assert.ok(lit(order[i]) <= lit(order[i + 16]), `cell ${order[i]}`);
        await shoot(page, 'heat');
        await accessible(page, 'a picture');
        // With as many of each colour, half of the cells are in the darker half of them.
        const dark = ({ data }) => [...Array(256).keys()].filter((at) => data[4 * at + 1] < 148).length;
        await choose(page, 'colours', 'equal');
        const equal = await pixels(page);
        assert.ok(Math.abs(dark(equal) - 128) <= 2, `${dark(equal)} are dark`);
        await choose(page, 'colours', 'log');
        await see(page, '#picture', /not above 0 \(as the least\): 1\d\d/);
        const log = await pixels(page);
        const least = order.filter((at) => value(at) <= 0);
        assert.equal(new Set(least.map((at) => log.data.slice(4 * at, 4 * at + 3).join())).size, 1);
        const some = 4 * order[192] + 1;
        assert.ok(log.data[some] > before.data[some], 'small numbers are lighter');
        await choose(page, 'colours', 'linear');
        assert.deepEqual((await pixels(page)).data, before.data);
        await feed('picture', { shift: 5 });
        await see(page, '#picture', /256 of them with several/);
        assert.notDeepEqual((await pixels(page)).data, before.data);
        await choose(page, 'As', 'histogram');
        await see(page, '#picture', /512 values from -0\.9\d+ to/);
        await shoot(page, 'histogram');
        const other = await open(page.url().slice(home.length));
        await see(other, '#picture h2', /^pixel %u,%u: %f/);
        await other.close();
        await choose(page, 'As', 'table');
        await see(page, '#picture tbody', /a0 pixel.*512.*0.*15.*7\.5/);
        await openPattern(page, 'nan');
        await see(page, '#picture tbody', /a0 nan3/);
        await choose(page, 'As', 'histogram');
        await see(page, '#picture', /NaN \(magenta\): 1, \+inf \(red\): 1, -inf \(violet\): 1/);
        await page.close();
    },

    async picturesAreWhole() {
        /* A side whose reciprocal is rounded, and more entries than are kept of
         * what is not open, in one piece. */
        await feed('picture', { side: 98, name: 'large' });
        const opened = await open('#source=large&open=pixel');
        await see(opened, '#picture', /9,604 cells with a value, 0 of them with several(?!.*of the last)/);
        await opened.close();
        const later = await open('#source=large');
        await see(later, '#counts', /^9,604 of [\d,]+ lines/);
        await openPattern(later, 'pixel');
        await see(later, '#picture', /; of the last 4,096 entries of 9,604/);
        await later.close();
    },

    async aShaderDraws() {
        const why = await feed('shade');
        if (why) {
            console.log(`left out: ${why}`);
            return;
        }
        const page = await open('#match=shaded');
        const seen = [];
        for (let n = 1; n <= 4; n++) {
            const said = await feed('submit');
            if (/skipped/.test(said)) {
                console.log(`left out: ${said}`);
                await page.close();
                return;
            }
            assert.equal(said, '');
            if (n === 1)
                await openPattern(page, 'shaded');
            await see(page, '#picture', new RegExp(`y from 0 to ${16 * n - 1},`));
            await see(page, '#picture', new RegExp(`${count(1024 * n - missing(16 * n))} cells with a value, 0 of`));
            const { width, height, data } = await pixels(page);
            assert.deepEqual([width, height], [64, 16 * n]);
            seen.push(data.join());
        }
        assert.equal(new Set(seen).size, 4, 'it was seen to change');
        await shoot(page, 'shader');
        const drawn = await feed('shaded');
        const { data } = await pixels(page);
        // Cells without a value are not drawn here, and white there.
        const rows = drawn.map((row, y) => row.map((channel, i) => {
            const at = 4 * (64 * y + Math.floor(i / 3));
            return data[at + 3] ? data[at + i % 3] : 255;
        }));
        assert.deepEqual(rows, drawn);
        await page.close();
    },

    async machinesAreToldApart() {
        const before = await open();
        await see(before, '#sources', /gpu0/);
        assert.equal(await before.$eval('#host', (label) => label.hidden), true);
        assert.doesNotMatch(await text(before, '#sources'), /Host/);
        await before.close();
        await feed('machines');
        const page = await open('#match=lane');
        await see(page, '#sources', /Host.*farmnode1/);
        await see(page, '#tail .lines', /node2farmlane 3/);
        assert.deepEqual(await titles(page), ['Time', 'Severity', 'Host', 'Source', 'Message']);
        await page.$eval('#filter [name=host]', (field) => { field.value = 'node1'; });
        await page.click('#filter button');
        await see(page, '#counts', /^3 of/);
        await accessible(page, 'machines');
        await shoot(page, 'machines');
        const other = await open(page.url().slice(home.length));
        await see(other, '#counts', /^3 of/);
        assert.equal(await other.$eval('#host', (label) => label.hidden), false);
        await other.close();
        await page.close();
    },

    async tenThousandASecond() {
        const page = await open('#source=steady&from=now');
        await feed('run', { rate: 10000, seconds: RUN_SECONDS + 2 });
        await see(page, '#counts', /^[\d,]{5,} of [\d,]+ lines/);
        await new Promise((done) => setTimeout(done, 1000 * RUN_SECONDS / 3));
        const early = await heap(page);
        await watchFrames(page);
        await new Promise((done) => setTimeout(done, 1000 * RUN_SECONDS * 2 / 3));
        const late = await heap(page);
        const frames = await page.evaluate(() => window.framesSeen);
        const said = await see(page, '#counts', /lines/);
        console.log(`  ${said}; heap ${early >> 20} MiB, then ${late >> 20} MiB; ` +
            `${frames.n} frames, the longest took ${Math.round(frames.longest)} ms`);
        assert.ok(late < early * 1.5 + (24 << 20), `${early} bytes, then ${late}`);
        assert.ok(frames.n > RUN_SECONDS);
        const elements = await page.$$eval('#tail *', (all) => all.length);
        assert.ok(elements < 400, `${elements} elements`);
        await page.close();
    },

    async theWholeRingIsSearched() {
        await feed('many', { n: 40000 });
        // Without a filter the last lines, and how many are before them.
        const page = await open('#thin=none');
        await see(page, '#counts', /^[1-9]\d,\d{3} lines/);
        await see(page, '#left_out', /Before these are [\d,]+ lines that are not shown; a filter looks through all/);
        // With one, the first that was printed; nothing of it is a sample.
        await ask(page, { match: '^step 5$', source: 'many' });
        await see(page, '#counts', /^1 of [\d,]{6,} lines/);
        await see(page, '#tail .lines', /step 5/);
        await ask(page, { source: 'many' });
        await see(page, '#counts', /^40,000 of [\d,]+ lines/);
        assert.doesNotMatch(await text(page, '#left_out'), /sample|not shown/);
        await page.close();
    },

    async timeIsChosen() {
        await feed('wait');
        const page = await open('#from=3600');
        await see(page, '#counts', /^([1-9]\d|\d+,\d+)\d* lines/);
        assert.equal(await page.$eval('#filter [name=from]', (field) => field.selectedOptions[0].text),
            'the last hour');
        await page.evaluate(() => {
            // As if all had come long ago: an hour by another clock is now.
            const fetched = window.fetch;
            window.fetch = async (...words) => {
                const answer = await fetched(...words);
                if (words[0] !== '/state')
                    return answer;
                const state = await answer.json();
                state.time_unix_nano = String(BigInt(state.time_unix_nano) + 3600n * 1000000000n);
                return { ok: true, json: async () => state };
            };
        });
        await page.click('#filter button');
        await see(page, '#counts', /^0 lines/);
        await page.close();
    },

    async aMillionASecondAreSampled() {
        const page = await open('#source=steady&from=now');
        await feed('run', { rate: 1000000, seconds: 3 });
        await see(page, '#left_out', /This is a sample: left out for being too many a second are [\d,]{7,} messages and 0 findings/);
        await see(page, '#status', /^live/);
        console.log(`  ${await text(page, '#counts')}; ${await text(page, '#left_out')}`);
        await shoot(page, 'sampled');
        await page.close();
    },

    async isAccessible() {
        await feed('wait');
        await feed('small');
        await feed('picture');
        await feed('unknown');
        await feed('lanes', { name: 'gpu0', n: 40 });
        for (const dark of [false, true]) {
            const page = await open('', { dark });
            await see(page, '#tail .lines', /\w/);
            await see(page, '#patterns', /step/);
            await see(page, '#sources', /steady/);
            await accessible(page, dark ? 'dark' : 'light');
            await openPattern(page, 'pixel');
            await accessible(page, dark ? 'dark, a picture' : 'light, a picture');
            await shoot(page, dark ? 'dark' : 'light');
            await page.close();
        }
        const phone = await open('', { viewport: { width: 390, height: 800, isMobile: true } });
        await see(phone, '#tail .lines', /\w/);
        const width = await phone.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= 390, `${width} pixels wide`);
        await accessible(phone, 'phone');
        await shoot(phone, 'phone');
        await phone.close();
    },
};

async function main() {
    if (!program)
        skip(`no Chromium: none of ${BROWSERS.join(', ')}`);
    const profile = fs.mkdtempSync(path.join(shots, 'profile-'));
    browser = await puppeteer.launch({
        executablePath: program,
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
        userDataDir: profile,
    });
    try {
        // PAGE_TESTS: names of tests; they need what the ones before them feed.
        const wanted = process.env.PAGE_TESTS?.split(',') ?? Object.keys(tests);
        for (const [name, test] of Object.entries(tests).filter(([one]) => wanted.includes(one))) {
            const begin = Date.now();
            await test();
            assert.deepEqual(complaints, [], name);
            console.log(`ok: ${name} (${Date.now() - begin} ms)`);
        }
    } finally {
        await browser.close();
        fs.rmSync(downloads, { recursive: true });
        fs.rmSync(profile, { recursive: true });
    }
}

main().then(() => process.exit(0), (error) => {
    console.log(error.stack ?? String(error));
    process.exit(1);
});
