#include "reports/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "reports/bugs.h"
#include "reports/text.h"

namespace reports {
namespace {

using Json = nlohmann::ordered_json;

// The number of hipErrorInvalidValue, without including HIP's headers.
constexpr int kInvalidValue = 1;

// The bug of the finding as it is written, so that reading the file and writing it again gives the same.
std::string bug_name(const verify::Finding& finding) {
  verify::Finding spelled;
  spelled.property = utf8_text(finding.property);
  spelled.program_text = utf8_text(finding.program_text);
  if (!finding.differences.empty())
    spelled.differences.push_back({utf8_text(finding.differences[0].where), {}, {}, {}});
  return bug_of(spelled).name();
}

// ---- the fields of a campaign's JSON, in the order of the file; the Writer and the Reader below share them

template <class T, class Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

void describe(auto& file, Is<verify::VerdictCounts> auto& counts) {
  file.field("agree", counts.agree);
  file.field("diverge", counts.diverge);
  file.field("known_quirk", counts.known_quirk);
  file.field("poisoned", counts.poisoned);
  file.field("unsupported", counts.unsupported);
  file.field("discarded", counts.discarded);
  file.field("harness_error", counts.harness_error);
}

void describe(auto& file, Is<verify::PropertyCount> auto& count) {
  file.field("exercised", count.exercised);
  file.field("violated", count.violated);
}

void describe(auto& file, Is<verify::Difference> auto& difference) {
  file.field("where", difference.where);
  file.field("command", difference.command);
  file.field("expected", difference.expected);
  file.field("observed", difference.observed);
}

void describe(auto& file, Is<verify::GraphPicture::Node> auto& node) {
  file.field("name", node.name);
  file.field("label", node.label);
  file.field("at_fault", node.at_fault);
}

void describe(auto& file, Is<verify::GraphPicture::Edge> auto& edge) {
  file.field("from", edge.from);
  file.field("to", edge.to);
}

void describe(auto& file, Is<verify::GraphPicture> auto& graph) {
  file.field("name", graph.name);
  file.field("nodes", graph.nodes);
  file.field("edges", graph.edges);
}

void describe(auto& file, Is<verify::CostMeasurement> auto& cost) {
  file.field("operation", cost.operation);
  file.field("measure", cost.measure);
  file.field("exponent", cost.exponent);
  file.field("bound", cost.bound);
  file.pairs("counts", "nodes", cost.sizes, "count", cost.values);
}

void describe(auto& file, Is<verify::Related> auto& related) {
  file.field("kind", related.kind);
  file.field("id", related.id);
  file.field("title", related.title);
}

void describe(auto& file, Is<verify::Sighting> auto& sighting) {
  file.field("time", sighting.time);
  file.field("shard", sighting.shard);
  file.field("shards", sighting.shards);
  file.field("node", sighting.node);
  file.field("session", sighting.session);
}

void describe(auto& file, Is<verify::Session::Cause> auto& cause) {
  file.field("cause", cause.cause);
  file.field("finding", cause.finding);
  file.field("index", cause.index);
  file.field("seen", cause.seen);
  file.field("shrunk", cause.shrunk);
  file.field("death", cause.death);
  file.field("first", cause.first);
}

void describe(auto& file, Is<verify::Session> auto& session) {
  file.field("name", session.name);
  file.field("begun", session.begun);
  file.field("last", session.last);
  file.field("shard", session.shard);
  file.field("shards", session.shards);
  file.field("settled", session.settled);
  file.field("programs_before", session.programs_before);
  file.time("seconds_before", session.seconds_before);
  file.field("quirks", session.quirks);
  file.field("properties", session.properties);
  file.field("causes", session.causes);
}

void describe(auto& file, Is<verify::ShardState> auto& shard) {
  file.field("shard", shard.shard);
  file.field("state", shard.state);
  file.field("programs", shard.programs);
  file.field("findings", shard.findings);
  file.field("node", shard.node);
  file.field("begun", shard.begun);
  file.field("last", shard.last);
}

void describe(auto& file, Is<verify::NodeWork> auto& work) {
  file.field("node", work.node);
  file.field("sessions", work.sessions);
  file.field("programs", work.programs);
  file.time("seconds", work.seconds);
}

void describe(auto& file, Is<verify::Finding> auto& finding) {
  file.field("id", finding.id);
  file.field("property", finding.property);
  file.field("also", finding.also);
  file.field("fault", finding.fault);
  file.field("program", finding.program_path);
  file.field("commands", finding.commands);
  file.field("original_commands", finding.original_commands);
  file.field("replay", finding.replay);
  file.field("summary", finding.summary);
  file.field("cause", finding.cause);
  file.derived("bug", [&] { return bug_name(finding); });
  file.later_field("related", finding.related);
  file.field("seen", finding.seen);
  file.field("program_text", finding.program_text);
  file.field("differences", finding.differences);
  file.field("graphs", finding.graphs);
  file.later_field("first", finding.first);
}

void describe(auto& file, Is<verify::TripleCoverage> auto& triples) {
  file.field("digits", triples.digits);
  file.later_field("names", triples.names);
  file.field("met", triples.met);
  file.field("possible", triples.possible);
  file.field("rarest", triples.rarest);
}

void describe(auto& file, Is<verify::Moment> auto& moment) {
  file.time("seconds", moment.seconds);
  file.field("programs", moment.programs);
  file.field("findings", moment.findings);
  file.field("features", moment.features);
}

// JSON has no infinity, which the rate of a campaign without measurable length would be.
double finite(double seconds) {
  return std::isfinite(seconds) ? seconds : 0.0;
}

void describe(auto& file, Is<verify::CampaignResult> auto& result) {
  file.field("version", result.version);
  file.field("subject", result.subject);
  file.field("baseline", result.baseline);
  file.field("seed", result.seed);
  file.field("programs", result.programs);
  file.field("commands", result.commands);
  file.time("seconds", result.seconds);
  file.derived("programs_per_second", [&] {
    const double seconds = finite(result.seconds);
    return seconds > 0 ? static_cast<double>(result.programs) / seconds : 0.0;
  });
  file.field("verdicts", result.verdicts);
  file.field("properties", result.properties);
  file.field("coverage", result.coverage);
  file.field("quirks", result.quirks);
  file.field("findings", result.findings);
  file.field("fault", result.fault);
  file.later_field("machine", result.machine);
  file.later_field("release", result.release);
  file.later_field("generate_us", result.generate_us);
  file.later_field("judge_us", result.judge_us);
  file.field("size", result.size);
  file.field("jobs", result.jobs);
  file.field("interrupted", result.interrupted);
  file.field("property_sentences", result.property_sentences);
  file.field("states", result.states);
  file.field("unreachable", result.unreachable);
  file.later_field("triples", result.triples);
  file.field("reasons", result.reasons);
  file.later_field("steps", result.steps);
  file.field("sampling", result.sampling);
  file.field("costs", result.costs);
  file.field("history", result.history);
  file.field("messages", result.messages);
  file.later_field("session", result.session);
  file.later_field("shards", result.shards);
  file.later_field("nodes", result.nodes);
}

class Writer {
 public:
  void field(const char* key, const auto& value) { json_[key] = written(value); }
  void later_field(const char* key, const auto& value) { field(key, value); }
  void time(const char* key, double seconds) { json_[key] = finite(seconds); }
  void derived(const char* key, const auto& value) { json_[key] = value(); }
  void pairs(const char* key, const char* first, const std::vector<std::uint64_t>& firsts, const char* second,
             const std::vector<std::uint64_t>& seconds) {
    Json& list = json_[key] = Json::array();
    for (std::size_t i = 0; i < firsts.size() && i < seconds.size(); ++i) {
      list.push_back({{first, firsts[i]}, {second, seconds[i]}});
    }
  }

