# Compiles hip/kernels/kernels.hip for gfx942 with any clang that has the amdgcn target; no ROCm is needed.
#
# Defines HGCHECK_HAVE_DEVICE_KERNELS, and with it:
#   hgcheck_device_code_object(<level> <out>)     the path of the code object compiled at -O<level>, made at build time
#   hgcheck_embed_device_kernels(<target> <src>)  the -O2 code object, embedded into <target> by its source <src>
#   hgcheck_embed_ptx_kernels(<target> <src>)     kernels.nvptx.cpp as PTX for sm_75, embedded likewise
set(HGCHECK_DEVICE_CLANG "" CACHE FILEPATH "A clang++ with the amdgcn target and an lld; empty: look for one")
set(HGCHECK_HAVE_DEVICE_KERNELS OFF)
set(HGCHECK_DEVICE_FLAGS -x hip --offload-device-only --offload-arch=gfx942 -nogpuinc -nogpulib --no-gpu-bundle-output
    -fhip-kernel-arg-name -std=c++20 -Wall -Wextra -Werror)

# Whether <clang> compiles and links a kernel: having the target is not enough, lld has to be there as well.
function(hgcheck_try_device_clang clang out)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  file(WRITE ${folder}/probe.hip "extern \"C\" __attribute__((global)) void probe(int* p) { *p = 1; }\n")
  execute_process(COMMAND ${clang} ${HGCHECK_DEVICE_FLAGS} -O2 ${folder}/probe.hip -o ${folder}/probe.co
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${out} OFF PARENT_SCOPE)
  else()
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

set(candidates ${HGCHECK_DEVICE_CLANG})
if(NOT candidates)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    list(APPEND candidates ${CMAKE_CXX_COMPILER})
  endif()
  foreach(name clang++-19 clang++-20 clang++-21 clang++-18 clang++)
    find_program(HGCHECK_FOUND_${name} ${name})
    mark_as_advanced(HGCHECK_FOUND_${name})
    if(HGCHECK_FOUND_${name})
      list(APPEND candidates ${HGCHECK_FOUND_${name}})
    endif()
  endforeach()
endif()
foreach(candidate IN LISTS candidates)
  hgcheck_try_device_clang(${candidate} works)
  if(works)
    set(HGCHECK_HAVE_DEVICE_KERNELS ON)
    set(HGCHECK_USED_DEVICE_CLANG ${candidate})
    message(STATUS "Device kernels: ${candidate}")
    break()
  endif()
endforeach()
if(NOT HGCHECK_HAVE_DEVICE_KERNELS)
  hgcheck_left_out("the device kernels (and what loads them into a real HIP runtime): no clang++ compiles for gfx942"
                   "install clang-19 and lld-19, or pass -DHGCHECK_DEVICE_CLANG=<clang++>")
endif()

function(hgcheck_device_code_object level out)
  set(source ${PROJECT_SOURCE_DIR}/hip/kernels/kernels.hip)
  set(object ${PROJECT_BINARY_DIR}/kernels/kernels-gfx942-O${level}.co)
  set(${out} ${object} PARENT_SCOPE)
  # A target of its own: a file made by two folders' rules would be made twice, in a race.
  if(TARGET hgcheck_code_object_O${level})
    return()
  endif()
  add_custom_command(OUTPUT ${object}
                     COMMAND ${HGCHECK_USED_DEVICE_CLANG} ${HGCHECK_DEVICE_FLAGS} -O${level} ${source} -o ${object}
                     DEPENDS ${source} ${PROJECT_SOURCE_DIR}/hip/kernels/kernels.inc
                     COMMENT "Compiling the device kernels for gfx942 at -O${level}" VERBATIM)
  add_custom_target(hgcheck_code_object_O${level} DEPENDS ${object})
endfunction()

function(hgcheck_embed_device_kernels target source)
  hgcheck_device_code_object(2 object)
  add_dependencies(${target} hgcheck_code_object_O2)
  target_compile_definitions(${target} PRIVATE HGCHECK_DEVICE_CODE_OBJECT="${object}")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${object})
endfunction()

# The folder of an absent toolkit: with one that it finds, clang writes the newest PTX that the toolkit reads, which
# older drivers refuse; without one, the oldest that sm_75 has.
set(HGCHECK_PTX_FLAGS --target=nvptx64-nvidia-cuda --cuda-path=${PROJECT_BINARY_DIR}/kernels -nogpulib -nogpuinc
    -march=sm_75 -std=c++20 -O2 -Wall -Wextra -Werror)

function(hgcheck_embed_ptx_kernels target source)
  set(kernels ${PROJECT_SOURCE_DIR}/hip/kernels/kernels.nvptx.cpp)
  set(ptx ${PROJECT_BINARY_DIR}/kernels/kernels-sm_75.ptx)
  add_custom_command(OUTPUT ${ptx}
                     COMMAND ${HGCHECK_USED_DEVICE_CLANG} ${HGCHECK_PTX_FLAGS} -S ${kernels} -o ${ptx}
                     DEPENDS ${kernels} ${PROJECT_SOURCE_DIR}/hip/kernels/kernels.inc
                     COMMENT "Compiling the device kernels for sm_75" VERBATIM)
  add_custom_target(hgcheck_ptx DEPENDS ${ptx})
  add_dependencies(${target} hgcheck_ptx)
  target_compile_definitions(${target} PRIVATE HGCHECK_PTX_KERNELS="${ptx}")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${ptx})
endfunction()
