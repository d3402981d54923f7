// RUN: %ck_opt --pass-pipeline='builtin.module(ck-quantize-activations,ck-autodiff{entry=step},ck-verify-graph)' %s | FileCheck %s

// What is trained behind frozen weights of blocks gets its gradient through them.

ck.buffer @g weight : tensor<256xf32> {trainable}
ck.buffer @wq weight : tensor<256x256x!ck.q4_k>
ck.buffer @wkv weight : tensor<128x256x!ck.q6_k>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x256xf32> {ck.input = "x"})
    -> (tensor<4x256xf32> {ck.output = "q"}, tensor<4x128xf32> {ck.output = "k"}, tensor<4x128xf32> {ck.output = "v"})
    attributes {ck.entry} {
  %g = ck.param @g : tensor<256xf32>
  %wq = ck.param @wq : tensor<256x256x!ck.q4_k>
  %wkv = ck.param @wkv : tensor<128x256x!ck.q6_k>
  %n = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x256xf32>, tensor<256xf32>) -> tensor<4x256xf32>
  %q, %k, %v = ck.qkv_linear %n, %wq, %wkv, %wkv
      : (tensor<4x256xf32>, tensor<256x256x!ck.q4_k>, tensor<128x256x!ck.q6_k>, tensor<128x256x!ck.q6_k>)
      -> (tensor<4x256xf32>, tensor<4x128xf32>, tensor<4x128xf32>)
  // CHECK: %[[V:.*]] = ck.linear_grad {{.*}} : (tensor<4x128xf32>, tensor<4x256xf32>, tensor<128x256x!ck.q6_k>) -> tensor<4x256xf32>
  // CHECK: %[[K:.*]] = ck.linear_grad {{.*}} : (tensor<4x128xf32>, tensor<4x256xf32>, tensor<128x256x!ck.q6_k>) -> tensor<4x256xf32>
  // CHECK: ck.add %[[V]], %[[K]]
  // CHECK: ck.linear_grad {{.*}} : (tensor<4x256xf32>, tensor<4x256xf32>, tensor<256x256x!ck.q4_k>) -> tensor<4x256xf32>
  // CHECK: ck.rms_norm_grad {{.*}}wrt = ["gamma"]
  return %q, %k, %v : tensor<4x256xf32>, tensor<4x128xf32>, tensor<4x128xf32>
}
