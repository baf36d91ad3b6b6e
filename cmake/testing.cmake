# The registration of tests. scripts/check-registration fails when a test file is in none of these lists.
#
# Labels: every test has exactly one of
#   short    seconds; no server; run on every change
#   medium   up to a few minutes; starts servers, runs thousands of histories
#   long     anything above, and more histories of the oracles; run each night by `scripts/test -L long`, and before a release by
#            `scripts/test --all`
# short and medium together stay under 20 minutes on two cores. A test that cannot run here prints the reason and exits with
# 77: ctest then shows it as skipped, never as passed.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
find_program(RIG_BASH bash)
find_program(RIG_PYTHON NAMES /usr/bin/python3 python3)

# rig itself needs none of these. Without them the build succeeds, and ctest, called with --no-tests=error as by
# scripts/test, fails.
set(RIG_TESTS ${BUILD_TESTING})
if(BUILD_TESTING AND NOT (CMOCKA_FOUND AND RIG_BASH AND RIG_PYTHON))
  set(RIG_TESTS FALSE)
  message(WARNING "no tests: they need cmocka and python3 (scripts/setup --for test)")
endif()

function(rig_test_properties name label timeout_s)
  if(NOT label)
    set(label short)
  endif()
  if(NOT label MATCHES "^(short|medium|long)$")
    message(FATAL_ERROR "test ${name}: label '${label}'; use short, medium or long")
  endif()
  # Ends what hangs, and nothing that a busy machine delays.
  if(NOT timeout_s)
    set(timeout_s 1800)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout_s} SKIP_RETURN_CODE 77)
endfunction()

# rig_unit_test(<module> LINKS <target>... [LABEL short|medium|long] [TIMEOUT <seconds>])
#
# Registers tests/unit/test_<module>.c as the ctest `unit-<module>`; one file a module.
function(rig_unit_test module)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "LINKS" ${ARGN})
  add_executable(test_${module} test_${module}.c)
  set_target_properties(test_${module} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(test_${module} PRIVATE rig_warnings ${ARG_LINKS} PkgConfig::CMOCKA)
  add_test(NAME unit-${module} COMMAND test_${module})
  rig_test_properties(unit-${module} "${ARG_LABEL}" "${ARG_TIMEOUT}")
endfunction()

# rig_script_test(<name> COMMAND <file or target> [<argument>...] [LABEL short|medium|long] [TIMEOUT <seconds>]
#                 [ALONE] [PROCESSORS <count>] [COST <seconds>])
#
# Registers a test that is a script or a program. A file ending in .py is run by python3, one ending in .sh by bash,
# any other file directly; a relative file is one of the calling folder. RIG, RIG_BUILD and RIG_SOURCE in its environment are
# the binary, the folder of the build and that of the sources.
# ALONE: no other test runs beside it (measures time, or needs the whole machine).
# COST: about how long it takes beside others. ctest starts such tests first, so that no core waits for one of them at the end.
function(rig_script_test name)
  cmake_parse_arguments(ARG "ALONE" "LABEL;TIMEOUT;PROCESSORS;COST" "COMMAND" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "test ${name}: unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  list(POP_FRONT ARG_COMMAND program)
  if(NOT TARGET ${program} AND NOT IS_ABSOLUTE ${program})
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/${program})
    if(NOT EXISTS ${program})
      message(FATAL_ERROR "test ${name}: there is no ${program}")
    endif()
  endif()
  if(program MATCHES "\\.py$")
    set(program ${RIG_PYTHON} ${program})
  elseif(program MATCHES "\\.sh$")
    set(program ${RIG_BASH} ${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${ARG_COMMAND})
  rig_test_properties(${name} "${ARG_LABEL}" "${ARG_TIMEOUT}")
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "RIG=${PROJECT_BINARY_DIR}/rig;RIG_BUILD=${PROJECT_BINARY_DIR};RIG_SOURCE=${PROJECT_SOURCE_DIR};PYTHONDONTWRITEBYTECODE=1")
  if(ARG_ALONE)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
  if(ARG_PROCESSORS)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_PROCESSORS})
  endif()
endfunction()
