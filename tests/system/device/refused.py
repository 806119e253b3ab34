#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PFD_PRINTF must not take is an error of the compiler that names the
argument; what it must take is none.

    refused.py INCLUDE COMPILER [WORD...]"""
import os
import subprocess
import sys
import tempfile

KIND = "PFD_PRINTF: argument %d is of another type than its conversion"
REFUSED = (
    ('"%d\\n", 1.0', KIND % 1),
    ('"%d %f\\n", 1, 2', KIND % 2),
    ('"%u %lld\\n", 1u, 2', KIND % 2),
    ('"%d\\n", 1ll', KIND % 1),
    ('"%hhd\\n", 1ll', KIND % 1),
    ('"%c\\n", 1ll', KIND % 1),
    ('"%p\\n", 1ull', KIND % 1),
    ('"%g %g %x\\n", 1.f, 2.f, 3.f', KIND % 3),
    ('"%*d\\n", 1.0, 2', KIND % 1),
    ('"%.*f\\n", 1, 2', KIND % 2),
    ('"%s\\n", 5', KIND % 1),
    ('"%s\\n", pointer', KIND % 1),
    ('"%d\\n", "text"', KIND % 1),
    ('"%d %s\\n", 1, array',
     "PFD_PRINTF: argument 2 of %s is no plain literal"),
    ('"%d\\n", 1, 2', "PFD_PRINTF: argument 2 has no conversion"),
    ('"100%%\\n", 1', "PFD_PRINTF: argument 1 has no conversion"),
    ('"%d %d\\n", 1', "PFD_PRINTF: a conversion has no argument"),
    ('"%d\\n"', "PFD_PRINTF: a conversion has no argument"),
    ('"%d %s\\n", 1, thing',
     "PFD_PRINTF: argument 2 has a type that cannot be printed"),
    ('"%n\\n", &number', "PFD_PRINTF: a conversion that is not known"),
    ('"%v4f\\n", 1.f', "PFD_PRINTF: a conversion that is not known"),
    ('"50%"', "PFD_PRINTF: a conversion that is not known"),
    ('"%Q\\n", 1', "PFD_PRINTF: a conversion that is not known"),
    ('"' + "%d" * 33 + '"' + ", 1" * 33, "PFD_PRINTF: more than 32 arguments"),
)
TAKEN = (
    '"nothing\\n"', '""', '"%%"', '"%d %u %x\\n", true, 2u, \'c\'',
    '"%ld %zu %jd %td\\n", 1l, sizeof 1, 1ll, 1l', '"%p %p\\n", pointer, &number',
    '"%p\\n", nullptr', '"%s %s\\n", "a" "b", PFD_TEXT("c")',
    '"%f %g %lf\\n", 1.f, 2., 3.', '"%d\\n", (twice<int, 2>(1))',
    '"%#-+ 08.3f|%*.*e\\n", 1., 1, 2, 3.', '"%d\\n", thing.number',
    '"%s, %d\\n", "a,(b", number',
)
START = """
#include "wave.h"
#include <printfdecode/device/printf.h>
template <class T, int N> T twice(T n) { return n * N; }
struct thing { int number; } thing;
int number;
char array[5];
const char *pointer = "p";
void kernel()
{
    PFD_PRINTF(%s);
}
"""


def compile_one(words, folder, arguments):
    path = os.path.join(folder, "site.cc")
    with open(path, "w", encoding="ascii") as f:
        f.write(START.replace("%s", arguments))
    return subprocess.run(words + [path], capture_output=True, text=True,
                          check=False)


def main(include, *compiler):
    here = os.path.dirname(os.path.abspath(__file__))
    words = [*compiler, "-std=c++17", "-DPFD_HOST_DEVICE", "-fsyntax-only",
             "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
             "-I" + include, "-I" + here]
    with tempfile.TemporaryDirectory() as folder:
        for arguments, why in REFUSED:
            done = compile_one(words, folder, arguments)
            if done.returncode == 0 or why not in done.stderr:
                sys.exit("PFD_PRINTF(%s): expected '%s', found:\n%s"
                         % (arguments, why, done.stderr))
        for arguments in TAKEN:
            done = compile_one(words, folder, arguments)
            if done.returncode:
                sys.exit("PFD_PRINTF(%s): %s" % (arguments, done.stderr))
    print("%d refused, %d taken" % (len(REFUSED), len(TAKEN)))


main(*sys.argv[1:])
