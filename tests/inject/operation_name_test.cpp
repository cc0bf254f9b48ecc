// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/operation_name.hpp"

#include <gtest/gtest.h>

namespace ttmem::inject {
namespace {

TEST(OperationName, IsTheLastNameOfTheAdaptedOperation) {
  EXPECT_EQ(operation_in("_ZN4ttnn16device_operation6detail21enqueue_mesh_workloadITkNS0_36"
                         "DeviceOperationWithMeshDeviceAdapterENS0_26MeshDeviceOperationAdapterINS_"
                         "10operations10index_fill18IndexFillOperationEEEEEvRKNT_"),
            "IndexFillOperation");
}

TEST(OperationName, IgnoresOtherSymbols) {
  EXPECT_EQ(operation_in("_ZN4ttnn3addERKNS_6TensorES2_"), "");
  EXPECT_EQ(operation_in(""), "");
}

TEST(OperationName, SurvivesSymbolsThatEndTooEarly) {
  EXPECT_EQ(operation_in("26MeshDeviceOperationAdapterI"), "");
  EXPECT_EQ(operation_in("26MeshDeviceOperationAdapterINS_99Short"), "");
  EXPECT_EQ(operation_in("26MeshDeviceOperationAdapterINS"), "");
}

}  // namespace
}  // namespace ttmem::inject
