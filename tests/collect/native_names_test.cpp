// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What can go wrong when calls of native code are named. That the names are right is shown by
// tests/fake_metal, on a program whose lines are known.
#include "collect/native_names.hpp"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

TEST(NativeNames, WithoutSymbolsThereIsTheModuleAndTheAddress) {
  EXPECT_EQ(text_of({"/lib/libmodel.so", "", 0x1a2b}), "libmodel.so+0x1a2b");
  EXPECT_EQ(text_of({"model", "", 0}), "model+0x0");
}

TEST(NativeNames, AFunctionIsCalledAsPeopleCallIt) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("model::forward(int, long)"), "model::forward");
  EXPECT_EQ(without_parameters("void launch<Add, (Kind)1>(Memory&)"), "launch<Add, (Kind)1>");
  EXPECT_EQ(without_parameters("(anonymous namespace)::Memory::buffer(unsigned long)"),
            "(anonymous namespace)::Memory::buffer");
  EXPECT_EQ(without_parameters("Call::operator()(int) const"), "Call::operator()(int) const");
  EXPECT_EQ(without_parameters("a<b"), "a<b");
  EXPECT_EQ(without_parameters(""), "");
}

TEST(NativeNames, WhatIsNoModuleHasNone) {
  const support::TemporaryDirectory folder;
  const std::string no_module = folder.path() + "/text";
  std::ofstream(no_module) << "no module";
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {no_module, pipe, folder.path(), folder.path() + "/none",
                                  std::string("/dev/zero"), std::string()}) {
    const NativeName name = name_of({path, "", 64});
    EXPECT_EQ(name.function + name.file, "") << path;
  }
}

}  // namespace
}  // namespace ttmem::collect
