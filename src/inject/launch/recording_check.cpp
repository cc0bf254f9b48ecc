// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/launch/recording_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "segment/format.hpp"
#include "segment/writer_directory.hpp"
#include "segment/writer_file.hpp"

namespace ttmem::inject {

namespace {

using segment::SectionKind;

/// What every recorder needs before the first buffer.
int make_segment(segment::Choice choice) {
  segment::WriterFile file;
  if (const int error = file.create(nullptr, static_cast<std::int32_t>(::getpid()), 0, choice))
    return error;
  int error = file.prepare(SectionKind::kEvents, segment::kEventCapacity * sizeof(segment::Event));
  if (error == 0) error = file.prepare(SectionKind::kTable, segment::kGrowthBytes);
  file.discard();
  return error;
}

bool is_file(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

// Why a segment cannot be made there, and what to do.
struct Words {
  std::string problem, remedy;
};

Words words_for(int error, const std::string& directory) {
  const std::string another = "set TTMEM_DIR to another directory";
  switch (error) {
    case ENOENT:
      if (::access(directory.c_str(), F_OK) == 0) {
        return {"no file can be made in " + directory, another};
      }
      return {directory + " does not exist and cannot be made", "make it, or set TTMEM_DIR"};
    case EEXIST:
    case ENOTDIR:
      return {directory + (is_file(directory) ? " is a file" : " cannot be a directory"),
              "set TTMEM_DIR to a directory"};
    case EACCES:
    case EPERM:
      return {directory + " may not be written by this user",
              "set TTMEM_DIR to a directory of yours"};
    case ELOOP:
      return {directory + " is a link, which is not followed there", "remove it, or set TTMEM_DIR"};
    case EROFS:
      return {directory + " is on a read-only file system", another};
    case ENOSPC:
    case EDQUOT:
      return {directory + " has too little room", "free some, or " + another};
    case EFBIG:
      return {"files may not be large enough", "raise `ulimit -f`"};
    case ENOMEM:
      return {"there are too few addresses for a segment", "raise `ulimit -v`"};
    default:
      return {directory + " cannot be used: " + std::strerror(error), another};
  }
}

bool is_disabled() {
  const char* value = std::getenv("TTMEM_DISABLE");
  return value && *value && std::strcmp(value, "0") != 0;
}

}  // namespace

RecordingCheck check_recording() {
  char path[256];
  segment::name_writer_directory(path);
  RecordingCheck check;
  check.directory = path;
  if (is_disabled()) {
    check.disabled = true;
    check.problem = "TTMEM_DISABLE is set";
    check.remedy = "unset it";
    return check;
  }
  int error = make_segment(segment::Choice::kFirst);
  if (segment::is_full(error)) error = make_segment(segment::Choice::kLast);
  if (error != 0) {
    const auto words = words_for(error, check.directory.empty() ? "TTMEM_DIR" : check.directory);
    check.problem = words.problem;
    check.remedy = words.remedy;
  }
  return check;
}

}  // namespace ttmem::inject
