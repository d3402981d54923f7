// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<4x64xf32>, %xb: tensor<2x?x64xf32>, %g: tensor<64xf32>) {
  // CHECK: ck.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %y = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.rms_norm %{{.*}}, %{{.*}} {eps = 0.000000e+00 : f64, gain = "one_plus_weight", save_rstd}
  // CHECK-SAME: -> (tensor<2x?x64xf32>, tensor<2x?xf32>)
  %z, %r = ck.rms_norm %xb, %g {eps = 0.0 : f64, gain = "one_plus_weight", save_rstd}
      : (tensor<2x?x64xf32>, tensor<64xf32>) -> (tensor<2x?x64xf32>, tensor<2x?xf32>)
  // CHECK: ck.rms_norm %{{[a-z0-9]+}} {eps = 5.000000e-01 : f64, gain = "none"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %n = ck.rms_norm %x {eps = 0.5 : f64, gain = "none"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}
