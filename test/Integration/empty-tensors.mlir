// Tensors without elements compile like any other: an expert that gets no tokens, an empty chunk. That kernels return
// for them is tried by `ck-kernels check`, which gives each dim the extent 0 in turn.

// RUN: %ck_opt --ck-inference-pipeline %s | FileCheck %s
// RUN: %ck_opt --ck-inference-pipeline --ck-lower-to-llvm %s | FileCheck %s --check-prefix=LLVM
// RUN: %ck_translate --ck-to-table %s -o %t.ckplan
// RUN: %ck_translate --ck-to-object %s -o %t.o

// CHECK-LABEL: func.func @expert(
// CHECK-SAME: %[[X:[^:]*]]: memref<0x64xf32>
// CHECK-SAME: ck.arena_bytes = {{[0-9]+}} : i64
// CHECK: ck.call @{{.*}} ins(input = %[[X]] : memref<0x64xf32>, {{.*}}sizes(T = 0, K = 64, N = 32)
// CHECK: ck.call @{{attention.*}}memref<0x32xf32>

// LLVM: llvm.func internal @{{.*}}expert
// LLVM: llvm.call @ckk_attention_token_major_f32

module attributes {ck.model = "empty", ck.numerics = "f32"} {
  ck.buffer @w weight : tensor<32x64xf32>
  ck.buffer @none weight : tensor<0x32xf32>

  func.func @expert(%x: tensor<0x64xf32> {ck.input = "x"})
      -> (tensor<0x32xf32> {ck.output = "y"}, tensor<0x0xf32> {ck.output = "z"}) attributes {ck.entry} {
    %w = ck.param @w : tensor<32x64xf32>
    %n = ck.param @none : tensor<0x32xf32>
    %q = ck.linear %x, %w : (tensor<0x64xf32>, tensor<32x64xf32>) -> tensor<0x32xf32>
    %a = ck.attention %q, %q, %q {heads = 4, kv_heads = 4, layout = "token_major"}
        : (tensor<0x32xf32>, tensor<0x32xf32>, tensor<0x32xf32>) -> tensor<0x32xf32>
    %z = ck.linear %a, %n : (tensor<0x32xf32>, tensor<0x32xf32>) -> tensor<0x0xf32>
    return %a, %z : tensor<0x32xf32>, tensor<0x0xf32>
  }
}
