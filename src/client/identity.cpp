// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file_descriptor.hpp"

namespace ttmem::client {
namespace {

// Reads the start of a file; always NUL-terminated. Returns the bytes read.
std::size_t read_start(const char* path, char* text, std::size_t capacity) {
  text[0] = '\0';
  const FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? read(file.get(), text, capacity - 1) : 0;
  const std::size_t bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
  text[bytes] = '\0';
  return bytes;
}

// Field 22. The name in field 2 may hold blanks and brackets: count from the last bracket.
std::uint64_t start_ticks(const char* stat) {
  const char* at = std::strrchr(stat, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
  }
  return at == nullptr ? 0 : std::strtoull(at + 1, nullptr, 10);
}

void parse_boot_id(const char* text, std::uint8_t* id) {
  std::size_t digits = 0;
  for (; *text != '\0' && digits < 32; ++text) {
    const char digit = *text;
    int value = -1;
    if (digit >= '0' && digit <= '9') value = digit - '0';
    if (digit >= 'a' && digit <= 'f') value = digit - 'a' + 10;
    if (value < 0) continue;
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
    ++digits;
  }
}

}  // namespace

segment::Identity identity_of(pid_t pid) {
  segment::Identity who = {};
  char path[64];
  char text[1024];
  // By its number only if it is another's: in a pid namespace that still sees the /proc outside,
  // our own number is somebody else's there.
  const bool own = pid == getpid();
  const auto proc = [&](const char* leaf) {
    if (own) {
      std::snprintf(path, sizeof path, "/proc/self/%s", leaf);
    } else {
      std::snprintf(path, sizeof path, "/proc/%d/%s", pid, leaf);
    }
    return path;
  };
  who.pid = pid;
  who.uid = geteuid();
  struct stat status;
  if (!own && stat(proc(""), &status) == 0) who.uid = status.st_uid;
  if (stat(proc("ns/pid"), &status) == 0) who.pid_namespace = status.st_ino;
  read_start(proc("stat"), text, sizeof text);
  who.start_ticks = start_ticks(text);
  const std::size_t name = read_start(proc("comm"), text, sizeof who.name);
  std::memcpy(who.name, text, name);
  if (name > 0 && who.name[name - 1] == '\n') who.name[name - 1] = '\0';
  const std::size_t command = read_start(proc("cmdline"), who.command, sizeof who.command);
  for (std::size_t i = 0; i + 1 < command; ++i) {
    if (who.command[i] == '\0') who.command[i] = ' ';
  }
  read_start("/proc/sys/kernel/random/boot_id", text, 64);
  parse_boot_id(text, who.boot_id);
  return who;
}

}  // namespace ttmem::client
