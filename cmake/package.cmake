# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# What is installed, and the CMake package: find_package(ttmem) gives `ttmem::ttmem`, from an
# installation or straight from the build tree (CMAKE_PREFIX_PATH=<source>/build). `product` builds
# exactly what is installed.

set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Object code libraries (lib)")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_custom_target(product)

if(TARGET ttmem)
  add_dependencies(product ttmem)
  install(TARGETS ttmem RUNTIME COMPONENT command)
  if(TTMEM_PORTABLE)
    target_sources(ttmem PRIVATE ${PROJECT_SOURCE_DIR}/cmake/portable_libc.c)
  endif()

  # Man pages and completions say what the parser says: the command writes them itself.
  set(share ${PROJECT_BINARY_DIR}/share)
  add_custom_command(
    OUTPUT ${share}/written
    COMMAND ttmem manual --write ${share}
    COMMAND ${CMAKE_COMMAND} -E touch ${share}/written
    DEPENDS ttmem
    COMMENT "Writing man pages and completions")
  add_custom_target(manual ALL DEPENDS ${share}/written)
  add_dependencies(product manual)
  install(
    DIRECTORY ${share}/ttmem
    DESTINATION ${CMAKE_INSTALL_DATADIR}
    COMPONENT command)
  # In a wheel they belong below the prefix of the environment, where man and shells look.
  if(SKBUILD)
    set(manual_dir ${SKBUILD_DATA_DIR}/share)
  else()
    set(manual_dir ${CMAKE_INSTALL_DATADIR})
  endif()
  install(
    DIRECTORY ${share}/man ${share}/bash-completion ${share}/fish ${share}/zsh
    DESTINATION ${manual_dir}
    COMPONENT command)
endif()

if(TARGET ttmem_shared)
  add_dependencies(product ttmem_shared)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ttmem)
  set(build_package_dir ${PROJECT_BINARY_DIR}/lib/cmake/ttmem)

  install(
    TARGETS ttmem_shared
    EXPORT ttmem-targets
    LIBRARY COMPONENT library NAMELINK_COMPONENT development
    FILE_SET HEADERS COMPONENT development)
  install(
    EXPORT ttmem-targets
    NAMESPACE ttmem::
    DESTINATION ${package_dir}
    COMPONENT development)
  export(EXPORT ttmem-targets NAMESPACE ttmem:: FILE ${build_package_dir}/ttmem-targets.cmake)

  file(MAKE_DIRECTORY ${build_package_dir})
  file(COPY_FILE ${PROJECT_SOURCE_DIR}/cmake/ttmem-config.cmake
       ${build_package_dir}/ttmem-config.cmake ONLY_IF_DIFFERENT)
  write_basic_package_version_file(${build_package_dir}/ttmem-config-version.cmake
                                   COMPATIBILITY SameMajorVersion)
  install(
    FILES ${build_package_dir}/ttmem-config.cmake ${build_package_dir}/ttmem-config-version.cmake
    DESTINATION ${package_dir}
    COMPONENT development)
endif()

# The injector lies beside libttmem.so, which its observer loads from there.
foreach(library ttmem_preload ttmem_observer ttmem_patch)
  if(TARGET ${library})
    add_dependencies(product ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT injector)
  endif()
endforeach()

# For a host-wide install. The unit names the command where it is installed, whatever the prefix.
if(TTMEM_SERVICE AND TARGET ttmem)
  set(packaging ${PROJECT_SOURCE_DIR}/packaging)
  install(
    CODE "
    foreach(name ttmem.service ttmem-push.service)
      file(READ \"${packaging}/systemd/\${name}\" unit)
      string(REPLACE /usr/local/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" unit
             \"\${unit}\")
      file(WRITE \"${PROJECT_BINARY_DIR}/\${name}\" \"\${unit}\")
    endforeach()"
    COMPONENT service)
  install(
    FILES ${PROJECT_BINARY_DIR}/ttmem.service ${PROJECT_BINARY_DIR}/ttmem-push.service
          ${packaging}/systemd/ttmem.socket
          ${packaging}/systemd/ttmem-legacy.socket ${packaging}/systemd/ttmem-directory.service
    DESTINATION lib/systemd/system
    COMPONENT service)
  install(FILES ${packaging}/tmpfiles/ttmem.conf DESTINATION lib/tmpfiles.d COMPONENT service)
  install(FILES ${packaging}/sysusers/ttmem.conf DESTINATION lib/sysusers.d COMPONENT service)
endif()

# As they lie in the repository, so that links between them lead somewhere.
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/docs
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)
install(
  FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/SECURITY.md
        ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)
# What the command is made of besides: with every command, also in a wheel.
if(TARGET ttmem)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/ttmem.spdx.json
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/sbom $<$<BOOL:${TTMEM_PORTABLE}>:--portable>
            ${PROJECT_BINARY_DIR}/ttmem.spdx.json
    COMMAND_EXPAND_LISTS
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/sbom ${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES.txt
            ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Writing the bill of materials")
  add_custom_target(sbom ALL DEPENDS ${PROJECT_BINARY_DIR}/ttmem.spdx.json)
  add_dependencies(product sbom)
  # A wheel has a place for bills of materials (PEP 770), and takes the notices with its licence.
  if(SKBUILD)
    set(bill_dir ${SKBUILD_METADATA_DIR}/sboms)
  else()
    set(bill_dir ${CMAKE_INSTALL_DOCDIR})
  endif()
  install(
    FILES ${PROJECT_BINARY_DIR}/ttmem.spdx.json
    DESTINATION ${bill_dir}
    COMPONENT command)
endif()
if(NOT SKBUILD)
  install(
    FILES ${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES.txt
    DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT command)
endif()
