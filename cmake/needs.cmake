# What a part of the build cannot do without, and which Debian package brings it.
#
#   ouro_need(GTest_FOUND libgtest-dev)       a variable that must be true, or a target that must exist
#   ouro_needs_are_met("the tests")           fails with the names of all packages that are missing
macro(ouro_need what package)
  if(NOT TARGET ${what} AND NOT ${what})
    list(APPEND OURO_MISSING ${package})
  endif()
endmacro()

macro(ouro_needs_are_met who)
  if(OURO_MISSING)
    list(REMOVE_DUPLICATES OURO_MISSING)
    list(JOIN OURO_MISSING " " packages)
    message(FATAL_ERROR "${who} need what Debian calls ${packages}; install that ('scripts/setup' "
                        "does), or configure without them")
  endif()
endmacro()
