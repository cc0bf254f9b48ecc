// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/process_description.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string_view>

#include "collect/convert.hpp"
#include "collect/job_names.hpp"
#include "ledger/catalog.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::collect {

namespace {

using segment::BlobKind;

constexpr std::array<std::string_view, 5> kFailures = {
    "out_of_memory", "cb_clash", "dataflow_buffer_clash", "ring_too_small", "other"};

std::vector<std::string> hooks_missing(const segment::Reader& reader) {
  const segment::Header& header = reader.header();
  const auto blob = reader.blobs().find(header.hook_names, BlobKind::kString);
  std::vector<std::string> missing;
  if (!blob) return missing;
  std::istringstream names(
      std::string(reinterpret_cast<const char*>(blob->bytes.data()), blob->bytes.size()));
  std::string name;
  for (unsigned bit = 0; bit < 128 && std::getline(names, name); ++bit) {
    const std::uint64_t mask = 1ull << (bit % 64);
    const bool wanted = (header.hooks_wanted[bit / 64] & mask) != 0;
    if (wanted && (header.hooks_bound[bit / 64] & mask) == 0) missing.push_back(name);
  }
  return missing;
}

void compare_audits(const segment::Reader& reader, ledger::Tracking& tracking) {
  for (std::uint32_t i = 1; i <= reader.allocators().count(); ++i) {
    const segment::Allocator& allocator = reader.allocators()[i];
    if (allocator.open == 0) continue;
    for (const segment::Space& space : allocator.spaces) {
      if (space.audits == 0) continue;
      const auto difference = static_cast<std::int64_t>(space.audit_ours - space.audit_theirs);
      tracking.exact = tracking.exact.value_or(true) && difference == 0;
      tracking.difference_bytes =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(tracking.difference_bytes) +
                                    static_cast<std::uint64_t>(difference) * space.banks);
    }
  }
}

std::vector<std::uint64_t> unique_ids(const segment::Reader& reader, std::uint16_t set) {
  const ledger::DeviceSetRecord record = device_set_of(reader.device_sets()[set], reader.blobs());
  std::vector<std::uint64_t> ids;
  for (const ledger::DeviceIndex device : record.devices) {
    if (device != 0 && device <= reader.devices().count()) {
      ids.push_back(chip_of(reader.devices()[device]));
    }
  }
  return ids;
}

ledger::Figure known(std::uint64_t value) {
  return value == 0 ? ledger::Figure{} : ledger::Figure{value};
}

}  // namespace

ledger::ProcessView process_view(const segment::Reader& reader, bool trusted,
                                 const TickClock& clock) {
  const segment::Header& header = reader.header();
  const bool own = header.subject.pid == header.writer.pid;
  ledger::ProcessView view;
  view.pid = header.subject.pid;
  view.start = header.subject.start_ticks;
  view.name = segment::text(header.subject.name);
  view.command = segment::text(header.subject.command);
  // A process is whoever owns the file, whatever that claims, unless a trusted one writes for it.
  view.uid = trusted && !own ? header.subject.uid : reader.file().owner();
  const std::string& path = reader.file().path();
  view.segment = path.substr(path.rfind('/') + 1);
  view.started = clock.wall(header.created_ticks);
  const bool known_source = header.source <= static_cast<std::uint32_t>(ledger::Source::kLegacy);
  view.sources = {known_source ? static_cast<ledger::Source>(header.source) : ledger::Source::kApi};
  view.runtime_version = segment::text(header.runtime_version);
  view.stand_in_kernels = (header.flags & segment::kHeaderStandInKernels) != 0;
  view.events = reader.event();
  if (const auto job = reader.blobs().find(header.job, BlobKind::kString)) {
    name_job(std::string_view(reinterpret_cast<const char*>(job->bytes.data()), job->bytes.size()),
             view);
  }
  return view;
}

ledger::Tracking tracking_of(const segment::Reader& reader, const segment::CounterFront& counters) {
  const std::uint32_t flags = reader.header().flags;
  ledger::Tracking tracking;
  compare_audits(reader, tracking);
  tracking.since_open = (flags & segment::kHeaderAttachedLate) == 0;
  // Buffers of before are seeded; programs that were compiled then, and peaks, are not known.
  tracking.partial = !tracking.since_open || (flags & segment::kHeaderPartial) != 0;
  tracking.disconnected = (flags & segment::kHeaderDisconnected) != 0;
  tracking.not_tmpfs = (flags & segment::kHeaderNotTmpfs) != 0;
  tracking.growth_stopped = (flags & segment::kHeaderGrowthStopped) != 0;
  const segment::Header& header = reader.header();
  if (header.lines <= static_cast<std::uint32_t>(ledger::Lines::kRefused)) {
    tracking.lines = static_cast<ledger::Lines>(header.lines);
  }
  if (const auto reason = reader.blobs().find(header.lines_reason, BlobKind::kString)) {
    tracking.lines_reason = string_of(*reason);
  }
  tracking.unreached = (flags & segment::kHeaderUnreached) != 0;
  tracking.stacks_cut = (flags & segment::kHeaderStacksCut) != 0;
  tracking.hooks_missing = hooks_missing(reader);
  tracking.unrecorded = counters.unrecorded;
  tracking.anomalies.assign(std::begin(counters.anomalies), std::end(counters.anomalies));
  return tracking;
}

// Errors of TT-Metal have several lines, and stay so.
std::string message_of(const segment::Failure& failure) {
  const std::string_view raw(failure.message, strnlen(failure.message, sizeof failure.message));
  std::string message = segment::text(failure.message);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\n') message[i] = '\n';
  }
  return message;
}

ledger::FailureView failure_view(const segment::Failure& failure, const segment::Reader& reader,
                                 const ledger::Catalog& names, const TickClock& clock) {
  ledger::FailureView view;
  view.number = failure.number;
  view.kind = failure_word(failure.kind);
  view.time = clock.wall(failure.ticks);
  view.message = message_of(failure);
  view.requested = known(failure.requested);
  view.per_bank = known(failure.per_bank);
  if (failure.space < ledger::kSpaces) view.space = static_cast<ledger::Space>(failure.space);
  if (failure.program != 0) view.program = failure.program;
  view.devices = unique_ids(reader, failure.set);
  if (const auto blob = reader.blobs().find(failure.cores)) {
    if (blob->kind == BlobKind::kCores || blob->kind == BlobKind::kBanks) {
      view.cores = ledger::to_string(core_set_of(*blob));
    }
  }
  view.operation = names.operation_of(failure.origin, failure.operation);
  view.line = names.line_of(failure.origin);
  view.region = names.regions_of(failure.origin);
  view.stack = names.stack_of(failure.origin);
  view.holdings = failure.picture_slots;
  view.truncated = failure.truncated != 0;
  return view;
}

std::string user_name(std::uint32_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (::getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return std::to_string(uid);
  }
  return found->pw_name;
}

std::string_view failure_word(std::uint64_t kind) {
  return kind >= 1 && kind <= kFailures.size() ? kFailures[kind - 1] : kFailures.back();
}

}  // namespace ttmem::collect
