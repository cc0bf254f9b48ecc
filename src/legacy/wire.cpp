// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/wire.hpp"

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
bool is_device(std::int32_t device) { return device >= -1 && device <= kHighestDevice; }

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
  request.device = read<std::int32_t>(head, 4);
  if (!is_type(type) || !zero(head, 1, 3) || !zero(head, 17, 3) || !is_device(request.device)) {
    return std::nullopt;
  }
  request.type = static_cast<Type>(type);
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
  request.device = read<std::int32_t>(message, 4);
  if (!is_device(request.device)) return std::nullopt;
  request.type = static_cast<Type>(type);
  request.size = read<std::uint64_t>(message, 8);
  request.id = read<std::uint64_t>(message, 16);
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

}  // namespace ttmem::legacy
