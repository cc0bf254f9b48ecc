// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Another user of the same directory, who puts there whatever comes to mind: segments in which
// words were replaced, claims to be somebody else, pipes, links, sockets, holes, floods. Each thing
// is a case with a number, and what is done depends on the seed and that number alone, so that it
// can be repeated with others or by itself.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "collect/hostile_segment.hpp"

namespace ttmem::support {

// What is attacked, and with what to begin.
struct Target {
  std::string directory;
  pid_t victim = 0;
  uid_t victim_user = 0;
  Bytes honest;
};

// One case, in two halves: it is there, and then it changes under the readers.
class Attack {
 public:
  Attack(const Target& target, std::uint64_t seed, std::uint64_t number)
      : target_(target), mutator_(seed + number * 0x9E3779B97F4A7C15), bytes_(target.honest) {
    name_ = name(2 + mutator_.below(3), number);
    begin();
  }

  // Segments of the cases themselves, among all the files that come with them.
  static bool is_name(std::string_view name) { return name.find(kMark) != name.npos; }

  void change() {
    if (!file_) return;
    if (mutator_.below(3) == 0) record();
    constexpr std::size_t kWidest = 8;
    const std::size_t at = std::min(mutator_.change(bytes_), bytes_.size());
    const std::size_t end = std::min(at + kWidest, bytes_.size());
    put(at, Bytes(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(end)));
    if (mutator_.below(8) == 0) {
      made(::ftruncate(file_.get(), static_cast<off_t>(mutator_.below(2 * bytes_.size()))) == 0);
    }
  }

 private:
  static constexpr std::string_view kMark = "-1-cace";

