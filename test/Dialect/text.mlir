// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @tokenize
func.func @tokenize(%text: tensor<20xui8>, %offsets: tensor<256xi32>, %strings: tensor<2048xui8>,
                    %merges: tensor<100x3xi32>) {
  // CHECK: ck.tokenize %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {add_bos = true, bos_id = 1 : i64, mode = "merges"}
  // CHECK-SAME: : (tensor<20xui8>, tensor<256xi32>, tensor<2048xui8>, tensor<100x3xi32>) -> (tensor<24xi32>, tensor<1xi32>)
  %ids, %n = ck.tokenize %text, %offsets, %strings, %merges {mode = "merges", add_bos = true, bos_id = 1}
      : (tensor<20xui8>, tensor<256xi32>, tensor<2048xui8>, tensor<100x3xi32>) -> (tensor<24xi32>, tensor<1xi32>)
  return
}

// CHECK-LABEL: func.func @speculative
func.func @speculative(%logits: tensor<512xf32>, %draft: tensor<1xi32>, %b: tensor<64xi32>, %c: tensor<1xi32>,
                       %t: tensor<1xi32>, %d: tensor<1xi32>, %a: tensor<1xi32>, %r: tensor<1xi32>) {
  // CHECK: ck.speculative_verify %{{.*}}, %{{.*}} : (tensor<512xf32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  %ok, %token = ck.speculative_verify %logits, %draft : (tensor<512xf32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
  // CHECK: ck.speculative_commit %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (
  // CHECK-SAME: -> (tensor<64xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  %b1, %c1, %t1, %d1, %a1, %r1 = ck.speculative_commit %ok, %token into %b, %c, %t, %d, %a, %r
      : (tensor<1xi32>, tensor<1xi32>, tensor<64xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>,
         tensor<1xi32>)
      -> (tensor<64xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  return
}
