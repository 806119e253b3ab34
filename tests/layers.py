#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails where an #include points up: each file may include its own floor and
those below it (the map is in README.md). Also that each library package is
included by the few files that own it, that formats never include each other,
and that programs see only the public headers.
usage: layers.py [SOURCE_FOLDER]"""

import fnmatch
import glob
import os
import re
import sys

# The library's floors, a folder each, from the ground up.
LIBRARY = ('base print objects scan memory spirv strings decode filter forms'
           ' table plot collapse trace wire convert live find').split()
FORMATS = LIBRARY.index('decode')

# What Vulkan's loader opens in other programs: not of the library's floors, it
# sees what programs see.
LAYER = 'src/layer/'

# The daemon's, which are narrower: none includes its own floor.
DAEMON = [
    'digits heap host moment',
    'address amount binding complaint counters crowd descriptors feature'
    ' fieldmap foreign growing gzip head http log name objects own_file peer positions rounds running said'
    ' sample'
    ' digest sha256 site sources sums work',
    'chunk holder keys lobby pools quota session_sums request template',
    'access class origin overlap room',
    'farm input output value',
    'block',
    'record ring runs',
    'note page told',
    'mapped',
    'reader render segments',
    'stock',
    'brief kept',
    'supply',
    'batch consumer recall',
    'checkpoint claim ledger marks resume space',
    'config query',
    'owned',
    'appended folder nats parcel plan rotated sandbox systemd tls',
    'nats_get',
    'deputy nats_code nats_fetch nats_lease nats_pieces nats_setup socket tls_none',
    'nats_brought nats_codes nats_edge',
    'nats_setup_none nats_worker post uplink visitor',
    'daemon',
    'bytes code doorbell maker search session_memory session_options',
    'queue turns',
    'holdup scope renewal',
    'build sets',
    'library',
    'shelf',
    'memory poller',
    'session_look',
    'session',
    'stream_objects',
    'stream_buffers',
    'stream',
    'excerpt forward notes otlp pump rows state written',
    'row_table',
    'database edge_buffers greeting metrics sender',
    'connection input_buffer output_*',
    'feeder finds input_connect input_listen input_nats input_nats_none input_stdin listing',
    'input_directory input_process',
    'main',
]

# What points up in the daemon all the same: the ring and the pages wake those
# who read them; daemon.c starts, ends and counts what stands above its
# header; and a session, its strings and the shelf that keeps both know each
# other. To be made fewer, never more.
UPWARDS = {
    'ring': 'reader',
    'page': 'reader',
    'daemon': 'library poller holdup queue session shelf',
    'library': 'session shelf',
    'shelf': 'stream',
    'poller': 'session',
}

# What belongs to few: a header, and the only files that include it.
OWNERS = {
    r'(libelf|gelf)\.h': 'src/objects/image.c',
    r'elf\.h': 'src/objects/elf_inflate.c src/memory/loaded_scan.c src/memory/symbols.c'
    ' src/scan/table.c',
    r'msgpack.*': 'src/objects/metadata.c daemon/outputs/forward.c',
    r'yaml.*': 'src/objects/metadata_yaml.c daemon/config/value.h',
    r'pcre2.*': 'src/base/pattern.c',
    r'(zlib|zstd).*': 'src/base/inflate.c daemon/outputs/rotated.c'
    ' daemon/core/gzip.c',
    r'curl/.*': 'daemon/net/post.c',
    r'nats/.*': 'cli/farm.c daemon/net/nats.h',
    r'uv\.h': 'daemon/net/nats.h daemon/net/nats_edge.h daemon/net/nats_worker.h daemon/net/post.h daemon/core/rounds.h daemon/core/work.h daemon/delivery/reader.c'
    ' daemon/delivery/render.c daemon/delivery/ring.c daemon/net/connection.h'
    ' daemon/net/socket.h daemon/net/tls.h daemon/net/uplink.h daemon/net/visitor.h daemon/sources/daemon.h'
    ' daemon/sources/doorbell.h',
    r'jansson.*': 'cli/farm.c cli/farm_list.c cli/shaders.c daemon/config/request.c'
    ' daemon/core/http.c daemon/delivery/checkpoint.h daemon/delivery/queue.c'
    ' daemon/delivery/recall.c daemon/delivery/stock.c daemon/net/nats_get.c'
    ' daemon/outputs/output_acked.c daemon/outputs/otlp.c',
    r'sqlite3\.h': 'src/table/sqlite.h daemon/outputs/database.c daemon/outputs/row_table.c',
    r'png\.h': 'src/plot/png.c',
    r'check\.h': '',
    r'vulkan/.*': 'src/layer/dispatch.h',
    r'openssl/.*': 'cli/farm.c cli/tls.c daemon/net/digest.c daemon/net/tls.c',
    r'seccomp\.h': 'daemon/config/sandbox.c',
    r'systemd/.*': 'daemon/config/systemd.c',
    r'pthread.*': 'src/base/thread.h src/filter/filter.c src/convert/convert_pool.h src/convert/press.c src/live/helpers.c src/live/source.c src/find/sieve.c'
    ' src/base/crc32c.c src/base/library.c src/strings/set.h daemon/core/foreign.c daemon/core/host.c daemon/outputs/database.c daemon/core/log.c'
    ' src/layer/device.h src/layer/messages.c src/layer/settings.c',
}

INCLUDE = re.compile(r'^#include ([<"])([^>"]*)[>"]', re.MULTILINE)
FORBIDDEN = re.compile(
    r'\b(malloc|calloc|realloc|strdup|f?printf|fputs|fwrite)\(')

wrong = []


def source(pattern):
    """The files of a pattern, and of each what it includes: (quote, name)."""
    for file in sorted(glob.glob(pattern, recursive=True)):
        with open(file, encoding='utf-8') as text:
            yield file, INCLUDE.findall(text.read())


def noun(file):
    return os.path.splitext(os.path.basename(file))[0]


def floor_of(floors, name):
    for at, words in enumerate(floors):
        if any(fnmatch.fnmatchcase(name, word) for word in words.split()):
            return at
    return None


def library_floor(header):
    """Of a header as it is included, or of a file in src/; None: none."""
    folder = header.split('/')[-2] if '/' in header else ''
    return LIBRARY.index(folder) if folder in LIBRARY else None


def check_library():
    for file, includes in source('src/**/*.[ch]'):
        if file.startswith(LAYER):
            continue
        own = library_floor(file)
        if own is None:
            wrong.append(f'{file}: on which floor does it live?'
                         f' See {sys.argv[0]}')
            continue
        for quote, header in includes:
            other = library_floor(header)
            if quote == '"' and (other is None or other > own):
                wrong.append(f'{file} (floor {own}) includes {header}'
                             f' (floor {other})')


def check_formats():
    """They see their own headers, decode/ and below; they neither allocate nor
    print."""
    for file, includes in source('formats/*/*.[ch]'):
        folder = os.path.dirname(file)
        for quote, header in includes:
            if quote == '<':
                if header in ('stdio.h', 'uv.h'):
                    wrong.append(f'{file} includes {header}')
            elif '/' in header or not os.path.isfile(f'{folder}/{header}'):
                other = library_floor(header)
                if other is None or not os.path.isfile(f'src/{header}'):
                    wrong.append(f'{file} includes {header}')
                elif other > FORMATS:
                    wrong.append(f'{file} (floor {FORMATS}) includes {header}'
                                 f' (floor {other})')
        check_format_text(file)


def check_format_text(file):
    with open(file, encoding='utf-8') as text:
        for number, line in enumerate(text, 1):
            if FORBIDDEN.search(line):
                wrong.append(f'{file}:{number}: a format allocates nothing'
                             f' and prints nothing: {line.strip()}')


def check_programs():
    """They see the public headers and their own."""
    for pattern in ('cli/*.[ch]', 'daemon/**/*.[ch]', 'examples/*.c',
                    LAYER + '*.[ch]'):
        for file, includes in source(pattern):
            own = (LAYER if file.startswith(LAYER) else
                   file.split('/', 1)[0]).rstrip('/')
            for quote, header in includes:
                if quote == '"':
                    seen = os.path.isfile(f'{own}/{header}')
                else:
                    seen = (not header.startswith('printfdecode/') or
                            os.path.isfile(f'include/{header}'))
                if not seen:
                    wrong.append(f'{file} includes {header}')


def check_daemon():
    upwards = {(low, high) for low, highs in UPWARDS.items()
               for high in highs.split()}
    needed = set()
    for file, includes in source('daemon/**/*.[ch]'):
        name = noun(file)
        own = floor_of(DAEMON, name)
        if own is None:
            wrong.append(f'{file}: on which floor does it live?'
                         f' See {sys.argv[0]}')
            continue
        for quote, header in includes:
            other = noun(header)
            at = floor_of(DAEMON, other)
            if quote == '<' or other == name or at is not None and at < own:
                continue
            needed.add((name, other))
            if (name, other) not in upwards:
                wrong.append(f'{file} (floor {own}) includes {header}'
                             f' (floor {at})')
    for low, high in sorted(upwards - needed):
        wrong.append(f'daemon/{low} no longer includes {high}.h:'
                     f' take it from the list in {sys.argv[0]}')


def check_owners():
    unused = {(package, owner) for package, owners in OWNERS.items()
              for owner in owners.split()}
    for pattern in ('src/**/*.[ch]', 'formats/*/*.[ch]', 'cli/*.[ch]',
                    'daemon/**/*.[ch]', 'include/*/*.h'):
        for file, includes in source(pattern):
            for header in (name for quote, name in includes if quote == '<'):
                for package, owners in OWNERS.items():
                    if not re.fullmatch(package, header):
                        continue
                    unused.discard((package, file))
                    if file not in owners.split():
                        wrong.append(f'{file} includes {header}, which'
                                     f' belongs to {owners or "nobody"}')
    for package, owner in sorted(unused):
        wrong.append(f'{owner} includes no {package}:'
                     f' take it from the list in {sys.argv[0]}')


def check_environment():
    """The library and the layer live in programs of others, some of which have
    more rights than who starts them: his environment names no paths there."""
    for file in sorted(glob.glob('src/**/*.[ch]', recursive=True)):
        with open(file, encoding='utf-8') as text:
            for number, line in enumerate(text, 1):
                if re.search(r'\bgetenv\(', line):
                    wrong.append(f'{file}:{number}: secure_getenv() is meant')


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else here)
    for check in (check_library, check_formats, check_programs, check_daemon,
                  check_owners, check_environment):
        check()
    for each in wrong:
        print(each)
    sys.exit(bool(wrong))


main()
