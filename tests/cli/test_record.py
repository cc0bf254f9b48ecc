# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem record`, and what the other commands make of its files."""

import json
import os
import random
import signal
import stat
import subprocess
import threading

from support import built, command
from support.built import TTMEM
from support.stage import staged
from support.waiting import eventually


def recorder(*arguments):
    return subprocess.Popen([TTMEM, "record", "--quiet", *arguments], stderr=subprocess.PIPE,
                            text=True)


def without_moment(document):
    """A snapshot but for the moment it was taken at."""
    document = json.loads(document)
    del document["time_ns"]
    for process in document["processes"]:
        for name in ("started_ns", "ended_ns"):
            del process[name]
        for failure in process["failures"]:
            del failure["time_ns"]
    return document


def without_host(document):
    """Sensors and processes of others are not recorded."""
    for device in document["devices"]:
        device.pop("host", None)
    for process in document["processes"]:
        process.pop("host_pid", None)
    return document


def test_a_recording_shows_what_was_there(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload() as demo:
        done = command.run("record", "-o", file, "--duration", "0.3")
        assert done.returncode == 0, done.stderr
        assert "0 B" not in done.stderr
        live = command.text("status", "--json")
        holdings = command.document("dump")["holdings"]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    replayed = command.text("status", "--json", "--from", file)
    assert without_host(without_moment(replayed)) == without_host(without_moment(live))
    past = command.document("dump", "--from", file)["holdings"]
    same = [{key: value for key, value in each.items() if not key.endswith("_ns")}
            for each in past]
    assert same == [{key: value for key, value in each.items() if not key.endswith("_ns")}
                    for each in holdings]
    assert str(demo.pids[0]) in command.text("status", "--from", file, "--at", "start")


def test_events_of_a_program_come_from_its_start(tmp_path):
    file = str(tmp_path / "run.ttm")
    done = command.run("record", "-o", file, "--", TTMEM, "demo", "--hold", "0.2")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in
              command.text("events", "--json", "--from", file).splitlines()]
    assert events, "no events"
    times = [event["time_ns"] for event in events]
    assert times == sorted(times)
    process = json.loads(command.text("status", "--json", "--from", file))["processes"][0]
    assert process["alive"] is False
    numbers = [event["number"] for event in events if event.get("number")]
    assert numbers == sorted(numbers)


def recorded_dram(file):
    """What a recording that is still written says of the first device; None while it says nothing."""
    done = command.run("status", "--from", file, "--json")
    devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
    return devices[0]["dram"]["taken"] if devices else None


