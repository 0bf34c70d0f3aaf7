#include "reports/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/html_sections.h"
#include "reports/text.h"

namespace reports {
namespace {

constexpr std::size_t kMaxProgram = 8'000;  // bytes of one program

// Text that no renderer takes for markup: punctuation that could be markup is escaped, lines are joined.
std::string plain(std::string_view bytes) {
  std::string out;
  for (const char c : utf8_text(bytes)) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>()#+-.!|&~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// The text inside a fence that is longer than any run of backquotes in the text.
std::string fenced(std::string_view bytes) {
  const std::string text = utf8_text(bytes.substr(0, kMaxProgram));
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  const std::string_view end = text.empty() || text.back() != '\n' ? "\n" : "";
  return fmt::format("{}\n{}{}{}\n{}", fence, text, end, fence,
                     bytes.size() > kMaxProgram ? "\nThe rest is in the program's file.\n" : "");
}

std::string headline(const verify::CampaignResult& result) {
  if (!result.findings.empty()) {
    const std::string count = counted(result.findings.size(), "finding");
    return result.fault.empty() ? count : fmt::format("The fault {} was found: {}", plain(result.fault), count);
  }
  if (!result.fault.empty()) return fmt::format("The fault {} was not found", plain(result.fault));
  if (result.verdicts.diverge > 0) return fmt::format("{} diverged", counted(result.verdicts.diverge, "program"));
  if (result.verdicts.agree == 0) return "No program agreed: nothing was checked";
  return "No divergence";
}

void write_finding(std::string& out, const verify::Finding& finding, const verify::CampaignResult& result) {
  const auto sentence = result.property_sentences.find(finding.property);
  out += fmt::format("\n### {}: {}\n\n", plain(finding.id), plain(finding.summary));
  if (sentence != result.property_sentences.end()) {
    out += fmt::format("Breaks **{}**: {}\n\n", plain(finding.property), plain(sentence->second));
  }
  out += fmt::format("{} of {}, seen in {}.\n\n", finding.commands, counted(finding.original_commands, "command"),
                     counted(finding.seen, "program"));
  out += fenced(finding.program_text);
  if (!finding.replay.empty()) out += "\n" + fenced(finding.replay);
}

}  // namespace

std::string to_markdown(const verify::CampaignResult& result) {
  const verify::VerdictCounts& v = result.verdicts;
  std::string out = fmt::format("## hgcheck: {}{}\n\n", headline(result), result.interrupted ? " (interrupted)" : "");
  out += fmt::format("{} against {}, seed {}, {} in {:.1f} s\n\n", plain(result.subject), plain(result.baseline),
                     result.seed, counted(result.programs, "program"), result.seconds);
  out += "| agree | diverge | known quirk | poisoned | unsupported | discarded | harness error |\n";
  out += "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", grouped(v.agree), grouped(v.diverge),
                     grouped(v.known_quirk), grouped(v.poisoned), grouped(v.unsupported), grouped(v.discarded),
                     grouped(v.harness_error));
  for (const std::string& message : result.messages) out += fmt::format("\n- {}\n", plain(message));
  std::size_t shown = 0;
  for (; shown < std::min(result.findings.size(), kMaxSummaryFindings); ++shown) {
    std::string one;
    write_finding(one, result.findings[shown], result);
    if (out.size() + one.size() > kMaxSummaryBytes) break;
    out += one;
  }
  if (shown < result.findings.size()) {
    out += fmt::format("\n{} more: index.html and report.json have all of them.\n",
                       counted(result.findings.size() - shown, "finding"));
  }
  if (!result.quirks.empty()) {
    out += "\n| known quirk | programs |\n| --- | ---: |\n";
    for (const auto& [id, count] : result.quirks) out += fmt::format("| {} | {} |\n", plain(id), grouped(count));
  }
  return out;
}

}  // namespace reports
