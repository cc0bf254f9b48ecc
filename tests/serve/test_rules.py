# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The rules for Prometheus ask for metrics that exist, and the how-to lists every alert."""

import os
import re

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def text_of(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


RULES = text_of("packaging", "prometheus", "ttmem.rules.yml")


def test_rules_ask_for_metrics_that_are_documented():
    documented = set(re.findall(r"^\| `(ttmem_\w+)` \|", text_of("docs", "metrics.md"), re.M))
    asked = set(re.findall(r"(?<![:\w])(ttmem_\w+)(?!:)", re.sub(r"^#.*", "", RULES, flags=re.M)))
    assert asked and asked <= documented, asked - documented


def test_every_alert_is_in_the_how_to_and_in_the_test_of_the_rules():
    alerts = set(re.findall(r"- alert: (\w+)", RULES))
    assert alerts == set(re.findall(r"^\| `(Ttmem\w+)` \|", text_of("docs", "how-to", "prometheus.md"), re.M))
    assert alerts == set(re.findall(r"alertname: (\w+)", text_of("packaging", "prometheus", "ttmem.rules.test.yml")))
