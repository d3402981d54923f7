// RUN: not %ck_opt --ck-fuse=maps=%S/Inputs/bad-fusions/foreign-op %s 2>&1 | FileCheck --check-prefix=FOREIGN-OP %s
// RUN: not %ck_opt --ck-fuse=maps=%S/Inputs/bad-fusions/unreached %s 2>&1 | FileCheck --check-prefix=UNREACHED %s
// RUN: not %ck_opt --ck-fuse=maps=%S/Inputs/bad-fusions/empty %s 2>&1 | FileCheck --check-prefix=EMPTY %s
// RUN: not %ck_opt --ck-fuse=maps=%S/Inputs/bad-fusions/params %s 2>&1 | FileCheck --check-prefix=PARAMS %s
// RUN: not %ck_opt --ck-fuse=maps=%S/Inputs/bad-fusions/text %s 2>&1 | FileCheck --check-prefix=TEXT %s
// RUN: not %ck_opt --ck-fuse=isa=sse %s 2>&1 | FileCheck --check-prefix=ISA %s

// A pattern that could never be found, or not be parsed, is an error at its place, whatever the module.
// FOREIGN-OP: fusions/chain.mlir:{{[0-9]+:[0-9]+}}: error: a fusion consists of graph ops only
// UNREACHED: fusions/chain.mlir:{{[0-9]+:[0-9]+}}: error: nothing before this op leads to it
// EMPTY: fusions/chain.mlir:{{[0-9]+:[0-9]+}}: error: a fusion must have at least one op
// PARAMS: fusions/chain.mlir:{{[0-9]+:[0-9]+}}: error: ck.params must list attributes of the op, got "eps"
// TEXT: fusions/chain.mlir:{{[0-9]+:[0-9]+}}: error: use of undeclared SSA value name
// ISA: error: isa must be scalar, avx2, avx512 or avx512_vnni, got 'sse'
module {
}
