# SPDX-License-Identifier: MIT
"""run(vulkan=True): what a shader prints, and what validation finds in one:
vulkan.py PLAY SHADER SHADER_WITH_AN_ERROR."""
import glob
import os
import sys

import support

import printfdecode as pd

LAVAPIPE = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
VALIDATION = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"


def main():
    if not LAVAPIPE or not os.path.exists(VALIDATION):
        print("no lavapipe or no validation layer")
        sys.exit(77)
    checks = support.Checks()
    play, short, address = sys.argv[1:]
    for name in [name for name in os.environ if name.startswith("VK_")]:
        del os.environ[name]
    os.environ.update(VK_DRIVER_FILES=LAVAPIPE[0], VK_ICD_FILENAMES=LAVAPIPE[0])
    result = pd.run([play, "print", short, "2"], vulkan=True)
    checks.equal("status", (result.returncode, result.missed), (0, 0))
    checks.equal("messages", [entry.message for entry in result.entries],
                 ["short %d" % i for i in range(64)])
    checks.true("no errors", not any(map(pd.is_error, result.entries)))
    result = pd.run([play, "print", address, "1"], gpu_validation=True,
                    env=dict(os.environ, PLAY_IDLE="device"))
    checks.true("an error", any(map(pd.is_error, result.entries)))
    checks.end()


main()
