// The section on operations and the states that they met: one matrix for each kind of object, its holes marked.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/html_sections.h"
#include "reports/html_tables.h"

namespace reports {
namespace {

using States = std::map<std::string, std::uint64_t>;
using Reasons = std::map<std::string, std::string>;

// The object of a state: "graph" for "graph: empty".
std::string object_of(const std::string& state) {
  return state.substr(0, state.find(':'));
}
std::string word_of(const std::string& state) {
  const std::size_t colon = state.find(": ");
  return colon == std::string::npos ? state : state.substr(colon + 2);
}

// The rows and columns of the matrix of one kind of object.
struct Matrix {
  std::set<std::string> states, operations;
  std::vector<std::string> holes;  // "launch with exec: idle"
};

std::map<std::string, Matrix> matrices_of(const verify::CampaignResult& result) {
  std::map<std::string, Matrix> matrices;
  const auto add = [&](const std::string& operation, const std::string& state) {
    Matrix& matrix = matrices[object_of(state)];
    matrix.states.insert(state);
    matrix.operations.insert(operation);
  };
  for (const auto& [operation, states] : result.states) {
    for (const auto& [state, count] : states) {
      add(operation, state);
      if (count == 0) matrices[object_of(state)].holes.push_back(fmt::format("{} with {}", operation, state));
    }
  }
  for (const auto& [operation, states] : result.unreachable) {
    for (const auto& [state, why] : states) add(operation, state);
  }
  return matrices;
}

template <class Value>
const Value* find(const std::map<std::string, std::map<std::string, Value>>& rows, const std::string& operation,
                  const std::string& state) {
  const auto row = rows.find(operation);
  if (row == rows.end()) return nullptr;
  const auto cell = row->second.find(state);
  return cell == row->second.end() ? nullptr : &cell->second;
}

void write_cell(HtmlWriter& page, const verify::CampaignResult& result, const std::string& operation,
                const std::string& state) {
  if (const std::string* why = find(result.unreachable, operation, state)) {
    page.element("td", "cannot be", {{"class", "number note"}, {"title", *why}});
    return;
  }
  const std::uint64_t* count = find(result.states, operation, state);
  if (count == nullptr) {
    page.element("td", "", {{"class", "number"}});
  } else if (*count == 0) {
    page.open("td", {{"class", "number hole"}}).element("span", "never", {{"class", "state warn"}}).close();
  } else {
    page.element("td", grouped(*count), {{"class", "number"}});
  }
}

void write_matrix(HtmlWriter& page, const verify::CampaignResult& result, const std::string& object,
                  const Matrix& matrix) {
  std::vector<std::string> titles;
  for (const std::string& state : matrix.states) titles.push_back(word_of(state));
  std::vector<Column> columns = {{"Operation"}};
  for (const std::string& title : titles) columns.push_back({title, true});
  open_table(page, fmt::format("How often each operation met its {} in each state", object), columns);
  for (const std::string& operation : matrix.operations) {
    page.open("tr").element("th", operation, {{"scope", "row"}});
    for (const std::string& state : matrix.states) write_cell(page, result, operation, state);
    page.close().line();
  }
  close_table(page);
}

void write_holes(HtmlWriter& page, const std::map<std::string, Matrix>& matrices, std::uint64_t holes) {
  if (holes == 0) return;
  page.open("details").element("summary", fmt::format("{}, as a list", counted(holes, "hole")));
  page.open("ul", {{"class", "holes"}});
  for (const auto& [object, matrix] : matrices) {
    for (const std::string& hole : matrix.holes) page.element("li", hole);
  }
  page.close().close().line();
}

void write_reasons(HtmlWriter& page, const verify::CampaignResult& result) {
  open_table(page, "Pairs that no valid program can show", {{"Operation"}, {"State"}, {"Why"}});
  for (const auto& [operation, states] : result.unreachable) {
    for (const auto& [state, why] : states) {
      page.open("tr")
          .element("th", operation, {{"scope", "row"}})
          .element("td", state)
          .element("td", why, {{"class", "words"}});
      page.close().line();
    }
  }
  close_table(page);
}

void write_triples(HtmlWriter& page, const verify::TripleCoverage& triples) {
  if (triples.possible == 0) return;
  page.element("p", fmt::format("{} of {} triples (operation, state, state before it) were met.", grouped(triples.met),
                                grouped(triples.possible)));
  if (triples.rarest.empty()) return;
  page.open("details").element("summary", "The rarest triples that were met, and how often").open("ul");
  for (const std::string& triple : triples.rarest) page.element("li", triple);
  page.close().close().line();
}

}  // namespace

void write_states(HtmlWriter& page, const verify::CampaignResult& result) {
  open_section(page, "states", "Operations and the states that they met");
  std::uint64_t pairs = 0, holes = 0;
  for (const auto& [operation, states] : result.states) {
    pairs += states.size();
    for (const auto& [state, count] : states) holes += count == 0 ? 1 : 0;
  }
  if (pairs == 0) {
    page.element("p", "No pair of operation and state was counted.", {{"class", "note"}}).close().line();
    return;
  }
  page.element("p", fmt::format("{} of {} pairs that a program can show were met at least once.",
                                grouped(pairs - holes), grouped(pairs)));
  write_triples(page, result.triples);
  const std::map<std::string, Matrix> matrices = matrices_of(result);
  for (const auto& [object, matrix] : matrices) {
    // A matrix with holes is open, so that the holes are visible.
    if (matrix.holes.empty()) {
      page.open("details");
    } else {
      page.open("details", {{"open", "open"}});
    }
    page.element("summary", fmt::format("Operations by the state of their {}: {}", object,
                                        matrix.holes.empty() ? "no hole" : counted(matrix.holes.size(), "hole")));
    write_matrix(page, result, object, matrix);
    page.close().line();
  }
  write_holes(page, matrices, holes);
  if (!result.unreachable.empty()) {
    page.open("details").element("summary", "What cannot be, and why");
    write_reasons(page, result);
    page.close().line();
  }
  page.close().line();
}

}  // namespace reports
