# Several processes, by MPI. Without it everything else is there, and `mpirun fathom` says what is missing.
option(FATHOM_MPI "Work on several machines by MPI, if an MPI is installed" ON)
if(FATHOM_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # we call the C functions
  find_package(MPI 3.0 COMPONENTS CXX)
endif()
if(FATHOM_MPI AND MPI_CXX_FOUND)
  add_library(fathom_distributed distributed/launcher.cc distributed/supervise.cc distributed/heartbeat.cc distributed/with_mpi.cc)
  target_link_libraries(fathom_distributed PRIVATE MPI::MPI_CXX)
else()
  add_library(fathom_distributed distributed/launcher.cc distributed/supervise.cc distributed/without_mpi.cc)
endif()
target_link_libraries(fathom_distributed PUBLIC fathom PRIVATE fathom_flags fathom_light)

if(FATHOM_BUILD_TESTS AND FATHOM_BUILD_CLI AND NOT FATHOM_SANITIZE)
  add_test(NAME ranks.two_hosts COMMAND ${PROJECT_SOURCE_DIR}/tests/two_hosts ${CMAKE_BINARY_DIR}/fathom)
  set_tests_properties(ranks.two_hosts PROPERTIES SKIP_RETURN_CODE 77)
endif()
