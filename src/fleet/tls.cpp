// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/tls.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace ttmem::fleet {
namespace {

// What is used of OpenSSL 1.1 and 3: the calls and numbers below are the same in both.
constexpr int kVerifyPeer = 1, kWantRead = 2, kWantWrite = 3, kEnd = 6;
constexpr int kSetServerName = 55, kSetLeastVersion = 123;
constexpr long kTls12 = 0x0303, kCertificateIsGood = 0;

struct Library {
  const void* (*client_method)() = nullptr;
  void* (*new_context)(const void*) = nullptr;
  void (*free_context)(void*) = nullptr;
  long (*control_context)(void*, int, long, void*) = nullptr;
  void (*verify)(void*, int, void*) = nullptr;
  int (*use_authorities)(void*) = nullptr;
  void* (*new_session)(void*) = nullptr;
  void (*free_session)(void*) = nullptr;
  int (*set_socket)(void*, int) = nullptr;
  long (*control)(void*, int, long, void*) = nullptr;
  int (*expect_host)(void*, const char*) = nullptr;
  void* (*parameters)(void*) = nullptr;
  int (*expect_address)(void*, const char*) = nullptr;
  int (*connect)(void*) = nullptr;
  int (*read)(void*, void*, int) = nullptr;
  int (*write)(void*, const void*, int) = nullptr;
  int (*error_of)(const void*, int) = nullptr;
  long (*verdict)(const void*) = nullptr;
  const char* (*verdict_text)(long) = nullptr;
  void (*clear_errors)() = nullptr;
  bool complete = false;
};

Library load() {
  Library library;
  void* handle = nullptr;
  for (const char* name : {"libssl.so.3", "libssl.so.1.1"}) {
    if (handle == nullptr) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) return library;
  library.complete = true;
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    library.complete = library.complete && function != nullptr;
  };
  bind(library.client_method, "TLS_client_method");
  bind(library.new_context, "SSL_CTX_new");
  bind(library.free_context, "SSL_CTX_free");
  bind(library.control_context, "SSL_CTX_ctrl");
  bind(library.verify, "SSL_CTX_set_verify");
  bind(library.use_authorities, "SSL_CTX_set_default_verify_paths");
  bind(library.new_session, "SSL_new");
  bind(library.free_session, "SSL_free");
  bind(library.set_socket, "SSL_set_fd");
  bind(library.control, "SSL_ctrl");
  bind(library.expect_host, "SSL_set1_host");
  bind(library.parameters, "SSL_get0_param");
  bind(library.expect_address, "X509_VERIFY_PARAM_set1_ip_asc");
  bind(library.connect, "SSL_connect");
  bind(library.read, "SSL_read");
  bind(library.write, "SSL_write");
  bind(library.error_of, "SSL_get_error");
  bind(library.verdict, "SSL_get_verify_result");
  bind(library.verdict_text, "X509_verify_cert_error_string");
  bind(library.clear_errors, "ERR_clear_error");
  return library;
}

const Library& openssl() {
  static const Library kLibrary = load();
  return kLibrary;
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

// OpenSSL writes without MSG_NOSIGNAL: a peer that is gone must not end the program. Only this
// thread is shielded, and only meanwhile.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

Error failed(const std::string& why) { return {ErrorCode::kSystem, why}; }

}  // namespace

struct Tls::Session {
  void* context = nullptr;
  void* session = nullptr;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (session != nullptr) openssl().free_session(session);
    if (context != nullptr) openssl().free_context(context);
  }

  // Repeats a call until it is done, in time; its result, 0 or less if it failed.
  template <typename Call>
  int until_done(const Wait& wait, Call call) const {
    const WithoutSigpipe shield;
    while (true) {
      openssl().clear_errors();  // what is left of others would be taken for ours
      const int result = call();
      if (result > 0) return result;
      const int error = openssl().error_of(session, result);
      if (error == kEnd) return 0;
      if (error != kWantRead && error != kWantWrite) return -1;
      if (!wait(error == kWantRead ? POLLIN : POLLOUT)) return -1;
    }
  }
};

Result<Tls> Tls::begin(int socket, const std::string& host, const Wait& wait) {
  const Library& library = openssl();
  if (!library.complete) {
    return failed("https needs OpenSSL on this machine, 1.1 or 3 (libssl.so): install it");
  }
  auto made = std::make_shared<Session>();
  made->context = library.new_context(library.client_method());
  if (made->context == nullptr) return failed("OpenSSL does not start");
  library.control_context(made->context, kSetLeastVersion, kTls12, nullptr);
  library.verify(made->context, kVerifyPeer, nullptr);
  library.use_authorities(made->context);
  made->session = library.new_session(made->context);
  if (made->session == nullptr) return failed("OpenSSL does not start");
  std::string name = host;
  const bool named = is_address(host)
                         ? library.expect_address(library.parameters(made->session), host.c_str())
                         : library.expect_host(made->session, host.c_str()) &&
                               library.control(made->session, kSetServerName, 0, name.data());
  if (!named || library.set_socket(made->session, socket) != 1) return failed("OpenSSL refuses");
  if (made->until_done(wait, [&] { return library.connect(made->session); }) > 0) {
    return Tls(std::move(made));
  }
  const long verdict = library.verdict(made->session);
  if (verdict == kCertificateIsGood) return failed("it does not speak TLS, or not in time");
  return failed(std::string("its certificate is not accepted: ") + library.verdict_text(verdict) +
                " (SSL_CERT_FILE names other authorities)");
}

std::optional<std::size_t> Tls::send(std::string_view text, const Wait& wait) const {
  constexpr std::size_t kMost = 1u << 20;
  const int size = static_cast<int>(std::min(text.size(), kMost));
  const int count = session_->until_done(
      wait, [&] { return openssl().write(session_->session, text.data(), size); });
  if (count <= 0) return std::nullopt;
  return static_cast<std::size_t>(count);
}

std::optional<std::size_t> Tls::receive(char* bytes, std::size_t size, const Wait& wait) const {
  const int count = session_->until_done(
      wait, [&] { return openssl().read(session_->session, bytes, static_cast<int>(size)); });
  if (count < 0) return std::nullopt;
  return static_cast<std::size_t>(count);
}

}  // namespace ttmem::fleet
