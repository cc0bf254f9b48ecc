// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Failures: the message, and a picture of what was held when an allocation failed. The table is
// searched without the lock and brought up to date under it from the event ring, as a reader does,
// so that the picture is the state after one event and no other thread waits long. Of the space
// that failed, a list beside the picture has every buffer.
#pragma once

#include <cstdint>

#include "client/devices.hpp"
#include "client/failure_list.hpp"
#include "client/programs.hpp"
#include "client/segment_writer.hpp"

namespace ttmem::client {

class Failures {
 public:
  bool open(SegmentWriter& writer, Devices& devices, Programs& programs);
  void give_back() { candidates_.give_back(); }

  // The failure's number, or 0 if there is no room for it.
  std::uint32_t failed(const ttmem_failure& told, ttmem_origin_t origin);

 private:
  struct Candidate {
    std::uint64_t bytes;  // on one device: the order of the picture
    std::uint32_t slot;
    std::uint32_t placement;  // 0: a buffer
  };

  ttmem_failure placed(ttmem_failure failure) const;
  void choose_devices(ttmem_set_t set);
  bool is_concerned(ttmem_set_t set) const;
  bool is_listed(const segment::Payload& payload) const;
  void place_list();
  std::uint64_t buffer_bytes(const segment::Payload& payload) const;
  std::uint64_t program_bytes(const Placement& placement) const;
  void search();
  void search_programs();
  void offer(const Candidate& candidate);
  bool catch_up(std::uint64_t from);
  void replace(std::uint32_t slot, const segment::Payload& payload);
  void copy_picture(segment::Failure& record);
  void describe(segment::Failure& record, const ttmem_failure& failure, ttmem_origin_t origin);

  SegmentWriter* writer_ = nullptr;
  Devices* devices_ = nullptr;
  Programs* programs_ = nullptr;
  PrivateArray<Candidate> candidates_;
  std::uint32_t count_ = 0;
  bool truncated_ = false;
  FailureList list_;
  ttmem_allocator_t failed_allocator_ = 0;  // 0 = any
  std::uint32_t failed_space_ = 0;
  bool concerned_[segment::kMaxDevices] = {};
};

}  // namespace ttmem::client
