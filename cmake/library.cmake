# rig_library(<folder> SOURCES <file>... [LINKS <target>...])
#
# One folder is one static library, rig_<folder>, with an explicit list of the libraries that it may link.
# scripts/check-layers holds the includes to the same list.
function(rig_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(rig_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(rig_${name} PRIVATE rig_warnings PUBLIC ${ARG_LINKS})
  target_include_directories(rig_${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()
