// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/collector.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "collect/collector_state.hpp"
#include "collect/gc.hpp"
#include "collect/process_description.hpp"
#include "ledger/effort.hpp"
#include "segment/reader_records.hpp"

namespace ttmem::collect {

namespace {

// A file that was made this recently may not be written yet.
constexpr std::uint64_t kNewbornNs = 1'000'000'000;
constexpr std::uint64_t kReapEveryNs = 60'000'000'000;
constexpr std::uint64_t kFirstPauseNs = 1'000'000'000;
constexpr std::uint64_t kLongestPauseNs = 300'000'000'000;
constexpr std::uint64_t kLongestRefusalNs = 30'000'000'000;
constexpr std::size_t kMostDeletedOfOne = 256;
constexpr std::size_t kMostProblemsOfOne = 8;  // named one by one

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// What one owner's files have cost in a look.
struct Spent {
  std::uint64_t ns = 0, bytes = 0;
  std::uint32_t patience = segment::Patience::kMost;
  std::size_t opened = 0;
  std::unordered_set<std::uint64_t> devices;  // unique ids

  void add_devices(const ledger::ProcessLedger& ledger) {
    const auto& all = ledger.devices();
    opened += all.size();
    for (const ledger::DeviceIndex each : all) devices.insert(ledger.device(each).unique_id);
  }
  std::optional<Error> excess() const {
    if (bytes > kMostBytesOfOne) return too_much(kMostBytesOfOne >> 20, "MiB of segments");
    if (devices.size() > kMostDevicesOfOne) return too_much(kMostDevicesOfOne, "devices");
    if (opened > kMostOpenedOfOne) return too_much(kMostOpenedOfOne, "devices in processes");
    return std::nullopt;
  }

 private:
  static Error too_much(std::uint64_t most, const char* what) {
    return {ErrorCode::kCorrupt,
            fmt::format("its owner has more than {} {}: no longer followed", most, what)};
  }
};

// $TTMEM_HOST_ROOT stands for this machine's devices, for those who have none or others to show.
std::string host_root(const Options& options) {
  const char* wanted = ::secure_getenv("TTMEM_HOST_ROOT");
  return options.root.empty() && wanted != nullptr ? wanted : options.root;
}

Error too_much(const std::exception& problem) {
  return {ErrorCode::kCorrupt, fmt::format("{}: no longer followed", problem.what())};
}

// Within one boot. The owner is as the kernel says.
using Identity = std::tuple<std::uint32_t, std::uint64_t, std::int32_t, std::uint64_t>;
Identity identity_of(const SegmentSource& source) {
  const segment::Identity& subject = source.header().subject;
  return {source.owner(), subject.pid_namespace, subject.pid, subject.start_ticks};
}

}  // namespace

Collector::State::State(Options given)
    : options(std::move(given)),
      procfs(options.root),
      host_sources(host_root(options), options.sensors_every_ms),
      host(host_name()) {}

Collector::Collector(Options options) : state_(std::make_unique<State>(std::move(options))) {
  raise_descriptor_limit();
}
Collector::~Collector() = default;
Collector::Collector(Collector&&) noexcept = default;
Collector& Collector::operator=(Collector&&) noexcept = default;

void Collector::refresh() { refresh(Moment::now()); }

void Collector::refresh(const Moment& now) {
  // Whatever ends a look in the middle (there is no memory), the next one takes nothing for known.
  const bool again = std::exchange(state_->interrupted, true);
  try {
    state_->look(now, again);
  } catch (...) {
    state_->inputs.clear();  // of sources that may be gone
    throw;
  }
  state_->interrupted = false;
}

void Collector::State::look(const Moment& moment, bool again) {
  if (again) {
    lists.clear();
    std::erase(sources, nullptr);
  }
  if (replay) {
    now = replay->now();
    replay_sources();
  } else {
    now = moment;
    reap();
    find();
  }
  update();
  drop_replaced();
  changed = again || !is_unchanged();
  if (changed) {
    assemble();
  } else {
    snapshot.time = now.wall_ns;
  }
  if (options.events) keep_events();
}

void Collector::State::reap() {
  if (!options.reap || (reaped_ns != 0 && now.monotonic_ns < reaped_ns + kReapEveryNs)) return;
  reaped_ns = now.monotonic_ns;
  collect_garbage({.directories = options.directories, .root = options.root});
}

void Collector::State::find() {
  same_sources = snapshot.time != 0;
  const std::vector<Directory> where = find_directories(options.directories, options.root);
  if (!is_listed(where)) list(where);
}

// A listing costs as much as a look at every process in it, and mostly finds what is known.
bool Collector::State::is_listed(const std::vector<Directory>& where) {
  std::vector<ListState> found;
  for (const Directory& directory : where) found.push_back(list_state(directory, now.wall_ns));
  const bool same = found == lists && std::ranges::all_of(found, &ListState::settled);
  lists = std::move(found);
  return same && !newborns && deleted.empty() && now.monotonic_ns < retry_ns;
}

void Collector::State::list(const std::vector<Directory>& where) {
  unreadable.clear();
  directories.clear();
  newborns = false;
  retry_ns = ~0ull;
  std::map<std::string, std::unique_ptr<SegmentSource>> known;
  for (auto& source : sources) known.emplace(source->path(), std::move(source));
  std::vector<Candidate> candidates = find_candidates(where);
  std::set<std::string> named;
  for (Candidate& each : candidates) {
    named.insert(each.file.path);
    const auto source = known.find(each.file.path);
    each.followed =
        source != known.end() && source->second->reader().file().inode() == each.file.inode;
  }
  std::erase_if(cut_offs, [&](const auto& entry) { return !named.contains(entry.first); });
  excesses = admit(candidates, most_followed());

  sources.clear();
  for (const Candidate& each : candidates) {
    if (each.followed) {
      sources.push_back(std::move(known.extract(each.file.path).mapped()));
    } else if (auto source = open(each.file)) {
      same_sources = false;
      sources.push_back(std::move(source));
    }
  }
  same_sources = same_sources && known.empty();
  keep_deleted(std::move(known), named);
  std::ranges::sort(sources, {}, [](const auto& source) { return source->path(); });
}

std::vector<Candidate> Collector::State::find_candidates(const std::vector<Directory>& where) {
  std::vector<Candidate> found;
  for (const Directory& directory : where) {
    directories.push_back(directory.path);
    auto listing = list_segments(directory);
    if (!listing) {
      unreadable.push_back({directory.path, listing.error()});
      retry_ns = std::min(retry_ns, now.monotonic_ns + kFirstPauseNs);
      continue;
    }
    for (Found& file : listing->files) {
      if (options.process && pid_of_name(file.name) != options.process->pid) continue;
      found.push_back({std::move(file)});
    }
  }
  return found;
}

// A file that was deleted under a living process is still what that process says.
void Collector::State::keep_deleted(std::map<std::string, std::unique_ptr<SegmentSource>> unnamed,
                                    const std::set<std::string>& named) {
  deleted.clear();
  std::map<std::uint32_t, std::size_t> of_owner;
  for (auto& [path, source] : unnamed) {
    const bool is_deleted = source->alive() && !named.contains(path);
    if (is_deleted && ++of_owner[source->owner()] <= kMostDeletedOfOne) {
      deleted.insert(path);
      sources.push_back(std::move(source));
    } else {
      log.drop(*source, now.wall_ns);
    }
  }
}

Result<std::unique_ptr<SegmentSource>> Collector::State::try_open(const Found& file) const {
  try {
    return SegmentSource::open(file, next_key, options);
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kCorrupt, fmt::format("it cannot be opened: {}", problem.what())};
  }
}

