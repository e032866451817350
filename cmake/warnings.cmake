# Warnings are errors, in our code only.
function(ouro_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion
    -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wunused -Woverloaded-virtual
    -Wnull-dereference -Wimplicit-fallthrough
    -Wno-missing-field-initializers)  # Designated initialisers leave out what is default.
  # gcc 12 sees null dereferences and array overruns in inlined library code that are not there.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-null-dereference -Wno-array-bounds
      -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized -Wno-restrict)
    if(OURO_UNITY)  # There every source looks like a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()
