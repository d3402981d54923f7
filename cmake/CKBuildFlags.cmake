# Flags and helpers for every CK target.
#
# ck_core_library(name SRCS ... LINK ...)  a static library without MLIR
# ck_library(name SRCS ... LINK ... DEPENDS ...)  a static library against libMLIR.so
# ck_unit_test(name SRCS ... LINK ...)  a GoogleTest binary, registered test by test

set(CK_SANITIZE "" CACHE STRING "Sanitizers, for example 'address,undefined'")

add_library(ck_core_flags INTERFACE)
target_include_directories(ck_core_flags INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:include>)
# Contraction would let two compilers round one kernel differently; kernels ask for FMA by name.
target_compile_options(ck_core_flags INTERFACE
  $<BUILD_INTERFACE:-Wall;-Wextra;-Wno-unused-parameter;-Werror;-ffp-contract=off>)
if(CK_SANITIZE)
  target_compile_options(ck_core_flags INTERFACE
    $<BUILD_INTERFACE:-fsanitize=${CK_SANITIZE};-fno-sanitize=vptr;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer>)
  target_link_options(ck_core_flags INTERFACE $<BUILD_INTERFACE:-fsanitize=${CK_SANITIZE}>)
endif()

function(ck_core_library name)
  cmake_parse_arguments(A "" "" "SRCS;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${A_SRCS})
  target_link_libraries(${name} PUBLIC ck_core_flags ${A_LINK})
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
  add_library(CK::${name} ALIAS ${name})
endfunction()

function(ck_unit_test name)
  cmake_parse_arguments(A "" "" "SRCS;LINK" ${ARGN})
  add_executable(${name} ${A_SRCS})
  target_link_libraries(${name} PRIVATE ck_core_flags ${A_LINK} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE CK_TEST_DATA="${CK_TEST_DATA}" CK_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Tests of what needs no MLIR run under the sanitizers too.
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS core)
endfunction()
