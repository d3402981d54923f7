// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%kernel_maps})' %s | FileCheck %s

// Every op of a training step finds the provider that is meant for it: names of operands and results in the kernel maps
// are those of the ops.

module attributes {ck.model = "m", ck.numerics = "f32"} {
// CHECK-LABEL: func.func @f0(
// CHECK: ck.call @rmsnorm_backward{{ }}
func.func @f0(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r {wrt = ["input", "gamma"], accumulate = "none",
      gain = "weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>) -> (tensor<4x64xf32>,
      tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f1(
// CHECK: ck.call @rms_norm_grad_add_params_f32{{ }}
func.func @f1(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %igamma: tensor<64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"})
    attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %igamma {wrt = ["input", "gamma"], accumulate = "params",
      gain = "weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<64xf32>)
      -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f2(
// CHECK: ck.call @rms_norm_grad_add_input_f32{{ }}
func.func @f2(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %iinput: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %iinput {wrt = ["input", "gamma"], accumulate = "input",
      gain = "weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4x64xf32>)
      -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f3(
// CHECK: ck.call @rms_norm_grad_add_all_f32{{ }}
func.func @f3(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %iinput: tensor<4x64xf32>, %igamma: tensor<64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %iinput, %igamma {wrt = ["input", "gamma"],
      accumulate = "all", gain = "weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>,
      tensor<4x64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f4(
// CHECK: ck.call @rms_norm_grad_one_plus_f32{{ }}
func.func @f4(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r {wrt = ["input", "gamma"], accumulate = "none",
      gain = "one_plus_weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>)
      -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f5(
// CHECK: ck.call @rms_norm_grad_one_plus_add_params_f32{{ }}
func.func @f5(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %igamma: tensor<64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"})
    attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %igamma {wrt = ["input", "gamma"], accumulate = "params",
      gain = "one_plus_weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>,
      tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f6(
// CHECK: ck.call @rms_norm_grad_one_plus_add_input_f32{{ }}
func.func @f6(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %iinput: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %iinput {wrt = ["input", "gamma"], accumulate = "input",
      gain = "one_plus_weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>,
      tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f7(
// CHECK: ck.call @rms_norm_grad_one_plus_add_all_f32{{ }}
func.func @f7(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>,
    %iinput: tensor<4x64xf32>, %igamma: tensor<64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.rms_norm_grad %dy, %x gamma %g rstd %r into %iinput, %igamma {wrt = ["input", "gamma"],
      accumulate = "all", gain = "one_plus_weight"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>,
      tensor<4xf32>, tensor<4x64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f8(
// CHECK: ck.call @rms_norm_grad_unit_f32{{ }}
func.func @f8(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %r: tensor<4xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.rms_norm_grad %dy, %x rstd %r {wrt = ["input"], accumulate = "none", gain = "none"} : (tensor<4x64xf32>,
      tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f9(
// CHECK: ck.call @rms_norm_grad_unit_add_f32{{ }}
func.func @f9(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %r: tensor<4xf32>, %i: tensor<4x64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.rms_norm_grad %dy, %x rstd %r into %i {wrt = ["input"], accumulate = "input", gain = "none"}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f10(
// CHECK: ck.call @layer_norm_grad_f32{{ }}
func.func @f10(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %m: tensor<4xf32>,
    %r: tensor<4xf32>) -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"},
    tensor<64xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.layer_norm_grad %dy, %x, %g stats %m, %r {wrt = ["input", "gamma", "beta"], accumulate = "none"}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x64xf32>,
      tensor<64xf32>, tensor<64xf32>)
  return %o#0, %o#1, %o#2 : tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f11(
// CHECK: ck.call @layer_norm_grad_add_params_f32{{ }}
func.func @f11(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %m: tensor<4xf32>,
    %r: tensor<4xf32>, %igamma: tensor<64xf32>, %ibeta: tensor<64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}, tensor<64xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.layer_norm_grad %dy, %x, %g stats %m, %r into %igamma, %ibeta {wrt = ["input", "gamma", "beta"],
      accumulate = "params"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>)
  return %o#0, %o#1, %o#2 : tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f12(
// CHECK: ck.call @layer_norm_grad_add_input_f32{{ }}
func.func @f12(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %m: tensor<4xf32>,
    %r: tensor<4xf32>, %iinput: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<64xf32> {ck.output = "r1"}, tensor<64xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.layer_norm_grad %dy, %x, %g stats %m, %r into %iinput {wrt = ["input", "gamma", "beta"],
      accumulate = "input"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>)
  return %o#0, %o#1, %o#2 : tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f13(
// CHECK: ck.call @layer_norm_grad_add_all_f32{{ }}
func.func @f13(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %m: tensor<4xf32>,
    %r: tensor<4xf32>, %iinput: tensor<4x64xf32>, %igamma: tensor<64xf32>, %ibeta: tensor<64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<64xf32> {ck.output = "r1"},
    tensor<64xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.layer_norm_grad %dy, %x, %g stats %m, %r into %iinput, %igamma, %ibeta {wrt = ["input", "gamma",
      "beta"], accumulate = "all"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<64xf32>,
      tensor<64xf32>)
  return %o#0, %o#1, %o#2 : tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func @f14(
// CHECK: ck.call @layernorm_forward{{ }}
func.func @f14(%x: tensor<4x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4xf32> {ck.output = "r1"},
    tensor<4xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.layer_norm %x, %g, %b {eps = 1.0e-5 : f64, save_stats} : (tensor<4x64xf32>, tensor<64xf32>,
      tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>)
  return %o#0, %o#1, %o#2 : tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @f15(
// CHECK: ck.call @qk_norm_token_major_f32{{ }}
func.func @f15(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x32xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.qk_norm %q, %k gains %a, %b {eps = 1.0e-6 : f64, head_dim = 8 : i64, gain = "weight",
      layout = "token_major"} : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x32xf32>
}
// CHECK-LABEL: func.func @f16(
// CHECK: ck.call @qk_norm_grad_token_major_f32{{ }}
func.func @f16(%dq: tensor<4x64xf32>, %dk: tensor<4x32xf32>, %q: tensor<4x64xf32>, %k: tensor<4x32xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<4x32xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b  {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k",
      "q_gamma", "k_gamma"], accumulate = "none", gain = "weight", layout = "token_major"} : (tensor<4x64xf32>,
      tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x64xf32>,
      tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f17(
// CHECK: ck.call @qk_norm_grad_token_major_add_f32{{ }}
func.func @f17(%dq: tensor<4x64xf32>, %dk: tensor<4x32xf32>, %q: tensor<4x64xf32>, %k: tensor<4x32xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>, %ia: tensor<8xf32>, %ib: tensor<8xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x32xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b into %ia, %ib {eps = 1.0e-6 : f64, head_dim = 8 : i64,
      wrt = ["q", "k", "q_gamma", "k_gamma"], accumulate = "params", gain = "weight", layout = "token_major"}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<8xf32>, tensor<8xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f18(
// CHECK: ck.call @qk_norm_token_major_one_plus_f32{{ }}
func.func @f18(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x32xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.qk_norm %q, %k gains %a, %b {eps = 1.0e-6 : f64, head_dim = 8 : i64, gain = "one_plus_weight",
      layout = "token_major"} : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x32xf32>
}
// CHECK-LABEL: func.func @f19(
// CHECK: ck.call @qk_norm_grad_token_major_one_plus_f32{{ }}
func.func @f19(%dq: tensor<4x64xf32>, %dk: tensor<4x32xf32>, %q: tensor<4x64xf32>, %k: tensor<4x32xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<4x32xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b  {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k",
      "q_gamma", "k_gamma"], accumulate = "none", gain = "one_plus_weight", layout = "token_major"}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f20(
// CHECK: ck.call @qk_norm_grad_token_major_one_plus_add_f32{{ }}
func.func @f20(%dq: tensor<4x64xf32>, %dk: tensor<4x32xf32>, %q: tensor<4x64xf32>, %k: tensor<4x32xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>, %ia: tensor<8xf32>, %ib: tensor<8xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x32xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b into %ia, %ib {eps = 1.0e-6 : f64, head_dim = 8 : i64,
      wrt = ["q", "k", "q_gamma", "k_gamma"], accumulate = "params", gain = "one_plus_weight",
      layout = "token_major"} : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>,
      tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>,
      tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f21(
// CHECK: ck.call @qk_norm_forward{{ }}
func.func @f21(%q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<8x4x8xf32> {ck.output = "r0"}, tensor<4x4x8xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.qk_norm %q, %k gains %a, %b {eps = 1.0e-6 : f64, head_dim = 8 : i64, gain = "weight",
      layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
  return %o#0, %o#1 : tensor<8x4x8xf32>, tensor<4x4x8xf32>
}
// CHECK-LABEL: func.func @f22(
// CHECK: ck.call @qk_norm_backward_f32{{ }}
func.func @f22(%dq: tensor<8x4x8xf32>, %dk: tensor<4x4x8xf32>, %q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8x4x8xf32> {ck.output = "r0"},
    tensor<4x4x8xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b  {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k",
      "q_gamma", "k_gamma"], accumulate = "none", gain = "weight", layout = "head_major"} : (tensor<8x4x8xf32>,
      tensor<4x4x8xf32>, tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x4x8xf32>,
      tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f23(
// CHECK: ck.call @qk_norm_grad_add_f32{{ }}
func.func @f23(%dq: tensor<8x4x8xf32>, %dk: tensor<4x4x8xf32>, %q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>, %ia: tensor<8xf32>, %ib: tensor<8xf32>)
    -> (tensor<8x4x8xf32> {ck.output = "r0"}, tensor<4x4x8xf32> {ck.output = "r1"},
    tensor<8xf32> {ck.output = "r2"}, tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b into %ia, %ib {eps = 1.0e-6 : f64, head_dim = 8 : i64,
      wrt = ["q", "k", "q_gamma", "k_gamma"], accumulate = "params", gain = "weight", layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>,
      tensor<8xf32>, tensor<8xf32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f24(
// CHECK: ck.call @qk_norm_one_plus_f32{{ }}
func.func @f24(%q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<8x4x8xf32> {ck.output = "r0"}, tensor<4x4x8xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.qk_norm %q, %k gains %a, %b {eps = 1.0e-6 : f64, head_dim = 8 : i64, gain = "one_plus_weight",
      layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
  return %o#0, %o#1 : tensor<8x4x8xf32>, tensor<4x4x8xf32>
}
// CHECK-LABEL: func.func @f25(
// CHECK: ck.call @qk_norm_grad_one_plus_f32{{ }}
func.func @f25(%dq: tensor<8x4x8xf32>, %dk: tensor<4x4x8xf32>, %q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8x4x8xf32> {ck.output = "r0"},
    tensor<4x4x8xf32> {ck.output = "r1"}, tensor<8xf32> {ck.output = "r2"},
    tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b  {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k",
      "q_gamma", "k_gamma"], accumulate = "none", gain = "one_plus_weight", layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>,
      tensor<8xf32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f26(
// CHECK: ck.call @qk_norm_grad_one_plus_add_f32{{ }}
func.func @f26(%dq: tensor<8x4x8xf32>, %dk: tensor<4x4x8xf32>, %q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>,
    %a: tensor<8xf32>, %b: tensor<8xf32>, %ia: tensor<8xf32>, %ib: tensor<8xf32>)
    -> (tensor<8x4x8xf32> {ck.output = "r0"}, tensor<4x4x8xf32> {ck.output = "r1"},
    tensor<8xf32> {ck.output = "r2"}, tensor<8xf32> {ck.output = "r3"}) attributes {ck.entry} {
  %o:4 = ck.qk_norm_grad %dq, %dk, %q, %k gains %a, %b into %ia, %ib {eps = 1.0e-6 : f64, head_dim = 8 : i64,
      wrt = ["q", "k", "q_gamma", "k_gamma"], accumulate = "params", gain = "one_plus_weight",
      layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8x4x8xf32>, tensor<4x4x8xf32>,
      tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>,
      tensor<8xf32>, tensor<8xf32>)
  return %o#0, %o#1, %o#2, %o#3 : tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @f27(
// CHECK: ck.call @glu_grad_split_f32{{ }}
func.func @f27(%dy: tensor<4x64xf32>, %g: tensor<4x64xf32>, %u: tensor<4x64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.glu_grad %dy, %g, %u {act = "silu"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
      -> (tensor<4x64xf32>, tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f28(
// CHECK: ck.call @swiglu_backward_exact{{ }}
func.func @f28(%dy: tensor<4x64xf32>, %g: tensor<4x128xf32>) -> (tensor<4x128xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.glu_grad %dy, %g {act = "silu"} : (tensor<4x64xf32>, tensor<4x128xf32>) -> tensor<4x128xf32>
  return %o : tensor<4x128xf32>
}
// CHECK-LABEL: func.func @f29(
// CHECK: ck.call @glu_grad_split_f32{{ }}
func.func @f29(%dy: tensor<4x64xf32>, %g: tensor<4x64xf32>, %u: tensor<4x64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.glu_grad %dy, %g, %u {act = "gelu_tanh"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
      -> (tensor<4x64xf32>, tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f30(
// CHECK: ck.call @geglu_backward_exact{{ }}
func.func @f30(%dy: tensor<4x64xf32>, %g: tensor<4x128xf32>) -> (tensor<4x128xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.glu_grad %dy, %g {act = "gelu_tanh"} : (tensor<4x64xf32>, tensor<4x128xf32>) -> tensor<4x128xf32>
  return %o : tensor<4x128xf32>
}
// CHECK-LABEL: func.func @f31(
// CHECK: ck.call @glu_grad_split_f32{{ }}
func.func @f31(%dy: tensor<4x64xf32>, %g: tensor<4x64xf32>, %u: tensor<4x64xf32>)
    -> (tensor<4x64xf32> {ck.output = "r0"}, tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.glu_grad %dy, %g, %u {act = "relu2"} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
      -> (tensor<4x64xf32>, tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f32(
// CHECK: ck.call @glu_grad_stacked_f32{{ }}
func.func @f32(%dy: tensor<4x64xf32>, %g: tensor<4x128xf32>) -> (tensor<4x128xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.glu_grad %dy, %g {act = "relu2"} : (tensor<4x64xf32>, tensor<4x128xf32>) -> tensor<4x128xf32>
  return %o : tensor<4x128xf32>
}
// CHECK-LABEL: func.func @f33(
// CHECK: ck.call @activation_grad_f32{{ }}
func.func @f33(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.activation_grad %dy, %x {kind = "gelu_erf"} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f34(
// CHECK: ck.call @relu2_backward_f32{{ }}
func.func @f34(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.activation_grad %dy, %x {kind = "relu2"} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f35(
// CHECK: ck.call @activation_grad_f32{{ }}
func.func @f35(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.activation_grad %dy, %x {kind = "leaky_relu", alpha = 0.5 : f64} : (tensor<4x64xf32>,
      tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f36(
// CHECK: ck.call @activation_grad_f32{{ }}
func.func @f36(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.activation_grad %dy, %x {kind = "softcap", alpha = 0.5 : f64} : (tensor<4x64xf32>, tensor<4x64xf32>)
      -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f37(
// CHECK: ck.call @gradient_scale_f32{{ }}
func.func @f37(%x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.scale %x {factor = 0.5 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f38(
// CHECK: ck.call @embedding_grad_f32{{ }}
func.func @f38(%i: tensor<4xi32>, %dy: tensor<4x64xf32>) -> (tensor<512x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.embedding_grad %i, %dy {rows = 512 : i64} : (tensor<4xi32>, tensor<4x64xf32>) -> tensor<512x64xf32>
  return %o : tensor<512x64xf32>
}
// CHECK-LABEL: func.func @f39(
// CHECK: ck.call @embedding_backward_f32{{ }}
func.func @f39(%i: tensor<4xi32>, %dy: tensor<4x64xf32>, %t: tensor<512x64xf32>)
    -> (tensor<512x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.embedding_grad %i, %dy into %t {rows = 512 : i64, accumulate = "params"} : (tensor<4xi32>,
      tensor<4x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  return %o : tensor<512x64xf32>
}
// CHECK-LABEL: func.func @f40(
// CHECK: ck.call @softmax_cross_entropy_loss{{ }}
func.func @f40(%l: tensor<4x64xf32>, %t: tensor<4xi32>) -> (tensor<1xf32> {ck.output = "r0"},
    tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.cross_entropy %l, %t {save = "grad"} : (tensor<4x64xf32>, tensor<4xi32>) -> (tensor<1xf32>,
      tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<1xf32>, tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f41(
// CHECK: ck.call @softmax_cross_entropy_loss{{ }}
func.func @f41(%l: tensor<4x64xf32>, %t: tensor<4xi32>) -> (tensor<1xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.cross_entropy %l, %t : (tensor<4x64xf32>, tensor<4xi32>) -> tensor<1xf32>
  return %o : tensor<1xf32>
}
// CHECK-LABEL: func.func @f42(
// CHECK: ck.call @softmax_cross_entropy_loss{{ }}
func.func @f42(%l: tensor<4x64xf32>, %t: tensor<4xi32>, %s: tensor<1xf32>) -> (tensor<1xf32> {ck.output = "r0"},
    tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.cross_entropy %l, %t scale %s {save = "grad"} : (tensor<4x64xf32>, tensor<4xi32>, tensor<1xf32>)
      -> (tensor<1xf32>, tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<1xf32>, tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f43(
// CHECK: ck.call @adamw_update_f32{{ }}
func.func @f43(%w: tensor<32x64xf32>, %m: tensor<32x64xf32>, %v: tensor<32x64xf32>, %g: tensor<32x64xf32>,
    %lr: tensor<1xf32>, %n: tensor<1xi32>, %f: tensor<1xf32>) -> (tensor<32x64xf32> {ck.output = "r0"},
    tensor<32x64xf32> {ck.output = "r1"}, tensor<32x64xf32> {ck.output = "r2"}) attributes {ck.entry} {
  %o:3 = ck.adamw %w, %m, %v grad %g lr %lr step %n factor %f {beta1 = 0.9 : f64, beta2 = 0.95 : f64,
      eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>,
      tensor<32x64xf32>, tensor<1xf32>, tensor<1xi32>, tensor<1xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>,
      tensor<32x64xf32>)
  return %o#0, %o#1, %o#2 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f44(
// CHECK: ck.call @sgd_f32{{ }}
func.func @f44(%w: tensor<32x64xf32>, %v: tensor<32x64xf32>, %g: tensor<32x64xf32>, %lr: tensor<1xf32>)
    -> (tensor<32x64xf32> {ck.output = "r0"}, tensor<32x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.sgd %w velocity %v grad %g lr %lr {momentum = 0.9 : f64, nesterov = true} : (tensor<32x64xf32>,
      tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
  return %o#0, %o#1 : tensor<32x64xf32>, tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f45(
// CHECK: ck.call @sgd_f32{{ }}
func.func @f45(%w: tensor<32x64xf32>, %g: tensor<32x64xf32>, %lr: tensor<1xf32>, %f: tensor<1xf32>)
    -> (tensor<32x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.sgd %w grad %g lr %lr factor %f {weight_decay = 0.1 : f64} : (tensor<32x64xf32>, tensor<32x64xf32>,
      tensor<1xf32>, tensor<1xf32>) -> tensor<32x64xf32>
  return %o : tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f46(
// CHECK: ck.call @sum_squares_f32{{ }}
func.func @f46(%g: tensor<32x64xf32>) -> (tensor<1xf64> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.sum_squares %g : (tensor<32x64xf32>) -> tensor<1xf64>
  return %o : tensor<1xf64>
}
// CHECK-LABEL: func.func @f47(
// CHECK: ck.call @sum_squares_add_f32{{ }}
func.func @f47(%g: tensor<32x64xf32>, %s: tensor<1xf64>) -> (tensor<1xf64> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.sum_squares %g into %s : (tensor<32x64xf32>, tensor<1xf64>) -> tensor<1xf64>
  return %o : tensor<1xf64>
}
// CHECK-LABEL: func.func @f48(
// CHECK: ck.call @clip_factor_f64{{ }}
func.func @f48(%s: tensor<1xf64>) -> (tensor<1xf32> {ck.output = "r0"},
    tensor<1xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.clip_factor %s {max_norm = 1.0 : f64} : (tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
  return %o#0, %o#1 : tensor<1xf32>, tensor<1xf32>
}
// CHECK-LABEL: func.func @f49(
// CHECK: ck.call @gradient_clip_norm_f32{{ }}
func.func @f49(%g: tensor<32x64xf32>) -> (tensor<32x64xf32> {ck.output = "r0"},
    tensor<1xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.grad_clip %g {max_norm = 1.0 : f64} : (tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<1xf32>)
  return %o#0, %o#1 : tensor<32x64xf32>, tensor<1xf32>
}
// CHECK-LABEL: func.func @f50(
// CHECK: ck.call @gradient_accumulate_f32{{ }}
func.func @f50(%d: tensor<32x64xf32>, %s: tensor<32x64xf32>) -> (tensor<32x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.accumulate %d, %s : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return %o : tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f51(
// CHECK: ck.call @zero_f32{{ }}
func.func @f51(%d: tensor<32x64xf32>) -> (tensor<32x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.zero %d : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %o : tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f52(
// CHECK: ck.call @fill_f32{{ }}
func.func @f52(%d: tensor<32x64xf32>) -> (tensor<32x64xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.fill %d {value = 1.0 : f64} : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %o : tensor<32x64xf32>
}
// CHECK-LABEL: func.func @f53(
// CHECK: ck.call @last_row_grad_f32{{ }}
func.func @f53(%dy: tensor<1x64xf32>, %x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"})
    attributes {ck.entry} {
  %o = ck.last_row_grad %dy, %x : (tensor<1x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %o : tensor<4x64xf32>
}
// CHECK-LABEL: func.func @f54(
// CHECK: ck.call @last_element_grad_f32{{ }}
func.func @f54(%dy: tensor<1xf32>, %x: tensor<4xf32>) -> (tensor<4xf32> {ck.output = "r0"}) attributes {ck.entry} {
  %o = ck.last_row_grad %dy, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %o : tensor<4xf32>
}
// CHECK-LABEL: func.func @f55(
// CHECK: ck.call @residual_add_backward_f32{{ }}
func.func @f55(%x: tensor<4x64xf32>) -> (tensor<4x64xf32> {ck.output = "r0"},
    tensor<4x64xf32> {ck.output = "r1"}) attributes {ck.entry} {
  %o:2 = ck.fan_out %x : (tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>)
  return %o#0, %o#1 : tensor<4x64xf32>, tensor<4x64xf32>
}
}
