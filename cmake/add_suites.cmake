# Read by ctest, which then knows one test per suite of FATHOM_TEST_PROGRAM. One process per test would cost as much as
# the tests themselves. The output of a suite names the test that failed.
execute_process(COMMAND ${FATHOM_TEST_PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  add_test(fathom_tests.list ${FATHOM_TEST_PROGRAM} --gtest_list_tests)  # fails and shows why
  return()
endif()
# "Kinds/Suite/0." is one part of "Suite": its tests with one set of parameters.
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ /]+/)?([^ ./]+)(/[^ .]+)?\\.")
    list(APPEND suites ${CMAKE_MATCH_2})
  endif()
endforeach()
list(REMOVE_DUPLICATES suites)
foreach(suite IN LISTS suites)
  add_test(${suite} ${FATHOM_TEST_PROGRAM} --gtest_brief=1
           "--gtest_filter=${suite}.*:*/${suite}.*:${suite}/*:*/${suite}/*")
endforeach()
