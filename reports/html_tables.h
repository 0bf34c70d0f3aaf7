// Sections and tables, which look the same on the whole page. For files of this folder only.
#pragma once

#include <string_view>
#include <vector>

#include "reports/html_writer.h"

namespace reports {

// A section with its heading, still open; its anchor is `id`.
void open_section(HtmlWriter& page, std::string_view id, std::string_view title);

// A column of numbers is aligned to the right.
struct Column {
  std::string_view title;
  bool is_number = false;
};

// A table that scrolls by itself where the screen is narrow, open in its body.
void open_table(HtmlWriter& page, std::string_view caption, const std::vector<Column>& columns);
void close_table(HtmlWriter& page);

}  // namespace reports
