// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kClogged = 256 * 1024;
constexpr auto kTurn = std::chrono::milliseconds(5);
constexpr std::size_t kMessagesPerLook = 16;  // at the clock
constexpr std::uint32_t kNobody = 65534;

struct Received {
  ssize_t bytes = -1;
  std::int32_t sender = 0;  // 0: a process that this one cannot name
};

// Room for the credentials alone: descriptors that somebody attaches are dropped by the kernel.
Received receive(int descriptor, std::span<std::byte> buffer) {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred))> control{};
  iovec into{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Received received;
  do {
    received.bytes = ::recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received.bytes < 0 && errno == EINTR);
  if (received.bytes <= 0) return received;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_CREDENTIALS) continue;
    ucred who;
    std::memcpy(&who, CMSG_DATA(each), sizeof who);
    received.sender = who.pid;
  }
  return received;
}

std::uint32_t owner_of(int descriptor) {
  ucred who{};
  socklen_t size = sizeof who;
  const bool known = ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
  return known ? who.uid : kNobody;
}

}  // namespace

Connection::Connection(FileDescriptor socket, Service& service)
    : socket_(std::move(socket)), owner_(owner_of(socket_.get())), service_(service) {
  TTMEM_CHECK(static_cast<bool>(socket_));
}

Connection::~Connection() {
  for (const std::int32_t pid : senders_) service_.connection_closed(service_.client(pid));
}

void Connection::forget(std::int32_t pid) {
  std::erase(senders_, pid);
  if (last_ != nullptr && last_->pid() == pid) last_ = nullptr;
}

Connection::Read Connection::read(std::size_t bytes) {
  // Of the thread, not of the connection: a thousand silent clients need no buffer each.
  static thread_local std::array<std::byte, kReadBytes> buffer;
  const Clock::time_point until = Clock::now() + kTurn;
  if (!apply_all(until)) return Read::kBroken;
  if (pending_) return Read::kMore;
  for (std::size_t got = 0; got < bytes;) {
    const Received received = receive(socket_.get(), buffer);
    if (received.bytes < 0) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? Read::kDrained : Read::kBroken;
    }
    if (received.bytes == 0) {
      framer_.silence();
      if (!apply_all(until)) return Read::kBroken;
      return pending_ ? Read::kMore : Read::kEnded;
    }
    last_read_ = Clock::now();
    const auto count = static_cast<std::size_t>(received.bytes);
    framer_.feed(std::span(buffer).first(count), received.sender);
    got += count;
    if (!apply_all(until)) return Read::kBroken;
    if (pending_ || is_clogged()) return Read::kMore;
  }
  return Read::kMore;
}

bool Connection::silence() {
  framer_.silence();
  return apply_all(Clock::now() + kTurn);
}

bool Connection::apply_all(Clock::time_point until) {
  Request request;
  std::size_t count = 0;
  pending_ = is_clogged();
  while (!pending_ && (state_ = framer_.next(request)) == Framer::State::kMessage) {
    if (framer_.sender() <= 0) return false;  // nobody we could name owns what it holds
    apply(request);
    // A dump takes as long as thousands of other messages.
    const bool look = ++count % kMessagesPerLook == 0 || Service::is_question(request.type);
    pending_ = is_clogged() || (look && Clock::now() >= until);
  }
  return state_ != Framer::State::kBroken;
}

void Connection::apply(const Request& request) {
  if (!Service::is_question(request.type)) {
    service_.apply(request, sender());
    return;
  }
  output_ += service_.answer(request, framer_.form(), owner_);
}

Client& Connection::sender() {
  const std::int32_t pid = framer_.sender();
  // Nearly always one process speaks on a connection; only forked children share one.
  if (last_ != nullptr && last_->pid() == pid) return *last_;
  last_ = &service_.client(pid, owner_);
  if (std::ranges::find(senders_, pid) == senders_.end()) {
    senders_.push_back(pid);
    service_.connection_opened(*last_);
  }
  return *last_;
}

bool Connection::is_clogged() const { return output_.size() - sent_ > kClogged; }

bool Connection::send() {
  while (has_output()) {
    const ssize_t count = ::send(socket_.get(), output_.data() + sent_, output_.size() - sent_,
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent_ += static_cast<std::size_t>(count);
  }
  output_.clear();
  sent_ = 0;
  return true;
}

}  // namespace ttmem::legacy
