#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sqlite.py DAEMON DUMP ELF FOLLOW: a database that the daemon writes, as
SQLite itself reads it: what stands in it, while it is written and after kills;
how large it becomes, and what is said where nothing can be written."""
import contextlib
import glob
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import time

from real import check_config
import kept

from harness import (N_ENTRIES, Daemon, dial, dump_frames, need, producer, run,
                     slurp, until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

CONFIG = '''drain: 600s
code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: sqlite, path: $T/log.db%s}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
KEPT = 'state_dir: $T/state\n' + CONFIG % ', required: true'
REQUIRED = 'type: sqlite, path: $T/log.db'
NOT_YET = ('no such table', 'attempt to write a readonly database')


def ask(temp, question, *values, name='log.db'):
    """Rows; none where there is no table yet, or where a journal lies beside the
    database that only a writer may take away."""
    with contextlib.closing(sqlite3.connect(
            f'file:{temp}/{name}?mode=ro', uri=True, timeout=60)) as db:
        db.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in db.execute(question, values)]
        except sqlite3.OperationalError as e:
            assert any(w in str(e) for w in NOT_YET), e
            return []


def entries(temp):
    """(number, time) of each entry."""
    if not os.path.exists(f'{temp}/log.db'):
        return []
    return [(r['sequence'], r['time']) for r in ask(
        temp, 'SELECT sequence, time FROM messages WHERE type = "entry"')]


def is_sound(temp):
    return ask(temp, 'PRAGMA integrity_check') == [{'integrity_check': 'ok'}]


def rows(temp):
    """What stands in it is what a subscriber has of the same entries."""
    d = Daemon(temp, CONFIG % '')
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name='dump')):
        said = live.entries(N_ENTRIES)
        until('all of them', lambda: len(entries(temp)) == N_ENTRIES)
    got = ask(temp, 'SELECT * FROM messages ORDER BY "row"')
    for row, line in zip(got, said):
        assert row['time'] == int(line['time_unix_nano'])
        assert row['message'] == line['message'].removesuffix('\n')
        assert json.loads(row['args']) == line['args'], (row, line)
        assert row['severity'] == 'info' and row['generation'] == 0
        for key in ('sequence', 'type', 'source', 'index', 'id',
                    'format_string'):
            assert row[key] == line[key], (key, row, line)
    assert [r['row'] for r in got] == list(range(1, N_ENTRIES + 1))
    assert d.metric('output_sent_total') == N_ENTRIES
    assert os.stat(f'{temp}/log.db').st_mode & 0o137 == 0
    # Others may ask in SQL, also of arguments.
    n = ask(temp, 'SELECT count(*) AS n FROM messages WHERE args ->> 0 > 0')
    assert n[0]['n'] == sum(1 for line in said if line['args'] and
                            not isinstance(line['args'][0], str) and
                            line['args'][0] > 0)
    d.stop()
    assert not os.path.exists(f'{temp}/log.db-wal') and is_sound(temp)
    # The next one goes on in it.
    d.start()
    with producer(f'{temp}/in.sock', *dump_frames(name='dump')):
        until('twice', lambda: len(entries(temp)) == 2 * N_ENTRIES)
    d.stop()
    assert ask(temp, 'SELECT max("row") AS n FROM messages')[0]['n'] == (
        2 * N_ENTRIES)


def gathered(temp):
    """What is not enough for a transaction waits for batch_time, or the end."""
    d = Daemon(temp, CONFIG % ', batch_time: 60s')
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames()):
        live.entries(N_ENTRIES)
        assert not entries(temp) and d.metric('output_sent_total') == 0
        d.stop()
    assert len(entries(temp)) == N_ENTRIES


def hostile(temp):
    """Any bytes and numbers are what they were."""
    with open(f'{temp}/odd.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10002, '"\\\n\x01~', []),
                            inputs.row(0x10003, 'ok', [])]).replace(
            b'\x01~', b'\x01\xff'))
    data = kept.buffer(kept.entry(0x10002) + kept.entry(0x10003) +
                       kept.entry(0x777777777777, 9))
    d = Daemon(temp, (CONFIG % ', name: odd').replace('$E', '$T/odd.elf'))
    with producer(f'{temp}/in.sock', *dump_frames(name="o'dd\"", data=data)):
        until('three', lambda: len(entries(temp)) == 3)
    got = ask(temp, 'SELECT *, typeof(message) AS kind FROM messages')
    assert (got[0]['kind'], got[0]['message']) == ('blob', b'"\\\n\x01\xff'), got
    assert (got[1]['kind'], got[1]['message']) == ('text', 'ok')
    assert 'unknown id 0x777777777777' in got[2]['message']
    assert json.loads(got[2]['findings']) == ['unknown_id']
    assert got[2]['format_string'] is None and json.loads(got[2]['args']) == [9]
    assert got[2]['severity'] == 'warning'
    assert {r['source'] for r in got} == {"o'dd\""}
    d.stop()


def once(temp):
    """Required, and killed: each line is there once, and another database has
    begun where there is none any more."""
    times = kept.killed(temp, REQUIRED, lambda: entries(temp), lambda: None)
    assert set(times.values()) == {1}, times.most_common(3)
    assert is_sound(temp)


def chosen(temp):
    kept.chosen(temp, REQUIRED, lambda: entries(temp), lambda: None)


def while_read(temp):
    """A reader has one state of it as long as it likes; what is written then is
    seen by others."""
    d = Daemon(temp, CONFIG % '')
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('one', lambda: len(entries(temp)) == N_ENTRIES)
        with contextlib.closing(sqlite3.connect(f'{temp}/log.db')) as db:
            db.execute('BEGIN')
            count = 'SELECT count(*) FROM messages'
            assert db.execute(count).fetchone()[0] == N_ENTRIES
            with kept.produce(temp, 20):
                until('others', lambda: len(entries(temp)) == 21 * N_ENTRIES)
            assert db.execute(count).fetchone()[0] == N_ENTRIES
            db.rollback()
            assert db.execute(count).fetchone()[0] == 21 * N_ENTRIES
    d.stop()


def locked(temp):
    """Who writes to it holds us up, and is spoken of; nobody else waits."""
    d = Daemon(temp, KEPT)
    d.stop()
    with contextlib.closing(sqlite3.connect(f'{temp}/log.db')) as db:
        db.execute('BEGIN IMMEDIATE')
        d.start()
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        with producer(f'{temp}/in.sock', *dump_frames()):
            live.entries(N_ENTRIES)
            until('it is said', lambda: 'log.db: others write to it: '
                  'database is locked; trying again' in d.log())
            until('not ready', lambda: d.http('/readyz') == (
                503, f'not ready: sqlite: {temp}/log.db: others write to it: '
                'database is locked\n'))
            db.rollback()
            until('all of them', lambda: len(entries(temp)) == N_ENTRIES)
    until('ready', lambda: d.http('/readyz')[0] == 200)
    assert 'log.db: writing again' in d.log()
    d.stop()


def bounded(temp):
    """It becomes no larger than it may, and the newest rows are there; after a
    reload with less room it is smaller."""
    config = CONFIG % ', max_size: %dMiB'
    d = Daemon(temp, config % 8)

    def add():
        for _ in range(5):
            before = d.metric('output_sent_total')
            with kept.produce(temp, 100):
                until('all', lambda b=before: d.metric('output_sent_total') ==
                      b + 100 * N_ENTRIES)

    for _ in range(3):
        add()
    got = ask(temp, 'SELECT min("row") AS a, max("row") AS b, count(*) AS n '
              'FROM messages')[0]
    assert got['b'] == 1500 * N_ENTRIES and got['a'] > 1, got
    assert got['n'] == got['b'] - got['a'] + 1 > N_ENTRIES, got
    size = os.path.getsize(f'{temp}/log.db')
    assert (4 << 20) < size <= 8 << 20, size
    d.reload(d.config.replace('8MiB', '4MiB'))
    until('it is open', lambda: d.metric('output_connected') == 1)
    add()
    until('smaller', lambda: os.path.getsize(f'{temp}/log.db') <= 4 << 20)
    d.stop()
    assert is_sound(temp)


def aged(temp):
    """Old rows go, also where nothing comes."""
    d = Daemon(temp, CONFIG % ', max_age: 1s')
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('sent', lambda: d.metric('output_sent_total') == N_ENTRIES)
        until('gone', lambda: not entries(temp))
    # No number comes twice.
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('sent', lambda: d.metric('output_sent_total') == 2 * N_ENTRIES)
        until('gone', lambda: not entries(temp))
    d.stop()
    d.start()
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('more', lambda: entries(temp))
        first = ask(temp, 'SELECT min("row") AS a FROM messages')[0]['a']
        assert first is None or first > 2 * N_ENTRIES, first
    d.stop()


def foreign(temp):
    """What is somebody else's, or broken, is not touched; when it has been moved
    away a new one is begun."""
    with contextlib.closing(sqlite3.connect(f'{temp}/log.db')) as db:
        db.execute('CREATE TABLE messages (mine)')
        db.commit()
    theirs = slurp(f'{temp}/log.db')
    os.rename(f'{temp}/log.db', f'{temp}/theirs.db')
    d = Daemon(temp, KEPT)
    d.stop()
    for content, words in ((theirs, 'this is a database of another program'),
                           (b'no database at all\n' * 1000,
                            'file is not a database')):
        with open(f'{temp}/log.db', 'wb') as f:
            f.write(content)
        d.start()
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('it is said',
                  lambda w=words: f'log.db: {w}; trying again' in d.log())
            until('not ready', lambda: d.http('/readyz')[0] == 503)
            assert slurp(f'{temp}/log.db') == content
            os.rename(f'{temp}/log.db', f'{temp}/theirs.db')
            until('a new one', lambda: len(entries(temp)) == N_ENTRIES)
        d.stop()
        os.remove(f'{temp}/log.db')


def altered(temp):
    """What others add to it stands in nobody's way, and triggers of theirs do
    not run; a row that an index of theirs refuses takes back its whole
    transaction, which comes again."""
    d = Daemon(temp, KEPT)
    d.stop()
    with contextlib.closing(sqlite3.connect(f'{temp}/log.db')) as db:
        db.executescript('''
            CREATE TABLE notes (theirs);
            INSERT INTO notes VALUES ('not ours');
            ALTER TABLE messages ADD COLUMN mine TEXT DEFAULT 'x';
            CREATE INDEX by_id ON messages (id);
            CREATE UNIQUE INDEX refuse ON messages (sequence / 100)
              WHERE sequence IN (20, 21);
            CREATE TRIGGER pass BEFORE INSERT ON messages BEGIN
                SELECT RAISE(ABORT, 'not this one');
              END;
            CREATE TRIGGER spy AFTER INSERT ON messages BEGIN
                INSERT INTO notes VALUES (NEW.message);
              END;''')
    d.start()
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('it is said',
              lambda: "failed: index 'refuse'; trying again" in d.log())
        assert not {number for number, _ in entries(temp)} & set(range(20, 100))
        with contextlib.closing(sqlite3.connect(f'{temp}/log.db',
                                                timeout=60)) as db:
            db.execute('DROP INDEX refuse')
        until('all of them', lambda: len(entries(temp)) == N_ENTRIES)
    d.stop()
    got = ask(temp, 'SELECT sequence, "row", mine FROM messages')
    assert [tuple(r.values()) for r in got] == [
        (i, i, 'x') for i in range(1, N_ENTRIES + 1)], got
    assert ask(temp, 'SELECT * FROM notes') == [{'theirs': 'not ours'}]
    assert is_sound(temp)


def laid(temp):
    """Databases that look like ours and are laid for us: none of their SQL runs,
    nothing hangs, and memory stays; in their place a new one is begun."""
    d = Daemon(temp, KEPT)
    d.stop()
    ours = slurp(f'{temp}/log.db')
    columns = [f'"{r["name"]}"' for r in
               ask(temp, "SELECT name FROM pragma_table_info('messages')")]
    forever = ('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) '
               'SELECT max(i) FROM n')
    fake = f"""ALTER TABLE messages RENAME TO kept;
               CREATE VIEW messages AS SELECT * FROM kept WHERE ({forever}) > 0;
               CREATE TRIGGER t INSTEAD OF INSERT ON messages BEGIN
                 SELECT 1; END;"""
    laid_down = {
        'view': (fake, 'because it is a view'),
        'position': (f"""DROP TABLE position;
            CREATE VIEW position AS SELECT ({forever}) AS sequence, 0 AS time,
              0 AS "row";""",
                     'access to view'),
        'many': ("""WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM
            n WHERE i < 1500000) INSERT INTO position SELECT i, 0, 0, 0 FROM n;
            """, 'take too much work'),
        'large': (f"""DROP TABLE messages; CREATE TABLE messages (
            "row" INTEGER PRIMARY KEY, {', '.join(columns[1:])},
            CHECK (length(hex(zeroblob(60000000))) > 1));""",
                  'too big'),
    }
    for name, (script, words) in laid_down.items():
        with open(f'{temp}/log.db', 'wb') as f:
            f.write(ours)
        with contextlib.closing(sqlite3.connect(f'{temp}/log.db')) as db:
            db.executescript(script)
        d.start()
        with producer(f'{temp}/in.sock', *dump_frames()):
            until(f'{name} is refused', lambda w=words: w in d.log())
            assert d.memory_kib() < 300 << 10, (name, d.memory_kib())
            os.rename(f'{temp}/log.db', f'{temp}/theirs.db')
            until('a new one', lambda: len(entries(temp)) == N_ENTRIES)
        d.stop()
        os.remove(f'{temp}/log.db')


def journal_of(data, named):
    """A journal of a database, which names one of several that were written
    together with it."""
    page = int.from_bytes(data[16:18], 'big')
    magic = bytes.fromhex('d9d505f920a163d7')
    head = magic + struct.pack('>5I', 0, 0, len(data) // page, 512, page)
    name = named.encode()
    return head.ljust(512, b'\0') + struct.pack(
        '>I', (1 << 30) // page + 1) + name + struct.pack(
            '>II', len(name), sum(name)) + magic


def journal(temp):
    """One that is laid beside the database takes no file away."""
    d = Daemon(temp, KEPT)
    d.stop()
    with open(f'{temp}/state/victim', 'wb') as f:
        f.write(b'not a journal\0nor this\0')
    with open(f'{temp}/log.db-journal', 'wb') as f:
        f.write(journal_of(slurp(f'{temp}/log.db'), f'{temp}/state/victim'))
    d.start()
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('rows', lambda: len(entries(temp)) == N_ENTRIES)
    d.stop()
    assert not os.path.exists(f'{temp}/log.db-journal')
    assert slurp(f'{temp}/state/victim') == b'not a journal\0nor this\0'


def damage(temp, ours, r):
    """Bytes of a database, or beside it, that are none."""
    data = bytearray(ours)
    beside = {'-wal': b'', '-shm': b'', '-journal': b''}
    kind = r.randrange(5)
    if kind == 0:
        data = data[:r.randrange(len(data))]
    elif kind < 3:
        for _ in range(r.choice((1, 10, 300))):
            data[r.randrange(100 if kind == 1 else len(data))] = (
                r.randrange(256))
    else:
        beside['-wal'] = (b'\x37\x7f\x06\x82', b'')[kind - 3] + (
            r.randbytes(200000))
        beside['-shm'] = r.randbytes(65536)
        beside['-journal'] = r.randbytes(5000)
    for end, more in {'': data, **beside}.items():
        if more or not end:
            with open(f'{temp}/log.db{end}', 'wb') as f:
                f.write(more)


def damaged(temp):
    """Whatever stands in the files, the daemon is there, and a new database is
    begun where they are taken away."""
    d = Daemon(temp, KEPT)
    d.stop()
    ours = slurp(f'{temp}/log.db')
    for seed in range(24):
        for name in glob.glob(f'{temp}/log.db*'):
            os.remove(name)
        damage(temp, ours, random.Random(seed))
        d.start()
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('its end', lambda: 'b: ended' in d.log())
            time.sleep(0.2)
            assert d.process.poll() is None, (seed, d.log())
            assert d.memory_kib() < 300 << 10, (seed, d.memory_kib())
            os.mkdir(f'{temp}/{seed}')
            for name in glob.glob(f'{temp}/log.db*'):
                os.rename(name, f'{temp}/{seed}/{os.path.basename(name)}')
            until('all of it', lambda: d.metric('behind_lines') == 0)
        d.stop()


def is_refused(temp, name, why):
    """What is linked to the target, until it goes."""
    d = Daemon(temp, CONFIG % '')
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('it is said', lambda: why in d.log())
        assert slurp(f'{temp}/target') == b'', name
        os.unlink(f'{temp}/{name}')
        until('rows', lambda: len(entries(temp)) == N_ENTRIES)
    d.stop()
    for made in glob.glob(f'{temp}/log.db*'):
        os.unlink(made)


def linked(temp):
    """A link of another user is not followed, nor any to a file beside it."""
    with open(f'{temp}/target', 'wb'):
        pass
    os.chmod(temp, 0o1777)
    for name in 'log.db', 'log.db-wal', 'log.db-shm', 'log.db-journal':
        os.link(f'{temp}/target', f'{temp}/{name}')
        is_refused(temp, name, 'it has several names')
    os.chmod(temp, 0o755)
    if os.geteuid() != 0:
        print('left out: links of others (only root makes some)')
        return
    for name in 'log.db', 'log.db-wal', 'log.db-journal':
        os.symlink(f'{temp}/target', f'{temp}/{name}')
        os.lchown(f'{temp}/{name}', 65534, 65534)
        is_refused(temp, name, 'is not followed')


def moved(temp):
    """One that is moved away keeps what it has; the next one has the rest."""
    d = Daemon(temp, KEPT)
    with kept.produce(temp, 10):
        until('ten', lambda: len(entries(temp)) == 10 * N_ENTRIES)
    os.rename(f'{temp}/log.db', f'{temp}/old.db')
    with kept.produce(temp, 10):
        until('ten more', lambda: len(entries(temp)) == 10 * N_ENTRIES)
    d.stop()
    assert ask(temp, 'SELECT min(sequence) AS n FROM messages')[0]['n'] == (
        10 * N_ENTRIES + 1)


def full(temp):
    """A disk without room is said, and what is required waits for room."""
    if not mount_small(f'{temp}/small'):
        print('left out: full (no file system can be mounted here)')
        return
    d = Daemon(temp, (CONFIG % ', required: true, name: sink').replace(
        '$T/log.db', '$T/small/log.db').replace(
        'drain', 'state_dir: $T/state\ndrain'))
    waste = f'{temp}/small/waste'
    try:
        with open(waste, 'wb', buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(bytes(4096))
        with kept.produce(temp, 100):
            until('it is said', lambda: 'small/log.db: ' in d.log() and
                  'trying again' in d.log())
            os.remove(waste)
            until('all of them', lambda: d.metric('output_sent_total') ==
                  100 * N_ENTRIES)
        d.stop()
        assert ask(temp, 'SELECT count(*) AS n FROM messages',
                   name='small/log.db') == [{'n': 100 * N_ENTRIES}]
    finally:
        if d.process.poll() is None:
            d.kill()
        subprocess.run(['umount', f'{temp}/small'], check=True)


def idle(temp):
    """A disk that was full from the start holds up no end where nothing came."""
    if not mount_small(f'{temp}/small'):
        print('left out: idle (no file system can be mounted here)')
        return
    try:
        with open(f'{temp}/small/waste', 'wb', buffering=0) as f:
            with contextlib.suppress(OSError):
                while True:
                    f.write(bytes(4096))
        d = Daemon(temp, (CONFIG % '').replace('$T/log.db', '$T/small/log.db'))
        until('it is said', lambda: 'trying again' in d.log())
        d.stop()
        assert 'have not written all in time' not in d.log(), d.log()
    finally:
        if d.process.poll() is None:
            d.kill()
        subprocess.run(['umount', f'{temp}/small'], check=True)


def mount_small(path):
    os.mkdir(path)
    done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16m', 'none',
                           path], stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def refused(temp):
    for keys, place, words in (
            ('path: /tmp/x.db, max_size: 1MiB', '1:53', 'max_size'),
            ('path: "/tmp/{pid}.db"', '1:32', 'a database is one file'),
            ('max_age: 1h', '1:11', "'path'"),
            ('path: /tmp/x.db, output: text', '1:43', 'no key of this')):
        check_config(temp, f'outputs: [{{type: sqlite, {keys}}}]', place, words)


if __name__ == '__main__':
    need('sqlite')
    run(rows, gathered, hostile, once, chosen, while_read, locked, bounded, aged,
        foreign, altered, laid, journal, damaged,
        linked, moved, full, idle, refused)
