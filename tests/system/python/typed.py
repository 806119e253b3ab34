# SPDX-License-Identifier: MIT
"""Not run: what type checkers say of it is the test (types.py)."""
import logging

import printfdecode as pd


def read(path: str) -> float:
    d = pd.open(path, "app.elf", format="llpc", shaders={7: "m.spv"})
    total = 0.0
    for e in d:
        name: str | None = e.message
        if name and isinstance(e.args[0], float):
            total += e.args[0]
    for batch in d.batches(100, where="t > 0.5"):
        total += len(batch[0].fields)
    for one in d.entries(findings=True):
        if isinstance(one, pd.Finding):
            print(one.kind, one.offset)
        else:
            print(one.origin.get("lane"))
    first: int = d.buffers[0].lost_bytes
    return total + first + len(d.tables()[0].columns)


async def live() -> None:
    with pd.follow("unix:lines.sock") as f:
        async for e in f:
            print(e.sequence)
        f.to_logging(logging.getLogger("gpu"), wait=False)
    result = pd.run(["./app"], vulkan=True, on_entry=print)
    status: int | None = result.returncode
    print(status)
    shared = pd.Client().share(4096, name="mine")
    shared.ring()
    shared.close()
