//===- CKTypes.td - storage types of quantised weights ----------*- tablegen -*-===//
//
// Element types whose bytes come from ck::storageBytes alone: they have no data layout, and a memref of them is only
// ever the result of `ck.view` or `ck.param` and an operand of `ck.call`.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TYPES_TD
#define CK_TYPES_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class CK_Type<string cppName, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<CK_Dialect, cppName, traits # [MemRefElementTypeInterface,
                                             DeclareTypeInterfaceMethods<CK_StorageTypeInterface>]> {
  let mnemonic = typeMnemonic;
}

/// A block format: `elements` values of one row in `bytes` bytes (field order in the GGUF format description).
class CK_BlockType<string cppName, string typeMnemonic, int elements, int bytes> : CK_Type<cppName, typeMnemonic> {
  let summary = !cast<string>(elements) # " values in " # !cast<string>(bytes) # " bytes";
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getStorageName() const { return getMnemonic(); }
    int64_t $cppClass::getBlockElements() const { return }] # elements # [{; }
    int64_t $cppClass::getBlockBytes() const { return }] # bytes # [{; }
    int64_t $cppClass::getRowGroup() const { return 1; }
  }];
}

def CK_Q4_0 : CK_BlockType<"Q4_0", "q4_0", 32, 18>;
def CK_Q4_1 : CK_BlockType<"Q4_1", "q4_1", 32, 20>;
def CK_Q4_K : CK_BlockType<"Q4_K", "q4_k", 256, 144>;
def CK_Q5_0 : CK_BlockType<"Q5_0", "q5_0", 32, 22>;
def CK_Q5_1 : CK_BlockType<"Q5_1", "q5_1", 32, 24>;
def CK_Q5_K : CK_BlockType<"Q5_K", "q5_k", 256, 176>;
def CK_Q6_K : CK_BlockType<"Q6_K", "q6_k", 256, 210>;
def CK_Q8_0 : CK_BlockType<"Q8_0", "q8_0", 32, 34>;
def CK_Q8_1 : CK_BlockType<"Q8_1", "q8_1", 32, 36>;
def CK_Q8_K : CK_BlockType<"Q8_K", "q8_k", 256, 292>;
def CK_MXFP4 : CK_BlockType<"MXFP4", "mxfp4", 32, 17>;
def CK_NVFP4 : CK_BlockType<"NVFP4", "nvfp4", 64, 36>;

def CK_Packed : CK_Type<"Packed", "packed"> {
  let summary = "weights regrouped for a kernel";
  let description = [{
    `!ck.packed<q4_k, r8>`: blocks of 8 rows interleaved; the last group is padded with zero rows. The storage is a
    block type's mnemonic or a float type's name.
  }];
  let parameters = (ins "::mlir::Type":$storage, "int64_t":$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getStorageName() const { return "packed"; }
    int64_t $cppClass::getRowGroup() const { return getRows(); }
  }];
}

#endif // CK_TYPES_TD
