// What was measured counts before what maps say, where each legal provider was measured.

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps costs=%S/Inputs/costs.json remarks=true})' %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%S/Inputs/maps costs=%S/Inputs/costs.json remarks=true})' %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps})' %s | FileCheck %s --check-prefix=MAPS
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps costs=%S/Inputs/no-such-file})' %s 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: sed 's/sha256:9/sha256:8/' %S/Inputs/costs.json > %t.json
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps costs=%t.json})' %s 2>&1 | FileCheck %s --check-prefix=DIGEST

// FILE: error: cannot load the cost table: {{.*}}no-such-file
// DIGEST: error: {{.*}}.json: the cost table has times of another version of 'linear_double'

// MAPS-COUNT-2: ck.call @linear_rows

func.func @step(%x: tensor<4x64xf32> {ck.input = "x"}, %y: tensor<128x64xf32> {ck.input = "y"},
                %z: tensor<1x64xf32> {ck.input = "z"}, %w: tensor<64x64xf32> {ck.input = "w"})
    -> (tensor<4x64xf32> {ck.output = "a"}, tensor<128x64xf32> {ck.output = "b"}, tensor<1x64xf32> {ck.output = "c"})
    attributes {ck.entry} {
  // CHECK: remark: provider linear_double, cost 1638400, 1000 ps
  // CHECK-NEXT: not linear_one_row: input: dim 0 must be 1, but is 4
  // CHECK-NEXT: not linear_q8
  // CHECK-NEXT: not linear_rows: cost 49152, 3000 ps
  %a = ck.linear %x, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  // One was measured at these sizes; the other is estimated from its time at others.
  // CHECK: remark: provider linear_rows, cost 557056, 3400 ps
  // CHECK-NEXT: not linear_double: cost 52428800, 32000 ps
  %b = ck.linear %y, %w : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  // CHECK: remark: provider linear_one_row, cost 4096
  // CHECK-NEXT: not linear_double: cost 409600, 250 ps
  %c = ck.linear %z, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  return %a, %b, %c : tensor<4x64xf32>, tensor<128x64xf32>, tensor<1x64xf32>
}
