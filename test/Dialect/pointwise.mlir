// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @glu
func.func @glu(%g: tensor<4x172xf32>, %u: tensor<4x172xf32>, %gu: tensor<2x?x344xf32>) {
  // CHECK: ck.glu %{{.*}}, %{{.*}} {act = "silu"} : (tensor<4x172xf32>, tensor<4x172xf32>) -> tensor<4x172xf32>
  %y = ck.glu %g, %u {act = "silu"} : (tensor<4x172xf32>, tensor<4x172xf32>) -> tensor<4x172xf32>
  // CHECK: ck.glu %{{[a-z0-9]+}} {act = "gelu_tanh"} : (tensor<2x?x344xf32>) -> tensor<2x?x172xf32>
  %z = ck.glu %gu {act = "gelu_tanh"} : (tensor<2x?x344xf32>) -> tensor<2x?x172xf32>
  return
}

// CHECK-LABEL: func.func @activation
func.func @activation(%x: tensor<4x64xf32>, %d: tensor<?x?xf32>) {
  // CHECK: ck.activation %{{.*}} {kind = "gelu_erf"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %a = ck.activation %x {kind = "gelu_erf"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.activation %{{.*}} {alpha = 3.000000e+01 : f64, kind = "softcap"} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = ck.activation %d {kind = "softcap", alpha = 30.0 : f64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // CHECK: {alpha = 1.000000e-02 : f64, kind = "leaky_relu"}
  %c = ck.activation %x {kind = "leaky_relu", alpha = 0.01 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @add_mul
func.func @add_mul(%a: tensor<4x64xf32>, %b: tensor<4x64xf32>) {
  // CHECK: ck.add %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = ck.add %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.add %{{.*}}, %{{.*}} {alpha = -1.000000e+00 : f64, scale = 5.000000e-01 : f64}
  %z = ck.add %a, %b {alpha = -1.0 : f64, scale = 0.5 : f64} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.mul %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %m = ck.mul %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @scale
func.func @scale(%x: tensor<4x64xf32>, %s: tensor<1xf32>) {
  // CHECK: ck.scale %{{[a-z0-9]+}} {factor = 1.250000e-01 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = ck.scale %x {factor = 0.125 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.scale %{{.*}} by %{{[a-z0-9]+}} : (tensor<4x64xf32>, tensor<1xf32>) -> tensor<4x64xf32>
  %z = ck.scale %x by %s : (tensor<4x64xf32>, tensor<1xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @bias_add
func.func @bias_add(%x: tensor<4x64xf32>, %b: tensor<64xf32>) {
  // CHECK: ck.bias_add %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %y = ck.bias_add %x, %b : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @bf16
func.func @bf16(%x: tensor<4x64xbf16>, %s: tensor<1xf32>) {
  // CHECK: ck.activation %{{.*}} {checked = true, kind = "silu"} : (tensor<4x64xbf16>) -> tensor<4x64xbf16>
  %a = ck.activation %x {kind = "silu", checked = true} : (tensor<4x64xbf16>) -> tensor<4x64xbf16>
  // CHECK: ck.glu {{.*}} : (tensor<4x64xbf16>) -> tensor<4x32xbf16>
  %g = ck.glu %x {act = "silu"} : (tensor<4x64xbf16>) -> tensor<4x32xbf16>
  // CHECK: ck.add {{.*}} : (tensor<4x64xbf16>, tensor<4x64xbf16>) -> tensor<4x64xbf16>
  %b = ck.add %x, %a : (tensor<4x64xbf16>, tensor<4x64xbf16>) -> tensor<4x64xbf16>
  // CHECK: ck.mul {{.*}} : (tensor<4x64xbf16>, tensor<4x64xbf16>) -> tensor<4x64xbf16>
  %m = ck.mul %x, %a : (tensor<4x64xbf16>, tensor<4x64xbf16>) -> tensor<4x64xbf16>
  // CHECK: ck.scale {{.*}} : (tensor<4x64xbf16>, tensor<1xf32>) -> tensor<4x64xbf16>
  %c = ck.scale %x by %s : (tensor<4x64xbf16>, tensor<1xf32>) -> tensor<4x64xbf16>
  return
}
