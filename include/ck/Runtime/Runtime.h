/*===- Runtime.h - the C ABI of CK's runtime ------------------------------===//
 *
 * Everything that compiled models, kernels and embedders may call. A compiled model exports
 * `const ck_model *ckm_<name>(void)`; the runtime knows nothing of how it was made.
 *
 *===----------------------------------------------------------------------===*/
#ifndef CK_RUNTIME_RUNTIME_H
#define CK_RUNTIME_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define CK_API __attribute__((visibility("default")))
/* Raised when ck_model, ck_entry_args or the kernel ABI change. */
#define CK_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/*--- Context: a team of threads, an error, a profile ---------------------------------------------------------------*/

typedef struct ck_context ck_context;

typedef enum ck_status {
  CK_OK = 0,
  CK_INVALID_ARGUMENT = 1, /* a value outside what the contract allows (position, id, geometry) */
  CK_OUT_OF_MEMORY = 2,
  CK_BOUND_EXCEEDED = 3, /* a size above its planned bound */
  CK_UNSUPPORTED = 4,    /* this machine or build cannot run it */
  CK_MISMATCH = 5,       /* version or digest differs */
  CK_NOT_FINITE = 6      /* a result holds NaN or infinity, and somebody asked (ck_context_check_finite) */
} ck_status;

/* Instruction sets in rising order; a provider's implementation is the best one that it has at or below the
 * context's. `avx2` stands for all of x86-64-v3, `avx512` for all of x86-64-v4, with the operating system's support for
 * their registers. The environment variable CK_ISA (one of the names) sets the default; an unknown name, or one that
 * this machine cannot run, makes ck_context_create fail. */
typedef enum ck_isa {
  CK_ISA_SCALAR = 0,
  CK_ISA_AVX2 = 1,
  CK_ISA_AVX512 = 2,
  CK_ISA_AVX512_VNNI = 3,
  CK_ISA_COUNT
} ck_isa;

/* The best instruction set of this machine. */
CK_API ck_isa ck_best_isa(void);
/* "scalar", "avx2", "avx512" or "avx512_vnni"; NULL outside the enum. */
CK_API const char *ck_isa_name(ck_isa isa);
/* -1 for an unknown name. */
CK_API int ck_isa_parse(const char *name);

/* A context of `threads` team members (the caller is one of them), at most CK_MAX_THREADS; 0 = the CPUs that this
 * process may use. NULL when `threads` is out of range, CK_ISA is wrong, or memory or threads run out;
 * ck_context_error(NULL) then says why. A context serves one calling thread at a time. */
#define CK_MAX_THREADS 1024
CK_API ck_context *ck_context_create(int threads);
CK_API void ck_context_destroy(ck_context *ctx);
CK_API int ck_context_threads(const ck_context *ctx);
CK_API ck_isa ck_context_isa(const ck_context *ctx);
/* CK_UNSUPPORTED when the machine lacks it. */
CK_API int32_t ck_context_set_isa(ck_context *ctx, ck_isa isa);
/* The message of the last failure, "" if none; valid until the next one. With NULL: the reason why this thread's last
 * ck_context_create failed. */
CK_API const char *ck_context_error(const ck_context *ctx);
/* The ck_status of the last failure, CK_OK if none. */
CK_API int32_t ck_context_error_code(const ck_context *ctx);
/* Records a message and returns `code`; the way in which kernels and entries fail. Safe from any task, but a kernel
 * whose tasks can fail should report the lowest failing one after ck_parallel, so that the message does not depend on
 * the number of threads. */
