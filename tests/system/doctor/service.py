#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""service.py PRINTFDECODE: `doctor` says whether a service listens, and which
programs have connected to it; and that this runs below Jupyter."""
import json
import os
import socket
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])


def doctor(folder, **env):
    """(facts of the service, faults by id but those of Vulkan)"""
    p = subprocess.run([PROGRAM, "doctor", "--json"], text=True, timeout=120,
                       env={**os.environ, "PRINTFDECODE_DIR": folder, **env},
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.returncode in (0, 2) and not p.stderr, p
    rows = [json.loads(line) for line in p.stdout.splitlines()]
    facts = next(r for r in rows
                 if r["type"] == "facts" and r["subject"] == "service")
    return facts, {r["id"]: r for r in rows if r["type"] != "facts"
                   and r["subject"] in ("service", "notebook")}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/input.sock"
        facts, faults = doctor(folder)
        assert facts["socket"] == path and not facts["listening"], facts
        assert set(faults) == {"no_folder"}, faults
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            facts, faults = doctor(folder)
            assert facts["listening"], facts
            has_peers = "connected" in facts
            assert set(faults) == ({"no_program"} if has_peers else set()), \
                faults
            assert faults.get("no_program", {}).get("type") in ("advice", None)
            with socket.socket(socket.AF_UNIX) as program:
                program.connect(path)
                # That of doctor before it, which only tried, comes first.
                accepted = [listener.accept() for _ in range(2)]
                facts, faults = doctor(folder)
                if has_peers:
                    assert not faults and facts["connected"] == 1, facts
                    assert facts["programs"][0]["pid"] == os.getpid(), facts
                else:
                    print("the system does not say who is connected")
                for connection, _ in accepted:
                    connection.close()
            _, faults = doctor(folder, JPY_PARENT_PID="1")
            assert faults["notebook"]["type"] == "advice", faults
        _, faults = doctor(folder)
        assert set(faults) == {"no_listener"}, faults
        assert faults["no_listener"]["command"] == "printfdecoded", faults


main()
