#include "reports/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/bugs.h"
#include "reports/text.h"

namespace reports {
namespace {

using Json = nlohmann::ordered_json;

// The number of hipErrorInvalidValue; this room needs no HIP headers for one number.
constexpr int kInvalidValue = 1;

// --- writing -------------------------------------------------------------------------------------------------------

Json strings(const std::vector<std::string>& values) {
  Json json = Json::array();
  for (const std::string& value : values) json.push_back(utf8_text(value));
  return json;
}

// Sorted by the keys as they are written, so that reading and writing again gives the same text.
template <class Value>
std::map<std::string, Value> spelled(const std::map<std::string, Value>& values) {
  std::map<std::string, Value> sorted;
  for (const auto& [key, value] : values) sorted.emplace(utf8_text(key), value);
  return sorted;
}

Json table(const std::map<std::string, std::uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [key, count] : spelled(counts)) json[key] = count;
  return json;
}

Json table(const std::map<std::string, std::string>& words) {
  Json json = Json::object();
  for (const auto& [key, value] : spelled(words)) json[key] = utf8_text(value);
  return json;
}

template <class Value>
Json tables(const std::map<std::string, std::map<std::string, Value>>& rows) {
  Json json = Json::object();
  for (const auto& [key, row] : rows) json[utf8_text(key)] = table(row);
  return json;
}

Json verdicts_json(const verify::VerdictCounts& counts) {
  return {{"agree", counts.agree},
          {"diverge", counts.diverge},
          {"known_quirk", counts.known_quirk},
          {"poisoned", counts.poisoned},
          {"unsupported", counts.unsupported},
          {"discarded", counts.discarded},
          {"harness_error", counts.harness_error}};
}

Json properties_json(const std::map<std::string, verify::PropertyCount>& properties) {
  Json json = Json::object();
  for (const auto& [id, count] : spelled(properties)) {
    json[id] = {{"exercised", count.exercised}, {"violated", count.violated}};
  }
  return json;
}

Json differences_json(const std::vector<verify::Difference>& differences) {
  Json json = Json::array();
  for (const verify::Difference& difference : differences) {
    json.push_back({{"where", utf8_text(difference.where)},
                    {"command", utf8_text(difference.command)},
                    {"expected", utf8_text(difference.expected)},
                    {"observed", utf8_text(difference.observed)}});
  }
  return json;
}

Json graph_json(const verify::GraphPicture& graph) {
  Json nodes = Json::array();
  for (const auto& node : graph.nodes) {
    nodes.push_back({{"name", utf8_text(node.name)}, {"label", utf8_text(node.label)}, {"at_fault", node.at_fault}});
  }
  Json edges = Json::array();
  for (const auto& edge : graph.edges) {
    edges.push_back({{"from", utf8_text(edge.from)}, {"to", utf8_text(edge.to)}});
  }
  return {{"name", utf8_text(graph.name)}, {"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

Json costs_json(const std::vector<verify::CostMeasurement>& costs) {
  Json json = Json::array();
  for (const verify::CostMeasurement& cost : costs) {
    Json counts = Json::array();
    for (std::size_t i = 0; i < cost.sizes.size() && i < cost.values.size(); ++i) {
      counts.push_back({{"nodes", cost.sizes[i]}, {"count", cost.values[i]}});
    }
    json.push_back({{"operation", utf8_text(cost.operation)},
                    {"measure", utf8_text(cost.measure)},
                    {"exponent", cost.exponent},
                    {"bound", cost.bound},
                    {"counts", std::move(counts)}});
  }
  return json;
}

Json related_json(const std::vector<verify::Related>& related) {
  Json json = Json::array();
  for (const verify::Related& one : related) {
    json.push_back({{"kind", utf8_text(one.kind)}, {"id", utf8_text(one.id)}, {"title", utf8_text(one.title)}});
  }
  return json;
}

// The bug of the finding as it is written, so that reading the file and writing it again gives the same.
std::string bug_name(const verify::Finding& finding) {
  verify::Finding spelled;
  spelled.property = utf8_text(finding.property);
  spelled.program_text = utf8_text(finding.program_text);
  if (!finding.differences.empty())
    spelled.differences.push_back({utf8_text(finding.differences[0].where), {}, {}, {}});
  return bug_of(spelled).name();
}

Json finding_json(const verify::Finding& finding) {
  Json graphs = Json::array();
  for (const verify::GraphPicture& graph : finding.graphs) graphs.push_back(graph_json(graph));
  return {{"id", utf8_text(finding.id)},
          {"property", utf8_text(finding.property)},
          {"also", strings(finding.also)},
          {"fault", utf8_text(finding.fault)},
          {"program", utf8_text(finding.program_path)},
          {"commands", finding.commands},
          {"original_commands", finding.original_commands},
          {"replay", utf8_text(finding.replay)},
          {"summary", utf8_text(finding.summary)},
          {"cause", utf8_text(finding.cause)},
          {"bug", bug_name(finding)},
          {"related", related_json(finding.related)},
          {"seen", finding.seen},
          {"program_text", utf8_text(finding.program_text)},
          {"differences", differences_json(finding.differences)},
          {"graphs", std::move(graphs)}};
}

Json history_json(const std::vector<verify::Moment>& history) {
  Json json = Json::array();
  for (const verify::Moment& moment : history) {
    json.push_back({{"seconds", std::isfinite(moment.seconds) ? moment.seconds : 0.0},
                    {"programs", moment.programs},
                    {"findings", moment.findings},
                    {"features", moment.features}});
  }
  return json;
}

// --- reading -------------------------------------------------------------------------------------------------------

// Reads fields of one object and remembers the first that is missing or of another type.
class Reader {
 public:
  Reader(const Json& json, std::string path, std::string& error) : json_(json), path_(std::move(path)), error_(error) {
    if (!json_.is_object()) complain(path_, "an object");
  }

  void read(const std::string& key, std::string& value) {
    if (const Json* field = find(key, &Json::is_string, "a string")) value = field->get<std::string>();
  }
  void read(const std::string& key, std::uint64_t& value) {
    if (const Json* field = find(key, &Json::is_number_unsigned, "a number that is not negative")) {
      value = field->get<std::uint64_t>();
    }
  }
  void read(const std::string& key, double& value) {
    if (const Json* field = find(key, &Json::is_number, "a number")) value = field->get<double>();
  }
  void read(const std::string& key, bool& value) {
    if (const Json* field = find(key, &Json::is_boolean, "true or false")) value = field->get<bool>();
  }
  void read(const std::string& key, std::vector<std::string>& values) {
    const Json* field = find(key, &Json::is_array, "a list");
    if (field == nullptr) return;
    for (const Json& item : *field) {
      if (!item.is_string()) return complain(name_of(key), "a list of strings");
      values.push_back(item.get<std::string>());
    }
  }
  void read(const std::string& key, std::map<std::string, std::uint64_t>& values) {
    each_field(key, [&](const std::string& name, Reader& fields) { fields.read(name, values[name]); });
  }
  void read(const std::string& key, std::map<std::string, std::string>& values) {
    each_field(key, [&](const std::string& name, Reader& fields) { fields.read(name, values[name]); });
  }

  // For what reports of an earlier hgcheck did not have.
  [[nodiscard]] bool has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

  template <class Value>
  void read(const std::string& key, std::map<std::string, std::map<std::string, Value>>& values) {
    each_field(key, [&](const std::string& name, Reader& fields) { fields.read(name, values[name]); });
  }

  // Calls `read_item` with a Reader of each object in the list `key`.
  template <class ReadItem>
  void each_item(const std::string& key, ReadItem read_item) {
    const Json* field = find(key, &Json::is_array, "a list");
    if (field == nullptr) return;
    std::size_t index = 0;
    for (const Json& item : *field) {
      Reader reader(item, fmt::format("{}[{}]", name_of(key), index++), error_);
      read_item(reader);
    }
  }

  // Calls `read_field` with each name in the object `key`, and a Reader of that object.
  template <class ReadField>
  void each_field(const std::string& key, ReadField read_field) {
    const Json* field = find(key, &Json::is_object, "an object");
    if (field == nullptr) return;
    Reader reader(*field, name_of(key), error_);
    for (const auto& item : field->items()) read_field(item.key(), reader);
  }

  template <class ReadFields>
  void object(const std::string& key, ReadFields read_fields) {
    const Json* field = find(key, &Json::is_object, "an object");
    if (field == nullptr) return;
    Reader reader(*field, name_of(key), error_);
    read_fields(reader);
  }

 private:
  const Json* find(const std::string& key, bool (Json::*is_right)() const noexcept, const char* what) {
    if (!error_.empty()) return nullptr;
    const auto field = json_.find(key);
    if (field == json_.end() || !((*field).*is_right)()) {
      complain(name_of(key), what);
      return nullptr;
    }
    return &*field;
  }
  [[nodiscard]] std::string name_of(const std::string& key) const {
    return path_.empty() ? key : fmt::format("{}.{}", path_, key);
  }
  void complain(const std::string& name, const char* what) {
    if (error_.empty()) error_ = fmt::format("'{}' is missing or is not {}", name, what);
  }

  const Json& json_;
  std::string path_;
  std::string& error_;
};

void read_graph(Reader& reader, verify::GraphPicture& graph) {
  reader.read("name", graph.name);
  reader.each_item("nodes", [&](Reader& fields) {
    auto& node = graph.nodes.emplace_back();
    fields.read("name", node.name);
    fields.read("label", node.label);
    fields.read("at_fault", node.at_fault);
  });
  reader.each_item("edges", [&](Reader& fields) {
    auto& edge = graph.edges.emplace_back();
    fields.read("from", edge.from);
    fields.read("to", edge.to);
  });
}

void read_finding(Reader& reader, verify::Finding& finding) {
  reader.read("id", finding.id);
  reader.read("property", finding.property);
  reader.read("cause", finding.cause);
  reader.read("also", finding.also);
  reader.read("fault", finding.fault);
  reader.read("program", finding.program_path);
  reader.read("commands", finding.commands);
  reader.read("original_commands", finding.original_commands);
  reader.read("replay", finding.replay);
  reader.read("summary", finding.summary);
  reader.read("seen", finding.seen);
  reader.read("program_text", finding.program_text);
  reader.each_item("differences", [&](Reader& fields) {
    verify::Difference& difference = finding.differences.emplace_back();
    fields.read("where", difference.where);
    fields.read("command", difference.command);
    fields.read("expected", difference.expected);
    fields.read("observed", difference.observed);
  });
  reader.each_item("graphs", [&](Reader& fields) { read_graph(fields, finding.graphs.emplace_back()); });
  if (!reader.has("related")) return;
  reader.each_item("related", [&](Reader& fields) {
    verify::Related& related = finding.related.emplace_back();
    fields.read("kind", related.kind);
    fields.read("id", related.id);
    fields.read("title", related.title);
  });
}

void read_cost(Reader& reader, verify::CostMeasurement& cost) {
  reader.read("operation", cost.operation);
  reader.read("measure", cost.measure);
  reader.read("exponent", cost.exponent);
  reader.read("bound", cost.bound);
  reader.each_item("counts", [&](Reader& fields) {
    fields.read("nodes", cost.sizes.emplace_back());
    fields.read("count", cost.values.emplace_back());
  });
}

void read_counts(Reader& reader, verify::CampaignResult& result) {
  reader.object("verdicts", [&](Reader& fields) {
    fields.read("agree", result.verdicts.agree);
    fields.read("diverge", result.verdicts.diverge);
    fields.read("known_quirk", result.verdicts.known_quirk);
    fields.read("poisoned", result.verdicts.poisoned);
    fields.read("unsupported", result.verdicts.unsupported);
    fields.read("discarded", result.verdicts.discarded);
    fields.read("harness_error", result.verdicts.harness_error);
  });
  reader.each_field("properties", [&](const std::string& id, Reader& properties) {
    properties.object(id, [&](Reader& fields) {
      fields.read("exercised", result.properties[id].exercised);
      fields.read("violated", result.properties[id].violated);
    });
  });
}

}  // namespace

Json to_json(const verify::CampaignResult& result) {
  // JSON has no infinity; a campaign of no measurable length has no rate.
  const double seconds = std::isfinite(result.seconds) ? result.seconds : 0.0;
  const double rate = seconds > 0 ? static_cast<double>(result.programs) / seconds : 0.0;
  Json findings = Json::array();
  for (const verify::Finding& finding : result.findings) findings.push_back(finding_json(finding));
  return {{"version", utf8_text(result.version)},
          {"subject", utf8_text(result.subject)},
          {"baseline", utf8_text(result.baseline)},
          {"seed", result.seed},
          {"programs", result.programs},
          {"commands", result.commands},
          {"seconds", seconds},
          {"programs_per_second", rate},
          {"verdicts", verdicts_json(result.verdicts)},
          {"properties", properties_json(result.properties)},
          {"coverage", table(result.coverage)},
          {"quirks", table(result.quirks)},
          {"findings", std::move(findings)},
          {"fault", utf8_text(result.fault)},
          {"machine", utf8_text(result.machine)},
          {"release", utf8_text(result.release)},
          {"generate_us", result.generate_us},
          {"judge_us", result.judge_us},
          {"size", result.size},
          {"jobs", result.jobs},
          {"interrupted", result.interrupted},
          {"property_sentences", table(result.property_sentences)},
          {"states", tables(result.states)},
          {"unreachable", tables(result.unreachable)},
          {"reasons", table(result.reasons)},
          {"sampling", table(result.sampling)},
          {"costs", costs_json(result.costs)},
          {"history", history_json(result.history)},
          {"messages", strings(result.messages)}};
}

hip::Result<verify::CampaignResult> from_json(const Json& json) {
  verify::CampaignResult result;
  std::string error;
  Reader reader(json, "", error);
  reader.read("version", result.version);
  reader.read("subject", result.subject);
  reader.read("baseline", result.baseline);
  reader.read("seed", result.seed);
  reader.read("programs", result.programs);
  reader.read("commands", result.commands);
  reader.read("seconds", result.seconds);
  read_counts(reader, result);
  reader.read("coverage", result.coverage);
  reader.read("states", result.states);
  reader.read("unreachable", result.unreachable);
  reader.read("quirks", result.quirks);
  reader.each_item("findings", [&](Reader& fields) { read_finding(fields, result.findings.emplace_back()); });
  reader.each_item("history", [&](Reader& fields) {
    verify::Moment& moment = result.history.emplace_back();
    fields.read("seconds", moment.seconds);
    fields.read("programs", moment.programs);
    fields.read("findings", moment.findings);
    fields.read("features", moment.features);
  });
  reader.read("fault", result.fault);
  if (reader.has("machine")) reader.read("machine", result.machine);
  if (reader.has("release")) reader.read("release", result.release);
  if (reader.has("generate_us")) reader.read("generate_us", result.generate_us);
  if (reader.has("judge_us")) reader.read("judge_us", result.judge_us);
  reader.read("size", result.size);
  reader.read("jobs", result.jobs);
  reader.read("interrupted", result.interrupted);
  reader.read("property_sentences", result.property_sentences);
  reader.read("reasons", result.reasons);
  reader.read("sampling", result.sampling);
  reader.each_item("costs", [&](Reader& fields) { read_cost(fields, result.costs.emplace_back()); });
  reader.read("messages", result.messages);
  if (!error.empty()) {
    return hip::Error{kInvalidValue, "not a campaign's JSON: " + error + "; remedy: write it again with --json"};
  }
  return result;
}

}  // namespace reports
