// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a ledger says at one moment: plain data that every view prints, and nothing else. The
// documents of docs/json.md are these structs written out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/enums.hpp"
#include "ledger/figures.hpp"
#include "ledger/job.hpp"
#include "ledger/nominal.hpp"

namespace ttmem::ledger {

// Wall-clock time in nanoseconds since the epoch; 0 is never a time.
using TimeNs = std::uint64_t;

enum class Ended : std::uint8_t { kAlive, kClosed, kDied, kExec };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<Ended> = {"alive", "closed", "died",
                                                                    "exec"};

// In what a process contradicts what is believed of a chip (ledger/geometry.hpp).
enum class Contradiction : std::uint8_t {
  kNone,
  kDram,     // banks of DRAM, or their size
  kL1,       // L1 per core, or in all
  kHeld,     // it holds more than there is
  kProcess,  // it names a process of another user
};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<Contradiction> = {"", "dram", "l1",
                                                                            "held", "process"};

enum class Source : std::uint8_t {
  kApi,
  kInjector,
  kPatched,
  kLegacy,
  kUpstream,
  kEstimate,
  kProcfs,
  kDaemon  // another reader, which may read more, told about it
};
template <>
inline constexpr std::array<std::string_view, 8> kNamesOf<Source> = {
    "api", "injector", "patched", "legacy", "upstream", "estimate", "procfs", "daemon"};

// Which process something belongs to. A pid alone does not say it: every container has a pid 1, and
// pids are used again. Pid, start and segment together name one process of a boot.
struct ProcessName {
  std::uint64_t key = 0;    // stable within one reader
  std::int32_t pid = 0;     // as the process itself sees it
  std::uint64_t start = 0;  // ticks since boot, as in /proc
  std::string segment;      // file name; "" = none
  std::string name;         // of its command
  bool alive = false;
  // What stands behind the pid where another process of the document has the same one: "/81234".
  std::string distinction;

  std::string label() const { return std::to_string(pid) + distinction; }
  bool is(const ProcessName& other) const {
    return pid == other.pid && start == other.start && segment == other.segment;
  }
  bool operator==(const ProcessName&) const = default;
};

// A process as people name it: "4711", or a label that tells it from others: "1/81234".
struct ProcessSelector {
  std::int32_t pid = 0;
  std::optional<std::uint64_t> start;
  std::string segment_end;  // "" = any

  static constexpr std::string_view kForm = "a pid, or PID/START where several processes have it";
  static std::optional<ProcessSelector> parse(std::string_view text);
  bool matches(const ProcessName& process) const;
  std::string text() const;
};

// A device as people name it: by its id in the document, or for good by its unique id.
struct DeviceSelector {
  std::optional<std::uint32_t> id;
  std::optional<std::uint64_t> unique_id;

