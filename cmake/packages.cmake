# Debian packages by `cpack -G DEB` in the build folder: rig, one for each driver, so that rig depends on no database's client
# library, and rig-dev for authors of drivers. dpkg-shlibdeps finds the libraries that each one needs.
set(CPACK_PACKAGE_NAME rig)
set(CPACK_PACKAGE_CONTACT "rig developers <rig@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)

get_property(rig_packaged_drivers GLOBAL PROPERTY RIG_PACKAGED_DRIVERS)
set(CPACK_COMPONENTS_ALL rig dev)
set(CPACK_DEBIAN_RIG_PACKAGE_NAME rig)
set(CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS "")
set(CPACK_DEBIAN_RIG_DESCRIPTION "finds out which isolation guarantees a database keeps
 rig runs transactions against a database, records what its clients see, and
 reports which isolation guarantees held, with witnesses of those that broke.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME rig-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_DESCRIPTION "headers for drivers of rig
 The headers, an example, and the files of pkg-config and CMake for writing a
 driver for another database.")
foreach(driver ${rig_packaged_drivers})
  list(APPEND CPACK_COMPONENTS_ALL driver-${driver})
  string(TOUPPER DRIVER-${driver} component)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME rig-driver-${driver})
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "rig (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_${component}_DESCRIPTION "rig's driver ${driver}
 The driver ${driver} of rig, which finds out which isolation guarantees a
 database keeps.")
  string(APPEND CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS "rig-driver-${driver}, ")
endforeach()
if(TARGET rig_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME rig-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "rig (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_MPI_DESCRIPTION "rig's module for MPI
 Runs of rig over several machines: mpirun starts their processes.")
  string(APPEND CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS "rig-mpi, ")
endif()
if(TARGET rig_web)
  list(APPEND CPACK_COMPONENTS_ALL web)
  set(CPACK_DEBIAN_WEB_PACKAGE_NAME rig-web)
  set(CPACK_DEBIAN_WEB_PACKAGE_DEPENDS "rig (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_WEB_DESCRIPTION "rig's module for the web
 The command `rig serve`, which shows the runs of a store in a browser.")
  string(APPEND CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS "rig-web, ")
endif()
string(REGEX REPLACE ", $" "" CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS "${CPACK_DEBIAN_RIG_PACKAGE_SUGGESTS}")
include(CPack)
