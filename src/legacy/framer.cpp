// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/framer.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::legacy {
namespace {

bool starts_well(std::span<const std::byte> data) {
  const auto type = static_cast<std::uint8_t>(data[0]);
  if (type < 1 || type > 12) return false;
  const std::size_t padding = std::min<std::size_t>(data.size(), 4);
  return std::all_of(data.begin() + 1, data.begin() + static_cast<std::ptrdiff_t>(padding),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

// The first byte from 40 on that is not zero, or the end.
std::size_t first_not_zero(std::span<const std::byte> data, std::size_t end) {
  std::size_t at = kHeadBytes;
  for (; at + 8 <= end; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, data.data() + at, sizeof word);
    if (word != 0) break;
  }
  while (at < end && data[at] == std::byte{0}) ++at;
  return at;
}

}  // namespace

void Framer::feed(std::span<const std::byte> bytes, std::int32_t sender) {
  if (start_ == bytes_.size()) {
    bytes_.clear();
    runs_.clear();
    start_ = first_run_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  if (!runs_.empty() && runs_.back().sender == sender) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), sender});
  }
  silent_ = false;
}

void Framer::silence() { silent_ = true; }

Framer::State Framer::broken(std::string_view why) {
  problem_ = why;
  return State::kBroken;
}

Framer::State Framer::next(Request& request) {
  if (!problem_.empty()) return State::kBroken;
  const std::span<const std::byte> data(bytes_.data() + start_, bytes_.size() - start_);
  if (data.empty()) return State::kMore;
  while (runs_[first_run_].end <= start_) ++first_run_;
  sender_ = runs_[first_run_].sender;
  if (!starts_well(data)) return broken("it does not begin with a message");
  if (form_ == Form::kUnknown) {
    const State told = tell_form(data);
    if (told != State::kMessage) return told;
  }
  return take(data, request);
}

Framer::State Framer::tell_form(std::span<const std::byte> data) {
  if (data.size() < kWrapperBytes) return State::kMore;
  if (decode_wrapper(data, sender_)) {
    form_ = Form::kWrapper;
    return State::kMessage;
  }
  if (data.size() < kHeadBytes) return State::kMore;
  if (!decode_head(data)) return broken("its first 40 bytes are not a message");
  const std::size_t end = std::min(data.size(), kMostBytes);
  const std::size_t next = first_not_zero(data, end);
  if (next < end || next == kMostBytes || silent_) {
    form_ = form_of_distance(next);
    if (form_ == Form::kUnknown) return broken("its messages have a length that is none of ours");
    return State::kMessage;
  }
  return form_of_distance(data.size()) == Form::kUnknown ? State::kMore : State::kSilence;
}

Framer::State Framer::take(std::span<const std::byte> data, Request& request) {
  const std::size_t bytes = bytes_of(form_);
  if (data.size() < bytes) return State::kMore;
  if (!same_sender(bytes)) return broken("two senders share one message");
  const bool wrapper = form_ == Form::kWrapper;
  if (!wrapper && first_not_zero(data, bytes) != bytes) {
    return broken("its messages changed their length");
  }
  const auto decoded = wrapper ? decode_wrapper(data, sender_) : decode_head(data);
  if (!decoded) return broken("its first bytes are not a message");
  request = *decoded;
  drop(bytes);
  return State::kMessage;
}

bool Framer::same_sender(std::size_t bytes) {
  for (std::size_t run = first_run_; runs_[run].end < start_ + bytes; ++run) {
    if (runs_[run + 1].sender != sender_) return false;
  }
  return true;
}

void Framer::drop(std::size_t bytes) {
  start_ += bytes;
  constexpr std::size_t kWorthMoving = 64 * 1024;
  if (start_ < kWorthMoving || start_ == bytes_.size()) return;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(start_));
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(first_run_));
  for (Run& run : runs_) run.end -= std::min(run.end, start_);
  first_run_ = start_ = 0;
}

}  // namespace ttmem::legacy
