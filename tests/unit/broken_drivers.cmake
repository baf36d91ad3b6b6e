# Drivers with one fault each, in a folder of their own, for test_loader.
set(BROKEN_DRIVER_FOLDER ${PROJECT_BINARY_DIR}/tests/broken-drivers)
foreach(pair sound:NONE abi:ABI size:SIZE hook:HOOK symbol:SYMBOL name:NAME)
  string(REPLACE ":" ";" parts ${pair})
  list(GET parts 0 file)
  list(GET parts 1 fault)
  add_library(broken_driver_${file} MODULE broken_driver.c)
  set_target_properties(broken_driver_${file} PROPERTIES PREFIX "" OUTPUT_NAME rig-driver-${file} SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${BROKEN_DRIVER_FOLDER})
  target_compile_definitions(broken_driver_${file} PRIVATE BROKEN=BROKEN_${fault} BROKEN_FILE="${file}")
  target_link_libraries(broken_driver_${file} PRIVATE rig_warnings)
  add_dependencies(test_loader broken_driver_${file})
endforeach()
target_compile_definitions(test_loader PRIVATE DRIVER_FOLDER="${BROKEN_DRIVER_FOLDER}"
  LIBRARY_FOLDER="${CMAKE_INSTALL_FULL_LIBDIR}/rig")
