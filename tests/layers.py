#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The order of the rooms (README.md). A folder includes itself and
folders before it in its list; an include that points the other way, or a circle
of files (a .c and its .h are one), fails. Programs stand above all rooms of the
library, whose archive they link.
Also checked: who owns a library's headers, that formats neither allocate nor
print, that no program includes another's headers, and how many headers are
installed and functions exported.
usage: layers.py [SOURCE_FOLDER]"""

import collections
import glob
import os
import re
import sys

# From the ground up.
LIBRARY = '''
src/core/base src/core/print src/core/objects src/core/spirv src/core/strings
src/core/decode src/core/filter src/core/output src/writer src/memory/space
src/stream/capture src/stream/pipeline src/stream/live src/memory/search
src/analysis/table src/analysis/plot src/analysis/collapse src/analysis/trace
src/analysis/problems src/analysis/diff
src/remote
'''.split()
DAEMON = '''
daemon/base daemon/config daemon/net daemon/ring daemon/spool daemon/nats
daemon/ingest daemon/web daemon/inputs daemon/outputs daemon
'''.split()
COMMAND = '''
cli/show cli/net cli/options cli/input cli/doctor cli/view cli/verbs cli
'''.split()
LAYER = ['src/layer']
RUNNERS = ['runners']
PYTHON = ['python']

# What a format may include beside its own headers.
FORMATS = LIBRARY[:LIBRARY.index('src/core/decode') + 1]

# Files of one name, and why: docs/architecture.md.
TWICE = 'beside capture filter input plot process_code recover scan spirv_check'

# Installed headers, and functions that they declare.
INSTALLED = 17
EXPORTED = 126

# A package's headers, and the only files that include them.
OWNERS = {
    r'(libelf|gelf)\.h': 'src/core/objects/elf_image.c',
    r'elf\.h':
        'src/core/objects/elf_inflate.c '
        'src/memory/space/process_code_scan.c '
        'src/memory/space/symbols.c src/writer/scan_table.c',
    r'msgpack.*': 'src/core/objects/metadata.c daemon/outputs/forward.c',
    r'yaml.*': 'src/core/objects/metadata_yaml.c daemon/config/value.h',
    r'pcre2.*': 'src/core/base/pattern.c',
    r'(zlib|zstd).*':
        'src/core/base/inflate.c daemon/outputs/rotation.c '
        'daemon/base/gzip.c',
    r'curl/.*': 'daemon/net/http_client.c',
    r'nats/.*':
        'cli/net/nats.c daemon/nats/nats_connection.h '
        'src/remote/stored_message.h',
    r'uv\.h':
        'daemon/nats/nats_connection.h daemon/nats/nats_edge.h '
        'daemon/nats/nats_worker.h daemon/net/http_client.h '
        'daemon/base/loop_scheduler.h daemon/base/job_pool.h '
        'daemon/ring/cursor.c daemon/ring/cursor_output.c '
        'daemon/ring/render.c daemon/ring/ring.c '
        'daemon/ingest/producer_connection.h daemon/net/listener.h '
        'daemon/net/tls.h daemon/net/outbound.h '
        'daemon/net/accepted_client.h daemon/daemon.h '
        'daemon/outputs/slow_consumer.c daemon/spool/spool.h '
        'daemon/ingest/stream_buffers.h daemon/ingest/fd_store.h '
        'daemon/ingest/ingest.h daemon/ingest/poller.h '
        'daemon/outputs/delivery.h',
    r'jansson.*':
        'src/remote/stored_message.c cli/net/nats_lists.c cli/input/shaders.c '
        'daemon/config/request.c daemon/base/http_head.c '
        'daemon/spool/checkpoint.h '
        'daemon/spool/spool_recovery.c daemon/spool/manifest.c '
        'daemon/outputs/output_required.c '
        'daemon/outputs/otlp_answer.c',
    r'sqlite3\.h':
        'src/analysis/table/sqlite.h '
        'daemon/outputs/row_table.c',
    r'png\.h': 'src/analysis/plot/form_png.c',
    r'check\.h': '',
    r'vulkan/.*': 'src/layer/dispatch.h runners/vulkan.h',
    r'CL/.*': 'runners/opencl.h',
    r'openssl/.*':
        'src/remote/tls_context.h src/remote/tls_context.c '
        'cli/net/nats.c cli/net/tls.c daemon/outputs/forward.c '
        'daemon/net/tls.c',
    r'seccomp\.h': 'daemon/config/sandbox.c',
    r'systemd/.*': 'daemon/config/systemd.c',
    r'pthread.*':
        'src/core/base/thread.h src/core/base/thread_pool.c src/core/filter/seen_names.c '
        'src/stream/pipeline/convert_pool.h '
        'src/stream/pipeline/ordered_output.h '
        'src/stream/live/walk_pool.c src/stream/live/live_source.c '
        'src/core/base/crc32c.c '
        'src/core/base/dynamic_library.c src/core/strings/string_set.h '
        'daemon/base/passed_fd.c daemon/base/name.c '
        'daemon/outputs/database.c daemon/base/log.c '
        'cli/net/spool_buffer.c '
        'cli/net/spool_buffer.c '
        'src/layer/device.h src/layer/frame_queue.c src/layer/messages.c src/layer/settings.c',
}

INCLUDE = re.compile(r'^#include ([<"])([^">]*)[>"]', re.MULTILINE)
FORBIDDEN = re.compile(
    r'\b(malloc|calloc|realloc|strdup|f?printf|fputs|fwrite)\(')
wrong = []


def read(file):
    with open(file, encoding='utf-8') as text:
        return text.read()


def sources():
    """The product's C files, and of each its includes: (quote, name)."""
    for top in ('src', 'formats', 'cli', 'runners', 'daemon', 'python'):
        for file in sorted(glob.glob(f'{top}/**/*.[ch]', recursive=True)):
            yield file, INCLUDE.findall(read(file))


