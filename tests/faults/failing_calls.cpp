// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "faults/failing_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#define TTMEM_CALLER __builtin_return_address(0)

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> counted{0};
std::atomic<std::uint64_t> failing{0};
std::atomic<std::int64_t> ahead_ns{0};
// A daemon begins with its lock: the library that reads command lines ends without memory.
#ifdef TTMEM_PRELOADED
std::atomic<bool> has_begun{false};
#else
std::atomic<bool> has_begun{true};
#endif
std::atomic<std::int64_t> wall_ahead_ns{0};

#ifdef TTMEM_PRELOADED
// Parts of the program that cannot fail, by their places in its file: TTMEM_FAIL_NOT_IN=b0-c0,...
bool is_left_out(std::ptrdiff_t place) {
  const char* text = std::getenv("TTMEM_FAIL_NOT_IN");
  while (text != nullptr && *text != '\0') {
    char* end = nullptr;
    const auto begin = std::strtoll(text, &end, 16);
    if (*end != '-') return false;
    const auto behind = std::strtoll(end + 1, &end, 16);
    if (place >= begin && place < behind) return true;
    text = *end == ',' ? end + 1 : end;
    if (*end != ',') return false;
  }
  return false;
}
#endif

// Put before a program as it ships, only calls of the program itself fail: libraries of others may
// end it, and that would be no fault of ours. The language's own library is a part of it.
bool is_from_program([[maybe_unused]] const void* caller) {
#ifdef TTMEM_PRELOADED
  static const auto file_of = [](const void* address) {
    Dl_info info{};
    return ::dladdr(address, &info) == 0 ? nullptr : static_cast<const void*>(info.dli_fbase);
  };
  static const void* const program = file_of(reinterpret_cast<void*>(::getauxval(AT_ENTRY)));
  static const void* const language = file_of(::dlsym(RTLD_NEXT, "_ZSt17__throw_bad_allocv"));
  const void* file = file_of(caller);
  if (file == nullptr || (file != program && file != language)) return false;
  return file != program ||
         !is_left_out(static_cast<const char*>(caller) - static_cast<const char*>(program));
#else
  return true;
#endif
}

// Whether this is the call that fails; `error` is left in errno then.
bool fails(int error, const void* caller) {
  if (!counting.load(std::memory_order_relaxed) || !is_from_program(caller)) return false;
  if (counted.fetch_add(1) + 1 != failing.load()) return false;
  errno = error;
  return true;
}

mode_t mode_of(int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(arguments, mode_t) : 0;
}

int open_now(int directory, const char* path, int flags, mode_t mode, const void* caller) {
#ifdef TTMEM_PRELOADED
  if (std::strcmp(path, "serve.lock") == 0) has_begun = std::getenv("TTMEM_FAIL_NEW") != nullptr;
#endif
  if (fails(EMFILE, caller)) return -1;
  return static_cast<int>(::syscall(SYS_openat, directory, path, flags | O_LARGEFILE, mode));
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (has_begun && fails(ENOMEM, caller)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

}  // namespace

namespace ttmem::faults {

void fail_at(std::uint64_t n) {
  failing = n;
  counted = 0;
  counting = true;
}

std::uint64_t stop_failing() {
  counting = false;
  return counted;
}

void advance_clocks(std::int64_t ns) { ahead_ns += ns; }
void jump_wall_clock(std::int64_t ns) { wall_ahead_ns += ns; }

}  // namespace ttmem::faults

// ---- instead of the C library's and the language's ----------------------------------------------

#ifdef TTMEM_PRELOADED

// TTMEM_FAIL_AT=N says which call, with TTMEM_FAIL_NEW also allocations; how many there were is
// written to the file TTMEM_FAIL_REPORT.
namespace {
__attribute__((constructor)) void begin() {
  const char* wanted = std::getenv("TTMEM_FAIL_AT");
  if (wanted != nullptr) ttmem::faults::fail_at(std::strtoull(wanted, nullptr, 10));
}
__attribute__((destructor)) void end() {
  const std::uint64_t calls = ttmem::faults::stop_failing();
  const char* report = std::getenv("TTMEM_FAIL_REPORT");
  if (report == nullptr) return;
  if (std::FILE* file = std::fopen(report, "w")) {
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(calls));
    std::fclose(file);
  }
}
}  // namespace

#endif

void* operator new(std::size_t bytes) {
  void* memory = allocate(bytes, 1, TTMEM_CALLER);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 1, TTMEM_CALLER);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = allocate(bytes, static_cast<std::size_t>(alignment), TTMEM_CALLER);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_now(AT_FDCWD, path, flags, mode, TTMEM_CALLER);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_now(AT_FDCWD, path, flags, mode, TTMEM_CALLER);
}
// What open is where the compiler fortifies calls.
int __open_2(const char* path, int flags) {  // NOLINT(bugprone-reserved-identifier)
  return open_now(AT_FDCWD, path, flags, 0, TTMEM_CALLER);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_now(directory, path, flags, mode, TTMEM_CALLER);
}

ssize_t read(int descriptor, void* into, size_t bytes) {
  return fails(EIO, TTMEM_CALLER) ? -1 : ::syscall(SYS_read, descriptor, into, bytes);
}
ssize_t pread(int descriptor, void* into, size_t bytes, off_t offset) {
  return fails(EIO, TTMEM_CALLER) ? -1 : ::syscall(SYS_pread64, descriptor, into, bytes, offset);
}
ssize_t pread64(int descriptor, void* into, size_t bytes, off64_t offset) {
  return fails(EIO, TTMEM_CALLER) ? -1 : ::syscall(SYS_pread64, descriptor, into, bytes, offset);
}
ssize_t write(int descriptor, const void* from, size_t bytes) {
  return fails(ENOSPC, TTMEM_CALLER) ? -1 : ::syscall(SYS_write, descriptor, from, bytes);
}
ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t offset) {
  return fails(ENOSPC, TTMEM_CALLER) ? -1
                                     : ::syscall(SYS_pwrite64, descriptor, from, bytes, offset);
}

void* mmap(void* start, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  if (fails(ENOMEM, TTMEM_CALLER)) return MAP_FAILED;
  return reinterpret_cast<void*>(
      ::syscall(SYS_mmap, start, bytes, protection, flags, descriptor, offset));
}
int ftruncate(int descriptor, off_t length) noexcept {
  return fails(EIO, TTMEM_CALLER) ? -1
                                  : static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}
int fallocate(int descriptor, int mode, off_t from, off_t bytes) {
  return fails(ENOSPC, TTMEM_CALLER)
             ? -1
             : static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, from, bytes));
}
int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fails(EINVAL, TTMEM_CALLER)
             ? -1
             : static_cast<int>(::syscall(SYS_fcntl, descriptor, command, argument));
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (fails(EINVAL, TTMEM_CALLER)) return -1;
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  std::int64_t add = 0;
  if (clock == CLOCK_MONOTONIC) add = ahead_ns;
  if (clock == CLOCK_REALTIME) add = ahead_ns + wall_ahead_ns;
  if (add == 0) return result;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t sum = time->tv_nsec + add % kSecond + kSecond;
  time->tv_sec += add / kSecond - 1 + sum / kSecond;
  time->tv_nsec = sum % kSecond;
  return result;
}

}  // extern "C"
