# find_package(rig), for drivers outside of rig's tree:
#
#   find_package(rig REQUIRED)
#   add_library(rig-driver-mydb MODULE mydb.c)
#   target_link_libraries(rig-driver-mydb PRIVATE rig::driver mydbclient)
#   set_target_properties(rig-driver-mydb PROPERTIES PREFIX "")
get_filename_component(rig_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET rig::driver)
  add_library(rig::driver INTERFACE IMPORTED)
  set_target_properties(rig::driver PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${rig_prefix}/include/rig"
    INTERFACE_COMPILE_DEFINITIONS _GNU_SOURCE
    INTERFACE_COMPILE_OPTIONS -fvisibility=hidden)
endif()
