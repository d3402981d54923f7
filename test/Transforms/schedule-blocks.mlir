// RUN: %ck_opt --pass-pipeline='builtin.module(ck-schedule)' %s | FileCheck %s

// Queries of the last row only, keys of all rows: what quantises the rows they share is computed once more for one row.

// CHECK-LABEL: func.func @step(%{{.*}}: tensor<?x64xf32>
func.func @step(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]}, %wq: tensor<64x64x!ck.q8_0> {ck.input = "wq"},
                %wk: tensor<32x64x!ck.q8_0> {ck.input = "wk"})
    -> (tensor<1x64xf32> {ck.output = "q"}, tensor<?x32xf32> {ck.output = "k"})
    attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  // CHECK-DAG: %[[ROW:.*]] = ck.last_row %[[X:.*]] : (tensor<?x64xf32>) -> tensor<1x64xf32>
  // CHECK-DAG: %[[ONE:.*]] = ck.quantize %[[ROW]] : (tensor<1x64xf32>) -> tensor<1x64x!ck.q8_0>
  // CHECK-DAG: ck.linear %[[ONE]], %{{.*}} -> tensor<1x64xf32>
  // CHECK-DAG: %[[ALL:.*]] = ck.quantize %[[X]] : (tensor<?x64xf32>) -> tensor<?x64x!ck.q8_0>
  // CHECK-DAG: ck.linear %[[ALL]], %{{.*}} -> tensor<?x32xf32>
  // CHECK-NOT: ck.last_row
  %a = ck.quantize %x : (tensor<?x64xf32>) -> tensor<?x64x!ck.q8_0>
  %q = ck.linear %a, %wq : (tensor<?x64x!ck.q8_0>, tensor<64x64x!ck.q8_0>) -> tensor<?x64xf32>
  %k = ck.linear %a, %wk : (tensor<?x64x!ck.q8_0>, tensor<32x64x!ck.q8_0>) -> tensor<?x32xf32>
  %l = ck.last_row %q : (tensor<?x64xf32>) -> tensor<1x64xf32>
  return %l, %k : tensor<1x64xf32>, tensor<?x32xf32>
}
