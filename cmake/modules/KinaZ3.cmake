# Z3 decides the goals that the other stages leave open. It is linked by kina-smt-worker alone.
option(KINA_ENABLE_Z3 "Decide refinements with Z3 where the other methods end" ON)
if(KINA_ENABLE_Z3)
  find_path(Z3_INCLUDE_DIR z3++.h)
  find_library(Z3_LIBRARY z3)
  if(NOT Z3_INCLUDE_DIR OR NOT Z3_LIBRARY)
    message(FATAL_ERROR "Z3 was not found (Debian: libz3-dev). Install it, or configure with "
                        "-DKINA_ENABLE_Z3=OFF: then some refinements stay undecided.")
  endif()
  message(STATUS "Z3 at ${Z3_LIBRARY}")
endif()