  static constexpr std::string_view kForm = "the id of a device, or its unique id, 0x...";
  static std::optional<DeviceSelector> parse(std::string_view text);
  bool matches(std::uint32_t id_of, std::uint64_t unique_id_of) const {
    return id ? *id == id_of : unique_id == unique_id_of;
  }
};

// Of a holding, a program, an event: shared by all that one process has.
using Owner = std::shared_ptr<const ProcessName>;
const Owner& nobody();

struct ProcessView;
// Fills in the distinctions: the living are told from the living, the dead from everybody.
void distinguish(std::vector<ProcessView>& processes);

// Where something comes from, from the outermost step inwards: regions, frames as "FILE:LINE
// FUNCTION", operation. Shared by all that comes from there; null = not known.
using Stack = std::shared_ptr<const std::vector<std::string>>;

// Whether what a process holds names its line of Python.
enum class Lines : std::uint8_t { kUnknown, kOn, kOff, kRefused };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<Lines> = {"unknown", "on", "off",
                                                                    "refused"};

struct Tracking {
  std::optional<bool> exact;  // true: the runtime's own statistics agree; empty: not compared
  std::int64_t difference_bytes = 0;  // ours minus theirs, over all banks, when not exact
  bool since_open = true;             // false: attached late and seeded
  bool partial = false;               // an earlier part is not known
  bool disconnected = false;          // a legacy client whose socket closed
  std::vector<std::string> hooks_missing;
  std::uint64_t unrecorded = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t unsettled = 0;           // slots that changed at every read
  std::uint64_t dangling = 0;            // records that refer to nothing; in no total
  std::vector<std::uint64_t> anomalies;  // by kind
  bool not_tmpfs = false;
  bool growth_stopped = false;
  bool unreached = false;         // its runtime was loaded in a way that hides it from the hooks
  Lines lines = Lines::kUnknown;  // unknown: no Python that uses the runtime was seen
  std::string lines_reason;       // why they are not told; "" = none given
  bool stacks_cut = false;        // no room for more: of new stacks the line alone is known
  // Requested bytes here minus those in the runtime's own shared memory, where both tell.
  std::optional<std::int64_t> upstream_difference_bytes;
  bool operator==(const Tracking&) const = default;
};

struct FailureView {
  std::uint32_t number = 0;
  std::string
      kind;  // "out_of_memory", "cb_clash", "dataflow_buffer_clash", "ring_too_small", "other"
  TimeNs time = 0;
  std::string message;
  Figure requested, per_bank;
  std::optional<Space> space;
  std::optional<std::uint64_t> program;
  std::vector<std::uint64_t> devices;  // unique ids
  std::string cores;                   // "0,0-7,7"; "" = all
  std::string operation, line, region;
  Stack stack;
  // Who alone is told line, region, stack and message, which are not here then; "" = everybody.
  std::string told_to;
  std::uint32_t holdings = 0;  // in the picture
  bool truncated = false;
  bool operator==(const FailureView&) const = default;
};

// What the driver of the host says about a device, whoever uses it.
struct HostDevice {
  std::uint32_t node = 0;  // N of /dev/tenstorrent/N
  std::string bus;         // "0000:61:00.0"
  // Which rule made the driver's device and the chip one: "asic_id", "serial",
  // "serial_and_location"; "" = no process told about such a chip.
  std::string joined_by;
  std::optional<std::int64_t> temperature_millidegrees, power_microwatts, voltage_millivolts,
      current_milliamperes, fan_rpm;
  std::optional<std::int64_t> aiclk_mhz, axiclk_mhz, arcclk_mhz, heartbeat;
  bool operator==(const HostDevice&) const = default;
};

struct DeviceView {
  std::uint32_t id = 0;  // Metal id if no other chip in the document has it, else the next free
  std::uint64_t unique_id = 0;
  std::string board;
  Arch arch = Arch::kUnknown;
  bool mock = false;
  std::uint16_t grid_x = 0, grid_y = 0;
  std::uint32_t tensix_cores = 0, eth_cores = 0, dispatch_cores = 0;
  std::optional<std::uint32_t> l1_bytes_per_core;
  std::optional<std::uint32_t> dram_banks;
  std::uint32_t processes = 0;  // alive, with the device open
  std::optional<HostDevice> host;
  DeviceFigures figures;  // sums over processes that are alive