  template <class Value>
  static Json written(const Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      return value;
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return utf8_text(value);
    } else {
      Writer writer;
      describe(writer, value);
      return std::move(writer.json_);
    }
  }
  template <class Item>
  static Json written(const std::vector<Item>& items) {
    Json json = Json::array();
    for (const Item& item : items) json.push_back(written(item));
    return json;
  }
  // Sorted by the keys as they are written, so that reading and writing again gives the same text.
  template <class Value>
  static Json written(const std::map<std::string, Value>& values) {
    std::map<std::string, Json> sorted;
    for (const auto& [key, value] : values) sorted.emplace(utf8_text(key), written(value));
    Json json = Json::object();
    for (auto& [key, value] : sorted) json[key] = std::move(value);
    return json;
  }

 private:
  Json json_ = Json::object();
};

// Reads fields of one object and remembers the first that is missing or of another type.
class Reader {
 public:
  Reader(const Json& json, std::string path, std::string& error) : json_(json), path_(std::move(path)), error_(error) {
    if (!json_.is_object()) complain(path_, "an object");
  }

  void field(const std::string& key, auto& value) {
    if (error_.empty()) read(name_of(key), at(key), value);
  }
  // Reads a field that reports of an earlier hgcheck do not have.
  void later_field(const std::string& key, auto& value) {
    if (json_.is_object() && json_.contains(key)) field(key, value);
  }
  void time(const std::string& key, double& seconds) { field(key, seconds); }
  void derived(const std::string&, const auto&) {}
  void pairs(const std::string& key, const char* first, std::vector<std::uint64_t>& firsts, const char* second,
             std::vector<std::uint64_t>& seconds) {
    const Json& list = at(key);
    if (!expect(list.is_array(), name_of(key), "a list")) return;
    for (std::size_t i = 0; i < list.size(); ++i) {
      Reader item(list[i], fmt::format("{}[{}]", name_of(key), i), error_);
      item.field(first, firsts.emplace_back());
      item.field(second, seconds.emplace_back());
    }
  }

