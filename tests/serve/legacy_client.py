# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A client of the original allocation server, written from its specification alone.

As a program (legacy_client.py SOCKET FORM) it is a process of its own: it takes calls as JSON lines
on its standard input, such as ["alloc", 0, 1048576, 1, 1], and answers each with one JSON line.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys

DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE = range(5)
APPLICATION, FABRIC, DISPATCH = range(3)

ALLOC, FREE, QUERY, RESPONSE, DUMP_REMAINING, DEVICE_INFO_QUERY, DEVICE_INFO_RESPONSE = range(1, 8)
CB_ALLOC, CB_FREE, KERNEL_LOAD, KERNEL_UNLOAD, DUMP_KERNELS = range(8, 13)

HEAD = "<B3xiQB3xiQQ"
COUNTERS = ("dram", "l1", "l1_small", "trace")
PROGRAM_COUNTERS = ("cb", "kernel")
CAPACITIES = ("total_dram", "total_l1", "arch", "dram_channels", "dram_per_channel",
              "l1_per_core", "available", "devices")
RING = ("ring_total", "ring_used", "ring_programs", "pad3")

LAYOUT = {
    72: ("4Q", COUNTERS),
    112: ("4Q2Q6I", COUNTERS + CAPACITIES),
    128: ("6Q2Q6I", COUNTERS + PROGRAM_COUNTERS + CAPACITIES),
    144: ("6Q2Q6I4I", COUNTERS + PROGRAM_COUNTERS + CAPACITIES + RING),
}


def message(kind, device=0, size=0, buffer_type=0, pid=0, identity=0, time=0, form=144):
    """A request: everything after the first 40 bytes is zero."""
    head = struct.pack(HEAD, kind, device, size, buffer_type, pid, identity, time)
    return head.ljust(form, b"\0")


def wrapper_message(kind, device, size, identity, pid):
    """What the original's wrappers send: 32 bytes."""
    return struct.pack("<B3xiQQi4x", kind, device, size, identity, pid)


def answer(data, form):
    layout, names = LAYOUT[form]
    assert struct.calcsize(HEAD + layout) == form
    values = struct.unpack(HEAD + layout, data)
    return {"type": values[0], "device": values[1], **dict(zip(names, values[7:]))}


class Client:
    def __init__(self, path, form=144, pid=None):
        self.form = form
        self.pid = os.getpid() if pid is None else pid
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(120)
        self.socket.connect(path)

    def send(self, kind, device=0, size=0, buffer_type=0, identity=0):
        self.socket.sendall(
            message(kind, device, size, buffer_type, self.pid, identity, form=self.form))

    def alloc(self, device, size, kind, identity):
        self.send(ALLOC, device, size, kind, identity)

    def free(self, device, identity):
        self.send(FREE, device, identity=identity)

    def cb_alloc(self, device, size, identity):
        self.send(CB_ALLOC, device, size, identity=identity)

    def flood_cbs(self, count):
        """Many that all say the same."""
        self.socket.sendall(message(CB_ALLOC, 0, 1, 0, self.pid, 4096, form=self.form) * count)

    def cb_free(self, device, size, identity):
        self.send(CB_FREE, device, size, identity=identity)

    def load(self, device, size, identity, kind=APPLICATION):
        self.send(KERNEL_LOAD, device, size, kind, identity)

    def unload(self, device, size, identity):
        self.send(KERNEL_UNLOAD, device, size, identity=identity)

    def receive(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return data

    def query(self, device=0):
        """Also says that everything sent before has been applied."""
        self.socket.sendall(message(QUERY, device, form=self.form))
        return answer(self.receive(self.form), self.form)

    def info(self, device=-1):
        self.socket.sendall(message(DEVICE_INFO_QUERY, device, form=self.form))
        return answer(self.receive(self.form), self.form)

    def dump(self, kind=DUMP_REMAINING):
        self.socket.sendall(message(kind, form=self.form))
        self.socket.shutdown(socket.SHUT_WR)
        text = b""
        while piece := self.socket.recv(65536):
            text += piece
        return text.decode()

    def is_closed(self):
        """Whether the server ends the connection."""
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionError:
            return True
        except socket.timeout:
            return False

    def close(self):
        self.socket.close()


class Process:
    """A client that is a process of its own; calls are those of Client."""

    def __init__(self, path, form=144):
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, path, str(form)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def __getattr__(self, name):
        def call(*arguments):
            self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
            self.process.stdin.flush()
            result = json.loads(self.process.stdout.readline())
            if isinstance(result, dict) and "error" in result:
                raise ConnectionError(result["error"])
            return result
        return call

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        self.process.wait(120)


def main(path, form):
    client = Client(path, int(form))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            if name == "reconnect":
                client = Client(path, int(form))
                result = None
            else:
                result = getattr(client, name)(*arguments)
        except OSError as error:
            result = {"error": str(error)}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