def found(file, header):
    """The file that a quoted include of `file` names."""
    folder = os.path.dirname(file)
    for at in (folder, file.split('/', 1)[0], 'src'):
        path = os.path.normpath(f'{at}/{header}')
        if os.path.isfile(path):
            return path
    wrong.append(f'{file} includes {header}, which is nowhere')
    return None


def edges():
    for file, includes in sources():
        for quote, header in includes:
            if quote == '"':
                other = found(file, header)
                if other:
                    yield file, other


def order_of(folder):
    return next((order for order in (LIBRARY, DAEMON, COMMAND, LAYER, RUNNERS,
                                     PYTHON) if folder in order), None)


def check_order(all_edges):
    """Yields (file, header) of each include that points up."""
    for file, header in all_edges:
        own, other = os.path.dirname(file), os.path.dirname(header)
        if own == other:
            continue
        if file.startswith('formats/'):
            if other not in FORMATS:
                wrong.append(f'{file} includes {header}')
            continue
        order = order_of(own)
        if order is None:
            wrong.append(f'{file}: {own} stands in no list of {sys.argv[0]}')
        elif order is not LIBRARY and other in LIBRARY:
            continue
        elif other not in order:
            wrong.append(f'{file} includes {header}, of another program')
        elif order.index(other) > order.index(own):
            yield file, header


