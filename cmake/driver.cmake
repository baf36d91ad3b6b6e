# rig_driver(<name> SOURCES <file>... [LINKS <target>...] [NO_INSTALL])
#
# A driver as a shared object of its own: rig-driver-<name>.so beside the binary, found there by drivers/loader.c, and
# installed into the library folder. It shares no symbol with rig: a library linked statically (rig_base, say) is a copy of
# its own and stays hidden, so logs and secrets go through the core's services, never through that copy.
set(RIG_DRIVER_LIBDIR ${CMAKE_INSTALL_LIBDIR}/rig)

function(rig_driver name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "SOURCES;LINKS" ${ARGN})
  set(target rig_driver_${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME rig-driver-${name} SUFFIX .so
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE rig_warnings ${ARG_LINKS})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  # A sanitizer's run-time is in the program, so only a plain build can require complete symbols.
  if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(NOT ARG_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${RIG_DRIVER_LIBDIR} COMPONENT driver-${name})
    set_property(GLOBAL APPEND PROPERTY RIG_PACKAGED_DRIVERS ${name})
  endif()
endfunction()
