// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/kernels.hpp"

#include <algorithm>
#include <string_view>

#include "inject/core_ranges.hpp"
#include "inject/metal.hpp"

namespace ttmem::inject {

namespace {

using metal::functions;

constexpr std::uint8_t kComputeClass = 1;
constexpr std::uint8_t kAllOfCompute = 5;
constexpr std::uint8_t kUnknownProcessor = 255;

/// The runtime names a build by the hash of all that goes into it, so the name tells equal code.
std::uint64_t hash(std::string_view name, std::uint64_t build_key) {
  std::uint64_t value = 0xCBF29CE484222325u ^ build_key;
  for (const char letter : name) {
    value = (value ^ static_cast<std::uint8_t>(letter)) * 0x100000001B3u;
  }
  return value ? value : 1;
}

/// Only routers tell fabric: programs of ttnn and of dispatch bring its multiplexers with them.
std::uint8_t type_of(std::string_view source) {
  if (source.find("impl/dispatch/kernels/") != source.npos) return TTMEM_KERNEL_DISPATCH;
  if (source.find("fabric/impl/kernels/edm_fabric/") != source.npos) return TTMEM_KERNEL_FABRIC;
  return TTMEM_KERNEL_APPLICATION;
}

ttmem_string_t intern_text(std::string_view text) {
  return ttmem_intern_string(text.data(), text.size());
}

/// "eltwise_binary_no_bcast/8749866936634533994/" without the hash.
std::string_view short_name(std::string_view name) { return name.substr(0, name.find('/')); }

/// One kernel of a program of the system makes the whole program one.
void add_kernel(const void* kernel, const void* device, std::uint64_t build_key,
                ProgramKernels& found) {
  const metal::KernelMeta meta = functions.kernel_meta(kernel, device);
  found.type_by_source = std::max(found.type_by_source.value_or(0), type_of(meta.source));
  ttmem_kernel record = {};
  record.name = intern_text(short_name(meta.name));
  record.source = intern_text(meta.source);
  record.hash = hash(meta.name, build_key);
  record.core_type = static_cast<std::uint8_t>(meta.core_type);
  record.processor = kUnknownProcessor;
  if (meta.processor_class == kComputeClass) {
    record.processor = kAllOfCompute;
  } else if (!meta.binaries.empty()) {
    record.processor = static_cast<std::uint8_t>(meta.binaries.front().processor);
  }
  for (std::size_t i = 0; i < meta.binaries.size(); ++i) {
    record.packed_bytes += static_cast<std::uint32_t>(meta.binaries[i].packed_bytes);
    if (functions.kernel_text_size) {
      record.text_bytes += functions.kernel_text_size(kernel, device, static_cast<int>(i));
    }
  }
  if (functions.kernel_cores) {
    record.cores = intern(record.core_type, functions.kernel_cores(kernel));
  }
  found.kernels.push_back(record);
}

}  // namespace

ProgramKernels read_kernels(const void* program, const void* device, std::uint64_t build_key) {
  ProgramKernels result;
  if (!functions.program_kernels || !functions.kernel_meta) return result;
  for (std::uint32_t type = 0; type < metal::kCoreTypes; ++type) {
    for (const auto& [handle, kernel] : functions.program_kernels(program, type)) {
      add_kernel(kernel.get(), device, build_key, result);
    }
  }
  return result;
}

}  // namespace ttmem::inject
