// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @copy
func.func @copy(%x: tensor<4x64xf32>, %q: tensor<8x32x!ck.q8_0>) {
  // CHECK: ck.copy %{{.*}} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = ck.copy %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.copy %{{.*}} : (tensor<8x32x!ck.q8_0>) -> tensor<8x32x!ck.q8_0>
  %z = ck.copy %q : (tensor<8x32x!ck.q8_0>) -> tensor<8x32x!ck.q8_0>
  return
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<4x8x16xf32>, %d: tensor<?x3xi32>) {
  // CHECK: ck.transpose %{{.*}} {perm = array<i64: 1, 0, 2>} : (tensor<4x8x16xf32>) -> tensor<8x4x16xf32>
  %y = ck.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<4x8x16xf32>) -> tensor<8x4x16xf32>
  // CHECK: ck.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<?x3xi32>) -> tensor<3x?xi32>
  %z = ck.transpose %d {perm = array<i64: 1, 0>} : (tensor<?x3xi32>) -> tensor<3x?xi32>
  return
}

// CHECK-LABEL: func.func @split_concat
func.func @split_concat(%x: tensor<4x64xf32>, %d: tensor<?x64xf32>) {
  // CHECK: ck.split %{{.*}} {axis = 1 : i64, sizes = array<i64: 16, 48>} : (tensor<4x64xf32>) -> (tensor<4x16xf32>, tensor<4x48xf32>)
  %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: 16, 48>}
      : (tensor<4x64xf32>) -> (tensor<4x16xf32>, tensor<4x48xf32>)
  // CHECK: ck.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x48xf32>) -> tensor<4x64xf32>
  %y = ck.concat %a, %b {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x48xf32>) -> tensor<4x64xf32>
  // CHECK: ck.concat {{.*}} {axis = 0 : i64} : (tensor<4x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = ck.concat %y, %d {axis = 0 : i64} : (tensor<4x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: ck.concat %{{[a-z0-9]+}} {axis = 0 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %o = ck.concat %d {axis = 0 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<?x64xf32>, %l: tensor<4x512xf32>) {
  // CHECK: ck.last_row %{{.*}} : (tensor<?x64xf32>) -> tensor<1x64xf32>
  %y = ck.last_row %x : (tensor<?x64xf32>) -> tensor<1x64xf32>
  // CHECK: ck.argmax %{{.*}} : (tensor<4x512xf32>) -> tensor<4xi32>
  %i = ck.argmax %l : (tensor<4x512xf32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @update_rows
func.func @update_rows(%dst: tensor<16x512xf32>, %src: tensor<1x512xf32>, %pos: tensor<1xi32>) {
  // CHECK: ck.update_rows %{{.*}}, %{{.*}} at %{{.*}} : (tensor<16x512xf32>, tensor<1x512xf32>, tensor<1xi32>) -> tensor<16x512xf32>
  %y = ck.update_rows %dst, %src at %pos : (tensor<16x512xf32>, tensor<1x512xf32>, tensor<1xi32>) -> tensor<16x512xf32>
  return
}

// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<2x3xui64>) {
  // CHECK: ck.copy %{{.*}} : (tensor<4xui8>) -> tensor<4xui8>
  %a = ck.copy %x : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK: ck.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<2x3xui64>) -> tensor<3x2xui64>
  %b = ck.transpose %y {perm = array<i64: 1, 0>} : (tensor<2x3xui64>) -> tensor<3x2xui64>
  return
}
