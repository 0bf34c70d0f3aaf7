#include "reports/html_tables.h"

#include <fmt/format.h>

namespace reports {

void open_section(HtmlWriter& page, std::string_view id, std::string_view title) {
  page.open("section", {{"id", id}, {"aria-labelledby", fmt::format("{}-title", id)}});
  page.element("h2", title, {{"id", fmt::format("{}-title", id)}}).line();
}

void open_table(HtmlWriter& page, std::string_view caption, const std::vector<Column>& columns) {
  page.open("div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", caption}});
  page.open("table").element("caption", caption).open("thead").open("tr");
  for (const Column& column : columns) {
    page.element("th", column.title, {{"scope", "col"}, {"class", column.is_number ? "number" : "words"}});
  }
  page.close().close().open("tbody").line();
}

void close_table(HtmlWriter& page) {
  page.close().close().close().line();
}

}  // namespace reports
