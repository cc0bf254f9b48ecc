// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/server.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "collect/collector.hpp"
#include "legacy/log.hpp"
#include "legacy/reports.hpp"
#include "legacy/units.hpp"
#include "loop/loop.hpp"
#include "view/labels.hpp"

namespace ttmem::legacy {
namespace {

using namespace std::chrono_literals;

std::string size_or_question(const ledger::Figure& bytes) { return bytes ? compact(*bytes) : "?"; }

std::string device_line(const ledger::DeviceView& device) {
  ledger::Figure dram = device.figures.space(ledger::Space::kDram).capacity;
  ledger::Figure l1 = device.figures.l1_capacity;
  const auto nominal = device.nominal();
  if (nominal) dram = nominal->dram_bytes;
  if (nominal) l1 = nominal->l1_bytes();
  return fmt::format("   Device {}: {} ({} DRAM, {} L1{})\n", device.id, view::title(device.arch),
                     size_or_question(dram), size_or_question(l1), nominal ? ", nominal" : "");
}

bool is_client(const ledger::ProcessView* process) {
  return process != nullptr &&
         std::ranges::find(process->sources, ledger::Source::kLegacy) != process->sources.end();
}

}  // namespace

Server::Server(loop::Loop& loop, Log& log, ServerOptions options)
    : loop_(loop),
      log_(log),
      options_(std::move(options)),
      service_(options_.service, log),
      socket_(loop, service_, options_.socket) {}

Server::~Server() {
  if (statistics_timer_ != 0) loop_.cancel(statistics_timer_);
}

std::optional<std::string> Server::start(const ledger::Snapshot& snapshot) {
  observe(snapshot);
  if (auto problem = socket_.open()) return problem;
  observe(snapshot);  // once more: adopted clients are counted from their books now
  if (!options_.original_log) return std::nullopt;
  print_start(snapshot);
  statistics_timer_ = loop_.every(10s, [this] { print_statistics(); });
  return std::nullopt;
}

void Server::print_start(const ledger::Snapshot& snapshot) {
  std::string text = "🔍 Device detection:\n";
  for (const ledger::DeviceView& device : snapshot.devices) text += device_line(device);
  text += snapshot.devices.empty()
              ? "   No devices detected\n   Server will track allocations anyway\n"
              : fmt::format("   Total: {} device(s) detected\n", snapshot.devices.size());
  text +=
      fmt::format("🚀 Allocation Server started\n   Listening on: {}\n   Press Ctrl+C to stop\n",
                  options_.socket.path);
  log_.report(text);
  log_.flush();
}

void Server::observe(const ledger::Snapshot& snapshot) { service_.observe(snapshot); }

void Server::tell(const std::vector<ledger::EventView>& events, const ledger::Snapshot& snapshot) {
  if (!options_.original_log || !log_.wants_events()) return;
  for (const ledger::EventView& event : events) {
    const ledger::ProcessView* process = snapshot.process(event.process->key);
    if (!is_client(process)) log_.event(event_lines(event, process, {}));
  }
  log_.flush();
}

void Server::print_statistics() {
  log_.report(service_.statistics());
  log_.flush();
}

void Server::stop() {
  service_.owner_log().tell_left_out();
  if (!options_.original_log) return;
  log_.report(service_.statistics() + "\n🛑 Allocation Server stopped\n");
  log_.flush();
}

using namespace std::chrono_literals;

int run_allocation_server(const AllocationServerOptions& options) {
  loop::Loop loop;
  StreamLog log(STDOUT_FILENO, STDERR_FILENO, options.quiet);
  collect::Collector collector({.totals_only = true, .events = !options.quiet, .host = true});
  collector.refresh();
  collector.take_events();

  ServerOptions wanted;
  wanted.socket.path = options.path;
  wanted.original_log = true;
  if (options.most_entries > 0) wanted.service.most_entries = options.most_entries;
  Server server(loop, log, wanted);
  // Before anybody can know of us; what comes waits for the loop.
  for (const int signal : {SIGINT, SIGTERM}) {
    loop.on_signal(signal, [&loop] { loop.stop(); });
  }
  loop.on_signal(SIGUSR1, [&server] { server.print_statistics(); });
  if (const auto problem = server.start(collector.snapshot())) {
    log.error("Error: " + *problem + "\n");
    log.flush();
    return 1;
  }
  loop.every(200ms, [&] {
    collector.refresh();
    server.observe(collector.snapshot());
    server.tell(collector.take_events(), collector.snapshot());
  });
  loop.run();
  server.stop();
  return 0;
}

}  // namespace ttmem::legacy
