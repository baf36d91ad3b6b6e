# RIG_COMMIT: the revision of the sources: from git in a clone, from the line below in an archive that git made; else
# unknown.
set(RIG_COMMIT unknown)
set(rig_archived "$Format:%H$")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE rig_described
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  if(rig_described MATCHES "^[A-Za-z0-9._/-]+$")
    set(RIG_COMMIT ${rig_described})
  endif()
elseif(rig_archived MATCHES "^[0-9a-f]+$")
  string(SUBSTRING ${rig_archived} 0 12 RIG_COMMIT)
endif()
