# Finds the headers of HIP: an installed HIP (6.4 or later) first, else the ones that `./dev setup` unpacked.
#
# Defines HGCHECK_HAVE_HIP and the target hgcheck_hip_headers. Without headers the model and the core of verify still
# build; what is left out is printed at the end of the configure step.
set(HGCHECK_HAVE_HIP OFF)
add_library(hgcheck_hip_headers INTERFACE)
# The overloads that HIP's header adds for C++ would hide the C functions whose types we take.
target_compile_definitions(hgcheck_hip_headers INTERFACE __HIP_PLATFORM_AMD__=1 __HIP_DISABLE_CPP_FUNCTIONS__=1)

find_package(hip 6.4 QUIET CONFIG PATHS /opt/rocm)
if(NOT hip_FOUND)
  find_package(hip 7 QUIET CONFIG PATHS /opt/rocm)
endif()
if(hip_FOUND)
  set(HGCHECK_HIP_INCLUDE ${hip_INCLUDE_DIRS})
  message(STATUS "HIP headers: ${hip_VERSION} in ${HGCHECK_HIP_INCLUDE}")
else()
  # `./dev run` fetches the headers alone. They stay the ones to build against when the runtime of the same version
  # arrives: another folder would compile everything again.
  set(folders ${HGCHECK_CAPSULE_ROOT}/7.2 ${HGCHECK_CAPSULE_ROOT}/7.2-headers)
  if(EXISTS ${HGCHECK_CAPSULE_ROOT}/7.2/VERSION AND EXISTS ${HGCHECK_CAPSULE_ROOT}/7.2-headers/VERSION)
    file(STRINGS ${HGCHECK_CAPSULE_ROOT}/7.2/VERSION whole)
    file(STRINGS ${HGCHECK_CAPSULE_ROOT}/7.2-headers/VERSION headers LIMIT_COUNT 1)
    if(headers IN_LIST whole)
      list(REVERSE folders)
    endif()
  endif()
  foreach(folder IN LISTS folders)
    if(NOT HGCHECK_HIP_INCLUDE AND EXISTS ${folder}/include/hip/hip_runtime_api.h)
      set(HGCHECK_HIP_INCLUDE ${folder}/include)
      message(STATUS "HIP headers: ${HGCHECK_HIP_INCLUDE}")
    endif()
  endforeach()
endif()
if(HGCHECK_HIP_INCLUDE)
  set(HGCHECK_HAVE_HIP ON)
  target_include_directories(hgcheck_hip_headers SYSTEM INTERFACE ${HGCHECK_HIP_INCLUDE})
else()
  hgcheck_left_out("all that calls HIP (model/abi, hip, the executor, hgcheck): no HIP headers of 6.4 or later"
                   "run './dev setup', or install HIP and pass -Dhip_ROOT=<prefix>")
endif()
