# cmake -D SOURCE=<repository> -D OUTPUT=<header> -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define FATHOM_COMMIT \"${commit}\"\n" @ONLY)
