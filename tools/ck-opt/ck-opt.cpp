//===- ck-opt.cpp - runs passes over modules, as mlir-opt does ------------===//
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Target/Passes.h"
#include "ck/Transforms/BufferizableOpInterfaceImpl.h"
#include "ck/Transforms/Passes.h"
#include "ck/Transforms/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<ck::CKDialect>();
  ck::registerBufferizableOpInterfaceExternalModels(registry);
  ck::registerCKTransformsPasses();
  ck::registerCKTargetPasses();
  ck::registerPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "CK optimizer driver\n", registry));
}
