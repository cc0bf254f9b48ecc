// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The tree of origins: equal stacks are one node, and a full tree keeps the lines.
#include <cstring>
#include <string>
#include <vector>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class OriginsTest : public Recording {
 protected:
  std::uint32_t frame(const std::string& file, std::uint32_t line, const std::string& function,
                      std::uint32_t flags = 0) {
    return recorder->writer.origins.frame(file.data(), file.size(), line, function.data(),
                                          function.size(), flags);
  }
  ttmem_origin_t stack(ttmem_origin_t around, const std::vector<ttmem_step>& steps) {
    return recorder->writer.origins.stack(around, steps.data(),
                                          static_cast<std::uint32_t>(steps.size()));
  }
  ttmem_step step(std::uint32_t line, std::uint32_t flags = 0) {
    return {TTMEM_STEP_FRAME, frame("model.py", line, "forward", flags)};
  }
  ttmem_string_t string(const std::string& text) {
    return recorder->interning.string(text.data(), text.size());
  }
  template <class T>
  T blob(std::uint32_t id) {
    T record = {};
    const std::string bytes = reader().blob(id);
    EXPECT_EQ(bytes.size(), sizeof record);
    if (bytes.size() == sizeof record) std::memcpy(&record, bytes.data(), sizeof record);
    return record;
  }
  bool stacks_are_cut() { return (reader().header().flags & segment::kHeaderStacksCut) != 0; }
};

TEST_F(OriginsTest, AFrameIsItsFileLineAndFunction) {
  const auto made = blob<segment::OriginFrame>(frame("model.py", 81, "forward"));
  EXPECT_EQ(reader().blob(made.file), "model.py");
  EXPECT_EQ(reader().blob(made.function), "forward");
  EXPECT_EQ(made.line, 81u);
  EXPECT_EQ(made.flags, 0u);
  EXPECT_EQ(frame("model.py", 81, "forward"), frame("model.py", 81, "forward"));
  EXPECT_NE(frame("model.py", 81, "forward"), frame("model.py", 82, "forward"));
}

TEST_F(OriginsTest, OfALongPathTheEndIsKept) {
  const std::string file = std::string(3000, 'x') + "\xC3\xA4" + std::string(994, 'y') + "/a.py";
  const auto made = blob<segment::OriginFrame>(frame(file, 1, "f"));
  const std::string kept = reader().blob(made.file);
  EXPECT_EQ(kept, std::string(994, 'y') + "/a.py") << "never half a character";
}

TEST_F(OriginsTest, EqualStacksAreOneNodeAndEqualBeginningsAreKeptOnce) {
  const ttmem_origin_t first = stack(0, {step(1), step(2), step(3)});
  const std::uint64_t bytes = reader().header().interned_bytes;
  EXPECT_EQ(stack(0, {step(1), step(2), step(3)}), first);
  EXPECT_EQ(reader().header().interned_bytes, bytes);
  const ttmem_step fourth = step(4);
  const std::uint64_t with_frame = reader().header().interned_bytes;
  const ttmem_origin_t other = stack(0, {step(1), step(2), fourth});
  EXPECT_EQ(reader().header().interned_bytes, with_frame + 16) << "one node";
  EXPECT_EQ(blob<segment::OriginNode>(other).parent, blob<segment::OriginNode>(first).parent);
  EXPECT_GT(other, blob<segment::OriginNode>(other).parent) << "a parent is older";
}

TEST_F(OriginsTest, RegionsStandAroundTheStack) {
  const ttmem_origin_t model = recorder->writer.origins.region(0, string("model"), 0);
  const ttmem_origin_t layer = recorder->writer.origins.region(model, string("layer 3"), 0);
  EXPECT_EQ(recorder->writer.origins.region(model, string("layer 3"), 0), layer);
  EXPECT_EQ(recorder->writer.origins.around(layer), model);
  EXPECT_EQ(recorder->writer.origins.around(model), 0u);
  const ttmem_origin_t node = stack(layer, {step(81), {TTMEM_STEP_OPERATION, string("ttnn.add")}});
  const auto operation = blob<segment::OriginNode>(node);
  EXPECT_EQ(reader().blob(operation.what), "ttnn.add");
  EXPECT_EQ(blob<segment::OriginNode>(operation.parent).parent, layer);
  EXPECT_NE(stack(0, {step(81)}), operation.parent) << "the same line outside of the region";
}

TEST_F(OriginsTest, AFullTreeKeepsTheLinesThenNothingButNeverFillsTheSection) {
  std::uint64_t line = 0;
  const auto whole = [&](ttmem_origin_t node) {
    return blob<segment::OriginNode>(blob<segment::OriginNode>(node).parent).parent != 0;
  };
  const auto next = [&] {
    ++line;
    const auto number = static_cast<std::uint32_t>(line);
    return stack(0, {step(number),
                     step(number + 1),
                     step(number, TTMEM_FRAME_INNER),
                     {TTMEM_STEP_OPERATION, string("ttnn.add")}});
  };
  ASSERT_TRUE(whole(next()));
  while (!stacks_are_cut()) {
    for (int i = 0; i < 1000; ++i) next();
    ASSERT_LT(line, 1'000'000u);
  }
  EXPECT_GT(reader().header().interned_bytes, segment::kMaxStackBytes - 64 * 1024);
  const auto operation = blob<segment::OriginNode>(next());
  EXPECT_EQ(reader().blob(operation.what), "ttnn.add");
  const auto innermost = blob<segment::OriginNode>(operation.parent);
  EXPECT_EQ(innermost.parent, 0u) << "the line alone";
  EXPECT_EQ(blob<segment::OriginFrame>(innermost.what).line, line + 1) << "and not ttnn's own";
  for (ttmem_origin_t node = 1; node != 0;) {
    for (int i = 0; i < 1000; ++i) node = next();
    ASSERT_LT(line, 1'000'000u);
  }
  EXPECT_LE(reader().header().interned_bytes, segment::kMaxOriginBytes + 64 * 1024);
  line = 0;
  EXPECT_TRUE(whole(next())) << "what is known stays known";
  const ttmem_core_range core = {3, 4, 5, 6};
  EXPECT_NE(recorder->interning.cores(TTMEM_CORE_TENSIX, &core, 1), 0u);
}

}  // namespace
}  // namespace ttmem::client
