# Installs OURO_BUILD below WORK, builds the project in SOURCE against that and runs it. Only the
# installed files are in reach, so a header or dependency that install forgot fails here.
set(flags "-Wall -Wextra -Werror")
if(SANITIZE)  # A sanitized library needs a sanitized program.
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${OURO_BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_CXX_FLAGS=${flags}
    -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/uses_ouro)
run(${WORK}/prefix/bin/ouro --version)
