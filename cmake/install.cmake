# `cmake --install`: the program, the library, its public headers, and how CMake and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public headers are those that these three lead to, so that a user can include nothing else and nothing is missing.
function(fathom_collect_headers result)
  set(found)
  set(todo ${ARGN})
  while(todo)
    list(POP_FRONT todo header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} hidden REGEX "^namespace fathom {")
    if(hidden)
      message(FATAL_ERROR "${header} is public: its namespace must open with 'namespace fathom FATHOM_PUBLIC {'")
    endif()
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include ")
    foreach(line IN LISTS includes)
      if(line MATCHES "\"(fathom/[^\"]+)\"")
        list(APPEND todo ${CMAKE_MATCH_1})
      elseif(line MATCHES "<(nlohmann|hwy|CLI|boost)/")
        message(FATAL_ERROR "${header} is public and must not need ${CMAKE_MATCH_1}: ${line}")
      endif()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

fathom_collect_headers(FATHOM_PUBLIC_HEADERS fathom/fathom.h fathom/kernel.h fathom/likelihood.h)
foreach(header IN LISTS FATHOM_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

install(TARGETS fathom_shared EXPORT fathom_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET fathom_cli)
  install(TARGETS fathom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The program knows its options best.
  add_custom_command(TARGET fathom_cli POST_BUILD WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM
                     COMMAND sh -c "./fathom man > fathom.1 && for shell in bash zsh fish; do ./fathom completion $shell > completion.$shell; done")
  install(FILES ${PROJECT_BINARY_DIR}/fathom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/completion.bash RENAME fathom
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/completion.zsh RENAME _fathom
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/completion.fish RENAME fathom.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(FATHOM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fathom)
install(EXPORT fathom_targets NAMESPACE fathom:: FILE fathomTargets.cmake DESTINATION ${FATHOM_PACKAGE_DIR})
configure_package_config_file(cmake/fathomConfig.cmake.in ${PROJECT_BINARY_DIR}/fathomConfig.cmake
                              INSTALL_DESTINATION ${FATHOM_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fathomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fathomConfig.cmake ${PROJECT_BINARY_DIR}/fathomConfigVersion.cmake
        DESTINATION ${FATHOM_PACKAGE_DIR})

file(RELATIVE_PATH FATHOM_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/fathom.pc.in ${PROJECT_BINARY_DIR}/fathom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fathom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