  // What the board has by its data sheet, while no process has told what the chip has.
  std::optional<NominalCapacity> nominal() const {
    const bool known = figures.space(Space::kDram).capacity || figures.l1_capacity;
    return known || mock ? std::nullopt : nominal_capacity(board, arch);
  }
  bool operator==(const DeviceView&) const = default;
};

struct ProcessDeviceView {
  std::uint32_t id = 0;
  std::uint16_t index = 0;  // DeviceIndex in the ledger of its process; 0 = known from outside
  std::uint64_t unique_id = 0;
  std::optional<std::int32_t> metal_id;
  bool open = false;
  bool in_mesh = false;  // some allocator of the process covers it
  // What it says of the chip is not believed: its figures are in none of the device.
  Contradiction contradiction = Contradiction::kNone;
  DeviceFigures figures;
  bool counts() const { return contradiction == Contradiction::kNone; }
  bool operator==(const ProcessDeviceView&) const = default;
};

// Devices that a process opened as one, row by row: neighbours in it are neighbours on the wire.
struct MeshView {
  std::uint16_t rows = 0, columns = 0;
  std::vector<std::uint32_t> devices;  // ids of the document
  bool operator==(const MeshView&) const = default;
};

struct ProcessView : ProcessName {
  std::string command, user;
  std::uint32_t uid = 0;
  bool hidden = false;  // lines, stacks, regions, command and texts of failures are not told
  Ended ended = Ended::kAlive;
  TimeNs started = 0, ended_at = 0;
  std::vector<Source> sources;
  std::string runtime_version, container;
  Job job;                               // of which it is a rank
  Pod pod;                               // in which it runs
  bool stand_in_kernels = false;         // built by a stand-in compiler: sizes are not true
  std::optional<std::int32_t> host_pid;  // as the reader sees it; `pid` is the process's own
  Tracking tracking;
  std::vector<FailureView> failures;  // the first and the last ones
  std::uint64_t failure_count = 0;    // of all
  std::vector<ProcessDeviceView> devices;
  std::vector<MeshView> meshes;  // open now, or when the process ended
  std::uint64_t events = 0;      // number of the last event: the state is the one after it
  void hide_words();
  bool operator==(const ProcessView&) const = default;
};

// A figure of a process over all its devices. Sums over processes count what is known, as the table
// of figures says; of one process, a part is never told as the whole. 0 where it has no device.
template <typename FigureOf>
Figure over_devices(const ProcessView& process, FigureOf figure_of) {
  WholeSum sum;
  for (const ProcessDeviceView& device : process.devices) sum.add(figure_of(device.figures));
  return sum.result();
}

struct Snapshot {
  std::string host, boot_id;
  TimeNs time = 0;
  std::vector<DeviceView> devices;       // ascending id
  std::vector<ProcessView> processes;    // the living first, then by pid
  std::vector<std::string> unreadable;   // segments that exist and may not be read, with the reason
  std::vector<std::string> directories;  // where was looked
  std::vector<std::string> left_behind;  // by dead processes in the runtime's shared memory

