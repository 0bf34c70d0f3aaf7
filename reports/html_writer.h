// Writes XML-clean HTML: every element is closed, every text and attribute value is escaped.
//
// Promises: a page written only with open(), close(), text() and element() is well-formed, whatever the strings hold.
// Closing more elements than are open, or taking the text while an element is open, is a programmer error and asserts.
// Does not check: the names of elements and attributes, and the argument of raw(); both come from the code in reports/.
#pragma once

#include <cassert>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/text.h"

namespace reports {

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  HtmlWriter& open(std::string_view name, Attributes attributes = {}) {
    start(name, attributes);
    text_ += '>';
    open_.emplace_back(name);
    return *this;
  }
  HtmlWriter& close() {
    assert(!open_.empty());
    text_ += "</";
    text_ += open_.back();
    text_ += '>';
    open_.pop_back();
    return *this;
  }
  HtmlWriter& text(std::string_view bytes) {
    text_ += xml_escaped(bytes);
    return *this;
  }
  HtmlWriter& element(std::string_view name, std::string_view bytes, Attributes attributes = {}) {
    return open(name, attributes).text(bytes).close();
  }
  // An element that HTML never closes, such as meta.
  HtmlWriter& empty(std::string_view name, Attributes attributes) {
    start(name, attributes);
    text_ += "/>";
    return *this;
  }
  HtmlWriter& raw(std::string_view html) {
    text_ += html;
    return *this;
  }
  HtmlWriter& line() { return raw("\n"); }

  [[nodiscard]] std::string take() {
    assert(open_.empty());
    return std::move(text_);
  }

 private:
  void start(std::string_view name, Attributes attributes) {
    text_ += '<';
    text_ += name;
    for (const auto& [attribute, value] : attributes) {
      text_ += ' ';
      text_ += attribute;
      text_ += "=\"";
      text_ += xml_escaped(value);
      text_ += '"';
    }
  }

  std::string text_;
  std::vector<std::string> open_;
};

}  // namespace reports
