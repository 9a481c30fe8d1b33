# Parts of the library under a sanitizer, beside the usual build. The programs of the tests and of the fuzz targets are
# linked a second time with the sanitized files before the library, so that these are all that is compiled anew: the whole
# library would take longer than the usual build does. `make sanitize` compiles the whole.
#   fathom_sanitized(<name> <sanitizers> <regular expression of files>)
# builds fathom_<name>_tests and fathom_<name>_fuzz_replay; .ci/run runs them.
function(fathom_sanitized name sanitizers files)
  set(sources ${FATHOM_COMPUTING} ${FATHOM_SOURCES} ${FATHOM_BNN_SOURCES} ${FATHOM_BNN_UPPER})
  list(FILTER sources INCLUDE REGEX "${files}")
  add_library(fathom_${name} OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(fathom_${name} PROPERTIES UNITY_BUILD ${FATHOM_UNITY} UNITY_BUILD_MODE GROUP)
  target_compile_options(fathom_${name} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # Under a sanitizer Eigen would align memory in a way of its own, which the other files do not know.
  target_compile_definitions(fathom_${name} PRIVATE ${FATHOM_EIGEN_DEFINITIONS} EIGEN_MALLOC_ALREADY_ALIGNED=1)
  target_include_directories(fathom_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fathom_${name} PRIVATE Eigen3::Eigen hwy::hwy Threads::Threads ZLIB::ZLIB
                        nlohmann_json::nlohmann_json fathom_flags fathom_light)
  target_precompile_headers(fathom_${name} PRIVATE ${FATHOM_COMMON_HEADERS} <nlohmann/json.hpp>)
  foreach(program tests fuzz_replay)
    # A precompiled header counts as an object, and one test replaces malloc, as the sanitizers do.
    set(objects $<TARGET_OBJECTS:fathom_${name}> $<TARGET_OBJECTS:fathom_${program}>)
    add_executable(fathom_${name}_${program} EXCLUDE_FROM_ALL $<FILTER:${objects},EXCLUDE,gch$|steady_state>)
    set_target_properties(fathom_${name}_${program} PROPERTIES LINKER_LANGUAGE CXX)
    # Of two definitions the first counts.
    target_link_options(fathom_${name}_${program} PRIVATE -fsanitize=${sanitizers} LINKER:-z,muldefs)
    get_target_property(libraries fathom_${program} LINK_LIBRARIES)
    target_link_libraries(fathom_${name}_${program} PRIVATE ${libraries})
  endforeach()
endfunction()

# What reads foreign bytes, and what threads share.
fathom_sanitized(readers address,undefined "^bnn/(checkpoint|expert|journal|options)|^fathom/(io/|data/|recipe/recipe_json|train/checkpoint|fitted/(arrays|description|model_file|model_parts|old_formats))")
fathom_sanitized(threads thread "^fathom/(base/(blas_lock|threads)|data/csv|inference/(add_in_tree|aep|latent|log_z|network|predict|row_)|fitted/predict|fit/)")
