# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The Helm chart: helm takes it, what it makes is valid for Kubernetes, and grants little."""

import json
import os
import subprocess
import sys

import yaml

from support import tools
from support.built import SOURCE

CHART = os.path.join(SOURCE, "packaging", "helm", "ttmem")
VERSION = "1.33"
EVERYTHING = ("--set", "tokenSecret=ttmem-token", "--set", "podMonitor.enabled=true",
              "--set", "dashboards.enabled=true")


def helm(*arguments):
    return subprocess.run([tools.program("helm", "bin/helm"), *arguments], capture_output=True,
                          text=True, check=False)


def made(*options):
    done = helm("template", "ttmem", CHART, "--namespace", "ttmem", *options)
    assert done.returncode == 0, done.stderr
    return {document["kind"]: document for document in yaml.safe_load_all(done.stdout) if document}


def complaints(documents):
    """What kubernetes-validate says about them, strictly."""
    folder = tools.program("kubernetes-validate", "")
    check = ("import json, sys, kubernetes_validate\n"
             "for each in json.load(sys.stdin):\n"
             "    try:\n"
             f"        kubernetes_validate.validate(each, '{VERSION}', strict=True)\n"
             "    except kubernetes_validate.ValidationError as error:\n"
             "        print(each['kind'], error.message)\n")
    done = subprocess.run([sys.executable, "-c", check], input=json.dumps(documents), text=True,
                          capture_output=True, check=False, env={**os.environ, "PYTHONPATH": folder})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_helm_has_nothing_to_say():
    done = helm("lint", "--strict", CHART, *EVERYTHING)
    assert done.returncode == 0 and "[WARNING]" not in done.stdout, done.stdout


def test_what_it_makes_is_valid():
    documents = made(*EVERYTHING)
    assert set(documents) == {"DaemonSet", "NetworkPolicy", "PodMonitor", "ConfigMap"}
    known = [each for kind, each in documents.items() if kind != "PodMonitor"]
    assert complaints(known) == ""
    # The check would notice.
    documents["DaemonSet"]["spec"]["template"]["spec"]["hostPid"] = True
    assert "hostPid" in complaints([documents["DaemonSet"]])


def test_it_grants_little():
    pod = made(*EVERYTHING)["DaemonSet"]["spec"]["template"]["spec"]
    assert pod["hostPID"] and not pod.get("hostNetwork") and not pod["automountServiceAccountToken"]
    for container in (*pod["initContainers"], *pod["containers"]):
        context = container["securityContext"]
        assert not context.get("privileged") and not context["allowPrivilegeEscalation"]
        assert context["capabilities"]["drop"] == ["ALL"]
        assert set(context["capabilities"].get("add", [])) <= {"DAC_READ_SEARCH"}
    mounts = {each["mountPath"]: each.get("readOnly", False)
              for each in pod["containers"][0]["volumeMounts"]}
    assert {path for path, read_only in mounts.items() if not read_only} == {"/run/ttmem", "/var/lib/ttmem"}
    assert not any(path.startswith("/dev/tenstorrent") for path in mounts)


def test_the_daemon_takes_its_arguments():
    """They are those of `ttmem serve --help`."""
    from support.built import TTMEM
    arguments = made(*EVERYTHING)["DaemonSet"]["spec"]["template"]["spec"]["containers"][0]["args"]
    known = subprocess.run([TTMEM, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for argument in arguments:
        assert argument.split("=")[0] in known


def test_dashboards_and_scrapes():
    documents = made(*EVERYTHING)
    boards = documents["ConfigMap"]["data"]
    assert len(boards) >= 3 and all(json.loads(text)["title"] for text in boards.values())
    endpoint, = documents["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert endpoint["params"]["collect[]"] == ["device", "job"]


def test_without_a_token_it_says_how_to_make_one():
    done = helm("template", "ttmem", CHART)
    assert done.returncode != 0 and "kubectl create secret" in done.stderr


def test_the_example_is_valid():
    with open(os.path.join(SOURCE, "packaging", "helm", "example-workload.yaml"), encoding="utf-8") as file:
        document = yaml.safe_load(file)
    assert complaints([document]) == ""
