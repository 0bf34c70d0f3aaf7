# The compile options of every target: warnings as errors, and one sanitizer choice for the whole build.
option(HGCHECK_WERROR "Warnings are errors" ON)
option(HGCHECK_BENCH "Build the benchmarks" ON)
option(HGCHECK_LIBFUZZER "Build the libFuzzer targets (clang only)" OFF)
set(HGCHECK_SANITIZE "" CACHE STRING "Empty, 'address,undefined', 'thread' or 'fuzzer-no-link,address,undefined'")

add_library(hgcheck_options INTERFACE)
target_compile_options(hgcheck_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wold-style-cast
                       $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> -Wcast-qual -Woverloaded-virtual
                       -fno-omit-frame-pointer)
if(HGCHECK_WERROR)
  target_compile_options(hgcheck_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Links each of the many programs in a fraction of GNU ld's time. Clang finds its own release's; g++ would take any.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld HGCHECK_HAVE_LLD)
  if(HGCHECK_HAVE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  target_compile_options(hgcheck_options INTERFACE -Wimplicit-fallthrough -Wextra-semi)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of GCC 12 inside its own std::string and inside fmt (GCC bugs 105329 and 105651). Clang checks the
  # rest.
  target_compile_options(hgcheck_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(HGCHECK_SANITIZE)
  # Compiled into everything, third-party headers included, so that one build has one runtime.
  add_compile_options(-fsanitize=${HGCHECK_SANITIZE} -fno-sanitize-recover=all)
  string(REPLACE "fuzzer-no-link," "" link_sanitizers "${HGCHECK_SANITIZE}")
  add_link_options(-fsanitize=${link_sanitizers})
endif()
# Programmer errors assert in campaign builds too (an assertion costs less than a wrong verdict).
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

set_property(GLOBAL PROPERTY HGCHECK_LEFT_OUT "")
function(hgcheck_left_out what remedy)
  set_property(GLOBAL APPEND PROPERTY HGCHECK_LEFT_OUT "${what}\n     remedy: ${remedy}")
endfunction()
function(hgcheck_print_left_out)
  get_property(all GLOBAL PROPERTY HGCHECK_LEFT_OUT)
  foreach(one IN LISTS all)
    message(STATUS "hgcheck leaves out ${one}")
  endforeach()
endfunction()

# For programs whose speed is that of their allocations. Sanitizers bring an allocator of their own.
function(hgcheck_fast_allocator target)
  if(HGCHECK_SANITIZE)
    return()
  endif()
  find_package(mimalloc 2 QUIET CONFIG)
  if(mimalloc_FOUND)
    target_link_libraries(${target} PRIVATE mimalloc)
  else()
    hgcheck_left_out("mimalloc in ${target}: a campaign on the model takes a fifth longer"
                     "apt-get install libmimalloc-dev")
  endif()
endfunction()

# For targets that pass numbers that HIP's enumerations do not have: in C that is allowed, and HIP returns an error.
function(hgcheck_any_number target)
  if(HGCHECK_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -fno-sanitize=enum)
  endif()
endfunction()

# Sources that read a program's options: CLI11's templates take twenty seconds to optimise, and run once.
function(hgcheck_reads_options)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
