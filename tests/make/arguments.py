# SPDX-License-Identifier: MIT
"""The folders that a generator of this folder gets."""
import argparse


def folders(about, *names):
    """The folders of the command line, in the order of their names; one in
    brackets may be left out, and is None then. about: the generator's own
    text, for --help."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        parser.add_argument(name.strip("[]"),
                            nargs="?" if name.startswith("[") else None)
    return list(vars(parser.parse_args()).values())
