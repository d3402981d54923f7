# Debian's MLIR 22: one shared libMLIR.so and libLLVM.so. No static MLIR archive is ever named, because a second
# copy of MLIR in one process has a second set of type ids.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(ck_mlir_flags INTERFACE)
target_link_libraries(ck_mlir_flags INTERFACE ck_core_flags)
# g++ 12 takes the empty half of an optional for an uninitialized value, inside FailureOr and SmallVector.
target_compile_options(ck_mlir_flags INTERFACE $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>>)
target_include_directories(ck_mlir_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(CK_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(ck_mlir_flags INTERFACE ${CK_LLVM_DEFINITIONS})

# mlir_tablegen() reads the directory property, not target includes.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)

function(ck_library name)
  cmake_parse_arguments(A "" "" "SRCS;LINK;DEPENDS" ${ARGN})
  ck_core_library(${name} SRCS ${A_SRCS} LINK ck_mlir_flags ${A_LINK} MLIR LLVM DEPENDS ${A_DEPENDS})
endfunction()