def circles(all_edges):
    """Sets of files that include each other, each as a sorted list."""
    graph = collections.defaultdict(set)
    for file, header in all_edges:
        one, other = os.path.splitext(file)[0], os.path.splitext(header)[0]
        if one != other:
            graph[one].add(other)
    reached = {}

    def reach(start):
        seen, ahead = set(), [start]
        while ahead:
            for other in graph.get(ahead.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        return seen

    for file in graph:
        reached[file] = reach(file)
    done = set()
    for file in sorted(graph):
        if file in done or file not in reached[file]:
            continue
        circle = sorted(other for other in reached[file]
                        if file in reached.get(other, ()))
        done.update(circle)
        yield circle


def check_arrows():
    all_edges = list(edges())
    for file, header in check_order(all_edges):
        wrong.append(f'{file}: {header} stands above it')
    for circle in circles(all_edges):
        wrong.append(f'a circle of files: {" ".join(circle)}')


def check_formats():
    for file in sorted(glob.glob('formats/*/*.[ch]')):
        for number, line in enumerate(read(file).split('\n'), 1):
            if FORBIDDEN.search(line):
                wrong.append(f'{file}:{number}: a format allocates nothing'
                             f' and prints nothing: {line.strip()}')
        for quote, header in INCLUDE.findall(read(file)):
            if quote == '<' and header in ('stdio.h', 'uv.h'):
                wrong.append(f'{file} includes {header}')


def check_programs():
    """Programs include installed headers, and their own."""
    for file, includes in sources():
        if not file.startswith(('cli/', 'daemon/', 'runners/', 'src/layer/',
                                'python/')):
            continue
        for quote, header in includes:
            if (quote == '<' and header.startswith('printfdecode/')
                    and not os.path.isfile(f'include/{header}')):
                wrong.append(f'{file} includes {header}')


def check_owners():
    unused = {(package, owner) for package, owners in OWNERS.items()
              for owner in owners.split()}
    for file, includes in sources():
        for header in (name for quote, name in includes if quote == '<'):
            for package, owners in OWNERS.items():
                if not re.fullmatch(package, header):
                    continue
                unused.discard((package, file))
                if file not in owners.split():
                    wrong.append(f'{file} includes {header}; its owners:'
                                 f' {owners or "none"}')
    for package, owner in sorted(unused):
        wrong.append(f'{owner} includes no {package}:'
                     f' take it from the list in {sys.argv[0]}')


def check_environment():
    """The library and the layer live in programs of others, which may have
    more rights than their user: his environment names no paths there."""
    for file in sorted(glob.glob('src/**/*.[ch]', recursive=True)):
        for number, line in enumerate(read(file).split('\n'), 1):
            if re.search(r'\bgetenv\(', line):
                wrong.append(f'{file}:{number}: secure_getenv() is meant')


def check_names():
    """A file has its name alone in its program, but for TWICE."""
    unused = set(TWICE.split())
    for tops in (('cli/', 'src/', 'formats/'), ('daemon/', 'src/')):
        folders = {}
        for file in (name for top in tops
                     for name in glob.glob(f'{top}**/*.c', recursive=True)):
            # Layers are programs of their own; a format is read by itself.
            if not file.startswith(('src/layer/', 'formats/')):
                folders.setdefault(os.path.basename(file), []).append(file)
        for name, files in folders.items():
            unused.discard(name[:-2] if len(files) > 1 else '')
            if len(files) > 1 and name[:-2] not in TWICE.split():
                wrong.append(f'one name for several files: {" ".join(files)}')
    for name in sorted(unused):
        wrong.append(f'{name}.c stands once: take it from the list in '
                     f'{sys.argv[0]}')


def check_types():
    """A struct or enum of ours is defined once, so that a file may include any
    two headers."""
    defined = {}
    headers = glob.glob('include/**/*.h', recursive=True)
    for file in [*sorted(headers), *(file for file, _ in sources())]:
        for name in re.findall(r'^((?:struct|enum) pfdd?_\w+) \{', read(file),
                               re.MULTILINE):
            defined.setdefault(name, []).append(file)
    for name, files in defined.items():
        if len(files) > 1:
            wrong.append(f'{name} is defined in {" ".join(files)}')


def check_face():
    headers = glob.glob('include/printfdecode/**/*.h', recursive=True)
    functions = sum(len(re.findall(r'\bPFD_API\b', read(header)))
                    for header in headers) - 2 # its definitions
    for noun, is_now, was in (('installed headers', len(headers), INSTALLED),
                              ('exported functions', functions, EXPORTED)):
        if is_now != was:
            wrong.append(f'{is_now} {noun}, {was} in {sys.argv[0]}')


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else here)
    for check in (check_arrows, check_formats, check_programs, check_owners,
                  check_environment, check_names, check_types, check_face):
        check()
    for each in wrong:
        print(each)
    sys.exit(bool(wrong))


main()
