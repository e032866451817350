# Installs OURO_BUILD below WORK, builds the projects in SOURCE against that and runs them. Only the
# installed files are in reach, so a header or dependency that install forgot fails here.
set(flags "-Wall -Wextra -Werror")
if(SANITIZE)  # A sanitized library needs a sanitized program.
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_project name source)
  run(${CMAKE_COMMAND} -S ${source} -B ${WORK}/${name} -G ${GENERATOR}
      -D CMAKE_BUILD_TYPE=Release
      -D CMAKE_CXX_COMPILER=${COMPILER}
      -D CMAKE_CXX_FLAGS=${flags}
      -D CMAKE_C_COMPILER=${C_COMPILER}
      -D CMAKE_C_FLAGS=${flags}
      -D CMAKE_PREFIX_PATH=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${OURO_BUILD} --prefix ${WORK}/prefix)
build_project(all ${SOURCE})
run(${WORK}/all/uses_ouro)
run(${WORK}/prefix/bin/ouro --version)

# The core alone brings no database client and no network.
build_project(core ${SOURCE}/core)
run(${WORK}/core/uses_core)
execute_process(COMMAND ldd ${WORK}/core/uses_core OUTPUT_VARIABLE libraries
                COMMAND_ERROR_IS_FATAL ANY)
foreach(library cpp-httplib mariadb pq rocksdb sqlite3 ssl wiredtiger)
  if(libraries MATCHES "lib${library}\\.")
    message(FATAL_ERROR "the core links ${library}: ${libraries}")
  endif()
endforeach()

# The project that the tutorial for users of the library shows.
file(READ ${SOURCE}/../../docs/tutorials.md tutorials)
foreach(file CMakeLists.txt main.cc)
  string(FIND "${tutorials}" " ${file}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "docs/tutorials.md has no block ${file}")
  endif()
  string(LENGTH " ${file}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${tutorials}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} text)
  file(WRITE ${WORK}/tutorial_source/${file} "${text}")
endforeach()
build_project(tutorial ${WORK}/tutorial_source)
execute_process(COMMAND ${WORK}/tutorial/my_checker ${SOURCE}/../data/demo/lost_update.jsonl
                OUTPUT_VARIABLE told RESULT_VARIABLE status)
if(NOT status EQUAL 1 OR NOT told MATCHES "lost update")
  message(FATAL_ERROR "the checker of the tutorial ends with ${status} and says: ${told}")
endif()

# The C interface brings nothing but itself, by CMake's package and by pkg-config.
# With sanitizers the library needs what only a C++ compiler links; c_interface runs it then.
if(NOT SANITIZE)
  build_project(c ${SOURCE}/c)
  run(${WORK}/c/uses_c)
  run(${WORK}/c/uses_pkg_config)
endif()

# What the program needs to be at home.
foreach(file bin/ouro share/man/man1/ouro.1 share/bash-completion/completions/ouro
             share/zsh/vendor-completions/_ouro share/fish/vendor_completions.d/ouro.fish
             include/ouro/c.h share/doc/ouro/LICENSE share/doc/ouro/README.md share/doc/ouro/docs/anomalies.md)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
