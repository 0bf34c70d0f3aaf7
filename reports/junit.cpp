#include "reports/junit.h"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "reports/text.h"

namespace reports {
namespace {

struct Counts {
  std::uint64_t tests = 0, failures = 0, skipped = 0;
};

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_text(value).c_str());
}

void add_failure(pugi::xml_node test_case, std::string_view type, std::string_view message, std::string_view text) {
  pugi::xml_node failure = test_case.append_child("failure");
  set(failure, "type", type);
  set(failure, "message", message);
  failure.text().set(xml_text(text).c_str());
}

void set_counts(pugi::xml_node node, const Counts& counts) {
  node.append_attribute("tests").set_value(counts.tests);
  node.append_attribute("failures").set_value(counts.failures);
  node.append_attribute("errors").set_value(0);
  node.append_attribute("skipped").set_value(counts.skipped);
}

pugi::xml_node add_case(pugi::xml_node suite, std::string_view class_name, std::string_view name) {
  pugi::xml_node test_case = suite.append_child("testcase");
  set(test_case, "classname", class_name);
  set(test_case, "name", name);
  set(test_case, "time", "0");
  return test_case;
}

Counts add_properties(pugi::xml_node suite, const verify::CampaignResult& result) {
  Counts counts;
  for (const auto& [id, count] : result.properties) {
    const auto sentence = result.property_sentences.find(id);
    const std::string name = sentence == result.property_sentences.end() ? id : id + " " + sentence->second;
    pugi::xml_node test_case = add_case(suite, "hgcheck.properties", name);
    ++counts.tests;
    if (count.violated > 0) {
      ++counts.failures;
      const std::string message = fmt::format("violated by {} of {} programs", count.violated, count.exercised);
      add_failure(test_case, id, message, message);
    } else if (count.exercised == 0) {
      ++counts.skipped;
      set(test_case.append_child("skipped"), "message", "no program of this campaign exercised it");
    }
  }
  return counts;
}

std::string finding_text(const verify::Finding& finding) {
  std::string text = fmt::format("replay: {}\n\n{}\n", finding.replay, finding.program_text);
  for (const verify::Difference& difference : finding.differences) {
    text += fmt::format("\n{} at '{}'\n  expected {}\n  observed {}\n", difference.where, difference.command,
                        difference.expected, difference.observed);
  }
  return text;
}

Counts add_findings(pugi::xml_node suite, const verify::CampaignResult& result) {
  for (const verify::Finding& finding : result.findings) {
    pugi::xml_node test_case = add_case(suite, "hgcheck.findings", finding.id);
    add_failure(test_case, finding.property, finding.summary, finding_text(finding));
  }
  return {result.findings.size(), result.findings.size(), 0};
}

}  // namespace

std::string to_junit(const verify::CampaignResult& result) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");

  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", fmt::format("hgcheck {} against {}, seed {}", result.subject, result.baseline, result.seed));
  pugi::xml_node properties = root.append_child("testsuite");
  set(properties, "name", "properties");
  const Counts of_properties = add_properties(properties, result);
  set_counts(properties, of_properties);
  if (!result.messages.empty()) {
    const std::string text = fmt::format("{}", fmt::join(result.messages, "\n"));
    properties.append_child("system-err").text().set(xml_text(text).c_str());
  }

  pugi::xml_node findings = root.append_child("testsuite");
  set(findings, "name", "findings");
  const Counts of_findings = add_findings(findings, result);
  set_counts(findings, of_findings);

  set_counts(root, {of_properties.tests + of_findings.tests, of_properties.failures + of_findings.failures,
                    of_properties.skipped + of_findings.skipped});
  set(root, "time", fmt::format("{:.3f}", result.seconds));

  std::ostringstream text;
  document.save(text, "  ");
  return std::move(text).str();
}

}  // namespace reports
