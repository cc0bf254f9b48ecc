// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/peer_user.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/file_descriptor.hpp"

namespace ttmem::serve {
namespace {

constexpr std::uint32_t kUnmapped = 65534;  // every user that this user namespace has no number for

struct SocketQuestion {
  nlmsghdr head{};
  inet_diag_req_v2 wanted{};
};

struct SocketAnswer {
  nlmsghdr head{};
  inet_diag_msg told{};
};

bool take_end(const EndAddress& end, __be16& port, __be32 (&address)[4]) {
  if (end.bytes.size() > sizeof address) return false;
  port = htons(end.port);
  std::memcpy(address, end.bytes.data(), end.bytes.size());
  return true;
}

}  // namespace

std::optional<std::uint32_t> peer_user(const ConnectionEnds& ends) {
  SocketQuestion question;
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.wanted.sdiag_family = ends.peer.bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  question.wanted.sdiag_protocol = IPPROTO_TCP;
  question.wanted.idiag_states = ~0U;
  inet_diag_sockid& id = question.wanted.id;
  if (!take_end(ends.peer, id.idiag_sport, id.idiag_src) ||
      !take_end(ends.own, id.idiag_dport, id.idiag_dst)) {
    return std::nullopt;
  }
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const FileDescriptor kernel(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  SocketAnswer answer;
  sockaddr_nl from{};
  socklen_t size = sizeof from;
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) != sizeof question ||
      ::recvfrom(kernel.get(), &answer, sizeof answer, 0, reinterpret_cast<sockaddr*>(&from),
                 &size) != sizeof answer ||
      from.nl_pid != 0) {  // the kernel's
    return std::nullopt;
  }
  // One that is closed has no inode, and says that it is root's.
  if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.told.idiag_inode == 0 ||
      answer.told.idiag_uid == kUnmapped) {
    return std::nullopt;
  }
  return answer.told.idiag_uid;
}

}  // namespace ttmem::serve
