//===- CKTextOps.td - from bytes to tokens, and which tokens stay -*- tablegen -*-===//
//
// Text as token ids, and the two steps that decide about a token that a draft model proposed.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEXTOPS_TD
#define CK_TEXTOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_TokenId : DefaultValuedAttr<I64Attr, "-1">;

def CK_TokenizeOp : CK_TypedGraphOp<"tokenize"> {
  let summary = "token ids of a text";
  let description = [{
    `text` is UTF-8; token v of the vocabulary is the string that begins at byte `vocab_offsets[v]` of `vocab_strings` and
    ends at a zero byte. `mode = "longest"` takes the longest token at each place; `"merges"` joins the characters of each
    chunk pair by pair, `merges[p] = (left, right, whole)` in the order of ranks. `style` says how the vocabulary writes
    bytes and spaces. `bos_id` and `eos_id` stand around the ids by `add_bos`, `add_eos`; `unk_id` stands for what is no
    token; -1 is none. Ids behind the last one are -1; `n_ids` is how many there are. What finds no room in `ids` is dropped.

    Example:

    ```mlir
    %ids, %n = ck.tokenize %text, %offsets, %strings, %merges {mode = "merges", add_bos = true, bos_id = 1}
        : (tensor<20xui8>, tensor<256xi32>, tensor<2048xui8>, tensor<100x3xi32>) -> (tensor<24xi32>, tensor<1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$text, AnyRankedTensor:$vocab_offsets, AnyRankedTensor:$vocab_strings,
                   AnyRankedTensor:$merges, CK_KeywordOr<["longest", "merges"], "longest">:$mode,
                   CK_KeywordOr<["byte_level", "sentencepiece", "plain"], "byte_level">:$style, CK_Flag:$add_bos,
                   CK_Flag:$add_eos, CK_TokenId:$bos_id, CK_TokenId:$eos_id, CK_TokenId:$unk_id);
  let results = (outs AnyRankedTensor:$ids, AnyRankedTensor:$n_ids);
  let signatureBody = [{
    return "text[L]:u8, vocab_offsets[V]:i32, vocab_strings[B]:u8, merges[P,3]:i32 -> ids[S]:i32, n_ids[1]:i32";
  }];
  let assemblyFormat = [{
    $text `,` $vocab_offsets `,` $vocab_strings `,` $merges attr-dict `:` functional-type(operands, results)
  }];
}

def CK_SpeculativeVerifyOp : CK_GraphOp<"speculative_verify"> {
  let summary = "does the model agree with a drafted token?";
  let description = [{
    `token` is the lowest index of the largest logit, -1 if none is a number; `accepted` is 1 if it is `draft_token`, else 0.

    Example:

    ```mlir
    %ok, %token = ck.speculative_verify %logits, %draft : (tensor<512xf32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$draft_token);
  let results = (outs AnyRankedTensor:$accepted, AnyRankedTensor:$token);
  let signatureBody = [{ return "logits[V]:f32, draft_token[1]:i32 -> accepted[1]:i32, token[1]:i32"; }];
  let assemblyFormat = "$logits `,` $draft_token attr-dict `:` functional-type(operands, results)";
}

def CK_SpeculativeCommitOp : CK_GraphOp<"speculative_commit"> {
  let summary = "appends the verified token and moves the positions";
  let description = [{
    Where `0 <= count < L`, the token goes to place `count` of the buffer and `count` grows by 1; a token without room is
    dropped. `target_pos` grows by 1 and `draft_pos` follows it; `n_accepted` or `n_rejected` grows by 1, as `accepted` is 1
    or 0. A number that cannot grow fails at run time and nothing changes.

    Example:

    ```mlir
    %b1, %c1, %t1, %d1, %a1, %r1 = ck.speculative_commit %ok, %token into %b, %c, %t, %d, %a, %r
        : (tensor<1xi32>, tensor<1xi32>, tensor<64xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>,
           tensor<1xi32>)
        -> (tensor<64xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$accepted, AnyRankedTensor:$token, AnyRankedTensor:$buffer,
                   AnyRankedTensor:$count, AnyRankedTensor:$target_pos, AnyRankedTensor:$draft_pos,
                   AnyRankedTensor:$n_accepted, AnyRankedTensor:$n_rejected);
  let results = (outs AnyRankedTensor:$buffer_result, AnyRankedTensor:$count_result, AnyRankedTensor:$target_pos_result,
                 AnyRankedTensor:$draft_pos_result, AnyRankedTensor:$n_accepted_result,
                 AnyRankedTensor:$n_rejected_result);
  let signatureBody = [{
    return "accepted[1]:i32, token[1]:i32, buffer[L]:i32, count[1]:i32, target_pos[1]:i32, draft_pos[1]:i32, "
           "n_accepted[1]:i32, n_rejected[1]:i32 -> buffer[L]:i32, count[1]:i32, target_pos[1]:i32, draft_pos[1]:i32, "
           "n_accepted[1]:i32, n_rejected[1]:i32";
  }];
  let assemblyFormat = [{
    $accepted `,` $token `into` $buffer `,` $count `,` $target_pos `,` $draft_pos `,` $n_accepted `,` $n_rejected attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // CK_TEXTOPS_TD
