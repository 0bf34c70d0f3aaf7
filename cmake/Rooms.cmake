# Rooms: one CMake target a room, and the arrows between them enforced by what a compiler can find.
#
# hgcheck_room(NAME FOLDER <folder> SOURCES ... USES ...) makes the library `hgcheck_NAME`. Its headers are reached as
# "FOLDER/header.h" through a folder of links that holds this room alone, so including a header of a room that is not
# (transitively) in USES is a compile error, not a matter of discipline.

function(hgcheck_room NAME)
  cmake_parse_arguments(ROOM "OBJECT" "FOLDER" "SOURCES;HEADERS;USES;PRIVATE_USES" ${ARGN})
  set(target hgcheck_${NAME})
  set(view ${PROJECT_BINARY_DIR}/rooms/${NAME})
  file(MAKE_DIRECTORY ${view}/${ROOM_FOLDER})
  # Only this folder's own headers are linked: a room inside a room (hip/api in hip) is a target of its own.
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER} ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}/*.h
       ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}/*.inc)
  foreach(sub IN LISTS ROOM_HEADERS)
    file(GLOB more CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}
         ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}/${sub}/*.h ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}/${sub}/*.inc)
    list(APPEND headers ${more})
  endforeach()
  foreach(header IN LISTS headers)
    get_filename_component(parent ${view}/${ROOM_FOLDER}/${header} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${ROOM_FOLDER}/${header} ${view}/${ROOM_FOLDER}/${header} SYMBOLIC)
  endforeach()
  if(ROOM_SOURCES)
    add_library(${target} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE hgcheck_options)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${view})
  target_link_libraries(${target} ${scope} ${ROOM_USES})
  if(ROOM_PRIVATE_USES)
    target_link_libraries(${target} PRIVATE ${ROOM_PRIVATE_USES})
  endif()
endfunction()
