// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The part of the collector that takes its sources from a recording.
#include <algorithm>
#include <sstream>
#include <utility>

#include "collect/collector_state.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::collect {

namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

}  // namespace

Result<Collector> Collector::open_recording(const std::string& path, Options options) {
  auto replay = Replay::open(path);
  if (!replay) return replay.error();
  options.host = false;
  options.reap = false;
  Collector collector(std::move(options));
  collector.state_->replay = std::move(*replay);
  return collector;
}

// What the recording says of the processes at the moment that it stands at.
void Collector::State::replay_sources() {
  same_sources = snapshot.time != 0;
  directories = parts_of(segment::text(replay->info().directories));
  unreadable.clear();
  for (std::size_t i = 0; i < replay->tracks().size(); ++i) {
    const ReplayTrack& track = replay->tracks()[i];
    const std::uint64_t key = i + 1;
    const auto of_key = [&](const auto& source) { return source->key() == key; };
    if (replay->take_anew(i) || track.image() == nullptr) {
      same_sources = std::erase_if(sources, of_key) == 0 && same_sources;
    }
    if (track.image() == nullptr) continue;
    auto known = std::ranges::find_if(sources, of_key);
    if (known == sources.end()) {
      auto source = open(track, key);
      if (!source) continue;
      same_sources = false;
      known = sources.insert(sources.end(), std::move(source));
    }
    (*known)->tell_end(track.ended(), track.ended_at());
  }
  std::ranges::sort(sources, {}, [](const auto& source) { return source->path(); });
}

std::unique_ptr<SegmentSource> Collector::State::open(const ReplayTrack& track, std::uint64_t key) {
  const recording::ProcessInfo& info = track.info();
  const std::string path = segment::text(info.segment);
  auto file = track.image()->file(path, info.owner);
  if (!file) {
    unreadable.push_back({path, file.error(), info.owner});
    return nullptr;
  }
  auto source = SegmentSource::replay(std::move(*file), info.trusted != 0, key, options);
  if (!source) {
    unreadable.push_back({path, source.error(), info.owner});
    return nullptr;
  }
  if (options.process && (options.process->pid != (*source)->header().subject.pid ||
                          !is_wanted(**source, path.substr(path.rfind('/') + 1)))) {
    return nullptr;
  }
  users[(*source)->header().subject.uid] = users[info.owner] = segment::text(info.user);
  containers[key] = segment::text(info.container);
  return std::move(*source);
}

}  // namespace ttmem::collect
