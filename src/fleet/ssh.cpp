// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/ssh.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostComplaint = 4096;

struct Pipe {
  FileDescriptor reading, writing;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return true;
  }
};

// Starts it with its output in the pipes; its input is empty.
int spawn(const SshQuestion& question, const Pipe& output, const Pipe& complaints, pid_t& pid) {
  const auto seconds =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(question.timeout).count());
  std::vector<std::string> words = {question.program,
                                    "-o",
                                    "BatchMode=yes",
                                    "-o",
                                    fmt::format("ConnectTimeout={}", seconds),
                                    "--",
                                    question.host,
                                    question.remote};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.writing.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, complaints.writing.get(), 2);
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads both until they end. False if it took too long, or the output is too large.
bool drain(const SshQuestion& question, Pipe& output, Pipe& complaints, std::string& text,
           std::string& complaint) {
  const Clock::time_point deadline = Clock::now() + question.timeout;
  std::array<char, 65536> bytes;
  while (output.reading || complaints.reading) {
    // A descriptor of -1 is none to poll.
    std::array<pollfd, 2> entries = {
        {{output.reading.get(), POLLIN, 0}, {complaints.reading.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].revents == 0) continue;
      Pipe& pipe = i == 0 ? output : complaints;
      const ssize_t count = ::read(pipe.reading.get(), bytes.data(), bytes.size());
      if (count <= 0) {
        pipe.reading.reset();
        continue;
      }
      const auto got = static_cast<std::size_t>(count);
      if (i == 0) text.append(bytes.data(), got);
      if (i == 1) complaint.append(bytes.data(), std::min(got, kMostComplaint - complaint.size()));
    }
    if (text.size() > question.most_bytes) return false;
  }
  return true;
}

// The last line that says something: what ssh prints before it is a greeting.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return view::printable(text.substr(begin + 1, end - begin));
}

std::string exit_text(int status, const std::string& complaint) {
  std::string line = last_line(complaint);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return "ttmem is not found there" + (line.empty() ? "" : ": " + line);
  }
  if (!line.empty()) return line;
  return fmt::format("ssh ended with {}", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

}  // namespace

Result<std::string> run_by_ssh(const SshQuestion& question) {
  const auto failed = [](const std::string& why) { return Error{ErrorCode::kSystem, why}; };
  if (question.host.empty() || question.host.starts_with('-')) {
    return failed("that is no name of a host");
  }
  Pipe output, complaints;
  if (!output.open() || !complaints.open()) return failed("no descriptor is left");
  pid_t pid = -1;
  if (const int error = spawn(question, output, complaints, pid); error != 0) {
    return failed(fmt::format("{} cannot be started: {}", view::printable(question.program),
                              std::strerror(error)));
  }
  output.writing.reset();
  complaints.writing.reset();
  std::string text, complaint;
  const bool in_time = drain(question, output, complaints, text, complaint);
  if (!in_time) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return failed(text.size() > question.most_bytes ? "its answer is too large"
                                                    : "no answer in time");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed(exit_text(status, complaint));
  return text;
}

}  // namespace ttmem::fleet
