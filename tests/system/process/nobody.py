# SPDX-License-Identifier: MIT
"""Programs as another user, wherever they are built."""
import os
import re
import shutil
import subprocess

NOBODY = 65534


def as_nobody():
    """In the child."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def copied(program, folder):
    """A copy, with the libraries of its build, which is perhaps below a folder
    that only its owner may enter, such as root's home; and its environment."""
    build = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    said = subprocess.run(['ldd', program], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for library in re.findall(r'=> (\S+)', said):
        if os.path.realpath(library).startswith(build + '/'):
            shutil.copy(library, folder)
    os.chmod(folder, 0o755)
    return (shutil.copy(program, folder),
            {**os.environ, 'LD_LIBRARY_PATH': folder})
