# Configures Ouro as a user does, on a machine that seems to have no library of tests or benchmarks,
# and fails if one of them is looked for. Then asks for the tests there: the missing packages must be
# named.
set(without)
foreach(package GTest benchmark simdjson SQLite3)
  list(APPEND without -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${COMPILER} ${without})

file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${configure} COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${WORK}/CMakeCache.txt found REGEX "^(GTest|benchmark|simdjson|SQLite3|OURO_Z3)[A-Za-z_0-9]*:")
if(found)
  message(FATAL_ERROR "a build without tests and benchmarks looked for ${found}")
endif()
file(STRINGS ${WORK}/CMakeCache.txt quick REGEX "^OURO_(UNITY|PRECOMPILE|TESTS|BENCH):[A-Z]*=ON")
if(quick)
  message(FATAL_ERROR "on by default, but only for those who ask: ${quick}")
endif()

foreach(part TESTS BENCH)
  execute_process(COMMAND ${configure} -D OURO_${part}=ON RESULT_VARIABLE status
                  ERROR_VARIABLE complaint OUTPUT_QUIET)
  set(package libgmock-dev)
  if(part STREQUAL "BENCH")
    set(package libbenchmark-dev)
  endif()
  if(status EQUAL 0 OR NOT complaint MATCHES "${package}")
    message(FATAL_ERROR "OURO_${part}=ON should fail and name ${package}, but: ${complaint}")
  endif()
  execute_process(COMMAND ${configure} -D OURO_${part}=OFF COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endforeach()
