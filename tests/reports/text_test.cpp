// Any bytes become text that JSON and XML can hold, and text that they can hold is left as it is.
#include "reports/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>

#include "reports/samples.h"

namespace {

// Code points that are neither surrogates nor controls nor forbidden by XML, encoded here independently of the code.
rc::Gen<std::string> printable_utf8() {
  const auto code_point =
      rc::gen::oneOf(rc::gen::inRange<char32_t>(0x20, 0x80), rc::gen::inRange<char32_t>(0xa0, 0xd800),
                     rc::gen::inRange<char32_t>(0xe000, 0xfffe), rc::gen::inRange<char32_t>(0x10000, 0x110000));
  return rc::gen::map(rc::gen::container<std::vector<char32_t>>(code_point), [](const std::vector<char32_t>& points) {
    std::string text;
    const auto tail = [&](char32_t point, int shift) { text += static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
    for (const char32_t point : points) {
      if (point < 0x80) {
        text += static_cast<char>(point);
      } else if (point < 0x800) {
        text += static_cast<char>(0xc0 | (point >> 6));
        tail(point, 0);
      } else if (point < 0x10000) {
        text += static_cast<char>(0xe0 | (point >> 12));
        tail(point, 6);
        tail(point, 0);
      } else {
        text += static_cast<char>(0xf0 | (point >> 18));
        tail(point, 12);
        tail(point, 6);
        tail(point, 0);
      }
    }
    return text;
  });
}

RC_GTEST_PROP(Text, ValidUtf8IsLeftAsItIs, ()) {
  const std::string text = *printable_utf8();
  RC_ASSERT(reports::utf8_text(text) == text);
  RC_ASSERT(reports::xml_text(text) == text);
}

RC_GTEST_PROP(Text, AnyBytesBecomeTextThatTheJsonLibraryAccepts, ()) {
  const nlohmann::json json = reports::utf8_text(*samples::any_text());
  RC_ASSERT(nlohmann::json::parse(json.dump()) == json);  // dump() throws on invalid UTF-8
}

RC_GTEST_PROP(Text, MakingTextTwiceChangesNothingMore, ()) {
  const std::string once = reports::xml_text(*samples::any_text());
  RC_ASSERT(reports::xml_text(once) == once);
  RC_ASSERT(reports::utf8_text(once) == once);
}

RC_GTEST_PROP(Text, AnXmlParserReadsBackExactlyWhatWasEscaped, ()) {
  const std::string bytes = *samples::any_text();
  const std::string escaped = reports::xml_escaped(bytes);
  const std::string source = "<a b=\"" + escaped + "\" c='" + escaped + "'>" + escaped + "</a>";
  pugi::xml_document document;
  RC_ASSERT(document.load_string(source.c_str(), pugi::parse_default | pugi::parse_ws_pcdata_single));
  RC_ASSERT(std::string(document.child("a").child_value()) == reports::xml_text(bytes));
}

TEST(Text, BytesThatAreNotUtf8AreSpelled) {
  EXPECT_EQ(reports::utf8_text("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(reports::utf8_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(reports::utf8_text("\xc0\xaf"), "\\xc0\\xaf") << "an overlong form";
  EXPECT_EQ(reports::utf8_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last code point";
}

TEST(Text, CharactersThatXmlForbidsAreSpelledForXmlAlone) {
  EXPECT_EQ(reports::xml_text("\x1b[0m\x01"), "\\x1b[0m\\x01");
  EXPECT_EQ(reports::xml_text("\xef\xbf\xbf"), "\\uffff");
  EXPECT_EQ(reports::utf8_text("\x1b"), "\x1b");
  EXPECT_EQ(reports::xml_text("tab\tline\n"), "tab\tline\n");
}

}  // namespace