  const ProcessView* process(std::uint64_t key) const;  // null if there is none
};

// ---- details, on request ----------------------------------------------------------------------

// From the numbers of one process to those of a document.
class LaunchWatch;
struct Naming {
  Owner process = nobody();
  // By DeviceIndex; a device that is not in it is left out. Empty: as they are.
  std::optional<std::map<std::uint16_t, std::uint32_t>> device_ids;
  std::function<TimeNs(std::uint64_t)> to_time;  // from ticks; none: as they are
  const LaunchWatch* watch = nullptr;            // null: rates of programs are not known
  bool with_launches = false;                    // programs with their series
};

enum class HoldingKind : std::uint8_t { kBuffer, kProgram, kKernel, kRange, kTrace };
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<HoldingKind> = {
    "buffer", "program", "kernel", "range", "trace"};

struct HoldingView {
  HoldingKind kind = HoldingKind::kBuffer;
  Owner process = nobody();
  std::vector<std::uint32_t> devices;  // ids of the document, ascending
  std::uint64_t id = 0;                // buffer id, or program id
  Figure index;                        // kernel or CB index within its program
  std::string name, operation, line, source;
  std::string device_operation;       // of a buffer: what was launched for it
  bool operation_is_derived = false;  // from the launch that followed on the same thread
  std::string region;                 // "model > layer 3"; "" = none
  Stack stack;
  Space space = Space::kDram;
  Layout layout = Layout::kInterleaved;
  KernelType type = KernelType::kApplication;
  Part part = Part::kCb;
  CoreType core_type = CoreType::kTensix;
  std::uint8_t processor = 255;
  std::uint64_t address = 0;                 // see known_address()
  std::uint32_t cores = 0;                   // how many
  std::string core_set;                      // "0,0-7,7"
  Figure requested, block, occupied, taken;  // on one device
  Figure packed, text, footprint;            // kernels
  std::uint64_t code = 0;                    // kernels: hash of the binary; 0 = not known
  std::uint64_t code_users = 0;  // kernels of the same devices that have this binary; 0 = not known
  bool loaded = false, estimated = false, kernel_binaries = false, trace_buffer = false;
  TimeNs since = 0, first_dispatch = 0, last_dispatch = 0;  // 0 = never
  Figure dispatches, cache_hits, reloads;  // empty: nobody tells, or it is never launched
};
// Only buffers and ranges have one; no range lies at 0.
inline Figure known_address(const HoldingView& holding) {
  if (holding.kind == HoldingKind::kBuffer) return holding.address;
  return holding.kind == HoldingKind::kRange && holding.address != 0 ? Figure(holding.address)
                                                                     : Figure();
}

// ---- which program ran when, as one reader saw it (ledger/launch_watch.hpp) --------------------

inline constexpr TimeNs kLaunchIntervalNs = 1'000'000'000;
inline constexpr std::size_t kLaunchIntervals = 300;  // that a reader remembers
inline constexpr TimeNs kRecentNs = 10'000'000'000;   // what a recent rate is the mean of

// What happened to a program in an interval, beside launches; bits.
inline constexpr std::uint8_t kMarkFirstLoad = 1, kMarkReload = 2, kMarkEviction = 4,
                              kMarkFailure = 8;

struct LaunchInterval {
  TimeNs time = 0;             // when it began
  std::uint64_t launches = 0;  // replays of traces that have the program included
  std::uint64_t replays = 0;   // of these
  std::uint8_t marks = 0;
};
// From `since` to `until`, at most as long as a reader remembers. An interval that is not listed
// had no launch and no mark.
struct LaunchSeries {
  TimeNs since = 0, until = 0;
  std::vector<LaunchInterval> intervals;  // ascending

