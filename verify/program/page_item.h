// An item of a list on a page that is made (docs/commands.md, docs/semantics.md), in lines of the page's width. Words
// are never cut: a longer one has a line of its own. White space in `text` is one space on the page.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

namespace verify {

inline constexpr std::size_t kPageColumns = 120;

[[nodiscard]] inline std::string page_item(const std::string& text) {
  std::istringstream words(text);
  std::string page;
  std::string line = "-";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kPageColumns) page += std::exchange(line, " ") + "\n";
    line += " " + word;
  }
  return page + line + "\n";
}

}  // namespace verify
