// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/wire.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::legacy {
namespace {

constexpr std::int32_t kHighestDevice = 65535;  // what can be a device at all, known or not

template <typename T>
T read(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool zero(std::span<const std::byte> bytes, std::size_t offset, std::size_t count) {
  for (std::size_t i = offset; i < offset + count; ++i) {
    if (bytes[i] != std::byte{0}) return false;
  }
  return true;
}

bool is_type(std::uint8_t type) { return type >= 1 && type <= 12; }
bool may_be_device(std::int32_t device) { return device >= -1 && device <= kHighestDevice; }

class Writer {
 public:
  template <typename T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    text_.append(bytes, sizeof value);
  }
  void zeros(std::size_t count) { text_.append(count, '\0'); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void put_head(Writer& out, const Answer& answer) {
  out.put(static_cast<std::uint8_t>(answer.type));
  out.zeros(3);
  out.put(answer.device);
  out.zeros(kHeadBytes - 8);
}

void put_capacities(Writer& out, const Answer& answer) {
  out.put(answer.total_dram);
  out.put(answer.total_l1);
  for (const std::uint32_t word : {answer.arch, answer.dram_channels, answer.dram_bytes_per_channel,
                                   answer.l1_bytes_per_core, answer.available, answer.devices}) {
    out.put(word);
  }
}

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

std::size_t bytes_of(Form form) {
  constexpr std::array<std::size_t, 6> kBytes = {0, kWrapperBytes, 72, 112, 128, 144};
  return kBytes[static_cast<std::size_t>(form)];
}

Form form_of_distance(std::size_t bytes) {
  for (const Form form : {Form::k72, Form::k112, Form::k128, Form::k144}) {
    if (bytes_of(form) == bytes) return form;
  }
  return Form::kUnknown;
}

std::optional<Request> decode_head(std::span<const std::byte> head) {
  Request request;
  const auto type = read<std::uint8_t>(head, 0);
  if (!is_type(type) || !zero(head, 1, 3) || !zero(head, 17, 3)) return std::nullopt;
  request.type = static_cast<Type>(type);
  request.device = read<std::int32_t>(head, 4);
  request.size = read<std::uint64_t>(head, 8);
  request.kind = read<std::uint8_t>(head, 16);
  request.claimed_pid = read<std::int32_t>(head, 20);
  request.id = read<std::uint64_t>(head, 24);
  return request;
}

std::optional<Request> decode_wrapper(std::span<const std::byte> message, std::int32_t sender) {
  Request request;
  const auto type = read<std::uint8_t>(message, 0);
  request.claimed_pid = read<std::int32_t>(message, 24);
  if (type < 8 || type > 11 || request.claimed_pid != sender || !zero(message, 1, 3) ||
      !zero(message, 28, 4) || read<std::int32_t>(message, 20) == sender) {
    return std::nullopt;
  }
  request.type = static_cast<Type>(type);
  request.device = read<std::int32_t>(message, 4);
  request.size = read<std::uint64_t>(message, 8);
  request.id = read<std::uint64_t>(message, 16);
  request.estimated = request.type == Type::kKernelLoad;  // 50 KiB per range of cores
  return request;
}

std::string encode(const Answer& answer, Form form) {
  Writer out;
  put_head(out, answer);
  for (const std::uint64_t bytes : {answer.dram, answer.l1, answer.l1_small, answer.trace}) {
    out.put(bytes);
  }
  if (form == Form::k128 || form == Form::k144) {
    out.put(answer.cb);
    out.put(answer.kernels);
  }
  if (form != Form::k72) put_capacities(out, answer);
  if (form == Form::k144) {
    out.put(answer.ring_capacity);
    out.put(answer.ring_used);
    out.put(answer.ring_programs);
    out.zeros(4);
  }
  return out.take();
}

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
  // Here the device tells as well whether these are messages at all; later it is a value like any
  // other, and a bad one costs the sender that message only.
  if (data.size() < kWrapperBytes) return State::kMore;
  if (const auto first = decode_wrapper(data, sender_); first && may_be_device(first->device)) {
    form_ = Form::kWrapper;
    return State::kMessage;
  }
  if (data.size() < kHeadBytes) return State::kMore;
  if (const auto first = decode_head(data); !first || !may_be_device(first->device)) {
    return broken("its first 40 bytes are not a message");
  }
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
