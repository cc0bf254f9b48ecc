// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Metrics as OpenTelemetry wants them (OTLP 1, ExportMetricsServiceRequest), as protobuf or JSON.
//
// DRAM goes as hw.gpu.memory.usage, .limit and .utilization, power and temperature as hw.power and
// hw.temperature, by the conventions for hardware; they know no L1 and no figures, so everything
// also goes as ttmem.*, with the unit behind the name taken off: a collector that writes for
// Prometheus makes the names of /metrics out of them again.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fleet/exposition.hpp"

namespace ttmem::fleet {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct OtlpDocument {
  Attributes resource;  // host.name, service.name, ...
  std::vector<MetricFamily> families;
  std::uint64_t start_ns = 0;  // of the push: since when counters count, if nobody told it better
  std::uint64_t time_ns = 0;
};

std::string otlp_protobuf(const OtlpDocument& document);
std::string otlp_json(const OtlpDocument& document);

// What a receiver that took a document says it did not take of it (ExportMetricsServiceResponse, in
// the form of the request).
struct OtlpRefusal {
  std::uint64_t points = 0;
  std::string text;  // "12 points refused: why"; "" if it took all, or says anything else
};
OtlpRefusal otlp_refusal(std::string_view answer, bool json);

// "name=value,name=value" of OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS, with %XX in
// values. What is no such pair is left out.
Attributes parse_attributes(std::string_view text);

}  // namespace ttmem::fleet
