// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A heap profile of pprof (profile.proto): objects and bytes in use by stack, with the space, the
// device, the process and the layout as labels, so that `-tagfocus=space=dram` and
// `-diff_base` work.
#include <map>
#include <string>
#include <vector>

#include "export/formats.hpp"
#include "export/protobuf.hpp"

namespace ttmem::exports {

namespace {

// Field numbers of profile.proto.
enum ProfileField : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kComment = 13,
  kDefaultSampleType = 14,
};

class ProfileWriter {
 public:
  ProfileWriter() { string(""); }

  std::uint64_t string(const std::string& text) {
    const auto [known, added] = strings_.try_emplace(text, strings_.size());
    if (added) table_.push_back(text);
    return known->second;
  }
  void type(const std::string& name, const std::string& unit) {
    Message value;
    value.number(1, string(name));
    value.number(2, string(unit));
    profile_.message(kSampleType, value);
  }
  void sample(const Weighed& buffer, std::uint32_t device) {
    Message sample;
    std::vector<std::uint64_t> leaf_first;
    for (auto step = buffer.steps.rbegin(); step != buffer.steps.rend(); ++step) {
      leaf_first.push_back(location(*step));
    }
    sample.packed(1, leaf_first);
    sample.packed(2, {1, buffer.taken});
    label(sample, "space", std::string(ledger::name(buffer.holding->space)));
    label(sample, "device", std::to_string(device));
    label(sample, "process", buffer.holding->process->label());
    label(sample, "layout", std::string(ledger::name(buffer.holding->layout)));
    profile_.message(kSample, sample);
  }
  std::string finish(ledger::TimeNs time) {
    const std::uint64_t preferred = string("inuse_space");
    const std::uint64_t comment = string("ttmem: bytes taken on one device each");
    for (const std::string& text : table_) profile_.bytes(kStringTable, text);
    profile_.number(kTimeNanos, time);
    profile_.number(kComment, comment);
    profile_.number(kDefaultSampleType, preferred);
    return profile_.text();
  }

 private:
  void label(Message& sample, const std::string& key, const std::string& value) {
    Message pair;
    pair.number(1, string(key));
    pair.number(2, string(value));
    sample.message(3, pair);
  }
  // One location and one function a step, of the same number.
  std::uint64_t location(const std::string& step) {
    const auto [known, added] = locations_.try_emplace(step, locations_.size() + 1);
    if (!added) return known->second;
    const Line line = line_of(step);
    Message function;
    function.number(1, known->second);
    function.number(2, string(line.function));
    if (!line.file.empty()) function.number(4, string(line.file));
    profile_.message(kFunction, function);
    Message in_function;
    in_function.number(1, known->second);
    in_function.number(2, line.number);
    Message location;
    location.number(1, known->second);
    location.message(4, in_function);
    profile_.message(kLocation, location);
    return known->second;
  }

  std::map<std::string, std::uint64_t> strings_, locations_;
  std::vector<std::string> table_;
  Message profile_;
};

}  // namespace

void pprof(const Picture& picture, const Sink& sink) {
  ProfileWriter writer;
  writer.type("inuse_objects", "count");
  writer.type("inuse_space", "bytes");
  for (const Weighed& buffer : weigh_buffers(picture)) {
    for (const std::uint32_t device : buffer.holding->devices) writer.sample(buffer, device);
  }
  sink(writer.finish(picture.snapshot->time));
}

}  // namespace ttmem::exports
