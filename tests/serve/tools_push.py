# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What `ttmem push` sends as protobuf, read by the messages that OpenTelemetry publishes."""

import json
import os
import subprocess
import sys

from test_push import daemon, push, receiver  # noqa: F401  (fixtures)

from support import command, tools

READ = """
import json, sys
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
request = ExportMetricsServiceRequest()
request.ParseFromString(sys.stdin.buffer.read())
json.dump(MessageToDict(request), sys.stdout)
"""


def test_protobuf_and_json_say_the_same(daemon, receiver):  # noqa: F811
    folder = tools.program("opentelemetry-proto", "")
    for options in ((), ("--json",)):
        assert push(daemon, "--otlp", receiver.url, "--once", *options).returncode == 0
    done = subprocess.run([sys.executable, "-c", READ], input=receiver.got[0][2], capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": folder})
    assert done.returncode == 0, done.stderr
    binary, text = (json.loads(each)["resourceMetrics"][0] for each in (done.stdout, receiver.got[1][2]))
    assert binary["resource"] == text["resource"]

    def memory(document):
        return {metric["name"]: [(point["attributes"], point.get("asInt"))
                                 for point in (metric.get("gauge") or metric["sum"])["dataPoints"]]
                for metric in document["scopeMetrics"][0]["metrics"] if "memory" in metric["name"]}

    assert memory(binary) == memory(text) and len(memory(text)) == 5
    device, = command.document("status")["devices"]
    usage = next(each for each in binary["scopeMetrics"][0]["metrics"] if each["name"] == "hw.gpu.memory.usage")
    assert int(usage["sum"]["dataPoints"][0]["asInt"]) == device["dram"]["taken"]
    assert usage["sum"]["aggregationTemporality"] == "AGGREGATION_TEMPORALITY_CUMULATIVE"
