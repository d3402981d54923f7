//===- Isa.cpp - what this machine can run --------------------------------===//
//
// Instruction sets by CPUID, counted only where the operating system saves their registers (XGETBV). Names follow the
// x86-64 levels, because that is what a compiler may use freely once a level is chosen.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Runtime.h"

#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const isaNames[CK_ISA_COUNT] = {"scalar", "avx2", "avx512", "avx512_vnni"};

#if defined(__x86_64__)
namespace {
struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};
} // namespace

/// CPUID of a leaf; all zero if the machine does not have it.
static Registers cpuid(unsigned leaf) {
  Registers r;
  if (!__get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx))
    return {};
  return r;
}

static bool hasBits(unsigned value, std::initializer_list<int> bits) {
  for (int bit : bits)
    if (!(value >> bit & 1))
      return false;
  return true;
}

static ck_isa detect() {
  Registers basic = cpuid(1), extended = cpuid(7), amd = cpuid(0x80000001);
  // FMA, MOVBE, OSXSAVE, AVX, F16C.
  if (!hasBits(basic.ecx, {12, 22, 27, 28, 29}))
    return CK_ISA_SCALAR;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  // XMM and YMM state; BMI1, AVX2, BMI2; LZCNT.
  if (!hasBits(low, {1, 2}) || !hasBits(extended.ebx, {3, 5, 8}) || !hasBits(amd.ecx, {5}))
    return CK_ISA_SCALAR;
  // Mask and ZMM state; AVX-512 F, DQ, CD, BW, VL.
  if (!hasBits(low, {5, 6, 7}) || !hasBits(extended.ebx, {16, 17, 28, 30, 31}))
    return CK_ISA_AVX2;
  return hasBits(extended.ecx, {11}) ? CK_ISA_AVX512_VNNI : CK_ISA_AVX512;
}
#else
static ck_isa detect() { return CK_ISA_SCALAR; }
#endif

ck_isa ck_best_isa(void) {
  static const ck_isa best = detect();
  return best;
}

const char *ck_isa_name(ck_isa isa) { return unsigned(isa) < unsigned(CK_ISA_COUNT) ? isaNames[isa] : nullptr; }

int ck_isa_parse(const char *name) {
  for (int isa = 0; name && isa < CK_ISA_COUNT; ++isa)
    if (!std::strcmp(name, isaNames[isa]))
      return isa;
  return -1;
}