// Null: not a segment, or not yet.
std::unique_ptr<SegmentSource> Collector::State::open(const Found& file) {
  if (const CutOff* known = known_cut_off(file)) {
    unreadable.push_back({file.path, known->error, file.uid});
    retry_ns = std::min(retry_ns, known->until_ns);
    return nullptr;
  }
  auto source = try_open(file);
  if (source) {
    if (!is_wanted(**source, file.name)) return nullptr;
    ++next_key;
    return std::move(*source);
  }
  if (source.error().code == ErrorCode::kNotFound) return nullptr;
  const auto newborn = segment::ReadOnlyFile::open(file.path, file.owner);
  if (newborn && newborn->modified_ns() + kNewbornNs > now.wall_ns) {
    newborns = true;
  } else {
    const Unreadable refused{file.path, source.error(), file.uid};
    CutOff& entry = cut_off(refused, file.inode, kLongestRefusalNs);
    entry.was_refused = true;
    entry.owner_rule = file.owner;
  }
  return nullptr;
}

bool Collector::State::is_wanted(const SegmentSource& source, const std::string& name) const {
  if (!options.process) return true;
  ledger::ProcessName process;
  process.pid = options.process->pid;  // as its name says
  process.start = source.header().subject.start_ticks;
  process.segment = name;
  return options.process->matches(process);
}

