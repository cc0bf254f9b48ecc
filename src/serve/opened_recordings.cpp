// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/opened_recordings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.hpp"
#include "collect/collector.hpp"
#include "serve/http/recordings_path.hpp"
#include "serve/http/sessions.hpp"
#include "serve/replay_document.hpp"
#include "serve/replay_scene.hpp"

namespace ttmem::serve {
namespace {

constexpr std::size_t kMostNameBytes = 100;

// The name that somebody gave the file, as far as it can be one here.
std::string file_name(const std::string* wanted) {
  std::string name = wanted == nullptr ? "" : wanted->substr(0, kMostNameBytes);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '.' && c != '-') c = '_';
  }
  return name.empty() || name.starts_with('.') ? "recording" + name : name;
}

// A folder that only this user can look into, with one file in it. Both go with it.
class DroppedFile {
 public:
  static Result<DroppedFile> make(const std::string& name) {
    const char* place = std::getenv("TMPDIR");
    std::string folder =
        std::string(place != nullptr && *place == '/' ? place : "/tmp") + "/ttmem-dropped-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      return Error{ErrorCode::kSystem,
                   fmt::format("{} cannot be made: {}", folder, std::strerror(errno))};
    }
    DroppedFile made;
    made.folder_ = folder;
    made.path_ = folder + "/" + name;
    made.file_ =
        FileDescriptor(::open(made.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made.file_) return Error{ErrorCode::kSystem, std::strerror(errno)};
    return made;
  }
  DroppedFile(DroppedFile&& other) noexcept
      : folder_(std::exchange(other.folder_, "")),
        path_(std::move(other.path_)),
        file_(std::move(other.file_)),
        bytes_(other.bytes_) {}
  DroppedFile& operator=(DroppedFile&&) = delete;
  ~DroppedFile() {
    if (folder_.empty()) return;
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }

  // Why it could not be written; "" if it was.
  std::string append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return std::strerror(errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
      bytes_ += static_cast<std::uint64_t>(written);
    }
    return "";
  }
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  DroppedFile() = default;

  std::string folder_, path_;
  FileDescriptor file_;
  std::uint64_t bytes_ = 0;
};

http::Response told(const nlohmann::json& document) { return http::json(document.dump() + "\n"); }

}  // namespace

struct OpenedRecordings::Opened {
  std::string key;
  std::optional<DroppedFile> dropped;  // none: the daemon keeps it
  std::string path;
  Clock::time_point asked = Clock::now();
  std::optional<ReplayStudy> study;
  std::optional<ReplayScene> scene;  // once somebody looked

  // Why it cannot be looked at; "" if it can.
  std::string open() {
    if (scene) return "";
    auto collector = collect::Collector::open_recording(path, {.events = true, .launches = true});
    if (!collector) return collector.error().message;
    study.emplace(path);
    scene.emplace(std::move(*collector), *study);
    return "";
  }
};

OpenedRecordings::OpenedRecordings(std::vector<std::string> kept)
    : OpenedRecordings(std::move(kept), Limits()) {}
OpenedRecordings::OpenedRecordings(std::vector<std::string> kept, Limits limits)
    : kept_(std::move(kept)), limits_(limits) {}
OpenedRecordings::~OpenedRecordings() = default;

http::Response OpenedRecordings::answer(const http::Request& request) {
  forget_idle(Clock::now());
  if (request.method != "POST") return show(request);
  if (request.path == http::kRecordingsPath) return begin(request);
  std::string_view rest = std::string_view(request.path).substr(http::kRecordingsPath.size() + 1);
  const bool closes = rest.ends_with("/close");
  if (closes) rest.remove_suffix(std::strlen("/close"));
  const auto found = find(rest);
  if (found == opened_.end()) return http::error(404, "this recording is not open any more");
  return closes ? close(found) : take_piece(request, **found);
}

// A new file, or with `kept` one that is there already.
http::Response OpenedRecordings::begin(const http::Request& request) {
  auto opened = std::make_unique<Opened>();
  opened->key = http::random_key();
  if (opened->key.empty()) return http::error(500, "the system gives no random numbers");
  if (const std::string* kept = request.parameter("kept")) {
    if (std::ranges::find(kept_, *kept) == kept_.end()) {
      return http::error(404, "the daemon keeps no such recording: /api/v1/recordings lists them");
    }
    opened->path = *kept;
  } else {
    auto dropped = DroppedFile::make(file_name(request.parameter("name")));
    if (!dropped) return http::error(500, dropped.error().message);
    opened->path = dropped->path();
    opened->dropped.emplace(std::move(*dropped));
  }
  const std::string key = opened->key;
  add(std::move(opened));
  return told({{"key", key}, {"bytes", 0}});
}

void OpenedRecordings::add(std::unique_ptr<Opened> opened) {
  while (opened_.size() >= limits_.opened) opened_.pop_back();
  opened_.push_front(std::move(opened));
}

// Pieces come in order: `offset` says where this one belongs, so none is taken twice.
http::Response OpenedRecordings::take_piece(const http::Request& request, Opened& opened) {
  if (!opened.dropped || opened.scene) return http::error(409, "this recording is complete");
  DroppedFile& file = *opened.dropped;
  const std::string* text = request.parameter("offset");
  std::uint64_t offset = 0;
  if (text == nullptr) return http::error(400, "offset must be the bytes that were sent before");
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, offset);
  if (parsed.ec != std::errc() || parsed.ptr != end || offset != file.bytes()) {
    return http::error(409,
                       fmt::format("offset must be {}: that many bytes are here", file.bytes()));
  }
  if (request.body.size() > limits_.bytes - file.bytes()) {
    return http::error(413, fmt::format("the file is larger than {} MiB: `ttmem serve --from FILE "
                                        "--open` shows it",
                                        limits_.bytes >> 20));
  }
  const std::string problem = file.append(request.body);
  if (!problem.empty()) return http::error(507, "the file cannot be written: " + problem);
  opened.asked = Clock::now();
  return told({{"key", opened.key}, {"bytes", file.bytes()}});
}

http::Response OpenedRecordings::show(http::Request request) {
  const std::string* key = request.parameter("recording");
  const auto found = key == nullptr ? opened_.end() : find(*key);
  if (found == opened_.end()) {
    return http::error(404, "this recording is not open any more: drop the file again");
  }
  Opened& opened = **found;
  opened.asked = Clock::now();
  if (const std::string problem = opened.open(); !problem.empty()) {
    opened_.erase(found);
    return http::error(400, problem.substr(problem.rfind('/') + 1));
  }
  std::erase_if(request.query, [](const auto& each) { return each.first == "recording"; });
  // Nothing follows in its stream, which is an answer like any other.
  request.takes_gzip = false;
  http::Response response = opened.scene->answer(std::move(request));
  response.stream.reset();
  return response;
}

http::Response OpenedRecordings::close(Iterator which) {
  opened_.erase(which);
  return told({{"closed", true}});
}

OpenedRecordings::Iterator OpenedRecordings::find(std::string_view key) {
  return std::ranges::find_if(opened_, [&](const auto& each) { return each->key == key; });
}

void OpenedRecordings::forget_idle(Clock::time_point now) {
  std::erase_if(opened_, [&](const auto& each) { return now - each->asked > limits_.idle; });
}

}  // namespace ttmem::serve
