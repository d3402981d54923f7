// What each policy takes, and what it says about it.

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps remarks=true})' \
// RUN:   %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// FAST: remark: provider linear_rows, cost 49152
// FAST-NEXT: not linear_double: cost 1638400
// FAST-NEXT: not linear_one_row: input: dim 0 must be 1, but is 4
// FAST-NEXT: not linear_q8: its numerics class q8_activations is not within f32
// FAST: remark: no provider of 'nobody_has_this', inlined
// FAST: remark: loc("second"): provider linear_one_row, cost 2048
// FAST: remark: provider linear_rows, cost 432
// FAST: not linear_one_row: input: dim 0 must be 1, but is not known before run time
// FAST: remark: provider linear_rows, cost 108
// FAST: not linear_one_row: requires K%8 == 0, but K = 6

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps policy=reference})' %s \
// RUN:   | FileCheck %s --check-prefix=REFERENCE
// REFERENCE-LABEL: func.func @step
// REFERENCE: ck.call @linear_double
// REFERENCE: ck.call @linear_double

// A pin is a preference: the first of those given that is legal.
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=linear:linear_one_row,linear:linear_double})' %s \
// RUN:   | FileCheck %s --check-prefix=PIN
// PIN-LABEL: func.func @step
// PIN: ck.call @linear_double
// PIN: ck.call @linear_one_row

// An op can be pinned by the name of its location.
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=@second:linear_rows})' %s \
// RUN:   | FileCheck %s --check-prefix=NAME
// NAME-LABEL: func.func @step
// NAME: ck.call @linear_rows
// NAME: ck.call @linear_rows

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps policy=pin pin=linear:linear_rows})' %s \
// RUN:   | FileCheck %s --check-prefix=NAME

// A pin that does not fit is an error, and so is a missing one where the policy asks for pins.
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=linear:linear_one_row,linear:linear_q8})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ILLEGAL
// ILLEGAL: error: 'ck.linear' op cannot take the provider that it is pinned to, linear_one_row or linear_q8; candidates:
// ILLEGAL-NEXT: linear_double: fits, cost 1638400
// ILLEGAL-NEXT: linear_one_row: input: dim 0 must be 1, but is 4
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps policy=pin pin=@second:linear_rows})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// MISSING: error: 'ck.linear' op has no pin, and the policy is to take pinned providers only; candidates:

// Options that make no sense.
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps isa=mmx})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ISA
// ISA: error: isa must be scalar, avx2, avx512 or avx512_vnni, got 'mmx'
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps policy=best})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=POLICY
// POLICY: error: policy must be fastest, reference or pin, got 'best'
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=linear})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FORM
// FORM: error: pin 'linear' must have the form op:provider or @name:provider
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=lineal:linear_rows})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OP
// OP: error: pin 'lineal:linear_rows': there is no op ck.lineal
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps pin=linear:gemm})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ID
// ID: error: pin 'linear:gemm': there is no kernel map 'gemm' in {{.*}}maps
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/no-such-folder})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot load kernel maps: {{.*}}no-such-folder

func.func @step(%x: tensor<4x64xf32> {ck.input = "x"}, %y: tensor<1x64xf32> {ck.input = "y"},
                %w: tensor<64x64xf32> {ck.input = "w"}, %v: tensor<32x64xf32> {ck.input = "v"},
                %z: tensor<?x6xf32> {ck.input = "z", ck.dims = ["T"]}, %z1: tensor<1x6xf32> {ck.input = "z1"},
                %u: tensor<2x6xf32> {ck.input = "u"})
    -> (tensor<4x64xf32> {ck.output = "a"}, tensor<1x32xf32> {ck.output = "b"}, tensor<?x2xf32> {ck.output = "c"},
        tensor<1x2xf32> {ck.output = "d"}) attributes {ck.entry, ck.bounds = {T = 28 : i64}} {
  %a = ck.linear %x, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %b = ck.fused @nobody_has_this (%p = %y : tensor<1x64xf32>, %q = %v : tensor<32x64xf32>) -> tensor<1x32xf32> {
    %r = ck.linear %p, %q : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32> loc("second")
    ck.yield %r : tensor<1x32xf32>
  }
  %c = ck.linear %z, %u : (tensor<?x6xf32>, tensor<2x6xf32>) -> tensor<?x2xf32>
  %d = ck.linear %z1, %u : (tensor<1x6xf32>, tensor<2x6xf32>) -> tensor<1x2xf32>
  return %a, %b, %c, %d : tensor<4x64xf32>, tensor<1x32xf32>, tensor<?x2xf32>, tensor<1x2xf32>
}
