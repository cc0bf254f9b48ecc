// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything a reader can know about the host, kept up to date: finds the segments, follows each
// one, decides who is alive, and hands out what the ledgers say. One thread uses one collector; any
// number of collectors may look at the same segments, and none of them disturbs another or a
// writer.
//
//   Collector collector({});
//   collector.refresh();                    // read what changed
//   ledger::Snapshot now = collector.snapshot();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/event.hpp"
#include "ledger/origin_totals.hpp"
#include "ledger/snapshot.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::ledger {
struct HoldingPlace;
struct HoldingQuestion;
}  // namespace ttmem::ledger

namespace ttmem::collect {

class Collector;

struct Options {
  // Where to look. Empty: $TTMEM_DIR if set, else /run/ttmem and every /dev/shm/ttmem-<uid> that
  // may be read.
  std::vector<std::string> directories;
  // Stands before /proc, /run and /dev/shm, so that tests can make up a machine. Not before
  // `directories`.
  std::string root;
  std::optional<ledger::ProcessSelector> process;  // follow this one only
  // Leaves largest free blocks and headroom out of the snapshot. Faster.
  bool totals_only = false;
  bool events = false;  // keep events for take_events()
  // Also what is known without segments: devices of the driver, processes that have them open, and
  // what a stock TT-Metal publishes in shared memory. Below `root`, else below $TTMEM_HOST_ROOT.
  bool host = false;
  // It has no mark of a change: while the segments have none either, it is looked at this often.
  std::uint32_t host_every_ms = 0;
  // How often the driver's devices and their sensors are read; they are read over the bus.
  std::uint32_t sensors_every_ms = 1000;
  // Looks at a process this often, and not at every refresh, once nothing of it has changed for
  // four times as long. For those who look ten times a second. An exit is noticed at once all the
  // same.
  std::uint32_t quiet_every_ms = 0;
  // Only processes of this user are told with their lines, stacks, regions, commands and texts of
  // failures: for one who answers strangers. Empty = everybody's.
  std::optional<std::uint32_t> words_of_user;
  bool hides_words_of(std::uint32_t user) const { return words_of_user && *words_of_user != user; }
  // Calls of native code are named by the symbols of their modules, in processes of this very user;
  // which takes a while, and is not done by those who answer others.
  bool native_names = true;
  // Watch the counters of launches, so that programs have recent rates and series.
  bool launches = false;
  // Remove dead segments beyond the limits of segment/limits.hpp while refreshing.
  bool reap = false;
  // Has looked for longer, and so knows when processes ended that this one found dead. Outlives it.
  const Collector* witness = nullptr;
};

class Replay;

// A segment that is there and cannot be used, and why, in words for the user.
struct Unreadable {
  std::string path;
  Error error;
  std::uint32_t owner = 0;  // a directory has none
};

class Collector {
 public:
  explicit Collector(Options options);
  // The same, of a recording: nothing of this host is looked at. Of the options, `process`,
  // `totals_only` and `events` hold.
  static Result<Collector> open_recording(const std::string& path, Options options);
  ~Collector();
  Collector(Collector&&) noexcept;
  Collector& operator=(Collector&&) noexcept;

  // Reads what changed since the last time. Never fails as a whole: what cannot be read is listed.
  void refresh();
  // The same, as of a moment that was read by others just now.
  void refresh(const struct Moment& now);

  // The recording that it reads, to go to another moment of it before the next refresh; null if it
  // looks at the present. Its header: collect/replay.hpp.
  Replay* replay() const;

  // Whether the last refresh changed anything in the snapshot but its time.
  bool changed() const;

  // The state as of the last refresh. Device ids in everything below are those of this document.
  const ledger::Snapshot& snapshot() const;
  const std::vector<Unreadable>& unreadable() const;
  // The default directories, or those given; also those that do not exist.
  const std::vector<std::string>& directories() const;

  // The cores of a device as all living processes together fill them; with `only`, that one.
  std::vector<ledger::CoreView> cores(std::uint32_t device_id, bool with_map,
                                      std::optional<ledger::Core> only = {}) const;
  // Of each worker of a device, how much is in use. Cheap.
  std::vector<ledger::CoreUse> core_use(std::uint32_t device_id) const;
  // What lies in the kernel-config rings of a device, by process.
  std::vector<ledger::RingView> rings(std::uint32_t device_id) const;
  // DRAM and the trace region of a device, one bank for all. Walks all holdings.
  std::vector<ledger::BankMap> banks(std::uint32_t device_id) const;
  // Every holding of every process, also of those that died (`alive` tells). Order: by process,
  // then by slot.
  void holdings(const std::function<void(const ledger::HoldingView&)>& visit) const;
  // Some of them, from a place on, and how many there are: what a page of them costs is what is on
  // it (ledger/holding_page.hpp).
  bool holdings(const ledger::HoldingQuestion& question, ledger::HoldingPlace& place,
                const std::function<bool(const ledger::HoldingView&)>& visit) const;
  std::uint64_t count_holdings(const ledger::HoldingQuestion& question) const;
  // With `with_launches`, what was seen of their launches since the first refresh, up to five
  // minutes: needs Options::launches.
  std::vector<ledger::ProgramView> programs(bool with_launches = false) const;
  // What is held, by the code that it comes from.
  ledger::OriginTotals origins(const ledger::OriginQuestion& question) const;
  // What was held when a failure happened. `process_key` is ProcessView::key.
  Result<std::vector<ledger::HoldingView>> failure_picture(std::uint64_t process_key,
                                                           std::uint32_t number) const;
  // The same for findings: the space that failed, block by block.
  Result<ledger::FailurePicture> failed_space(std::uint64_t process_key,
                                              std::uint32_t number) const;
  // A space of a device as it is now, once for each living process that has it open.
  std::vector<ledger::LiveSpace> live_spaces(std::uint32_t device_id, ledger::Space space) const;

  // What happened since the last call, merged over all processes in the order of time; within a
  // process always in its own order. The first call gives what the rings still hold. Needs
  // Options::events.
  std::vector<ledger::EventView> take_events();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::collect
