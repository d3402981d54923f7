# From kernel maps to C sources.
#
# ck_generate_kernels([TARGET CKKernelTable] [MAPS dir] [HEADER file] [REGISTRY file] [SOURCES dir])
#
# Runs ck-kernel-gen over every map below MAPS (default: kernel_maps) whenever one of them, or the tool, changes.
#   HEADER    default <build>/include/ck/Runtime/Kernels.h.inc, which ck/Runtime/Kernels.h includes
#   REGISTRY  default KernelTable.cpp in the current binary folder; add it to the sources of one target of this folder
#   SOURCES   folder for one header per kernel source; none by default
#   TARGET    what users of the header depend on: add_dependencies(<target> CKKernelTable)
# Files keep their time when their text does not change. Sets CK_KERNEL_REGISTRY to REGISTRY in the caller.
function(ck_generate_kernels)
  cmake_parse_arguments(A "" "TARGET;MAPS;HEADER;REGISTRY;SOURCES" "" ${ARGN})
  if(NOT A_TARGET)
    set(A_TARGET CKKernelTable)
  endif()
  if(NOT A_MAPS)
    set(A_MAPS ${PROJECT_SOURCE_DIR}/kernel_maps)
  endif()
  if(NOT A_HEADER)
    set(A_HEADER ${CMAKE_BINARY_DIR}/include/ck/Runtime/Kernels.h.inc)
  endif()
  if(NOT A_REGISTRY)
    set(A_REGISTRY ${CMAKE_CURRENT_BINARY_DIR}/KernelTable.cpp)
  endif()
  file(GLOB_RECURSE maps CONFIGURE_DEPENDS ${A_MAPS}/*.json)
  set(sources)
  set(headers)
  if(A_SOURCES)
    set(sources --sources ${A_SOURCES})
    # Named as outputs, so that a kernel is compiled anew in the same run in which its arguments change.
    foreach(map ${maps})
      file(STRINGS ${map} lines REGEX "\"source\"")
      string(REGEX MATCHALL "\"source\": *\"[^\"]*\"" entries "${lines}")
      foreach(entry ${entries})
        string(REGEX REPLACE ".*\"([^\"]*)\"$" "${A_SOURCES}/\\1.inc" header "${entry}")
        list(APPEND headers ${header})
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES headers)
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${A_TARGET}.stamp)
  # The list of maps is a dependency too: a map that was removed must leave the table.
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${A_TARGET}.maps)
  file(CONFIGURE OUTPUT ${list} CONTENT "${maps}\n")
  add_custom_command(
    OUTPUT ${stamp}
    BYPRODUCTS ${A_HEADER} ${A_REGISTRY} ${headers}
    COMMAND ck-kernel-gen --maps ${A_MAPS} --header ${A_HEADER} --registry ${A_REGISTRY} ${sources}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ck-kernel-gen ${maps} ${list}
    COMMENT "Generating kernel prototypes and table"
    VERBATIM)
  add_custom_target(${A_TARGET} DEPENDS ${stamp})
  set(CK_KERNEL_REGISTRY ${A_REGISTRY} PARENT_SCOPE)
endfunction()
