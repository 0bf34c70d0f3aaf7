# The CMake package of hip/: find_package(hgcheck-hip) and link hgcheck::hip.
#
# Wants the headers of HIP 6.4 or later: -DHGCHECK_HIP_INCLUDE=<folder that holds hip/hip_runtime_api.h>, or an
# installed HIP. The library itself is not linked: hip::load_api finds a runtime when the program runs.
#
# find_package(hgcheck-hip COMPONENTS code_object) adds hgcheck::code_object, for who includes hip/metadata_slots.h or
# hip/code_object/code_object.h. It wants libelf (-DHGCHECK_LIBELF=<library>), which the other component does not need.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

find_path(HGCHECK_HIP_INCLUDE hip/hip_runtime_api.h HINTS ENV HIP_PATH PATHS /opt/rocm PATH_SUFFIXES include)
if(NOT HGCHECK_HIP_INCLUDE)
  set(hgcheck-hip_FOUND FALSE)
  set(hgcheck-hip_NOT_FOUND_MESSAGE "HIP's headers were not found: pass -DHGCHECK_HIP_INCLUDE=<folder>")
  return()
endif()

get_filename_component(hgcheck_hip_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hgcheck::hip)
  add_library(hgcheck::api STATIC IMPORTED)
  set_target_properties(hgcheck::api PROPERTIES IMPORTED_LOCATION ${hgcheck_hip_prefix}/lib/libhgcheck_api.a)
  target_include_directories(hgcheck::api INTERFACE ${hgcheck_hip_prefix}/include/hgcheck)
  target_include_directories(hgcheck::api SYSTEM INTERFACE ${HGCHECK_HIP_INCLUDE})
  # The overloads that HIP's header adds for C++ would hide the C functions whose types the table takes.
  target_compile_definitions(hgcheck::api INTERFACE __HIP_PLATFORM_AMD__=1 __HIP_DISABLE_CPP_FUNCTIONS__=1)
  target_compile_features(hgcheck::api INTERFACE cxx_std_20)
  target_link_libraries(hgcheck::api INTERFACE ${CMAKE_DL_LIBS})

  add_library(hgcheck::hip STATIC IMPORTED)
  set_target_properties(hgcheck::hip PROPERTIES IMPORTED_LOCATION ${hgcheck_hip_prefix}/lib/libhgcheck_hip.a)
  target_link_libraries(hgcheck::hip INTERFACE hgcheck::api Threads::Threads)
endif()

if("code_object" IN_LIST hgcheck-hip_FIND_COMPONENTS AND NOT TARGET hgcheck::code_object)
  find_library(HGCHECK_LIBELF elf)
  if(HGCHECK_LIBELF)
    add_library(hgcheck::code_object STATIC IMPORTED)
    set_target_properties(hgcheck::code_object PROPERTIES
                          IMPORTED_LOCATION ${hgcheck_hip_prefix}/lib/libhgcheck_code_object.a)
    target_include_directories(hgcheck::code_object INTERFACE ${hgcheck_hip_prefix}/include/hgcheck)
    target_compile_features(hgcheck::code_object INTERFACE cxx_std_20)
    target_link_libraries(hgcheck::code_object INTERFACE ${HGCHECK_LIBELF})
  endif()
endif()
foreach(component IN LISTS hgcheck-hip_FIND_COMPONENTS)
  set(hgcheck-hip_${component}_FOUND FALSE)
  if(component STREQUAL "code_object" AND TARGET hgcheck::code_object)
    set(hgcheck-hip_${component}_FOUND TRUE)
  elseif(hgcheck-hip_FIND_REQUIRED_${component})
    set(hgcheck-hip_FOUND FALSE)
    set(hgcheck-hip_NOT_FOUND_MESSAGE
        "component ${component}: there is only code_object, and that wants libelf: -DHGCHECK_LIBELF=<library>")
  endif()
endforeach()
