# find_package(hgcheck) is find_package(hgcheck-hip): hip/ is all of hgcheck that others link.
include(CMakeFindDependencyMacro)
find_dependency(hgcheck-hip COMPONENTS ${hgcheck_FIND_COMPONENTS})
foreach(component IN LISTS hgcheck_FIND_COMPONENTS)
  set(hgcheck_${component}_FOUND ${hgcheck-hip_${component}_FOUND})
endforeach()