void Collector::State::update() {
  std::vector<int> descriptors;
  descriptors.reserve(sources.size());
  for (const auto& source : sources) descriptors.push_back(source->exit_descriptor());
  const std::vector<bool> exited = poll_exited(descriptors);
  const std::uint64_t quiet_every_ns = std::uint64_t{options.quiet_every_ms} * 1'000'000;
  late.clear();
  std::map<std::uint32_t, Spent> spent;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    SegmentSource& source = *sources[i];
    Spent& of_owner = spent[source.owner()];
    const bool is_bounded = !replay && !source.is_trusted();
    of_owner.bytes += source.reader().file().data_bytes();
    const bool rests = !exited[i] && source.rests(now, quiet_every_ns);
    const bool is_late = !rests && is_bounded && of_owner.ns > kMostLookNs;
    if (is_late) ++late[source.owner()];
    std::optional<Error> error;
    if (!rests && !is_late) {
      const std::uint64_t before = processor_ns();
      segment::Patience::left() = of_owner.patience;
      error = follow(source, exited[i]);
      of_owner.patience = segment::Patience::left();
      of_owner.ns += processor_ns() - before;
    }
    if (is_bounded) of_owner.add_devices(source.ledger());
    if (rests || is_late) continue;
    if (!error && is_bounded) error = of_owner.excess();
    same_sources = same_sources && !error && !source.changed();
    if (!error) continue;
    log.drop(source, now.wall_ns);
    cut_off({source.path(), *error, source.owner()}, source.reader().file().inode(),
            kLongestPauseNs);
    sources[i].reset();
  }
  std::erase(sources, nullptr);
}

// Whatever one source does, the others are not touched by it.
std::optional<Error> Collector::State::follow(SegmentSource& source, bool exited) {
  try {
    if (auto error = source.update(procfs, now, exited)) return error;
    if (source.changed()) source.work_out(options.totals_only);
    if (options.launches) source.watch(now.wall_ns);
    if (source.ledger().exhausted()) throw ledger::TooMuch();
    return std::nullopt;
  } catch (const std::exception& problem) {
    return too_much(problem);
  }
}

CutOff& Collector::State::cut_off(Unreadable entry, std::uint64_t inode, std::uint64_t longest_ns) {
  CutOff& known = cut_offs[entry.path];
  if (known.inode != inode) known = {};
  known.inode = inode;
  known.pause_ns = std::min(std::max(known.pause_ns * 2, kFirstPauseNs), longest_ns);
  known.until_ns = now.monotonic_ns + known.pause_ns;
  known.error = entry.error;
  retry_ns = std::min(retry_ns, known.until_ns);
  unreadable.push_back(std::move(entry));
  return known;
}

const CutOff* Collector::State::known_cut_off(const Found& file) const {
  const auto found = cut_offs.find(file.path);
  if (found == cut_offs.end() || found->second.inode != file.inode) return nullptr;
  if (found->second.was_refused && found->second.owner_rule != file.owner) return nullptr;
  return now.monotonic_ns < found->second.until_ns ? &found->second : nullptr;
}

// A writer whose file was deleted makes a new one with the same contents: only the new one counts.
void Collector::State::drop_replaced() {
  if (deleted.empty()) return;
  std::set<Identity> recreated;
  for (const auto& source : sources) {
    // Of an unknown user nobody can say whose file it replaces.
    const bool again = (source->header().flags & segment::kHeaderRecreated) != 0 &&
                       !is_unknown_user(source->owner());
    if (again && source->alive() && !deleted.contains(source->path())) {
      recreated.insert(identity_of(*source));
    }
  }
  std::erase_if(sources, [&](const auto& source) {
    if (!deleted.contains(source->path()) || !recreated.contains(identity_of(*source))) {
      return false;
    }
    log.drop(*source, now.wall_ns);
    return true;
  });
}

void Collector::State::keep_events() {
  for (const auto& source : sources) log.add(*source, now.wall_ns);
  log.merge(snapshot, chips);
}

const std::string& Collector::State::user(std::uint32_t uid) {
  if (users.size() > kMostRemembered) users.clear();
  auto [known, added] = users.try_emplace(uid);
  if (added) known->second = is_unknown_user(uid) ? "unknown" : user_name(uid);
  return known->second;
}

ledger::ProcessInput Collector::State::input(const SegmentSource& source) {
  ledger::ProcessInput input;
  input.identity = source.identity();
  ledger::ProcessView& view = input.identity;
  const std::uint64_t space = source.header().subject.pid_namespace;
  const bool elsewhere = !replay && space != 0 && space != procfs.pid_namespace();
  if (replay) view.container = containers[source.key()];
  if (elsewhere) view.container = fmt::format("pid namespace {}", space);
  if (options.host && view.alive) {
    host_sources.locate(elsewhere ? space : 0, source.is_trusted(), view);
  }
  input.ledger = &source.ledger();
  if (options.launches) input.watch = &source.launches();
  input.trusted = source.is_trusted();
  input.is_false_claim = source.is_false_claim();
  const segment::Identity& subject = source.header().subject;
  // Of what is no pid here nobody was asked.
  input.start_is_known = space != 0 && !elsewhere && subject.pid > 0 && subject.start_ticks != 0 &&
                         same_boot(procfs, subject) && !is_unknown_user(source.owner());
  input.to_time = [&source](ledger::Ticks ticks) { return source.wall(ticks); };
  input.peaks = [&source] { return source.peaks(); };
  return input;
}

