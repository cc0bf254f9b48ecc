// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// TLS by the OpenSSL of this machine, which is loaded when the first https address is asked for and
// never before. So the machine's own updates and its own list of certificate authorities hold, and
// a wheel carries no cryptography that would grow old in it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::fleet {

class Tls {
 public:
  // True when the socket is ready for these events of poll in time.
  using Wait = std::function<bool(short events)>;

  // Shakes hands over a connected, non-blocking socket, and makes sure that whoever is there is
  // `host`. The error says why not. SSL_CERT_FILE and SSL_CERT_DIR name other authorities.
  static Result<Tls> begin(int socket, const std::string& host, const Wait& wait);

  // How many bytes went through; 0 at the end; empty if nothing did in time.
  std::optional<std::size_t> send(std::string_view text, const Wait& wait) const;
  std::optional<std::size_t> receive(char* bytes, std::size_t size, const Wait& wait) const;

 private:
  struct Session;
  explicit Tls(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;
};

}  // namespace ttmem::fleet
