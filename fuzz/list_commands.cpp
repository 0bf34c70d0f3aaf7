// `hgcheck subjects`, `faults`, `properties` and `quirks`.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "verify/generate/generator.h"
#include "verify/properties/property.h"
#include "verify/quirks/quirk.h"
#include "verify/subject/subject.h"

namespace fuzz {

namespace {

using nlohmann::ordered_json;

int finish(const std::string& path, const ordered_json& json) {
  if (path.empty()) return kAgreed;
  if (const hip::Status status = write_text(path, json.dump(2) + "\n"); !status) {
    std::cerr << "hgcheck: " << status.error().message << "\n";
    return kUsage;
  }
  return kAgreed;
}

using Where = std::pair<verify::StrategyKind, verify::Environment>;

verify::Environment environment_of(const verify::Quirk& quirk) {
  verify::Environment environment;
  std::istringstream variables{std::string(quirk.environment)};
  for (std::string variable; variables >> variable;) environment.insert(*verify::parse_variable(variable));
  return environment;
}

// The share of so many generated programs, which steer around nothing, that may show each quirk of the release, under
// the strategy and in the environment of the quirk's own program.
std::map<std::string_view, double> shares_of_programs(std::string_view release, std::uint64_t programs) {
  std::map<Where, std::vector<verify::Quirk>> catalogues;
  std::map<std::string_view, double> shares;
  for (const verify::Quirk& quirk : verify::quirks()) {
    if (programs == 0 || !quirk.releases.has(release)) continue;
    catalogues[{quirk.strategy, environment_of(quirk)}].push_back(quirk);
    shares[quirk.id] = 0;
  }
  std::map<Where, verify::QuirkSet> sets;
  for (const auto& [where, catalogue] : catalogues) sets.emplace(where, verify::QuirkSet(release, catalogue));
  for (std::uint64_t i = 0; i < programs; ++i) {
    verify::Program program = verify::campaign_program(1, i, {});
    for (const auto& [where, known] : sets) {
      program.setting.environment = where.second;
      for (const verify::Quirk* met : known.met_by(program, where.first)) {
        shares[met->id] += 1.0 / static_cast<double>(programs);
      }
    }
  }
  return shares;
}

}  // namespace

int list_subjects(const std::string& path) {
  ordered_json json = ordered_json::array();
  for (const verify::SubjectListing& subject : verify::list_subjects()) {
    std::cout << fmt::format("{:<16} {}\n", subject.name,
                             subject.unavailable.empty() ? subject.description : subject.unavailable);
    json.push_back(
        {{"name", subject.name}, {"description", subject.description}, {"unavailable", subject.unavailable}});
  }
  return finish(path, json);
}

int list_faults(const std::string& path) {
  ordered_json json = ordered_json::array();
  const auto races = race_faults();
  auto race = races.begin();
  // Lists the faults that need threads in their places; a fault that campaigns find as well is listed there.
  const auto list_races_before = [&](std::string_view id) {
    for (; race != races.end() && (id.empty() || race->id < id); ++race) {
      if (find_fault(race->id) != nullptr) continue;
      const std::string command = fmt::format("hgcheck race --scenario {} --fault {}", race->scenario, race->id);
      std::cout << fmt::format("{:<4} {:<8} {:<6} {} ({})\n", race->id, race->system, race->property, race->summary,
                               command);
      json.push_back({{"id", race->id},
                      {"system", race->system},
                      {"properties", {race->property}},
                      {"summary", race->summary},
                      {"command", command}});
    }
  };
  for (const Fault& fault : faults()) {
    list_races_before(fault.id);
    ordered_json properties = ordered_json::array();
    std::string names;
    for (const verify::PropertyId id : fault.properties) {
      properties.push_back(verify::property(id).name);
      names += (names.empty() ? "" : ",") + std::string(verify::property(id).name);
    }
    std::cout << fmt::format("{:<4} {:<8} {:<6} {}\n", fault.id, fault.system, names, fault.summary);
    json.push_back(
        {{"id", fault.id}, {"system", fault.system}, {"properties", properties}, {"summary", fault.summary}});
  }
  list_races_before({});
  return finish(path, json);
}

int list_properties(const std::string& path) {
  ordered_json json = ordered_json::array();
  for (const verify::Property& property : verify::properties()) {
    std::cout << fmt::format("{:<4} {:<26} {}\n", property.name, property.title, property.sentence);
    json.push_back({{"id", property.name}, {"title", property.title}, {"sentence", property.sentence}});
  }
  return finish(path, json);
}

int list_quirks(const std::string& path, std::uint64_t programs) {
  ordered_json json = ordered_json::array();
  const std::map<std::string_view, double> shares = shares_of_programs(hip::kReleaseNames.front(), programs);
  for (const verify::Quirk& quirk : verify::quirks()) {
    const auto share = shares.find(quirk.id);
    std::string percent;
    if (share != shares.end()) {
      percent = fmt::format("{:>5.1f}%{} ", 100 * share->second, quirk.wide.empty() ? ' ' : 'w');
    } else if (programs != 0) {
      percent = fmt::format("{:8}", "");
    }
    std::cout << fmt::format("{:<28} {:<12} {}{}\n", quirk.id, quirk.releases.names(), percent, quirk.title);
    json.push_back({{"id", quirk.id},
                    {"title", quirk.title},
                    {"releases", quirk.releases.names()},
                    {"strategy", verify::strategy_name(quirk.strategy)},
                    {"triggers", quirk.triggers},
                    {"effects", quirk.effects},
                    {"documented", quirk.documented},
                    {"happens", quirk.happens},
                    {"evidence", quirk.evidence},
                    {"advice", quirk.advice},
                    {"program", fmt::format("verify/findings/{}/finding.program", quirk.id)}});
    if (!quirk.wide.empty()) json.back()["wide"] = quirk.wide;
    if (share != shares.end()) json.back()["share"] = share->second;
  }
  return finish(path, json);
}

}  // namespace fuzz