bool Collector::State::is_host_due() const {
  const std::uint64_t every_ns = std::uint64_t{options.host_every_ms} * 1'000'000;
  return options.host && now.monotonic_ns >= host_read_ns + every_ns;
}

bool Collector::State::is_unchanged() {
  return same_sources && !is_host_due() && problems() == told_problems &&
         directories == snapshot.directories;
}

// What cannot be read, or is not believed, in words. Both are said of a file, by name.
std::vector<std::string> Collector::State::problems() {
  std::vector<std::string> lines;
  std::map<std::uint32_t, std::size_t> of_owner;
  for (const Unreadable& entry : unreadable) {
    if (++of_owner[entry.owner] > kMostProblemsOfOne) continue;
    lines.push_back(entry.path + ": " + entry.error.message);
  }
  for (const auto& [owner, count] : of_owner) {
    if (count <= kMostProblemsOfOne) continue;
    lines.push_back(
        fmt::format("{} more files of {} cannot be read", count - kMostProblemsOfOne, user(owner)));
  }
  for (const Excess& excess : excesses) {
    lines.push_back(fmt::format("{} files of {} are left out: they have more than all others, {}",
                                excess.files, user(excess.owner), excess.reason));
  }
  for (const auto& [owner, count] : late) {
    lines.push_back(fmt::format(
        "{} files of {} are not up to date: looking at the others took longer than {} s", count,
        user(owner), kMostLookNs / 1'000'000'000));
  }
  if (replay) std::ranges::copy(replay->problems(), std::back_inserter(lines));
  for (const auto& source : sources) {
    if (!source->is_false_claim()) continue;
    lines.push_back(fmt::format(
        "{}: it claims to be process {}, which is not one of {}, to whom the file belongs: not "
        "counted",
        source->path(), source->header().subject.pid, user(source->owner())));
  }
  return lines;
}

// Which chips are meant where a process told a number alone. False: a source had to be given up.
bool Collector::State::join_chips() {
  ChipsOfUsers told;
  for (const auto& source : sources) {
    const ChipsOfUsers::Teller teller{source->identity().uid, source->is_trusted(),
                                      source->alive()};
    for (const ledger::DeviceIndex each : source->ledger().devices()) {
      told.tell(teller, source->ledger().device(each));
    }
  }
  NumberedChips boards;
  if (options.host) host_sources.tell_numbers(inputs, boards);
  told.conclude(boards);
  chips = std::move(told);
  for (auto& source : sources) {
    try {
      if (source->join(chips.of(source->identity().uid))) source->work_out(options.totals_only);
    } catch (const std::exception& problem) {
      log.drop(*source, now.wall_ns);
      cut_off({source->path(), too_much(problem), source->owner()}, source->reader().file().inode(),
              kLongestPauseNs);
      source.reset();
    }
  }
  for (ledger::ProcessInput& each : inputs) {
    for (ledger::FailureView& failure : each.identity.failures) {
      for (std::uint64_t& chip : failure.devices) {
        chip = chips.of(each.identity.uid).resolve(chip);
      }
    }
  }
  return std::erase(sources, nullptr) == 0;
}

void Collector::State::assemble() {
  if (options.host) host_sources.refresh(now.monotonic_ns);
  host_read_ns = now.monotonic_ns;
  do {
    inputs.clear();
    inputs.reserve(sources.size());
    for (const auto& source : sources) {
      if (source->was_read()) inputs.push_back(input(*source));
    }
  } while (!join_chips());
  TTMEM_DCHECK(inputs.size() <= sources.size());
  if (options.host) host_sources.add(inputs, options.process);
  for (ledger::ProcessInput& each : inputs) {
    each.identity.user = user(each.identity.uid);
    if (options.hides_words_of(each.identity.uid)) each.identity.hide_words();
  }
  snapshot = ledger::assemble(inputs, peaks, options.totals_only);
  snapshot.host = replay ? segment::text(replay->info().host) : host;
  snapshot.boot_id = replay ? segment::text(replay->info().boot_id) : procfs.boot_id_text();
  snapshot.time = now.wall_ns;
  snapshot.directories = directories;
  told_problems = problems();
  snapshot.unreadable = told_problems;
  if (options.host) host_sources.finish(snapshot);
  if (options.witness != nullptr) ledger::add_ends(options.witness->snapshot(), snapshot);
}

}  // namespace ttmem::collect
