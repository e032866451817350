# The headers that most sources include, compiled once per target, and those given.
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
