/*===- GeneratedHeader.c - the generated header is C ----------------------===*/
#include "ck/Runtime/Kernels.h"

_Static_assert(sizeof(ckk_rmsnorm_forward_args) == 7 * 8, "one slot per field");
_Static_assert(sizeof(ckk_rmsnorm_forward_parallel_args) == 7 * 8, "a twin has the same struct");
_Static_assert(CKK_GEMM_NT_F32_ACT_NONE == 0 && CKK_GEMM_NT_F32_ACT_GELU_TANH == 2, "values are positions");

int checkHeaderInC(void);
int checkHeaderInC(void) {
  ckk_rmsnorm_forward_args args = {0};
  args.E = 5;
  return ckk_rmsnorm_forward(0, &args) == 1005 ? 0 : 1;
}
