# The SAT solver CaDiCaL as target CADICAL: a static library without a pkg-config file, with the C++ runtime that it needs.
find_path(RIG_CADICAL_INCLUDE ccadical.h)
find_library(RIG_CADICAL_LIBRARY cadical)
if(NOT RIG_CADICAL_INCLUDE OR NOT RIG_CADICAL_LIBRARY)
  message(FATAL_ERROR "rig needs the SAT solver CaDiCaL (ccadical.h and libcadical; Debian: libcadical-dev). Run scripts/setup.")
endif()
add_library(CADICAL INTERFACE IMPORTED GLOBAL)
set_target_properties(CADICAL PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${RIG_CADICAL_INCLUDE}"
  INTERFACE_LINK_LIBRARIES "${RIG_CADICAL_LIBRARY};stdc++;m")
