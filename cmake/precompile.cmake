# The headers that most sources include, and those given, compiled once for `target`.
function(ouro_precompile target)
  if(OURO_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <cstring> <functional>
      <memory> <mutex> <optional> <span> <string> <string_view> <utility> <vector> <fmt/format.h>
      ${ARGN})
    if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)
    endif()
  endif()
endfunction()

# As they were compiled for `other`, which has the same options.
function(ouro_precompiled_by target other)
  if(OURO_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)
    endif()
  endif()
endfunction()