CK_API int32_t ck_fail(ck_context *ctx, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Runs task(data, i, thread) for i in 0..tasks-1 over the team and returns when all are done. Tasks are handed out in
 * any order to any thread: results must depend on i alone. `thread` is 0..threads-1 and belongs to one running task at
 * a time. From inside a task of the same context the tasks run serially, under the thread number of that task. */
typedef void (*ck_task)(void *data, int64_t i, int thread);
CK_API void ck_parallel(ck_context *ctx, int64_t tasks, ck_task task, void *data);

/* Scratch of one team member, 64-byte aligned, at least the size promised by ck_context_reserve_thread_scratch;
 * its contents do not survive the call. */
CK_API void *ck_thread_scratch(ck_context *ctx, int thread);
/* Grows the scratch of every team member to `bytes`; pointers to the old one die. CK_INVALID_ARGUMENT inside a task. */
CK_API int32_t ck_context_reserve_thread_scratch(ck_context *ctx, size_t bytes);

/* Per-call profile: off by default. Rows are in order of first call; `seconds` is wall time of the calls. Turning it on
 * clears the rows, turning it off keeps them. `*rows` stays valid until the next kernel call. */
typedef struct ck_profile_row {
  const char *kernel;
  int64_t calls;
  double seconds;
} ck_profile_row;
CK_API void ck_profile_enable(ck_context *ctx, int on);
CK_API int64_t ck_profile_rows(const ck_context *ctx, const ck_profile_row **rows);

/* Looking for the first NaN or infinity: off by default. While it is on, a kernel call after which a float operand that
 * it writes holds one fails with CK_NOT_FINITE; the message names kernel, operand, element and, in an entry, the step.
 * Costs a pass over every result. */
CK_API void ck_context_check_finite(ck_context *ctx, int on);

/*--- Kernels: the registry generated from the kernel maps -----------------------------------------------------------*/

/* Every provider has this type; `args` points to its ckk_<id>_args, an array of 8-byte slots. */
typedef int32_t (*ck_kernel_fn)(ck_context *ctx, const void *args);

typedef struct ck_kernel {
  const char *id;
  const char *digest;                        /* of its contract and its map */
  ck_kernel_fn call;                         /* ckk_<id>: binds the ISA, checks, profiles */
  ck_kernel_fn implementation[CK_ISA_COUNT]; /* NULL where it has none */
  int32_t slots;
  int64_t (*thread_scratch)(const void *args); /* bytes per team member, or NULL */
  /* One letter per slot: r operand that is only read, w operand that is written, s arena scratch (capital: may be
   * NULL), i int64_t, f double. Lets the loader of a .ckplan check what it passes. */
  const char *slot_kinds;
  /* CK_OK, or CK_NOT_FINITE for the first compact float operand written by a call with these args; may be NULL. */
  int32_t (*check_finite)(ck_context *ctx, const void *args);
} ck_kernel;

/* NULL if there is none. */
CK_API const ck_kernel *ck_find_kernel(const char *id);
/* All kernels, sorted by id. */
CK_API const ck_kernel *const *ck_kernels(size_t *count);
/* Shared body of every generated ckk_<id>: runs the best implementation at or below the context's instruction set.
 * CK_UNSUPPORTED when there is none, CK_INVALID_ARGUMENT when less thread scratch is reserved than the call needs.
 * Messages of a failing kernel get its id in front. Not for use inside a task. */
CK_API int32_t ck_call_kernel(ck_context *ctx, const ck_kernel *kernel, const void *args);

/* For generated code: CK_NOT_FINITE if one of `count` elements is NaN or infinite. `operand` may be NULL: absent. */
CK_API int32_t ck_check_finite_f32(ck_context *ctx, const float *operand, int64_t count, const char *name);
CK_API int32_t ck_check_finite_f64(ck_context *ctx, const double *operand, int64_t count, const char *name);

/*--- Models ---------------------------------------------------------------------------------------------------------*/

typedef enum ck_role { CK_WEIGHT, CK_INPUT, CK_OUTPUT, CK_STATE, CK_CONST, CK_SCRATCH, CK_GRAD, CK_ACTIVATION } ck_role;

/* One declared buffer. Inputs and outputs belong to entries and are listed there. */
typedef struct ck_buffer_info {
  const char *name;
  int32_t role; /* ck_role */
  const char *dtype;
  int32_t rank;
  const int64_t *dims;
  int64_t bytes;
  int64_t offset;     /* in the const or state arena; -1 for weights */
  const char *file;   /* weights: container, relative to the model; NULL if none was named */
  const char *tensor; /* weights: name in it */
} ck_buffer_info;

typedef struct ck_value_info {
  const char *name;
  const char *dtype;
  int32_t rank;
  const int64_t *dims; /* -1 - k for the k-th run-time dim of the entry */
} ck_value_info;

struct ck_entry;
typedef struct ck_entry_args {
  void *const *weights; /* by position among the model's CK_WEIGHT buffers */
  char *const_arena;
  char *state_arena;
  char *arena; /* activations and scratch, 64-byte aligned */
  const void *const *inputs;
  void *const *outputs;
  const int64_t *dims;
  const struct ck_entry *entry;
} ck_entry_args;

typedef struct ck_entry {
  const char *name; /* "init", "decode", "prefill", ... */
  int64_t arena_bytes;
  int64_t thread_scratch_bytes;
  int32_t inputs, outputs, dims;
  const ck_value_info *input, *output;
  const char *const *dim_name;
  const int64_t *dim_bound; /* 1 <= dim <= bound */
  int32_t (*run)(ck_context *, const ck_entry_args *);
  const void *impl; /* of the engine that made the entry */
} ck_entry;

typedef struct ck_model {
  int32_t abi_version;
  const char *name;
  const char *digest; /* of the plan */
  int64_t const_bytes, state_bytes;
  int32_t buffers, entries;
  const ck_buffer_info *buffer;
  const ck_entry *entry;
  int32_t kernels; /* providers it calls, with the digests of their maps at compile time */
  const char *const *kernel_id;
  const char *const *kernel_digest;
} ck_model;

/* Loads a .ckplan; calls go through the registry. Free with ck_plan_destroy. NULL with ck_context_error set. */
CK_API const ck_model *ck_plan_load(ck_context *ctx, const char *path);
CK_API void ck_plan_destroy(const ck_model *model);
/* NULL if there is none. */
CK_API const ck_entry *ck_model_find_entry(const ck_model *model, const char *name);

/*--- Sessions: a model with its memory ------------------------------------------------------------------------------*/

typedef struct ck_session ck_session;

/* Checks version and digests, allocates arenas (states zeroed) and runs @init. `weights` holds one pointer per weight
 * buffer, in order; context, model and weights must outlive the session. NULL with ck_context_error set. */
CK_API ck_session *ck_session_create(ck_context *ctx, const ck_model *model, void *const *weights);
CK_API void ck_session_destroy(ck_session *session);
/* Runs an entry. `dims` are its run-time dims in order, `inputs` and `outputs` its buffers in order. A dim above its
 * bound is CK_BOUND_EXCEEDED, below 1 CK_INVALID_ARGUMENT; the message names dim, value and bound. Dims, inputs and
 * outputs may be NULL where the entry has none. */
CK_API int32_t ck_session_run(ck_session *session, const char *entry, const int64_t *dims, const void *const *inputs,
                              void *const *outputs);
/* Zeroes the states. */
CK_API void ck_session_reset(ck_session *session);
CK_API ck_context *ck_session_context(const ck_session *session);
CK_API const ck_model *ck_session_model(const ck_session *session);
/* The memory of a state, const or weight buffer by name; NULL if there is none. */
CK_API void *ck_session_buffer(ck_session *session, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* CK_RUNTIME_RUNTIME_H */
