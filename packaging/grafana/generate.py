#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Writes the dashboards beside it: Fleet, Job, Host and Device. Needs `pip install grafana-foundation-sdk==1769699998!10.1.0`.

The JSON is kept in the repository, so that nobody who imports it needs this script. Every query is asked of a real
Prometheus by tests/serve/tools_dashboards.py.
"""

import os

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableRefresh

FOLDER = os.path.dirname(os.path.realpath(__file__))
SOURCE = DataSourceRef(type_val="prometheus", uid="${source}")
DRAM_SHARE = ('ttmem_memory_bytes{{space="dram",figure="taken"{more}}} '
              '/ ignoring (figure) ttmem_memory_capacity_bytes{{space="dram"{more}}}')


#: As the alert TtmemDaemonMissing sees them.
SILENT = "up == 0 and on (instance, job) last_over_time(ttmem_self_snapshots_total[1d])"


def query(expression, legend=""):
    return prometheus.Dataquery().expr(expression).legend_format(legend)


def panel(kind, title, unit, *queries, width=12, height=8):
    made = kind.Panel().title(title).datasource(SOURCE).unit(unit).span(width).height(height)
    for letter, each in zip("ABCDEFGH", queries):
        made = made.with_target(each.ref_id(letter))
    return made


def now(title, unit, expression):
    return panel(stat, title, unit, query(expression), width=6, height=4)


def over_time(title, unit, *queries):
    return panel(timeseries, title, unit, *queries)


def list_of(title, unit, expression):
    return panel(table, title, unit, query(expression).instant().format("table"), height=10)


def board(title, uid, variables=()):
    made = (dashboard.Dashboard(title).uid(uid).tags(["ttmem"]).time("now-1h", "now").refresh("30s")
            .with_variable(dashboard.DatasourceVariable("source").label("Data source").type("prometheus")))
    for name, label, expression in variables:
        made = made.with_variable(
            dashboard.QueryVariable(name).label(label).datasource(SOURCE).query(expression)
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED))
    return made


def fleet():
    share = DRAM_SHARE.format(more="")
    return (board("ttmem / Fleet", "ttmem-fleet")
            .with_panel(now("Hosts that answer", "none", "count(ttmem_self_snapshots_total)"))
            .with_panel(now("Devices", "none", "count(ttmem_device_info)"))
            .with_panel(now("DRAM taken", "bytes", 'sum(ttmem_memory_bytes{space="dram",figure="taken"})'))
            .with_panel(now("Least headroom", "bytes", "min(ttmem_headroom_bytes)"))
            .with_panel(now("Hosts that do not answer", "none", f"count({SILENT}) or vector(0)"))
            .with_panel(now("Jobs", "none", "count(count by (workload, user) (ttmem_job_ranks > 0)) or vector(0)"))
            .with_panel(now("DRAM that can be given out", "bytes", 'sum(ttmem_memory_capacity_bytes{space="dram"})'))
            .with_panel(now("L1 used", "bytes", 'sum(ttmem_memory_bytes{space="l1_total",figure="used"})'))
            .with_panel(list_of("Fullest devices (share of DRAM)", "percentunit", f"topk(20, {share})"))
            .with_panel(list_of("Least headroom", "bytes", "bottomk(20, ttmem_headroom_bytes)"))
            .with_panel(over_time("DRAM taken per host", "bytes",
                                  query('sum by (instance) (ttmem_memory_bytes{space="dram",figure="taken"})',
                                        "{{instance}}")))
            .with_panel(over_time("L1 used per host", "bytes",
                                  query('sum by (instance) (ttmem_memory_bytes{space="l1_total",figure="used"})',
                                        "{{instance}}")))
            .with_panel(list_of("Failed allocations", "none", "ttmem_failures > 0"))
            .with_panel(list_of("Processes that died", "none", 'ttmem_processes{state="died"} > 0'))
            .with_panel(list_of("Jobs: ranks that live", "none", "sum by (workload, user) (ttmem_job_ranks)"))
            .with_panel(list_of("What grows from step to step", "none", "ttmem_leak_suspects > 0")))


def job():
    here = 'workload="$workload",user="$user"'  # two users may give a job the same name
    taken = f'ttmem_job_memory_bytes{{{here},space="%s",figure="%s"}}'
    missing = (f"max(ttmem_job_expected_ranks{{{here}}}) - sum(ttmem_job_ranks{{{here}}})")
    return (board("ttmem / Job", "ttmem-job", [("workload", "Job", "label_values(ttmem_job_info, workload)"),
                                               ("user", "User", 'label_values(ttmem_job_info{workload="$workload"}, user)')])
            .with_panel(now("Ranks that live", "none", f"sum(ttmem_job_ranks{{{here}}})"))
            .with_panel(now("Ranks that are missing", "none", missing))
            .with_panel(now("Processes of it that died", "none", f"sum(ttmem_job_died_ranks{{{here}}})"))
            .with_panel(now("Hosts", "none", f"count(ttmem_job_ranks{{{here}}} > 0)"))
            .with_panel(now("DRAM taken", "bytes", f"sum({taken % ('dram', 'taken')})"))
            .with_panel(now("L1 taken", "bytes", f"sum({taken % ('l1', 'taken')})"))
            .with_panel(now("DRAM between ranks, most to least", "bytes",
                            f"max({taken % ('dram', 'most_rank')}) - min({taken % ('dram', 'least_rank')})"))
            .with_panel(now("Least headroom of a rank", "bytes", f"min(ttmem_job_headroom_bytes{{{here}}})"))
            .with_panel(over_time("DRAM taken per host", "bytes", query(taken % ("dram", "taken"), "{{instance}}")))
            .with_panel(over_time("L1 taken per host", "bytes", query(taken % ("l1", "taken"), "{{instance}}")))
            .with_panel(over_time("DRAM of single ranks", "bytes",
                                  query(f"max({taken % ('dram', 'most_rank')})", "the rank with most"),
                                  query(f"min({taken % ('dram', 'least_rank')})", "the rank with least")))
            .with_panel(over_time("Ranks that live per host", "none", query(f"ttmem_job_ranks{{{here}}}", "{{instance}}")))
            .with_panel(list_of("Died first", "dateTimeAsIso", f"bottomk(1, ttmem_job_first_death_seconds{{{here}}}) * 1000"))
            .with_panel(list_of("What it held when it died", "bytes",
                                f"ttmem_job_first_death_bytes{{{here}}} and on (instance, rank) "
                                f"bottomk(1, ttmem_job_first_death_seconds{{{here}}})")))


def host():
    here = 'instance="$host"'
    return (board("ttmem / Host", "ttmem-host", [("host", "Host", "label_values(ttmem_self_snapshots_total, instance)")])
            .with_panel(now("Devices", "none", f"count(ttmem_device_info{{{here}}})"))
            .with_panel(now("Processes", "none", f'ttmem_processes{{{here},state="alive"}}'))
            .with_panel(now("DRAM taken", "bytes",
                            f'sum(ttmem_memory_bytes{{{here},space="dram",figure="taken"}})'))
            .with_panel(now("Least headroom", "bytes", f"min(ttmem_headroom_bytes{{{here}}})"))
            .with_panel(over_time("DRAM taken per device", "bytes",
                                  query(f'ttmem_memory_bytes{{{here},space="dram",figure="taken"}}',
                                        "device {{device}}")))
            .with_panel(over_time("L1 used per device", "bytes",
                                  query(f'ttmem_memory_bytes{{{here},space="l1_total",figure="used"}}',
                                        "device {{device}}")))
            .with_panel(over_time("Launches per second", "ops",
                                  query(f'sum by (device) (rate(ttmem_dispatches_total{{{here},kind="all"}}[1m]))',
                                        "device {{device}}")))
            .with_panel(over_time("The daemon: processor time", "percentunit",
                                  query(f"rate(ttmem_self_cpu_seconds_total{{{here}}}[5m])", "share of a core"))))


def device():
    here = 'instance="$host",device="$device"'
    spaces = query(f'ttmem_memory_bytes{{{here},space=~"dram|l1|l1_small|trace",figure="taken"}}', "{{space}} taken")
    return (board("ttmem / Device", "ttmem-device",
                  [("host", "Host", "label_values(ttmem_self_snapshots_total, instance)"),
                   ("device", "Device", 'label_values(ttmem_device_info{instance="$host"}, device)')])
            .with_panel(now("Share of DRAM taken", "percentunit", DRAM_SHARE.format(more=f",{here}")))
            .with_panel(now("Headroom", "bytes", f"ttmem_headroom_bytes{{{here}}}"))
            .with_panel(now("Processes", "none", f"ttmem_device_processes{{{here}}}"))
            .with_panel(now("Kernels, footprint", "bytes", f"sum(ttmem_kernel_footprint_bytes{{{here}}})"))
            .with_panel(over_time("Memory by space", "bytes", spaces))
            .with_panel(over_time("Program L1", "bytes",
                                  query(f'ttmem_memory_bytes{{{here},space="program_l1"}}', "{{figure}}")))
            .with_panel(over_time("Headroom", "bytes", query(f"ttmem_headroom_bytes{{{here}}}", "headroom")))
            .with_panel(over_time("Launches per second by kind", "ops",
                                  query(f"rate(ttmem_dispatches_total{{{here}}}[1m])", "{{kind}}")))
            .with_panel(over_time("Temperature", "celsius",
                                  query(f"ttmem_device_temperature_celsius{{{here}}}", "temperature")))
            .with_panel(over_time("Power", "watt", query(f"ttmem_device_power_watts{{{here}}}", "power"))))


def main():
    for name, made in (("fleet", fleet()), ("job", job()), ("host", host()), ("device", device())):
        with open(os.path.join(FOLDER, f"{name}.json"), "w", encoding="utf-8") as file:
            file.write(JSONEncoder(sort_keys=True, indent=2).encode(made.build()) + "\n")


if __name__ == "__main__":
    main()
