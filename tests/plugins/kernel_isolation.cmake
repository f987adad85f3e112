# cmake -D NM=nm -D LIBRARY=file -D EXPORT=symbol -P kernel_isolation.cmake
#
# Fails unless the library exports that one function (so that nothing compiled for its instruction set can be taken for
# something of the baseline) and runs nothing while it is loaded (which an older processor does too).
execute_process(COMMAND "${NM}" --dynamic --defined-only --format=posix "${LIBRARY}"
                OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
if(NOT exported MATCHES "^${EXPORT} T [^\n]*\n$")
  message(FATAL_ERROR "${LIBRARY} must export ${EXPORT} alone, but exports\n${exported}")
endif()
execute_process(COMMAND "${NM}" --defined-only "${LIBRARY}" OUTPUT_VARIABLE all COMMAND_ERROR_IS_FATAL ANY)
if(NOT all MATCHES "${EXPORT}" OR all MATCHES "_GLOBAL__sub_I[^\n]*")
  message(FATAL_ERROR "${LIBRARY} holds a static initialiser: ${CMAKE_MATCH_0}")
endif()
