# Debian packages: `cpack` in the build folder makes `hgcheck` (tools/pack lays it out) and `libhgcheck-hip-dev` (the
# component of hip/CMakeLists.txt) of what is built there.
if(NOT TARGET hgcheck OR NOT TARGET hgcheck_hip OR HGCHECK_SANITIZE)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/pack
                              --build ${PROJECT_BINARY_DIR} --prefix \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}
                              COMMAND_ERROR_IS_FATAL ANY)" COMPONENT hgcheck)

set(HGCHECK_MAINTAINER "hgcheck maintainers <maintainers@hgcheck.invalid>" CACHE STRING "Of the Debian packages")
set(folder ${PROJECT_BINARY_DIR}/debian)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${folder}/changelog CONTENT "hgcheck (@PROJECT_VERSION@) unstable; urgency=medium

  * docs/README.md and CHANGELOG.md say what is in this release.

 -- @HGCHECK_MAINTAINER@  @now@
" @ONLY)
execute_process(COMMAND gzip -9nkf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(package "hgcheck hgcheck" "hip libhgcheck-hip-dev")
  separate_arguments(package)
  list(POP_FRONT package component)
  install(FILES ${folder}/changelog.gz ${PROJECT_SOURCE_DIR}/tools/debian/copyright
          DESTINATION share/doc/${package} COMPONENT ${component})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/tools/debian/overrides DESTINATION share/lintian/overrides RENAME hgcheck
        COMPONENT hgcheck)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR hgcheck)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # cpack builds nothing: tests use the folder meanwhile
set(CPACK_COMPONENTS_ALL hgcheck hip)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${HGCHECK_MAINTAINER})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_HGCHECK_PACKAGE_NAME hgcheck)
set(CPACK_DEBIAN_HGCHECK_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_HGCHECK_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_HGCHECK_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_HGCHECK_PACKAGE_RECOMMENDS "ca-certificates, debian-archive-keyring")
set(CPACK_DEBIAN_HGCHECK_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/tools/debian/postrm)
set(CPACK_DEBIAN_HGCHECK_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_HGCHECK_DESCRIPTION "checks code that patches HIP graphs in place
A model of HIP graphs, generated programs and the software gfx942 tell whether
a graph that was patched is the graph that recording it again would give.")

set(CPACK_DEBIAN_HIP_PACKAGE_NAME libhgcheck-hip-dev)
set(CPACK_DEBIAN_HIP_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_HIP_PACKAGE_DEPENDS "libc6-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_HIP_PACKAGE_SUGGESTS "libelf-dev, libamdhip64-dev (>= 6.4)")
set(CPACK_COMPONENT_HIP_DESCRIPTION "graph patcher, trace cache and command buffer for HIP
Static libraries, their headers and a CMake package: find_package(hgcheck).
HIP's headers (6.4 or later) and a runtime are the user's own.")
include(CPack)
