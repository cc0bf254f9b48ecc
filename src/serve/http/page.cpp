// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/page.hpp"

#include <algorithm>
#include <string_view>

#include "serve/http/gzip.hpp"

namespace ttmem::serve::http {
namespace {

constexpr std::string_view kStart = "/index.html";

const PageFile* find(std::string_view path) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

// Files have an ending and what programs ask for has not the page's business: the rest are views.
// The key of a job is anything; that of a step of Slurm ends with ".0".
bool is_view(std::string_view path) {
  if (path.starts_with("/jobs/")) return true;
  return path.find('.') == std::string_view::npos && !path.starts_with("/api/") && path != "/api" &&
         path != "/metrics" && path != "/healthz";
}

constexpr const char* kApiPage = R"(<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>ttmem: what programs can ask for</title></head>
<body>
<h1>ttmem</h1>
<p><a href="/">The page</a></p>
<p>What occupies the memory of the Tenstorrent devices of this host, who put it there, and what is
left.</p>
<dl>
<dt><a href="/api/v1/snapshot">/api/v1/snapshot</a></dt>
<dd>every device and process: the document of <code>ttmem status --json</code></dd>
<dt>/api/v1/devices/ID, for example <a href="/api/v1/devices/0">0</a></dt>
<dd>one device and the processes on it</dd>
<dt>/api/v1/devices/ID/cores, for example <a href="/api/v1/devices/0/cores">of 0</a></dt>
<dd>the L1 of every core; <code>?map=1</code> with the map of each, <code>?core=3,4</code> of one</dd>
<dt>/api/v1/devices/ID/banks, for example <a href="/api/v1/devices/0/banks">of 0</a></dt>
<dd>one DRAM bank for all, with its buffers and free blocks</dd>
<dt>/api/v1/devices/ID/rings, for example <a href="/api/v1/devices/0/rings">of 0</a></dt>
<dd>what lies in its kernel-config rings</dd>
<dt><a href="/api/v1/processes">/api/v1/processes</a></dt>
<dd>the processes alone; <code>?pid=</code></dd>
<dt><a href="/api/v1/jobs">/api/v1/jobs</a></dt>
<dd>the jobs of Slurm, Kubernetes, MPI and tt-run, each as one thing</dd>
<dt><a href="/api/v1/programs">/api/v1/programs</a></dt>
<dd>the live programs; <code>?device=</code>, <code>?pid=</code></dd>
<dt>/api/v1/programs/ID/launches, for example <a href="/api/v1/programs/all/launches">of all</a></dt>
<dd>which program ran when, in the last five minutes</dd>
<dt><a href="/api/v1/origins?by=line">/api/v1/origins</a></dt>
<dd>what is held, by the code that it comes from; <code>?by=line</code>, <code>file</code>,
<code>operation</code>, <code>region</code> or <code>stack</code>; <code>?device=</code>, <code>?pid=</code></dd>
<dt><a href="/api/v1/holdings?limit=100">/api/v1/holdings</a></dt>
<dd>every live buffer, program, kernel, range and trace, page by page</dd>
<dt><a href="/api/v1/failures">/api/v1/failures</a></dt>
<dd>failed allocations and clashes; <code>?pid=&amp;number=</code> with what was held then</dd>
<dt>/api/v1/explain</dt>
<dd>why the newest failure happened and what helps; <code>?pid=&amp;number=</code> for another one</dd>
<dt><a href="/api/v1/leaks">/api/v1/leaks</a></dt>
<dd>what grows from step to step</dd>
<dt><a href="/api/v1/log">/api/v1/log</a></dt>
<dd>the last events</dd>
<dt><a href="/api/v1/events">/api/v1/events</a></dt>
<dd>a stream: the snapshot, then what changes, ten times a second</dd>
<dt><a href="/api/v1/history">/api/v1/history</a></dt>
<dd>what the figures were; without <code>?metric=</code> the list of metrics</dd>
<dt><a href="/api/v1/history/programs">/api/v1/history/programs</a></dt>
<dd>the most launched programs of each device, minute by minute</dd>
<dt><a href="/api/v1/runs">/api/v1/runs</a></dt>
<dd>processes that came and went, with their peaks</dd>
<dt><a href="/api/v1/recordings">/api/v1/recordings</a></dt>
<dd>the recordings that this daemon keeps</dd>
<dt><a href="/api/v1/recording">/api/v1/recording</a></dt>
<dd>the recording that is shown, by a daemon that does not show the present</dd>
<dt>/api/v1/fleet</dt>
<dd>many hosts, with <code>ttmem serve --fleet URL</code></dd>
<dt><a href="/metrics">/metrics</a></dt>
<dd>for Prometheus</dd>
<dt><a href="/healthz">/healthz</a></dt>
<dd>whether this daemon is well</dd>
</dl>
</body>
</html>
)";

}  // namespace

std::optional<Response> page_answer(const Request& request) {
  const PageFile* file = find(request.path);
  if (file == nullptr && is_view(request.path)) file = find(kStart);
  if (file == nullptr) return std::nullopt;
  Response response;
  response.type = file->type;
  response.headers.emplace_back("ETag", file->etag);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back(
      "Cache-Control", file->named_by_content ? "public, max-age=31536000, immutable" : "no-cache");
  if (request.if_none_match == file->etag) {
    response.status = 304;
    return response;
  }
  const std::string_view packed(file->begin, file->end);
  if (request.takes_gzip) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.start = packed;
  } else {
    response.start = gunzipped(packed);
  }
  return response;
}

Response api_page() {
  Response response;
  response.type = "text/html; charset=utf-8";
  response.start = kApiPage;
  return response;
}

}  // namespace ttmem::serve::http
