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

// CHECK-LABEL: func.func @rms_norm_stored
func.func @rms_norm_stored(%x: tensor<4x64xbf16>, %g: tensor<64xf32>, %gb: tensor<64xbf16>, %i8: tensor<4x64xi8>,
                           %codes: tensor<4x32xui8>, %s: tensor<4xf32>) {
  // CHECK: ck.rms_norm %{{.*}}, %{{.*}} {eps = {{.*}}, scale = 8.000000e+00 : f64} : (tensor<4x64xbf16>, tensor<64xbf16>) -> tensor<4x64xbf16>
  %a = ck.rms_norm %x, %gb {eps = 1.0e-5 : f64, scale = 8.0 : f64} : (tensor<4x64xbf16>, tensor<64xbf16>) -> tensor<4x64xbf16>
  // CHECK: ck.rms_norm {{.*}}save_rstd} : (tensor<4x64xbf16>, tensor<64xf32>) -> (tensor<4x64xbf16>, tensor<4xf32>)
  %b, %r = ck.rms_norm %x, %g {eps = 1.0e-5 : f64, save_rstd}
      : (tensor<4x64xbf16>, tensor<64xf32>) -> (tensor<4x64xbf16>, tensor<4xf32>)
  // CHECK: ck.rms_norm %{{.*}} scales %{{[a-z0-9]+}} {codes = "int8", eps = {{.*}}, gain = "none"} : (tensor<4x64xi8>, tensor<4xf32>) -> tensor<4x64xf32>
  %c = ck.rms_norm %i8 scales %s {eps = 1.0e-5 : f64, codes = "int8", gain = "none"}
      : (tensor<4x64xi8>, tensor<4xf32>) -> tensor<4x64xf32>
  // CHECK: ck.rms_norm %{{.*}}, %{{.*}} scales %{{[a-z0-9]+}} {codes = "int4", eps = 1.000000e-05 : f64} : (tensor<4x32xui8>, tensor<64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  %z = ck.rms_norm %codes, %g scales %s {eps = 1.0e-5 : f64, codes = "int4"}
      : (tensor<4x32xui8>, tensor<64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<4x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>) {
  // CHECK: ck.layer_norm %{{.*}}, %{{[a-z0-9]+}} {eps = 1.000000e-05 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %y = ck.layer_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64, save_stats}
  // CHECK-SAME: -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>)
  %z, %m, %r = ck.layer_norm %x, %g, %b {eps = 1.0e-5 : f64, save_stats}
      : (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: ck.layer_norm %{{[a-z0-9]+}} {checked = true, eps = 1.000000e-05 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = ck.layer_norm %x {eps = 1.0e-5 : f64, checked = true} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @qk_norm
func.func @qk_norm(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %qh: tensor<8x?x8xf32>, %kh: tensor<4x?x8xf32>,
                   %g: tensor<8xf32>) {
  // CHECK: ck.qk_norm %{{.*}}, %{{.*}} gains %{{.*}}, %{{[a-z0-9]+}} {eps = {{.*}}, head_dim = 8 : i64} : (
  %q1, %k1 = ck.qk_norm %q, %k gains %g, %g {eps = 1.0e-6 : f64, head_dim = 8 : i64}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>)
  // CHECK: ck.qk_norm {{.*}} {eps = {{.*}}, gain = "one_plus_weight", head_dim = 8 : i64, layout = "head_major"}
  %q2, %k2 = ck.qk_norm %qh, %kh gains %g, %g
      {eps = 1.0e-6 : f64, head_dim = 8 : i64, gain = "one_plus_weight", layout = "head_major"}
      : (tensor<8x?x8xf32>, tensor<4x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x?x8xf32>, tensor<4x?x8xf32>)
  return
}
