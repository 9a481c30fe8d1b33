# Parts of the library under a sanitizer, each with tests of its own, beside the usual build. The rest of the library is
# linked as it is: compiling all of it a second time would take as long as the first. `make sanitize` does that.
#   fathom_sanitized(<name> <sanitizers> <regular expression of files> <the same of files of tests>)
# builds fathom_<name>_tests and, of those that read, fathom_<name>_replay; see fuzz.cmake. .ci/run runs them.
function(fathom_sanitized name sanitizers files tested)
  set(sources ${FATHOM_COMPUTING} ${FATHOM_SOURCES})
  list(FILTER sources INCLUDE REGEX "${files}")
  set(tests ${FATHOM_TEST_SOURCES})
  list(FILTER tests INCLUDE REGEX "${tested}")
  add_library(fathom_${name} OBJECT EXCLUDE_FROM_ALL ${sources})
  add_executable(fathom_${name}_tests EXCLUDE_FROM_ALL ${tests})
  add_executable(fathom_${name}_replay EXCLUDE_FROM_ALL ${FATHOM_FUZZ_TARGETS} fuzz/replay_main.cc)
  foreach(target fathom_${name} fathom_${name}_tests fathom_${name}_replay)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${FATHOM_UNITY} UNITY_BUILD_MODE GROUP POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC -fsanitize=${sanitizers} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    target_compile_definitions(${target} PRIVATE ${FATHOM_EIGEN_DEFINITIONS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE Eigen3::Eigen hwy::hwy Threads::Threads ZLIB::ZLIB
                          nlohmann_json::nlohmann_json fathom_flags fathom_light)
  endforeach()
  target_precompile_headers(fathom_${name} PRIVATE ${FATHOM_COMMON_HEADERS} <nlohmann/json.hpp>)
  foreach(program tests replay)
    target_precompile_headers(fathom_${name}_${program} REUSE_FROM fathom_${name})
    target_link_options(fathom_${name}_${program} PRIVATE -fsanitize=${sanitizers})
    # The sanitized objects come first, so that nothing is asked of the library that they have.
    target_link_libraries(fathom_${name}_${program} PRIVATE $<TARGET_OBJECTS:fathom_${name}> fathom)
  endforeach()
  target_link_libraries(fathom_${name}_tests PRIVATE fathom_test_places GTest::gtest_main rapidcheck)
endfunction()

fathom_sanitized(readers address,undefined "^fathom/(io|data|recipe|fitted|train)/"
                 "^fathom/(io|data|recipe|fitted|train/checkpoint)")
fathom_sanitized(threads thread "^fathom/(base|data|inference|fit)/"
                 "^fathom/(base/(threads|blas)|data/(csv|read_table)|inference/(predict|aep_energy)|fit/)")
