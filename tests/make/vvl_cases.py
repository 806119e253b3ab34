#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases of what validation layer 1.4.309 really wrote, with
the layer's own words in origin.md beside them.

    vvl_cases.py CASES_FOLDER CAPTURES_FOLDER

Each folder of captures has buffer.bin, run.pfcap for some, modules before and
after instrumentation, and vvl.txt; programs without a folder keep their cases.
Expectations are made empty where there are none, for REGENERATE=1 of
run_cases.py to fill in (hold them against origin.md!).
"""
import os
import re

import arguments
import khronos_cases as made

# Programs of debugPrintf, and what of them is decoded.
PRINTS = {
    "flood": "buffer.bin mod1.instrumented.spv",
    "floats": "buffer.bin mod1.instrumented.spv",
    "ints": "buffer.bin mod1.instrumented.spv",
    "vecs": "buffer.bin mod1.instrumented.spv",
    "tess": "buffer.bin mod4.instrumented.spv mod5.instrumented.spv "
            "mod6.instrumented.spv mod7.instrumented.spv",
    "inline": "run.pfcap",
    "object": "run.pfcap",
    "strs": "--format debugprintf buffer.bin strs.comp.spv",
}
# Of GPU-AV: with modules of the capture, or an original that says a line.
ERRORS = {
    "av_bda_align": "run.pfcap",
    "av_bda_past": "run.pfcap",
    "av_bda_write": "run.pfcap av_bda.comp.g.spv",
    "av_dispatch_x": "run.pfcap",
    "av_drawcount": "run.pfcap",
    "av_frag": "run.pfcap",
    "av_index_oob": "buffer.bin av_index.comp.spv",
    "av_index_uninit": "run.pfcap",
    "av_ssbo": "run.pfcap",
    "av_texel_write": "run.pfcap",
    "av_vindex": "run.pfcap",
}


def slurp(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def said(text):
    """What the layer said, without addresses of its process and what the
    specification says."""
    out = []
    for part in text.split("\n\n"):
        lines = [x for x in part.split("\n") if x.strip()]
        if not lines or "MessageID" not in lines[0] or not re.search(
                r"VVL-DEBUG-PRINTF|FORMATTING|Error|drawCount", lines[0]):
            continue
        out += [x for x in lines[1:] if not re.match(
            r"Objects|\s+\[|The Vulkan spec|Command buffer|vkQueueSubmit", x)]
    return "\n".join("    " + x for x in out[:40])


def write(root, folder, name, words):
    path = os.path.join(folder, name)
    origin = slurp(path, "origin.md").decode()
    text = slurp(path, "vvl.txt").decode("utf-8", "replace")
    what = origin.split("\n\n")[2].strip()
    files = {x: slurp(path, x) for x in words.split()
             if os.path.exists(os.path.join(path, x))}
    made.case(root, "vvl_" + name, "decode " + words,
              "Layer 1.4.309 on lavapipe of Mesa 25.0.7. " + what +
              "\n\nThe layer said:\n\n" + said(text), files,
              maker="vvl_cases.py")


def main():
    cases, captures = arguments.folders(__doc__, "CASES_FOLDER",
                                        "CAPTURES_FOLDER")
    for root, table in (("debugprintf", PRINTS), ("gpuav", ERRORS)):
        for name, words in table.items():
            if not os.path.isdir(os.path.join(captures, name)):
                continue
            write(os.path.join(cases, root), captures, name, words)


if __name__ == "__main__":
    main()
