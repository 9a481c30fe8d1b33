# Names everything that a build by pip lacks at once, with the command that installs it.
set(missing)
function(fathom_need found package)
  if(NOT ${found})
    set(missing ${missing} ${package} PARENT_SCOPE)
  endif()
endfunction()

find_package(Eigen3 3.4 QUIET NO_MODULE)
fathom_need(Eigen3_FOUND libeigen3-dev)
find_package(hwy QUIET)
fathom_need(hwy_FOUND libhwy-dev)
find_package(nlohmann_json 3.11 QUIET)
fathom_need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(ZLIB QUIET)
fathom_need(ZLIB_FOUND zlib1g-dev)
find_package(CLI11 QUIET)
fathom_need(CLI11_FOUND libcli11-dev)
find_library(FATHOM_OPENBLAS NAMES libopenblas.a
             PATH_SUFFIXES openblas-serial x86_64-linux-gnu/openblas-serial aarch64-linux-gnu/openblas-serial
             NO_CMAKE_SYSTEM_PATH PATHS /usr/lib /usr/local/lib)
fathom_need(FATHOM_OPENBLAS libopenblas-serial-dev)
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "Fathom is built from source and needs libraries that are not here. On Debian or Ubuntu "
                      "install them with:\n  sudo apt-get install ${missing}\n")
endif()
