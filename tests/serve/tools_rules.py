# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real promtool takes the rules and the scrape config, and sees every alert begin and end."""

import os
import shutil
import subprocess

from support import tools

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDER = os.path.join(SOURCE, "packaging", "prometheus")


def promtool(*arguments, cwd=FOLDER):
    program = tools.program("prometheus", "usr/bin/promtool")
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_begins_and_ends():
    promtool("check", "rules", "ttmem.rules.yml")
    promtool("test", "rules", "ttmem.rules.test.yml")


def test_the_scrape_config_is_one(tmp_path):
    with open(os.path.join(FOLDER, "scrape.yml"), encoding="utf-8") as file:
        config = file.read()
    assert "SHARD" in config
    (tmp_path / "scrape.yml").write_text(config.replace('"SHARD"', '"0"'))
    (tmp_path / "ttmem-hosts.json").write_text("[]")
    shutil.copy(os.path.join(FOLDER, "ttmem.rules.yml"), tmp_path)
    promtool("check", "config", "scrape.yml", cwd=tmp_path)
