/* Two compiled models in one program: both tables are reachable and distinct. */
#include "ck/Runtime/Runtime.h"

#include <stdio.h>

const ck_model *ckm_model(void);
const ck_model *ckm_second(void);

int main(void) {
  const ck_model *first = ckm_model(), *second = ckm_second();
  if (first == second || first->entry[0].run == second->entry[0].run)
    return 1;
  printf("%s %s\n", first->name, second->name);
  return 0;
}
