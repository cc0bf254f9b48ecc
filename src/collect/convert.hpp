// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From the bytes of a segment to the ledger's records. Numbers that name an enumerator are checked;
// what is out of range becomes "unknown" where there is such a word, else the record is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/clock.hpp"
#include "ledger/peaks.hpp"
#include "ledger/records.hpp"
#include "ledger/snapshot.hpp"
#include "segment/format.hpp"
#include "segment/reader_blobs.hpp"

namespace ttmem::collect {

using segment::BlobReader;
using segment::BlobView;

// What a slot holds. std::monostate if it is released or makes no sense.
ledger::Record record_of(const segment::Payload& payload, const BlobReader& blobs,
                         const TickClock& clock);
// Of a workload or trace. They are stamped by another clock than the rest; here in ticks, too.
ledger::Launches launches_of(const segment::Payload& payload, const TickClock& clock);

// The id of its chip, or numbered_chip() where nothing but a number is known of it.
std::uint64_t chip_of(const segment::Device& device);
ledger::DeviceRecord device_of(const segment::Device& device, const BlobReader& blobs);
ledger::DeviceSetRecord device_set_of(const segment::DeviceSet& set, const BlobReader& blobs);
ledger::AllocatorRecord allocator_of(const segment::Allocator& allocator, const BlobReader& blobs);
ledger::RingManagerRecord ring_manager_of(const segment::RingManager& manager);
ledger::DeviceCounters counters_of(const segment::Counters& counters, std::uint32_t device);

std::string string_of(const BlobView& blob);
// `names`: the calls of native code may be named, by files that the process has named.
ledger::OriginFrame frame_of(const segment::OriginFrame& frame, const BlobReader& blobs,
                             bool names);
ledger::PeakRecords peaks_of(const segment::Peaks& peaks);
ledger::OriginNode origin_of(const segment::OriginView& node);
ledger::CoreSet core_set_of(const BlobView& blob);  // of kind kCores or kBanks
std::vector<std::uint64_t> addresses_of(const BlobView& blob);
std::vector<ledger::TraceMember> members_of(const BlobView& blob);

}  // namespace ttmem::collect
