# The warnings of every build, in GCC and in Clang; there are none on main.
add_library(rig_warnings INTERFACE)
target_compile_options(rig_warnings INTERFACE
  -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wnull-dereference -Wcast-align -Wswitch-enum -fno-common)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rig_warnings INTERFACE -Wcast-align=strict)
endif()
# A build is the same from any folder: messages and debug information name files from the top of the tree.
target_compile_options(rig_warnings INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_definitions(rig_warnings INTERFACE _GNU_SOURCE)
target_include_directories(rig_warnings INTERFACE ${PROJECT_SOURCE_DIR})
