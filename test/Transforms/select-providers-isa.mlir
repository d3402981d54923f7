// A kernel for one instruction set only is taken where every target machine has it.

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps isa=avx512})' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps isa=avx512_vnni})' %s | FileCheck %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps isa=avx2})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NARROW

// CHECK: ck.call @add_wide
// NARROW: add_wide: has implementations for avx512 only, and the target promises avx2
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