  static void made(bool) {}  // what may not be done is tried all the same
  static void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string name(std::uint64_t pid, std::uint64_t number) const {
    return fmt::format("{}/ttmem-{}{}{:012x}", target_.directory, pid, kMark, number);
  }
  void begin() {
    switch (mutator_.below(40)) {
      case 0:
        return made(::mkfifo(name_.c_str(), 0666) == 0);
      case 1:
        return made(::mkfifo((name_ + ".adopting").c_str(), 0666) == 0);
      case 2:
        return made(
            ::symlink(mutator_.below(2) == 0 ? "/dev/zero" : "/proc/self/mem", name_.c_str()) == 0);
      case 3:
        return made(::mkdir(name_.c_str(), 0777) == 0);
      case 4:
        return listen_there();
      case 5:
        return flood();
      case 6:
        return with_hole();
      case 7:
        return steal();
      case 8:
        return write_text(name_ + ".adopting", fmt::format("{} 1", target_.victim));
      case 9:
        return claim_the_victim();
      case 10:
        return lie_about_the_chip();
      default:
        for (std::uint64_t i = mutator_.below(4); i > 0; --i) mutator_.change(bytes_);
        return write_segment();
    }
  }
  // One more event, as a recorder writes it, of anything.
  void record() {
    const Place ring = Places::compact().at(SectionKind::kEvents);
    segment::Event event{};
    const std::uint64_t slots = 1ull << mutator_.below(33);
    event.slot = static_cast<std::uint32_t>(mutator_.below(slots));
    event.payload = buffer_payload(mutator_.below(8), 64, 4096);
    event.payload.a = 64 * mutator_.below(1000);
    const auto kind = static_cast<segment::Kind>(mutator_.below(9));
    const bool live = mutator_.below(3) != 0;
    const auto space = static_cast<unsigned>(mutator_.below(6));
    event.payload.meta = segment::Meta::pack(kind, live, space, 0, 0, mutator_.below(1 << 16));
    event.number = static_cast<std::uint32_t>(++header().head);
    const std::uint64_t at =
        ring.offset + header().head % (ring.bytes / sizeof event) * sizeof event;
    made(::pwrite(file_.get(), &event, sizeof event, static_cast<off_t>(at)) > 0);
    made(::pwrite(file_.get(), &header().head, sizeof header().head,
                  offsetof(segment::Header, head)) > 0);
  }
  void put(std::uint64_t offset, const Bytes& bytes) const {
    made(::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) > 0);
  }
  // Locked, as by a process that lives, and old enough to be judged.
  void write_segment() {
    file_.reset(::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    ::fcntl(file_.get(), F_OFD_SETLK, &lock);
    made(write_with_holes(file_.get(), bytes_));
    timespec old[2] = {{1, 0}, {1, 0}};
    ::futimens(file_.get(), old);
    ::fchmod(file_.get(), mutator_.below(16) == 0 ? 0000 : 0644);
  }
  segment::Header& header() { return *reinterpret_cast<segment::Header*>(bytes_.data()); }
  void claim_the_victim() {
    header().subject.pid = target_.victim;
    header().subject.start_ticks = mutator_.below(2) == 0 ? 0 : header().subject.start_ticks;
    header().subject.uid = target_.victim_user;
    if (mutator_.below(2) == 0) header().subject.pid_namespace += 1;  // where nobody can look
    if (mutator_.below(2) == 0) header().writer = header().subject;
    write_segment();
  }
  // Of the same chip, larger or full, and before everybody else if that could be believed.
  void lie_about_the_chip() {
    segment::Identity& subject = header().subject;
    if (mutator_.below(2) == 0) subject.pid_namespace += mutator_.below(3);
    if (mutator_.below(2) == 0) subject.start_ticks = mutator_.below(2);
    if (mutator_.below(4) == 0) subject.boot_id[0] ^= 1;
    const Places places = Places::compact();
    const auto at = [&](segment::SectionKind kind, std::size_t entry_bytes) {
      return bytes_.data() + places.at(kind).offset + entry_bytes;
    };
    auto* allocator = reinterpret_cast<segment::Allocator*>(
        at(segment::SectionKind::kAllocators, sizeof(segment::Allocator)));
    allocator->spaces[0].bank_bytes = ~0ull >> mutator_.below(40);
    auto* device = reinterpret_cast<segment::Device*>(
        at(segment::SectionKind::kDevices, sizeof(segment::Device)));
    if (mutator_.below(2) == 0) device->dram_bank_bytes <<= mutator_.below(32);
    if (mutator_.below(2) == 0) device->unique_id = mutator_.below(4);
    if (mutator_.below(2) == 0) hold_too_much();
    write_segment();
  }
  void hold_too_much() {
    auto* slot = reinterpret_cast<segment::Slot*>(
        bytes_.data() + Places::compact().at(segment::SectionKind::kTable).offset);
    const std::uint64_t block = segment::kMaxBlockBytes >> mutator_.below(16);
    slot->payload.meta = segment::Meta::pack(segment::Kind::kBuffer, true, 0, 0, 0, block);
    slot->payload.b = block;
  }
  void listen_there() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name_.size() >= sizeof address.sun_path) return;
    name_.copy(address.sun_path, name_.size());
    socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    made(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  // Of files that may become segments, or of segments.
  void flood() {
    const std::string plain = name_.substr(0, name_.find(kMark)) + "-2-";
    const bool whole = mutator_.below(4) == 0;
    const std::uint64_t first = mutator_.below(1ull << 40) << 16;
    const std::uint64_t most = 1 + mutator_.below(9);
    const std::uint64_t count = 1ull << mutator_.below(most);
    for (std::uint64_t i = count; i > 0; --i) {
      const std::string path = fmt::format("{}{:016x}", plain, first + i);
      if (!whole) {
        write_text(path, "nonsense");
        continue;
      }
      const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
      made(write_with_holes(file.get(), bytes_));
    }
  }
  void with_hole() {
    write_segment();
    made(::ftruncate(file_.get(), off_t{1} << 40) == 0);
  }
  // Another's file under a name of one's own, or away with it: the kernel should refuse both.
  void steal() const {
    for (const auto& entry : std::filesystem::directory_iterator(target_.directory)) {
      const std::string path = entry.path();
      struct stat facts{};
      if (::lstat(path.c_str(), &facts) != 0 || facts.st_uid == ::geteuid()) continue;
      made(::link(path.c_str(), name_.c_str()) == 0);
      made(::rename(path.c_str(), (target_.directory + "/stolen").c_str()) == 0);
      made(::unlink(path.c_str()) == 0);
      made(::truncate(path.c_str(), 0) == 0);
    }
  }

  const Target& target_;
  Mutator mutator_;
  Bytes bytes_;
  std::string name_;
  FileDescriptor file_, socket_;
};

class Stranger {
 public:
  Stranger(Target target, std::uint64_t seed) : target_(std::move(target)), seed_(seed) {
    target_.honest =
        honest_segment(fmt::format("{}/template-{}", target_.directory, ::getpid()), kChip);
  }
  void begin(std::uint64_t number) { attacks_.emplace_back(target_, seed_, number); }
  void change() {
    for (Attack& each : attacks_) each.change();
  }
  // Whatever is there: that the files of others stay is up to the kernel.
  void clean_up() {
    attacks_.clear();
    for (const auto& entry : std::filesystem::directory_iterator(target_.directory)) {
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
    }
  }

  static constexpr std::uint64_t kChip = 0xBEEF;

 private:
  Target target_;
  std::uint64_t seed_;
  std::vector<Attack> attacks_;
};

}  // namespace ttmem::support
