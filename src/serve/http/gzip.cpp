// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/gzip.hpp"

#include <array>
#include <cstdint>

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>

namespace ttmem::serve::http {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t kHeadBytes = 10, kEndBytes = 8;
// Fast: what is sent is JSON, which gives way easily, and many times a second.
// A stream is packed ten times a second; what is fetched whole is a fifth smaller for half a
// millisecond more.
constexpr int kPieceLevel = 1, kWholeLevel = 5, kWindowBits = 15, kMemory = 8;
// More than this is packed as fast as can be: 16 processes on 32 devices are 2.7 MB of metrics.
constexpr std::size_t kLargeBytes = 512 * 1024;

std::string deflated(std::string_view text, int level, zlib::Flush flush) {
  zlib::deflate_stream stream;
  stream.reset(level, kWindowBits, kMemory, zlib::Strategy::normal);
  constexpr std::size_t kFlushBytes = 16;
  std::string packed(stream.upper_bound(text.size()) + kFlushBytes, '\0');
  zlib::z_params params;
  params.next_in = text.data();
  params.avail_in = text.size();
  params.next_out = packed.data();
  params.avail_out = packed.size();
  boost::system::error_code error;
  stream.write(params, flush, error);
  packed.resize(packed.size() - params.avail_out);
  return packed;
}

void append_word(std::string& bytes, std::uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((word >> shift) & 0xff);
}

}  // namespace

std::string gzip_head() {
  // Magic, deflate, no flags, no time, no extra flags, no matter which system.
  return {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", kHeadBytes};
}

std::string gzip_piece(std::string_view text) {
  return deflated(text, kPieceLevel, zlib::Flush::full);
}

std::string gzipped(std::string_view text) {
  boost::crc_32_type checksum;
  checksum.process_bytes(text.data(), text.size());
  const int level = text.size() > kLargeBytes ? kPieceLevel : kWholeLevel;
  std::string packed = gzip_head() + deflated(text, level, zlib::Flush::finish);
  append_word(packed, checksum.checksum());
  append_word(packed, static_cast<std::uint32_t>(text.size()));
  return packed;
}

std::string gunzipped(std::string_view packed) {
  if (packed.size() < kHeadBytes + kEndBytes) return "";
  packed.remove_prefix(kHeadBytes);
  packed.remove_suffix(kEndBytes);
  zlib::inflate_stream stream;
  std::string text;
  std::array<char, 16 * 1024> piece;
  zlib::z_params params;
  params.next_in = packed.data();
  params.avail_in = packed.size();
  boost::system::error_code error;
  while (!error) {
    params.next_out = piece.data();
    params.avail_out = piece.size();
    stream.write(params, zlib::Flush::sync, error);
    text.append(piece.data(), piece.size() - params.avail_out);
  }
  return error == zlib::error::end_of_stream ? text : "";
}

}  // namespace ttmem::serve::http
