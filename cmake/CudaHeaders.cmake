# Finds CUDA's headers, 12.4 or later: a toolkit's, else those of Debian's package nvidia-cuda-dev, unpacked in the
# capsule's folder `cuda`.
#
# Defines HGCHECK_HAVE_CUDA_HEADERS and the target hgcheck_cuda_headers. CUDA's libraries are not looked for: hip/nvidia
# opens them at run time. Without headers hip/nvidia is left out, which is printed at the end of the configure step.
set(HGCHECK_CUDA_INCLUDE "" CACHE PATH "The folder that holds cuda_runtime_api.h; empty: look for one")
set(HGCHECK_HAVE_CUDA_HEADERS OFF)
add_library(hgcheck_cuda_headers INTERFACE)
set(folders ${HGCHECK_CUDA_INCLUDE})
if(NOT folders)
  set(folders /usr/local/cuda/include ${HGCHECK_CAPSULE_ROOT}/cuda/include)
endif()
foreach(folder IN LISTS folders)
  if(NOT HGCHECK_HAVE_CUDA_HEADERS AND EXISTS ${folder}/cuda_runtime_api.h AND EXISTS ${folder}/cuda.h)
    file(STRINGS ${folder}/cuda.h version LIMIT_COUNT 1 REGEX "^#define CUDA_VERSION +[0-9]+")
    string(REGEX REPLACE ".* ([0-9]+).*" "\\1" version "${version}")
    if(version AND NOT version LESS 12040)
      set(HGCHECK_HAVE_CUDA_HEADERS ON)
      target_include_directories(hgcheck_cuda_headers SYSTEM INTERFACE ${folder})
      message(STATUS "CUDA headers: ${version} in ${folder}")
    endif()
  endif()
endforeach()
if(NOT HGCHECK_HAVE_CUDA_HEADERS)
  hgcheck_left_out("hip/nvidia (HIP on NVIDIA's GPUs): no headers of CUDA 12.4 or later"
                   "tools/fetch-capsule cuda, or pass -DHGCHECK_CUDA_INCLUDE=<toolkit>/include")
endif()
