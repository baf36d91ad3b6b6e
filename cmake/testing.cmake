# rig_unit_test(<module> LINKS <target>... [LABEL short|medium|long])
#
# Registers tests/unit/test_<module>.c as the ctest `unit-<module>`; one file a module.
# scripts/check-registration fails when a test file is not registered.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)

function(rig_unit_test module)
  cmake_parse_arguments(ARG "" "LABEL" "LINKS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL short)
  endif()
  add_executable(test_${module} test_${module}.c)
  set_target_properties(test_${module} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(test_${module} PRIVATE rig_warnings ${ARG_LINKS} PkgConfig::CMOCKA)
  add_test(NAME unit-${module} COMMAND test_${module})
  set_tests_properties(unit-${module} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
endfunction()
