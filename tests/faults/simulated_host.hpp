// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A made-up machine: processes that record, with a /proc that says what the simulation wants. What
// each of them really holds is known here, to be compared with what a reader says.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ledger/snapshot.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::faults {

inline constexpr std::uint32_t kSlots = 60;      // that a compact segment has room for
inline constexpr std::uint64_t kDramBanks = 12;  // of the builder's usual device

class SimulatedProcfs {
 public:
  SimulatedProcfs() {
    std::filesystem::create_directories(root_ / "proc/sys/kernel/random");
    std::filesystem::create_directories(root_ / "proc/self/ns");
    std::filesystem::create_symlink("pid:[77]", root_ / "proc/self/ns/pid");
    std::filesystem::create_directories(recordings());
    ::chmod(recordings().c_str(), 01777);
    std::ofstream(root_ / "proc/sys/kernel/random/boot_id")
        << "01020304-0506-0708-090a-0b0c0d0e0f10\n";
  }
  std::string root() const { return root_.path(); }
  std::string recordings() const { return root_ / "run/ttmem"; }
  void put(std::int32_t pid, std::uint64_t start, const std::string& name, char state) const {
    const std::string folder = root_ / fmt::format("proc/{}", pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stat") << fmt::format(
        "{} ({}) {} 1 1 1 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0\n", pid, name, state, start);
    std::ofstream(folder + "/status") << "Name:\tx\nUid:\t0\t0\t0\t0\n";
    std::ofstream(folder + "/maps") << "1000-2000 r--p 00000000 00:00 0 \n";
  }
  void remove(std::int32_t pid) const {
    std::filesystem::remove_all(root_ / fmt::format("proc/{}", pid));
  }

 private:
  support::TemporaryDirectory root_;
};

// A process that records, as long as it lives, and what it holds.
class Writer {
 public:
  Writer(const SimulatedProcfs& procfs, std::int32_t pid, std::uint64_t start, std::uint64_t chip)
      : procfs_(procfs),
        pid_(pid),
        start_(start),
        name_(fmt::format("ttmem-{}-{}-{:016x}", pid, start, start)),
        builder_(std::make_unique<support::SegmentBuilder>(procfs.recordings() + "/" + name_,
                                                           support::Places::compact())) {
    procfs_.put(pid_, start_, "python3", 'S');
    segment::Identity& subject = builder_->header().subject;
    subject.pid = pid_;
    subject.start_ticks = start_;
    subject.pid_namespace = 77;
    for (std::uint8_t i = 0; i < sizeof subject.boot_id; ++i) {
      subject.boot_id[i] = static_cast<std::uint8_t>(i + 1);
    }
    std::memset(subject.name, 0, sizeof subject.name);
    std::memcpy(subject.name, "python3", 7);
    builder_->header().writer = subject;
    builder_->add_usual_device(chip);
    builder_->lock();
    builder_->flush();
  }
  ~Writer() {
    if (child_ >= 0) ::close(child_);
    if (alive_ == ledger::Ended::kAlive) procfs_.remove(pid_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void allocate(std::uint32_t slot, std::uint64_t id, std::uint64_t block) {
    builder_->put(slot, support::buffer_payload(id, 64 * id, block));
    held_[slot] = {id, block};
  }
  void release(std::uint32_t slot) {
    const auto [id, block] = held_.at(slot);
    builder_->put(slot, support::buffer_payload(id, 64 * id, block, 0, false));
    held_.erase(slot);
  }
  // There was no room for another buffer, and it says so.
  void find_no_room() {
    builder_->header().flags |= segment::kHeaderGrowthStopped;
    builder_->flush();
  }
  void stop() const { procfs_.put(pid_, start_, "python3", 'T'); }
  void fork() {
    if (child_ < 0) child_ = ::dup(builder_->descriptor());
  }
  void crash() {
    procfs_.remove(pid_);
    end(ledger::Ended::kDied);
  }
  // A forked child would keep the lock: then only the name tells.
  void exec() {
    procfs_.put(pid_, start_, "sleep", 'S');
    end(ledger::Ended::kExec);
  }
  void close() {
    builder_->header().ended = static_cast<std::uint32_t>(segment::Ended::kClosed);
    builder_->flush();
    procfs_.remove(pid_);
    end(ledger::Ended::kClosed);
  }
  void unlink() {
    ::unlink(path().c_str());
    unlinked_ = true;
  }

  void meet_new_reader() { ended_before_reader_ = alive_ == ledger::Ended::kExec; }
  bool seen_ended_by_others() const { return ended_before_reader_; }

  const std::string& name() const { return name_; }
  std::string path() const { return procfs_.recordings() + "/" + name_; }
  ledger::Ended ended() const { return alive_; }
  bool unlinked() const { return unlinked_; }
  const auto& held() const { return held_; }
  std::uint64_t taken() const {
    std::uint64_t bytes = 0;
    for (const auto& [slot, buffer] : held_) bytes += buffer.second * kDramBanks;
    return bytes;
  }

 private:
  void end(ledger::Ended how) {
    alive_ = how;
    builder_.reset();
  }
  const SimulatedProcfs& procfs_;
  std::int32_t pid_;
  std::uint64_t start_;
  std::string name_;
  std::unique_ptr<support::SegmentBuilder> builder_;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> held_;  // slot: id, block
  ledger::Ended alive_ = ledger::Ended::kAlive;
  bool unlinked_ = false;
  bool ended_before_reader_ = false;
  int child_ = -1;
};

}  // namespace ttmem::faults
