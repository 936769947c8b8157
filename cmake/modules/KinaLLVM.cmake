# Finds the released LLVM and MLIR and sets the flags that every target shares.
find_package(MLIR 22.1 REQUIRED CONFIG)
set(MLIR_LINK_MLIR_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} at ${MLIR_CMAKE_DIR}")

# -fPIC as a plain option: the CMake property gives executables -fPIE, and the
# shared precompiled header would then be refused for them.
add_compile_options(-fPIC -fno-exceptions -fvisibility-inlines-hidden
                    -Wall -Wextra -Wno-unused-parameter -Werror=return-type
                    -Werror=unused-result)
add_compile_definitions(__STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fcolor-diagnostics)
  add_link_options(-fuse-ld=lld)
endif()
if(KINA_ENABLE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
endif()
foreach(sanitizer ${KINA_SANITIZE})
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizer})
endforeach()
if(KINA_FUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
