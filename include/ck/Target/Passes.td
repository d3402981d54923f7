//===- Passes.td - from PLAN to code ----------------------------*- tablegen -*-===//
#ifndef CK_TARGET_PASSES_TD
#define CK_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def CKLowerToLLVM : Pass<"ck-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "PLAN to the LLVM dialect: entries that fill arguments and call kernels";
  let description = [{
    Replaces a planned module by LLVM functions and the table that describes it. An entry becomes
    `i32 (ptr context, ptr ck_entry_args)`: for each call it stores the slots of the provider's arguments and calls
    `ckk_<id>`; the first status that is not 0 is returned at once. The only exported symbol is `ckm_<model>`, which returns the
    `ck_model` (ck/Runtime/Runtime.h); every other symbol is internal, so two models link into one program and no name
    of a model can clash with a function of the C library. Nothing is decided here.

    Before:

    ```mlir
    func.func @decode(%x: memref<1x4xf32> {ck.input = "x"}, %y: memref<1x4xf32> {ck.output = "y"})
        attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
      ck.call @copy ins(input = %x : memref<1x4xf32>) outs(output = %y : memref<1x4xf32>) sizes(N = 4)
      return
    }
    ```

    After:

    ```mlir
    llvm.func internal @decode(%arg0: !llvm.ptr, %arg1: !llvm.ptr) -> i32 {
      ...
      llvm.store %input, %slot0 : !llvm.ptr, !llvm.ptr
      llvm.store %output, %slot1 : !llvm.ptr, !llvm.ptr
      llvm.store %c4, %slot2 : i64, !llvm.ptr
      %status = llvm.call @ckk_copy(%arg0, %slots) : (!llvm.ptr, !llvm.ptr) -> i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // CK_TARGET_PASSES_TD