 private:
  template <class Value>
  void read(const std::string& name, const Json& json, Value& value) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (expect(json.is_string(), name, "a string")) value = json.get<std::string>();
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
      if (expect(json.is_number_unsigned(), name, "a number that is not negative")) value = json.get<std::uint64_t>();
    } else if constexpr (std::is_same_v<Value, double>) {
      if (expect(json.is_number(), name, "a number")) value = json.get<double>();
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (expect(json.is_boolean(), name, "true or false")) value = json.get<bool>();
    } else {
      Reader reader(json, name, error_);
      describe(reader, value);
    }
  }
  void read(const std::string& name, const Json& json, std::vector<std::string>& values) {
    if (!expect(json.is_array(), name, "a list")) return;
    for (const Json& item : json) {
      if (!expect(item.is_string(), name, "a list of strings")) return;
      values.push_back(item.get<std::string>());
    }
  }
  template <class Item>
  void read(const std::string& name, const Json& json, std::vector<Item>& items) {
    if (!expect(json.is_array(), name, "a list")) return;
    for (std::size_t i = 0; i < json.size(); ++i) read(fmt::format("{}[{}]", name, i), json[i], items.emplace_back());
  }
  template <class Value>
  void read(const std::string& name, const Json& json, std::map<std::string, Value>& values) {
    if (!expect(json.is_object(), name, "an object")) return;
    for (const auto& item : json.items()) read(name + "." + item.key(), item.value(), values[item.key()]);
  }

  // A JSON null where the key is missing, which every check of a type rejects.
  [[nodiscard]] const Json& at(const std::string& key) const {
    static const Json kMissing;
    const auto field = json_.find(key);
    return field == json_.end() ? kMissing : *field;
  }
  bool expect(bool right, const std::string& name, const char* what) {
    if (!right) complain(name, what);
    return right && error_.empty();
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

}  // namespace

Json to_json(const verify::CampaignResult& result) {
  return Writer::written(result);
}

hip::Result<verify::CampaignResult> from_json(const Json& json) {
  verify::CampaignResult result;
  std::string error;
  Reader reader(json, "", error);
  describe(reader, result);
  if (!error.empty()) {
    return hip::Error{kInvalidValue, "not a campaign's JSON: " + error + "; remedy: write it again with --json"};
  }
  return result;
}

}  // namespace reports
