# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The process is killed after the failure: what it held then can still be explained."""

import os
import signal

import gallery
import scattered_l1

VERDICT = scattered_l1.VERDICT


def run(device, cure=None):
    try:
        return scattered_l1.run(device, cure)
    except RuntimeError:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    gallery.main(run)
