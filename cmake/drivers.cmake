# Which database drivers are built in: those whose library is there, unless told otherwise.
#
# A driver is src/db/NAME*.cc. Sets OURO_HAS_NAME for cmake/built_in.h.in, takes the sources of the
# others off OURO_SOURCES, and lists what to link in OURO_DRIVER_LIBRARIES.
set(OURO_DRIVER_LIBRARIES)
set(OURO_DRIVER_INCLUDES)

function(ouro_driver name library header)
  string(TOUPPER ${name} NAME)
  set(OURO_WITH_${NAME} AUTO CACHE STRING "Build the ${name} driver (ON, OFF, AUTO)")
  set(has false)
  if(OURO_WITH_${NAME})
    find_library(OURO_${NAME}_LIBRARY ${library})
    find_path(OURO_${NAME}_INCLUDE ${header} PATH_SUFFIXES ${ARGN})
    mark_as_advanced(OURO_${NAME}_LIBRARY OURO_${NAME}_INCLUDE)
    if(OURO_${NAME}_LIBRARY AND OURO_${NAME}_INCLUDE
       AND EXISTS ${PROJECT_SOURCE_DIR}/src/db/${name}.cc)
      set(has true)
    elseif(NOT OURO_WITH_${NAME} STREQUAL "AUTO")
      message(FATAL_ERROR "OURO_WITH_${NAME} is ON, but lib${library} or ${header} is missing; "
                          "see scripts/setup for the packages")
    endif()
  endif()
  set(OURO_HAS_${NAME} ${has} PARENT_SCOPE)
  if(has)
    set(OURO_DRIVER_LIBRARIES ${OURO_DRIVER_LIBRARIES} ${library} PARENT_SCOPE)
    set(OURO_DRIVER_INCLUDES ${OURO_DRIVER_INCLUDES} ${OURO_${NAME}_INCLUDE} PARENT_SCOPE)
  else()
    list(FILTER OURO_SOURCES EXCLUDE REGEX "/src/db/${name}[a-z_]*\\.cc$")
    set(OURO_SOURCES ${OURO_SOURCES} PARENT_SCOPE)
  endif()
endfunction()

ouro_driver(rocksdb rocksdb rocksdb/db.h)
ouro_driver(sqlite sqlite3 sqlite3.h)
ouro_driver(wiredtiger wiredtiger wiredtiger.h)
ouro_driver(postgres pq libpq-fe.h postgresql)
ouro_driver(mariadb mariadb mysql.h mariadb)

# The tap (src/tap/) needs the driver of PostgreSQL, and PostgreSQL's parser.
set(OURO_WITH_TAP AUTO CACHE STRING "Build 'ouro tap' (ON, OFF, AUTO)")
set(OURO_HAS_TAP false)
if(OURO_WITH_TAP)
  find_library(OURO_PG_QUERY_LIBRARY pg_query)
  find_path(OURO_PG_QUERY_INCLUDE pg_query.h)
  mark_as_advanced(OURO_PG_QUERY_LIBRARY OURO_PG_QUERY_INCLUDE)
  if(OURO_PG_QUERY_LIBRARY AND OURO_PG_QUERY_INCLUDE AND OURO_HAS_POSTGRES)
    set(OURO_HAS_TAP true)
  elseif(NOT OURO_WITH_TAP STREQUAL "AUTO")
    message(FATAL_ERROR "OURO_WITH_TAP is ON, but libpg_query or the driver of PostgreSQL is "
                        "missing; see scripts/setup for the packages")
  endif()
endif()
if(OURO_HAS_TAP)
  list(APPEND OURO_DRIVER_LIBRARIES pg_query)
  list(APPEND OURO_DRIVER_INCLUDES ${OURO_PG_QUERY_INCLUDE})
  list(FILTER OURO_SOURCES EXCLUDE REGEX "/src/tap/absent\\.cc$")
else()
  list(FILTER OURO_SOURCES EXCLUDE REGEX "/src/tap/")
  list(APPEND OURO_SOURCES ${PROJECT_SOURCE_DIR}/src/tap/absent.cc
                           ${PROJECT_SOURCE_DIR}/src/tap/report.cc)
endif()
list(REMOVE_ITEM OURO_DRIVER_INCLUDES /usr/include)
configure_file(cmake/built_in.h.in generated/db/built_in.h)
