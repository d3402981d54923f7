// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// Storage types carry the logical shape; packed forms name their storage and row group.

// CHECK-LABEL: func.func private @storage_types
// CHECK-SAME: tensor<8x32x!ck.q4_0>
// CHECK-SAME: tensor<8x32x!ck.q4_1>
// CHECK-SAME: tensor<8x256x!ck.q4_k>
// CHECK-SAME: tensor<8x32x!ck.q5_0>
// CHECK-SAME: tensor<8x32x!ck.q5_1>
// CHECK-SAME: tensor<8x256x!ck.q5_k>
// CHECK-SAME: tensor<8x256x!ck.q6_k>
// CHECK-SAME: tensor<8x32x!ck.q8_0>
// CHECK-SAME: tensor<8x32x!ck.q8_1>
// CHECK-SAME: tensor<8x256x!ck.q8_k>
// CHECK-SAME: tensor<8x32x!ck.mxfp4>
// CHECK-SAME: tensor<8x64x!ck.nvfp4>
// CHECK-SAME: tensor<8x256x!ck.packed<q4_k, r8>>
// CHECK-SAME: tensor<8x256x!ck.packed<f32, r16>>
// CHECK-SAME: memref<?x256x!ck.q8_k>
func.func private @storage_types(
    tensor<8x32x!ck.q4_0>, tensor<8x32x!ck.q4_1>, tensor<8x256x!ck.q4_k>, tensor<8x32x!ck.q5_0>,
    tensor<8x32x!ck.q5_1>, tensor<8x256x!ck.q5_k>, tensor<8x256x!ck.q6_k>, tensor<8x32x!ck.q8_0>,
    tensor<8x32x!ck.q8_1>, tensor<8x256x!ck.q8_k>, tensor<8x32x!ck.mxfp4>, tensor<8x64x!ck.nvfp4>,
    tensor<8x256x!ck.packed<q4_k, r8>>, tensor<8x256x!ck.packed<f32, r16>>, memref<?x256x!ck.q8_k>)
