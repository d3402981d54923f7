// RUN: %ck_opt --pass-pipeline='builtin.module(ck-lower-to-llvm)' %s | FileCheck %s
// RUN: %ck_opt --ck-lower-to-llvm %s | %ck_translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// An entry fills the slots of each call and returns the first status that is not 0. Only ckm_<model> is exported; characters
// that no linker takes are spelt in hexadecimal.
module attributes {ck.model = "a b", ck.numerics = "f32",
                   ck.plan = {const_bytes = 64 : i64, state_bytes = 128 : i64, arena_bytes = 320 : i64}} {
  ck.buffer @w weight : tensor<4x8xf32> from "m.gguf"["blk.0.w"]
  ck.buffer @tied weight alias @w : tensor<4x8xf32>
  ck.buffer @cache state : tensor<4x8xf32> {offset = 0 : i64}
  ck.buffer @table const : tensor<8xf32> {offset = 0 : i64}
  ck.provider @kernel {digest = "d", inventory_op = "op", numerics = "f32",
      signature = "x[T,K]:f32, w[N,K]:f32, b[N]:f32?, c[N,K]:f32 -> y[T,N]:f32, c[N,K]:f32|=",
      params = ["eps:f64", "n:i64", "flag:bool", "act:{none,silu}"], scratch = ["s[T]:f32"]}

  // CHECK-DAG: llvm.func @ckk_kernel(!llvm.ptr, !llvm.ptr) -> i32
  // CHECK-DAG: llvm.func @ck_fail(!llvm.ptr, i32, !llvm.ptr, ...) -> i32
  // CHECK: llvm.func internal @ck.entry.0.step(%[[CTX:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
  // CHECK: %[[SLOTS:.*]] = llvm.alloca
  // The kernel's error gets the step and its name in front.
  // CHECK: ^[[EXIT:.*]](%[[STATUS:.*]]: i32, %[[WHERE:.*]]: !llvm.ptr):
  // CHECK: %[[MESSAGE:.*]] = llvm.call @ck_context_error(%[[CTX]])
  // CHECK: llvm.call @ck_fail(%[[CTX]], %[[STATUS]], %{{.*}}, %[[WHERE]], %[[MESSAGE]])
  // CHECK: llvm.return %[[STATUS]]
  // CHECK: %[[ZERO:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: llvm.store %[[ZERO]]
  // CHECK: llvm.call @ckk_kernel(%[[CTX]], %[[SLOTS]]) : (!llvm.ptr, !llvm.ptr) -> i32
  // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[EXIT]](%{{.*}}, %{{.*}} : i32, !llvm.ptr)
  // CHECK: llvm.func @ckm_a_20b() -> !llvm.ptr

  // IR-DAG: define internal i32 @ck.entry.0.step(ptr %{{.*}}, ptr %{{.*}})
  // IR-DAG: define ptr @ckm_a_20b()
  // IR-DAG: store double 1.000000e-05
  // IR-DAG: @ck.strings = internal constant {{.*}}blk.0.w
  func.func @step(%x: memref<?x8xf32> {ck.input = "x", ck.dims = ["T"]}, %c: memref<4x8xf32> {ck.state = @cache},
                  %y: memref<?x4xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}, ck.arena_bytes = 320 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?x8xf32>
    %w = ck.param @tied : memref<4x8xf32>
    %s = ck.view activation[256] : memref<64xi8>
    ck.call @kernel ins(x = %x : memref<?x8xf32>, w = %w : memref<4x8xf32>)
        outs(y = %y : memref<?x4xf32>, c = %c : memref<4x8xf32>) scratch(%s : memref<64xi8>)
        sizes(T = %t, K = 8, N = 4) params({eps = 1.0e-5 : f64, n = 3 : i64, flag = true, act = "silu"})
    return
  }
}