  // Launches per second over the last ten seconds; empty while there was hardly time to look.
  std::optional<double> recent_rate() const;
  void mark(TimeNs time, std::uint8_t what);  // if it lies in the window
};

// The counters of one workload or trace.
struct LaunchCount {
  bool is_trace = false;
  std::uint64_t id = 0;
  std::uint64_t count = 0, reloads = 0;
  std::uint64_t first = 0, last = 0;  // ticks; 0 = never
  bool in_ring = false;               // its slice lies in an open ring
  std::uint32_t members = 0;          // of a trace: a list of the catalog
};

struct ProgramView {
  Owner process = nobody();
  std::uint64_t id = 0, workload = 0;
  std::string name, line, operation, region;
  Stack stack;
  KernelType type = KernelType::kApplication;
  bool loaded = false, estimated = false;
  std::vector<std::uint32_t> devices;
  std::uint32_t kernels = 0;
  std::uint32_t cores = 0;            // that its kernels or ranges cover
  std::string core_set;               // which of the Tensix cores: "0,0-7,7"; "" = none, or unknown
  std::uint64_t footprint = 0;        // 0 while only registered
  std::uint64_t l1_allocated = 0;     // size x cores of its ranges
  std::uint64_t l1_largest_core = 0;  // on the fullest core
  std::uint64_t views = 0;            // ranges that alias buffers
  std::array<std::uint32_t, kCoreTypes> config_bytes{};
  std::optional<bool> in_ring;             // its slice lies in a ring; empty: no ring is followed
  Figure dispatches, cache_hits, reloads;  // empty: nobody tells when it is launched
  TimeNs registered = 0, first_dispatch = 0, last_dispatch = 0;
  double dispatches_per_second = 0;  // between first and last dispatch
  Figure replays;                    // of live traces that have it as a member; empty: as above
  // Launches and replays per second in the last seconds; empty: nobody has watched it.
  std::optional<double> recent_per_second;
  std::optional<LaunchSeries> launches;  // filled on request
};

// What lies in a kernel-config ring, by address.
struct RingSliceView {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t workload = 0;  // 0 = none, or a trace
  std::string name;            // of the program, or "a trace"
  bool live = false;           // else the program is gone, and its bytes are free
  bool in_use = false;         // the runtime has not seen it end yet
};
struct RingView {
  Owner process = nobody();
  RingFigures figures;
  std::uint64_t base = 0;
  std::vector<RingSliceView> slices;  // what is between them is free
};

// One stretch of a core's L1, bottom to top.
enum class Stretch : std::uint8_t {
  kFixed,
  kRing,
  kProgramL1,
  kGap,
  kFree,
  kBuffer,
  kL1Small,
  kUnknown
};
template <>
inline constexpr std::array<std::string_view, 8> kNamesOf<Stretch> = {
    "fixed", "ring", "program_l1", "gap", "free", "buffer", "l1_small", "unknown"};
struct CoreStretch {
  Stretch kind = Stretch::kFree;
  std::uint64_t begin = 0, end = 0;
  std::string name;  // operation, program or CB
  Owner owner;       // null = nobody's
};

// Who is on both sides where the headroom of a core is negative; both belong to one process.
struct Clash {
  std::string program;  // "" = none: a buffer lies below the base of the program L1
  std::string buffer;   // "" = none: the program reaches beyond the L1 of buffers and programs
  Owner process = nobody();
};

// A buffer in a DRAM bank; `end` is one past its last byte.
struct BankBlock {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t id = 0;
  Owner process = nobody();
  std::string operation, line;
  TimeNs since = 0;
};

// One bank that stands for all of a space.
struct BankMap {
  Space space = Space::kDram;
  std::uint32_t banks = 0;
  std::uint64_t begin = 0, end = 0;  // what an allocator can give out
  std::vector<BankBlock> blocks;     // by address, the lowest 4,096
  bool truncated = false;            // there are more
  std::uint64_t free_bytes = 0, free_blocks = 0;
  std::vector<AddressRange> free;  // the largest 64 free blocks, the largest first
};

// How much of the L1 of a worker that programs and buffers can have is in use.
struct CoreUse {
  Core core;
  std::uint64_t used = 0, capacity = 0;  // 0: not known
};

// A loaded kernel on a core that programs do not share: ethernet and dispatch cores.
struct CoreKernel {
  std::string name, program;
  KernelType type = KernelType::kApplication;
  std::uint8_t processor = 255;
  std::uint64_t bytes = 0;  // packed
  Owner owner;
};

struct CoreView {
  Core core;
  Role role = Role::kWorker;
  std::uint8_t noc_x = 255, noc_y = 255;
  Figure l1_bytes;
  // fixed + ring + program_l1 + gaps + free + buffers + l1_small = l1_bytes, wherever that is
  // known; where it is not, nothing is free. l1_small is the whole region, used or not.
  std::uint64_t fixed = 0, ring = 0, program_l1 = 0, gaps = 0, free = 0, buffers = 0, l1_small = 0;
  // Parts of the above: what buffers with data on this core hold, and what is in L1_SMALL.
  std::uint64_t buffers_occupied = 0, l1_small_taken = 0, l1_small_occupied = 0;
  std::optional<std::int64_t> headroom, headroom_reserved;
  std::uint64_t reserved = 0;          // union over live programs
  std::uint64_t kernel_footprint = 0;  // packed bytes of loaded kernels on this core
  std::uint32_t ring_used = 0;
  std::optional<Clash> clash;       // if the headroom is negative
  std::vector<CoreStretch> map;     // filled on request
  std::vector<CoreKernel> kernels;  // with the map; of workers none: their programs take turns
};

}  // namespace ttmem::ledger
