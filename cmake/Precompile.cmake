# hgcheck_precompile(TARGET HEADERS...): what most sources of the target include is parsed once for all of them. A
# header is given as a source includes it: <vector>, [["model/graph.h"]].
#
# Off unless asked for. A source that forgets an include compiles all the same with it, so some build has to do without;
# and ccache keeps such objects for one folder only. `./dev` asks for it, for the release build.
option(HGCHECK_PCH "Precompile the headers of the largest targets" OFF)

set(HGCHECK_STD_HEADERS <algorithm> <array> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)

# A target whose sources are joined to at most two parses its headers no oftener than that.
function(hgcheck_precompile TARGET)
  get_target_property(sources ${TARGET} SOURCES)
  list(LENGTH sources sources)
  math(EXPR two_joined "2 * ${HGCHECK_JOINED_AT_ONCE}")
  if(HGCHECK_PCH AND NOT (HGCHECK_JOIN AND sources GREATER 1 AND sources LESS_EQUAL two_joined))
    target_precompile_headers(${TARGET} PRIVATE ${HGCHECK_STD_HEADERS} ${ARGN})
  endif()
endfunction()