def test_a_killed_recorder_leaves_what_it_wrote(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        live = command.document("status")
        process = recorder("-o", file)
        eventually(lambda: recorded_dram(file) == live["devices"][0]["dram"]["taken"])
        process.send_signal(signal.SIGKILL)
        process.wait()
    past = command.document("status", "--from", file)
    assert [each["pid"] for each in past["processes"]] == [
        each["pid"] for each in live["processes"]]
    assert past["devices"][0]["dram"]["taken"] == live["devices"][0]["dram"]["taken"]


def test_a_terminated_recorder_ends_well(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        process = recorder("-o", file)
        eventually(lambda: os.path.exists(file) and os.path.getsize(file) > 2000)
        process.terminate()
        assert process.wait() == 0
    with open(file, "rb") as recording:
        assert b"TTMEMEND" in recording.read()[-32:]


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path):
    file = tmp_path / "mine"
    file.write_text("precious")
    done = command.run("record", "-o", str(file), "--duration", "0.01")
    assert done.returncode == 3
    assert "mine: there is such a file: remove it, or name another one\n" in done.stderr
    assert file.read_text() == "precious"
    done = command.run("status", "--from", str(file))
    assert done.returncode == 1
    assert "no recording" in done.stderr


EVENTS = 40_000  # far more than a ring of usual size holds


def stage_lines(count):
    """Makes that many buffers one after the other, and ends."""
    lines = [["open", {}]]
    for number in range(count):
        lines += [["allocate", {"id": number, "address": 1 << 21, "block": 64}],
                  ["free", {"id": number}]]
    return "".join(json.dumps(line) + "\n" for line in [*lines, ["quit", {}]])


def test_a_program_is_recorded_from_its_first_event_to_its_last(tmp_path):
    file = str(tmp_path / "run.ttm")
    recording = subprocess.Popen([TTMEM, "run", "--record", file, "--", built.program("stage")],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = stage_lines(EVENTS // 2)
    middle = lines.index("\n", len(lines) // 2) + 1
    answers = threading.Thread(target=recording.stdout.read)
    answers.start()
    recording.stdin.write(lines[:middle])
    recording.stdin.flush()
    recording.send_signal(signal.SIGSTOP)  # the recorder alone: its program goes on
    recording.stdin.write(lines[middle:])
    recording.stdin.close()
    eventually(lambda: command.document("status")["processes"][0]["alive"] is False)
    recording.send_signal(signal.SIGCONT)
    said = recording.stderr.read()
    answers.join()
    assert recording.wait() == 0, said
    assert "missed" not in said
    events = command.text("events", "--json", "--from", file).splitlines()
    assert sum('"buffer_freed"' in event for event in events) == EVENTS // 2
    assert command.document("status", "--from", file, "--at", "start")["processes"][0]["held"]["dram"] == 0


def test_run_record_ends_as_its_program_does(tmp_path):
    done = command.run("run", "--record", str(tmp_path / "a.ttm"), "sh", "-c", "exit 7")
    assert done.returncode == 7
    recording = subprocess.Popen([TTMEM, "run", "--record", str(tmp_path / "b.ttm"), "sh", "-c",
                                  "trap 'exit 5' TERM; echo; while :; do sleep 0.05; done"],
                                 stdout=subprocess.PIPE)
    recording.stdout.readline()
    recording.terminate()
    assert recording.wait() == 5


def test_a_segment_that_may_not_be_read_is_named(tmp_path):
    segments = os.environ["TTMEM_DIR"]
    os.makedirs(segments, mode=0o700, exist_ok=True)
    broken = os.path.join(segments, "ttmem-77-1-0123456789abcdef")
    with open(broken, "wb") as file:
        file.write(b"no segment" * 1000)
    done = command.run("record", "-o", str(tmp_path / "run.ttm"), "--duration", "0.1")
    assert f"{broken} is not recorded: " in done.stderr


def test_a_summary_names_peaks_and_failures(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        command.text("record", "-o", file, "--duration", "0.2")
    shown = command.text("status", "--from", file, "--summary")
    assert "1 process" in shown and "peak of dram" in shown
    document = command.document("status", "--from", file, "--summary")
    assert document["document"] == "recording"
    assert max(document["curve"]["most"]["dram"]) == next(
        mark["bytes"] for mark in document["marks"] if mark["space"] == "dram")


KEPT = os.path.join(built.SOURCE, "tests", "recording", "kept")


def test_recordings_of_every_minor_version_are_read():
    """Two buffers of 1 MiB a bank, a failure, two more, three are freed; made by each minor once."""
    files = sorted(os.listdir(KEPT))
    assert "minor-0.ttm" in files
    for name in files:
        file = os.path.join(KEPT, name)
        for moment, buffers, failures in (("start", 0, 0), ("failure", 2, 1), ("peak", 4, 1),
                                          ("end", 1, 1)):
            document = command.document("status", "--from", file, "--at", moment)
            assert document["devices"][0]["dram"]["taken"] == buffers * 12 << 20, (name, moment)
            assert len(document["processes"][0]["failures"]) == failures, (name, moment)
        events = [json.loads(line)["event"]
                  for line in command.text("events", "--json", "--from", file).splitlines()]
        assert events.count("buffer_allocated") == 4 and events.count("buffer_freed") == 3


def cut_or_changed(data, chance):
    """A file that ends anywhere, or has one byte changed."""
    if chance.random() < 0.5:
        return data[:chance.randrange(len(data))]
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1:]


def test_whatever_is_left_of_a_file_is_read_or_refused(tmp_path):
    with open(os.path.join(KEPT, "minor-0.ttm"), "rb") as file:
        whole = file.read()
    chance = random.Random(5)
    broken = str(tmp_path / "broken.ttm")
    for _ in range(40):
        with open(broken, "wb") as file:
            file.write(cut_or_changed(whole, chance))
        done = command.run("status", "--json", "--from", broken)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 0:
            # What is shown was so at some moment.
            devices = json.loads(done.stdout)["devices"]
            assert all(device["dram"]["taken"] % (12 << 20) == 0 for device in devices)


def test_a_full_disk_is_told_and_leaves_what_was_written(tmp_path):
    file = str(tmp_path / "run.ttm")
    whole = str(tmp_path / "whole.ttm")
    with command.workload("--scenario", "busy"):
        line = f"ulimit -f 40; trap '' XFSZ; exec {TTMEM} record --quiet -o {file}"
        with subprocess.Popen(["bash", "-c", line], stderr=subprocess.PIPE, text=True) as process:
            other = recorder("-o", whole)
            eventually(lambda: os.path.exists(whole) and os.path.getsize(whole) > 400 * 1024, "far more than there is room for")
            process.terminate()
            said = process.stderr.read()
        other.terminate()
        assert other.wait() == 0
    assert process.returncode == 3
    assert file in said
    assert os.path.getsize(file) <= 40 * 1024
    assert json.loads(command.text("status", "--json", "--from", file))["processes"]


def test_a_bounded_recording_keeps_the_newest(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload("--scenario", "busy", "--devices", "2", "--processes", "2"):
        process = recorder("-o", file, "--max-size", "1M", "--parts", "8")
        eventually(lambda: len(os.listdir(tmp_path)) > 2)
        process.terminate()
        assert process.wait() == 0
    parts = sorted(os.listdir(tmp_path))
    assert 2 <= len(parts) <= 8
    assert sum(os.path.getsize(tmp_path / part) for part in parts) <= 1 << 20
    last = [command.document("status", "--from", str(tmp_path / part))["time_ns"] for part in parts]
    assert last == sorted(last, reverse=True)  # FILE, FILE.1, FILE.2, ...


def test_a_process_that_is_not_there_is_an_error(tmp_path):
    file = tmp_path / "run.ttm"
    gone = subprocess.Popen(["true"])
    gone.wait()
    done = command.run("record", "-o", str(file), "--pid", str(gone.pid))
    assert done.returncode == 1
    assert f"process {gone.pid} is not tracked" in done.stderr
    assert not file.exists()


def test_a_process_that_never_uses_a_device_is_an_error_when_it_ends(tmp_path):
    file = tmp_path / "run.ttm"
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    child = recorder("-o", str(file), "--pid", str(other.pid))
    eventually(file.exists)
    other.communicate()
    assert child.wait() == 1
    assert f"process {other.pid} is not tracked" in child.stderr.read()


JOB = {"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "alices", "SLURM_JOB_NAME": "alice-llama",
       "SLURM_STEP_ID": "0", "SLURM_PROCID": "3", "SLURM_NTASKS": "8", "PMIX_NAMESPACE": "slurm.pmix.4711.0",
       "OMPI_MCA_orte_hnp_uri": "1.0;tcp://10.1.2.3:45231", "POD_NAME": "alice-pod", "POD_NAMESPACE": "team-alice"}


def test_a_redacted_recording_names_nobody(tmp_path, monkeypatch):
    file = str(tmp_path / "run.ttm")
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    with staged() as play:
        play("open")
        play("program", id=1, name="matmul", cores=[0, 0, 1, 1],
             kernels=[{"name": "reader", "source": "/home/alice/secret/reader.cpp", "bytes": 64}])
        play("fail", message="TT_FATAL @ /home/alice/secret/bank.cpp:7: Out of Memory")
        plain = command.document("status")
        command.text("record", "-o", file, "--redact", "--duration", "0.2")
    packed = subprocess.run(["zstd", "-dc", file], capture_output=True, check=True).stdout
    process = plain["processes"][0]
    assert process["job"]["name"] == "alice-llama"
    for word in ("alice", "secret", "stage", "10.1.2.3", plain["host"], os.environ["TTMEM_DIR"]):
        assert len(word) < 4 or word.encode() not in packed, word
    boot = plain["boot_id"]
    assert boot.encode() not in packed and bytes.fromhex(boot.replace("-", "")) not in packed, "which host it was"
    past = command.document("status", "--from", file)
    redacted = past["processes"][0]
    assert past["host"] == "host 1" and redacted["user"] == "user 1"
    assert redacted["name"].startswith("command ") and redacted["pid"] == process["pid"]
    assert redacted["job"]["name"].startswith("job-") and (redacted["job"]["rank"], redacted["job"]["ranks"]) == (3, 8)
    assert redacted["job"]["key"].endswith("/4711.0") and process["job"]["key"] == "alices/4711.0"
    assert past["devices"][0]["dram"] == plain["devices"][0]["dram"]
    assert "Out of Memory" in redacted["failures"][0]["message"]
    kernel = command.document("dump", "--from", file, "--kind", "kernel")["holdings"][0]
    assert kernel["source"].startswith("path-0") and kernel["name"] == "reader"


def test_a_moment_outside_of_the_recording_is_refused(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        command.text("record", "-o", file, "--duration", "0.2")
    for when, words in (("+3600", "recorded from"), ("yesterday", "a moment is start, end"),
                        ("failure", "nothing failed while this was recorded; `ttmem explain --from")):
        done = command.run("status", "--from", file, "--at", when)
        assert done.returncode == 1, when
        assert words in done.stderr, when
