// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The real command as a child: a daemon and workloads to look at, in a directory of their own.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ttmem::bench {

// Segments of one benchmark; those that were killed in the one before are not looked at.
class FreshDirectory {
 public:
  FreshDirectory() {
    std::string name = "/dev/shm/ttmem-bench.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    ::setenv("TTMEM_DIR", path_.c_str(), 1);
  }
  ~FreshDirectory() { std::filesystem::remove_all(path_); }
  FreshDirectory(const FreshDirectory&) = delete;
  FreshDirectory& operator=(const FreshDirectory&) = delete;

 private:
  std::string path_;
};

// A child whose output is read here; it ends with its owner.
class Child {
 public:
  explicit Child(const std::vector<std::string>& words) {
    const std::string program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ttmem";
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      ::execv(program.c_str(), arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Child() {
    kill();
    ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The output up to this text; "" if it ended before.
  std::string wait_for(const std::string& wanted) const {
    std::string text;
    char byte = 0;
    while (text.find(wanted) == std::string::npos) {
      if (::read(output_, &byte, 1) != 1) return "";
      text += byte;
    }
    return text;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // Time on a core so far, of all its threads.
  double cpu_seconds() const {
    double sum = 0;
    std::error_code error;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error)) {
      std::ifstream file(thread.path() / "schedstat");
      double nanoseconds = 0;
      file >> nanoseconds;
      sum += nanoseconds;
    }
    return sum / 1e9;
  }
  double resident_mib() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
    double size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

class Workload {
 public:
  explicit Workload(std::vector<std::string> words) : child_(all(std::move(words))) {
    started_ = !child_.wait_for("holding").empty();
  }
  bool has_started() const { return started_; }

 private:
  static std::vector<std::string> all(std::vector<std::string> words) {
    words.insert(words.begin(), {"demo", "--hold", "600"});
    return words;
  }
  Child child_;
  bool started_ = false;
};

class Daemon {
 public:
  Daemon()
      : child_(
            {"serve", "--http", "127.0.0.1:0", "--legacy-socket", "off", "--history", "memory"}) {
    child_.wait_for("listening on http://127.0.0.1:");
    const std::string rest = child_.wait_for("\n");
    port_ = static_cast<std::uint16_t>(std::strtoul(rest.c_str(), nullptr, 10));
  }
  Child& child() { return child_; }
  std::uint16_t port() const { return port_; }

  int connect() const {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(descriptor);
      return -1;
    }
    return descriptor;
  }

 private:
  Child child_;
  std::uint16_t port_ = 0;
};

// One GET on an open connection; the body, or "" if something was wrong.
inline std::string get(int descriptor, const std::string& path, const std::string& headers = "") {
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
  if (::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
  std::string text;
  std::size_t wanted = std::string::npos, head = 0;
  static thread_local std::vector<char> bytes(1 << 20);
  while (wanted == std::string::npos || text.size() < wanted) {
    const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (count <= 0) return "";
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (wanted != std::string::npos) continue;
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    const std::size_t length = text.find("Content-Length: ");
    if (length > end) return "";
    head = end + 4;
    wanted = head + std::strtoul(text.c_str() + length + 16, nullptr, 10);
    text.reserve(wanted);
  }
  return text.substr(head);
}

}  // namespace ttmem::bench
