# What the library of studies is told about its own source: the studies of experiments/ and the commit.
set(FATHOM_GENERATED ${CMAKE_BINARY_DIR}/generated)

file(GLOB FATHOM_EMBEDDED CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/experiments
     experiments/*.toml experiments/published/*.toml)
set(entries)
foreach(path IN LISTS FATHOM_EMBEDDED)
  file(READ experiments/${path} text)
  string(APPEND entries "{\"${path}\", R\"toml(${text})toml\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS experiments/${path})
endforeach()
file(CONFIGURE OUTPUT ${FATHOM_GENERATED}/embedded_files.inc CONTENT "${entries}" @ONLY)

# Asked anew in every build; the header changes, and its one reader with it, only if the answer does.
add_custom_target(fathom_commit BYPRODUCTS ${FATHOM_GENERATED}/fathom_commit.h VERBATIM
                  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${FATHOM_GENERATED}/fathom_commit.h
                          -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)

# Given to the one file that needs it, so that a compiler cache serves the others in any folder.
set_source_files_properties(study/embedded.cc PROPERTIES INCLUDE_DIRECTORIES ${FATHOM_GENERATED})
