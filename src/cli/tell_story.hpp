// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Tells a scribe (export/story.hpp) what happened: all of a recording up to a moment, or what the
// rings of the present still hold. Shows progress where a person waits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "cli/past.hpp"
#include "export/story.hpp"
#include "view/selection.hpp"

namespace ttmem::cli {

struct StoryQuestion {
  Past past;
  view::Selection selection;
  std::uint32_t failure = 0;            // up to this one; 0 = none is meant
  bool redact = false;                  // hide what view/text_editor.hpp hides
  std::optional<std::uint32_t> device;  // which one that is, once the story is told
};

// An error is in words for the user. `give_up` is asked now and then.
Result<bool> tell_story(StoryQuestion& question, exports::Scribe& scribe,
                        const std::function<bool()>& give_up);

}  // namespace ttmem::cli
