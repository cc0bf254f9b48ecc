// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/client_holdings.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace ttmem::legacy {
namespace {

void change(std::uint64_t& sum, std::uint64_t amount, bool add) {
  sum = add ? sum + amount : sum - amount;
}

}  // namespace

Buffer* ClientHoldings::find(Buffers& buffers, std::uint8_t kind) {
  if (buffers.newest.kind == kind) return &buffers.newest;
  if (!buffers.older) return nullptr;
  const auto found = std::ranges::find(*buffers.older, kind, &Buffer::kind);
  return found == buffers.older->end() ? nullptr : &*found;
}

void ClientHoldings::count(const Place& place, const Buffer& buffer, bool add) {
  Tally& tally = (*totals_)[place.device];
  change(tally.bytes[buffer.kind], buffer.size, add);
  change(tally.buffers, 1, add);
  change(entries_, 1, add);
}

void ClientHoldings::count(const Place& place, const Cb& cb, bool add) {
  Tally& tally = (*totals_)[place.device];
  change(tally.cb_bytes, cb.size, add);
  change(tally.cbs, 1, add);
  change(entries_, 1, add);
}

void ClientHoldings::count(const Place& place, const Kernel& kernel, bool add) {
  Tally& tally = (*totals_)[place.device];
  change(tally.kernel_bytes[kernel_kind(kernel.type)], kernel.size, add);
  change(tally.kernels[kernel_kind(kernel.type)], 1, add);
  change(entries_, 1, add);
}

ClientHoldings::Allocated ClientHoldings::allocate(const Place& place, std::uint8_t kind,
                                                   std::uint64_t size) {
  using What = Allocated::What;
  const Buffer fresh{size, 1, kind};
  auto [entry, added] = buffers_.try_emplace(place);
  Buffers& buffers = entry->second;
  if (added) {
    buffers.newest = fresh;
    count(place, fresh, true);
    return {What::kNew, 1, 0};
  }
  if (Buffer* live = find(buffers, kind)) {
    if (live->size == size) return {What::kReferenced, ++live->references, size};
    count(place, *live, false);
    const std::uint64_t before = std::exchange(live->size, size);
    live->references = 1;
    count(place, *live, true);
    return {What::kReplaced, 1, before};
  }
  if (!buffers.older) buffers.older = std::make_unique<std::vector<Buffer>>();
  buffers.older->push_back(std::exchange(buffers.newest, fresh));
  count(place, fresh, true);
  return {What::kNew, 1, 0};
}

std::optional<ClientHoldings::Freed> ClientHoldings::free(const Place& place) {
  const auto entry = buffers_.find(place);
  if (entry == buffers_.end()) return std::nullopt;
  Buffers& buffers = entry->second;
  Freed freed{buffers.newest, buffers.older != nullptr};
  freed.buffer.references = --buffers.newest.references;
  if (freed.buffer.references > 0) return freed;
  count(place, freed.buffer, false);
  if (!buffers.older) {
    buffers_.erase(entry);
    return freed;
  }
  buffers.newest = buffers.older->back();
  buffers.older->pop_back();
  if (buffers.older->empty()) buffers.older.reset();
  return freed;
}

// ---- circular buffers ------------------------------------------------------------------------

Cb ClientHoldings::add_cb(const Place& place, std::uint64_t size) {
  const Cb cb{size, next_cb_++};
  cbs_[place].push_back(cb);
  count(place, cb, true);
  return cb;
}

std::optional<Cb> ClientHoldings::remove_cb(const Place& place, std::uint64_t size) {
  const auto entry = cbs_.find(place);
  if (entry == cbs_.end()) return std::nullopt;
  std::vector<Cb>& live = entry->second;
  auto chosen = std::find_if(live.rbegin(), live.rend(),
                             [size](const Cb& each) { return each.size == size; });
  if (chosen == live.rend()) chosen = live.rbegin();
  const Cb cb = *chosen;
  live.erase(std::next(chosen).base());
  if (live.empty()) cbs_.erase(entry);
  count(place, cb, false);
  return cb;
}

void add_covered_bytes(const ClientHoldings& holdings,
                       std::map<std::int32_t, std::uint64_t>& covered) {
  std::vector<std::tuple<std::int32_t, std::uint64_t, std::uint64_t>> ranges;
  holdings.for_each_cb([&](const Place& place, const Cb& cb) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - place.id;
    ranges.emplace_back(place.device, place.id, place.id + std::min(cb.size, room));
  });
  std::ranges::sort(ranges);
  std::int32_t last = -1;
  std::uint64_t end = 0;
  for (const auto& [device, from, to] : ranges) {
    if (std::exchange(last, device) != device) end = 0;
    if (to <= end) continue;
    covered[device] += to - std::max(from, end);
    end = to;
  }
}

// ---- kernels ---------------------------------------------------------------------------------

std::optional<Kernel> ClientHoldings::load(const Place& place, const Kernel& kernel) {
  std::optional<Kernel> replaced = unload(place);
  kernels_.emplace(place, kernel);
  count(place, kernel, true);
  return replaced;
}

std::optional<Kernel> ClientHoldings::unload(const Place& place) {
  const auto entry = kernels_.find(place);
  if (entry == kernels_.end()) return std::nullopt;
  const Kernel kernel = entry->second;
  kernels_.erase(entry);
  count(place, kernel, false);
  return kernel;
}

// ---- all of it -------------------------------------------------------------------------------

void ClientHoldings::for_each_buffer(
    const std::function<void(const Place&, const Buffer&)>& visit) const {
  for (const auto& [place, buffers] : buffers_) {
    visit(place, buffers.newest);
    if (!buffers.older) continue;
    for (const Buffer& buffer : *buffers.older) visit(place, buffer);
  }
}

void ClientHoldings::for_each_cb(const std::function<void(const Place&, const Cb&)>& visit) const {
  for (const auto& [place, cbs] : cbs_) {
    for (const Cb& cb : cbs) visit(place, cb);
  }
}

void ClientHoldings::for_each_kernel(
    const std::function<void(const Place&, const Kernel&)>& visit) const {
  for (const auto& [place, kernel] : kernels_) visit(place, kernel);
}

Tally ClientHoldings::sum() const {
  Tally sum;
  for_each_buffer([&](const Place&, const Buffer& buffer) {
    sum.bytes[buffer.kind] += buffer.size;
    ++sum.buffers;
  });
  for_each_cb([&](const Place&, const Cb& cb) {
    sum.cb_bytes += cb.size;
    ++sum.cbs;
  });
  for_each_kernel([&](const Place&, const Kernel& kernel) {
    sum.kernel_bytes[kernel_kind(kernel.type)] += kernel.size;
    ++sum.kernels[kernel_kind(kernel.type)];
  });
  return sum;
}

void ClientHoldings::clear() {
  for_each_buffer([&](const Place& place, const Buffer& buffer) { count(place, buffer, false); });
  for_each_cb([&](const Place& place, const Cb& cb) { count(place, cb, false); });
  for_each_kernel([&](const Place& place, const Kernel& kernel) { count(place, kernel, false); });
  buffers_.clear();
  cbs_.clear();
  kernels_.clear();
}

}  // namespace ttmem::legacy
