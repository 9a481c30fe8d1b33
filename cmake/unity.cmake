# Compiles the files of a folder together. Most files are short: reading the headers and instantiating the templates of
# Eigen, JSON and GoogleTest costs more than their own code, and together they pay for it once. So names in anonymous
# namespaces are unique within a folder, and within folders that are joined. The preset 'dev' compiles each file alone:
# after an edit that is faster.
option(FATHOM_UNITY "Compile the files of a folder together" ON)

# fathom_compile_together(<target> <most> [ALONE file...] [JOINED folders...]): at most `most` files at a time. JOINED
# takes regular expressions; the small folders that match the same one count as one folder.
function(fathom_compile_together target most)
  if(NOT FATHOM_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ALONE;JOINED")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes a .cc that is included for a header, whose types would see other anonymous namespaces in other files.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    # Highway compiles a file once per instruction set, by including it again.
    file(STRINGS ${source} again REGEX "foreach_target\\.h")
    if(again)
      # Machines that have SSE4 but not AVX2 are fifteen years old: they take the variant for SSE2.
      set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS "HWY_DISABLED_TARGETS=(HWY_SSE4|HWY_SSSE3)")
    endif()
    if(again OR source IN_LIST arg_ALONE)
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    foreach(folders IN LISTS arg_JOINED)
      if(folder MATCHES "^(${folders})$")
        set(folder ${folders})
        break()
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR place "${place_in_${folder}} + 0")
    math(EXPR part "${place} / ${most}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
    math(EXPR place_in_${folder} "${place} + 1")
  endforeach()
endfunction()
