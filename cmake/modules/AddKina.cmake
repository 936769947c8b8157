# One way to declare each kind of target, so that flags, the precompiled header
# and the choice of the shared MLIR stand in one place.

# The header that every MLIR translation unit starts with; built once.
function(kina_declare_pch)
  file(WRITE ${CMAKE_BINARY_DIR}/KinaPCH.cpp "")
  add_library(KinaPCH OBJECT ${CMAKE_BINARY_DIR}/KinaPCH.cpp)
  target_compile_options(KinaPCH PRIVATE -Xclang -fno-pch-timestamp)
  target_precompile_headers(KinaPCH PRIVATE ${CMAKE_SOURCE_DIR}/include/Kina/Support/PCH.h)
endfunction()

function(kina_use_pch target)
  target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  target_precompile_headers(${target} REUSE_FROM KinaPCH)
endfunction()

# kina_add_library(Name sources... [DEPENDS targets...] [LINK libraries...])
# A static archive of Kina's; MLIR and LLVM come as shared libraries only.
function(kina_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  kina_use_pch(${name})
  add_dependencies(${name} KinaTableGen ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()

# kina_add_tool(name sources... [INTERNAL] [LINK libraries...])
# An INTERNAL tool is not installed. Installed, a tool finds the run-time library beside it and the MLIR that it was linked with.
function(kina_add_tool name)
  cmake_parse_arguments(ARG "INTERNAL" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  kina_use_pch(${name})
  add_dependencies(${name} KinaTableGen)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  if(NOT ARG_INTERNAL)
    set_target_properties(${name} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${name})
  endif()
endfunction()

# kina_tablegen(file.td out.inc -gen-x ...): one generated file of the current
# directory, collected into the target KinaTableGen.
macro(kina_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${ARGN})
endmacro()

# kina_add_doc(Name file.td generator arguments...): Name.md in the current binary folder,
# made from the descriptions in the .td; part of the target docs.
function(kina_add_doc name td)
  set(LLVM_TARGET_DEFINITIONS ${CMAKE_SOURCE_DIR}/include/Kina/${td})
  tablegen(MLIR ${name}.md ${ARGN})
  add_custom_target(${name}Doc ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.md)
  add_dependencies(docs ${name}Doc)
endfunction()
