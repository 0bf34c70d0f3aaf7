#include "reports/sarif.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/text.h"

namespace reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr const char* kQuirkRule = "known-quirk";

Json text(std::string_view words) {
  return {{"text", utf8_text(words)}};
}

std::string sentence_of(const verify::CampaignResult& result, const std::string& id) {
  const auto found = result.property_sentences.find(id);
  return found == result.property_sentences.end() ? id : found->second;
}

// The path as a URI reference. A character that a URI may not hold becomes %NN.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

Json location(std::string_view path) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(path)}}}, {"region", {{"startLine", 1}}}}}};
}

// FNV-1a, because it is short and the same on every machine.
std::string fingerprint(std::string_view words) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : words) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

Json rules_of(const verify::CampaignResult& result, std::map<std::string, std::size_t>& index) {
  Json rules = Json::array();
  const auto add = [&](const std::string& id, const std::string& sentence, const char* level) {
    if (!index.emplace(id, rules.size()).second) return;
    rules.push_back({{"id", utf8_text(id)},
                     {"shortDescription", text(sentence)},
                     {"fullDescription", text(sentence)},
                     {"help", text("docs/properties.md says how each property is put to the test.")},
                     {"defaultConfiguration", {{"level", level}}}});
  };
  for (const auto& [id, count] : result.properties) add(id, sentence_of(result, id), "error");
  for (const verify::Finding& finding : result.findings) {
    add(finding.property, sentence_of(result, finding.property), "error");
  }
  if (!result.quirks.empty()) add(kQuirkRule, "A deviation of this release that is known and documented.", "note");
  return rules;
}

std::string message_of(const verify::Finding& finding, const verify::CampaignResult& result) {
  std::string words =
      fmt::format("{}\n\nBreaks {}: {}\n", finding.summary, finding.property, sentence_of(result, finding.property));
  if (!finding.replay.empty()) words += fmt::format("\nReplay: {}\n", finding.replay);
  return words + fmt::format("\n{}", finding.program_text);
}

Json result_of(const verify::Finding& finding, const verify::CampaignResult& result, std::size_t rule) {
  const std::string path = finding.program_path.empty() ? finding.id + ".program" : finding.program_path;
  const std::string cause = finding.cause.empty() ? finding.property + finding.program_text : finding.cause;
  Json also = Json::array();
  for (const std::string& id : finding.also) also.push_back(utf8_text(id));
  return {{"ruleId", utf8_text(finding.property)},
          {"ruleIndex", rule},
          {"level", "error"},
          {"kind", "fail"},
          {"message", text(message_of(finding, result))},
          {"locations", Json::array({location(path)})},
          {"partialFingerprints", {{"hgcheckCause/v1", fingerprint(cause)}}},
          {"occurrenceCount", finding.seen},
          {"properties",
           {{"id", utf8_text(finding.id)},
            {"cause", utf8_text(finding.cause)},
            {"subject", utf8_text(result.subject)},
            {"also", std::move(also)},
            {"commands", finding.commands},
            {"originalCommands", finding.original_commands}}}};
}

Json quirk_result(const std::string& id, std::uint64_t count, std::size_t rule) {
  return {{"ruleId", kQuirkRule},
          {"ruleIndex", rule},
          {"level", "note"},
          {"kind", "fail"},
          {"message",
           text(fmt::format("Known quirk {}: met by {} programs. docs/findings.md tells its story.", id, count))},
          {"locations", Json::array({location(fmt::format("verify/findings/{}/finding.program", id))})},
          {"partialFingerprints", {{"hgcheckCause/v1", fingerprint("quirk " + id)}}},
          {"occurrenceCount", count == 0 ? 1 : count},
          {"suppressions", Json::array({{{"kind", "external"}, {"justification", "a documented quirk"}}})}};
}

Json invocation_of(const verify::CampaignResult& result) {
  Json notes = Json::array();
  for (const std::string& message : result.messages) {
    notes.push_back({{"level", "note"}, {"message", text(message)}});
  }
  return {{"executionSuccessful", !result.interrupted && result.verdicts.harness_error == 0},
          {"toolExecutionNotifications", std::move(notes)},
          {"properties",
           {{"subject", utf8_text(result.subject)},
            {"baseline", utf8_text(result.baseline)},
            {"fault", utf8_text(result.fault)},
            {"seed", result.seed},
            {"programs", result.programs},
            {"agree", result.verdicts.agree}}}};
}

}  // namespace

Json to_sarif(const verify::CampaignResult& result) {
  std::map<std::string, std::size_t> rule_index;
  Json rules = rules_of(result, rule_index);
  Json results = Json::array();
  for (const verify::Finding& finding : result.findings) {
    results.push_back(result_of(finding, result, rule_index.at(finding.property)));
  }
  for (const auto& [id, count] : result.quirks) {
    results.push_back(quirk_result(utf8_text(id), count, rule_index.at(kQuirkRule)));
  }
  Json driver = {{"name", "hgcheck"}, {"version", utf8_text(result.version)}, {"rules", std::move(rules)}};
  return {{"$schema", kSchema},
          {"version", "2.1.0"},
          {"runs", Json::array({{{"tool", {{"driver", std::move(driver)}}},
                                 {"automationDetails", {{"id", utf8_text("hgcheck/" + result.subject + "/")}}},
                                 {"columnKind", "utf16CodeUnits"},
                                 {"invocations", Json::array({invocation_of(result)})},
                                 {"results", std::move(results)}}})}};
}

}  // namespace reports
