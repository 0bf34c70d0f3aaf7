// Any bytes as text that JSON, XML and HTML can hold.
//
// Promises: the result is valid UTF-8, and valid UTF-8 without control characters comes back as it was. Bytes that
// cannot be kept are spelled \xNN (\uNNNN for the two non-characters that XML forbids), so a person still sees them.
// The spelling cannot be told from a program that really holds a backslash and an x. The .program file beside the
// report has the bytes themselves.
#pragma once

#include <string>
#include <string_view>

namespace reports {

// For JSON, which holds every character but no invalid UTF-8.
[[nodiscard]] std::string utf8_text(std::string_view bytes);

// For XML: without the characters that no XML document may hold. Not escaped.
[[nodiscard]] std::string xml_text(std::string_view bytes);

// xml_text() escaped for element content and for attribute values in either kind of quotes.
[[nodiscard]] std::string xml_escaped(std::string_view bytes);

}  // namespace reports
