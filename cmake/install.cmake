# What `make install` puts into a prefix: libraries, headers, tool, man pages, pkg-config file and
# CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS vyre_shared vyre_static EXPORT vyreTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET vyre_spirv_tools)
  install(TARGETS vyre_spirv_tools LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
install(DIRECTORY include/vyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(VYRE_BUILD_CLI)
  install(TARGETS vyre_cli DESTINATION ${CMAKE_INSTALL_BINDIR})
  file(GLOB man_pages docs/man/*.1)
  install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
# The pages of functions and types, if they were made: `make docs` and `make install` make them.
set(VYRE_REFERENCE_DIR ${PROJECT_SOURCE_DIR}/build/docs CACHE PATH "What docs/reference/build has built")
install(DIRECTORY ${VYRE_REFERENCE_DIR}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT reference OPTIONAL)

# The .pc file has paths relative to itself, so that an installation can be moved.
file(RELATIVE_PATH VYRE_PC_PREFIX
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/vyre.pc.in vyre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vyre)
configure_package_config_file(cmake/vyreConfig.cmake.in vyreConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(vyreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/vyreConfig.cmake
  ${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT vyreTargets NAMESPACE vyre:: DESTINATION ${package_dir})
