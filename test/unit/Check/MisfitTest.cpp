//===- MisfitTest.cpp - extents that break the contract -------------------===//

#include "CheckSupport.h"

using namespace ck;
using namespace ck::check;

namespace {

struct Args {
  const int32_t *ids;
  const float *table, *positions;
  float *output;
  int64_t T, V, E, S;
};

MapBuilder map() { return MapBuilder("embedding", "ids[T]:i32, table[V,E]:f32, pos_emb[S,E]:f32? -> output[T,E]:f32"); }

template <bool kChecksRows> int32_t embed(ck_context *ctx, const void *data) {
  const Args &args = *static_cast<const Args *>(data);
  for (int64_t t = 0; t < args.T; ++t)
    if (args.ids[t] < 0 || args.ids[t] >= args.V)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "ids[%lld] is %d", static_cast<long long>(t), args.ids[t]);
  if (kChecksRows && args.positions && args.T > args.S)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "more rows than positions");
  for (int64_t t = 0; t < args.T; ++t)
    for (int64_t e = 0; e < args.E; ++e) {
      const int64_t position = args.S ? t % args.S : 0; // stays inside the table whatever T is
      args.output[t * args.E + e] = args.table[args.ids[t] * args.E + e] +
                                    (args.positions && args.S ? args.positions[position * args.E + e] : 0.0f);
    }
  return CK_OK;
}

TEST(Misfit, RefusedExtentsPass) { expectPassed(map(), embed<true>); }

TEST(Misfit, AcceptedExtentsAreFound) {
  Report report = checkKernel(map(), makeKernel(embed<false>));
  expectCaught(report, "gave status 0, expected 1");
  EXPECT_NE(report.failures[0].where.find("with extents that break the contract"), std::string::npos)
      << report.failures[0].where;
  // The geometry that is named does it again, alone.
  Options options;
  options.onlyGeometry = report.failures[0].geometry;
  EXPECT_EQ(checkKernel(map(), makeKernel(embed<false>), options).result, Report::Result::Failed);
}

} // namespace
