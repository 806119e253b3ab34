#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prometheus.py DAEMON DUMP ELF: promtool finds nothing to say about /metrics
and the alerts, alerts and dashboard ask for what /metrics has, and a Prometheus
that scrapes the daemon knows how many entries there were.
77: Prometheus is not installed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from harness import (DUMP, PATIENCE, Buffer, Daemon, die_with_us, entry_ends, free_port,
                     skip, slurp, until)

if not shutil.which('promtool') or not shutil.which('prometheus'):
    skip('prometheus is not installed (apt-get install prometheus)')
data = slurp(DUMP)
entries = len(entry_ends(data))


def ask(port, query):
    """The value of a query, or None."""
    url = (f'http://127.0.0.1:{port}/api/v1/query?query='
           + urllib.parse.quote(query))
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            result = json.load(answer)['data']['result']
    except (urllib.error.URLError, OSError):
        return None
    return float(result[0]['value'][1]) if result else None


def check_page(page):
    p = subprocess.run(['promtool', 'check', 'metrics'], input=page.encode(),
                       capture_output=True)
    said = (p.stdout + p.stderr).decode()
    if p.returncode or said:
        sys.exit(f'promtool: {p.returncode}\n{said}')


def check_shared(page):
    """Alerts and dashboard, as they are installed."""
    has = set(re.findall(r'^# TYPE (\S+)', page, re.M))
    share = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         '../../../share/printfdecode')
    for path in f'{share}.rules.yml', f'{share}.grafana.json':
        asked = set(re.findall(r'\bprintfdecode_[a-z_]+', slurp(path).decode()))
        if not asked or asked - has:
            sys.exit(f'{path}: {sorted(asked - has)}')
    p = subprocess.run(['promtool', 'check', 'rules', f'{share}.rules.yml'],
                       capture_output=True, text=True)
    if p.returncode:
        sys.exit(f'promtool: {p.returncode}\n{p.stdout}{p.stderr}')


with tempfile.TemporaryDirectory() as temp:
    port, web = free_port(), free_port()
    b = Buffer(f'{temp}/b', len(data))
    d = Daemon(temp, f'''state_dir: $T/state
code_objects: [$E]
inputs:
  - {{type: buffer, path: $T/b, name: 'b "1"'}}
outputs:
  - {{type: file, path: $T/out, required: true}}
  - {{type: forward, address: "tcp:127.0.0.1:{free_port()}"}}
  - {{type: http, address: "unix:$T/http.sock"}}
  - {{type: http, address: "tcp:127.0.0.1:{port}"}}
''')
    check_page(d.http()[1])
    b.put(data)
    until('entries', lambda: d.metric('source_entries_total') == entries)
    check_page(d.http()[1])
    check_shared(d.http()[1])
    for name in ('cpu_seconds_total', 'open_fds', 'max_fds', 'virtual_memory_bytes',
                 'resident_memory_bytes', 'start_time_seconds'):
        value = re.search(rf'(?m)^process_{name} (\S+)$', d.http()[1])
        if not value or float(value[1]) <= 0:
            sys.exit(f'process_{name}: {value}')
    with open(f'{temp}/prometheus.yml', 'w') as f:
        f.write(f'''scrape_configs:
  - job_name: printfdecoded
    scrape_interval: 1s
    static_configs:
      - targets: ["127.0.0.1:{port}"]
''')
    log = open(f'{temp}/prometheus.log', 'w')
    p = subprocess.Popen(
        ['prometheus', f'--config.file={temp}/prometheus.yml',
         f'--storage.tsdb.path={temp}/tsdb',
         f'--web.listen-address=127.0.0.1:{web}'],
        stdout=log, stderr=log, preexec_fn=die_with_us)
    until('a scrape', lambda: ask(web, 'up') == 1)
    until('the entries', lambda: ask(
        web, 'printfdecode_lines_total{type="entry"}') == entries)
    n = ask(web, 'count({__name__=~"printfdecode_.*"})')
    b.clear_header()
    d.looks_again()
    b.put(data)
    files = len(os.listdir(f'/proc/{d.process.pid}/fd'))
    until('open files', lambda: abs(ask(web, 'process_open_fds') - files) < 8)
    until('twice the entries', lambda: ask(
        web, 'sum(printfdecode_source_entries_total)') == 2 * entries)
    p.terminate()
    p.wait(PATIENCE)
    d.stop()
    print(f'promtool has nothing to say; Prometheus scraped {n:.0f} series')
