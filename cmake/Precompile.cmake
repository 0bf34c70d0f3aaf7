# hgcheck_precompile(TARGET HEADERS...): what most sources of the target include is parsed once for all of them. A
# header is given as a source includes it: <vector>, [["model/graph.h"]].
#
# Off unless asked for. A source that forgets an include compiles all the same with it, so some build has to do without;
# and ccache keeps such objects for one folder only. `./dev` asks for it, for the release build.
option(HGCHECK_PCH "Precompile the headers of the largest targets" OFF)

set(HGCHECK_STD_HEADERS <algorithm> <array> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)

function(hgcheck_precompile TARGET)
  if(HGCHECK_PCH)
    target_precompile_headers(${TARGET} PRIVATE ${HGCHECK_STD_HEADERS} ${ARGN})
  endif()
endfunction()
