//===- main.cpp - ck-bench ------------------------------------------------===//
#include "Bench.h"

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  ck::bench::registerAttention();
  ck::bench::registerGemm();
  ck::bench::registerGemv();
  ck::bench::registerLayers();
  ck::bench::registerQuant();
  ck::bench::registerStreams();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
