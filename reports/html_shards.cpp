// The section of a campaign that was joined of several shards: how each shard ended, and the work of each node.
#include <fmt/format.h>

#include "reports/html_sections.h"
#include "reports/html_tables.h"

namespace reports {
namespace {

void write_cells(HtmlWriter& page, std::string_view head, std::initializer_list<std::string> words,
                 std::initializer_list<std::string> numbers) {
  page.open("tr").element("th", head, {{"scope", "row"}});
  for (const std::string& word : words) page.element("td", word);
  for (const std::string& number : numbers) page.element("td", number, {{"class", "number"}});
  page.close().line();
}

}  // namespace

void write_shards(HtmlWriter& page, const verify::CampaignResult& result) {
  if (result.shards.empty()) return;
  open_section(page, "shards", fmt::format("Shards ({})", grouped(result.shards.size())));
  open_table(page, "Shards, and how their last sessions ended",
             {{"shard"}, {"state"}, {"node"}, {"begun"}, {"last"}, {"programs", true}, {"findings", true}});
  for (const verify::ShardState& shard : result.shards) {
    write_cells(page, fmt::format("{}", shard.shard), {shard.state, shard.node, shard.begun, shard.last},
                {grouped(shard.programs), grouped(shard.findings)});
  }
  close_table(page);
  open_table(page, "Nodes", {{"node"}, {"sessions", true}, {"programs", true}, {"seconds", true}, {"a second", true}});
  for (const verify::NodeWork& work : result.nodes) {
    write_cells(page, work.node, {},
                {grouped(work.sessions), grouped(work.programs), fmt::format("{:.1f}", work.seconds),
                 work.seconds > 0 ? fmt::format("{:.1f}", static_cast<double>(work.programs) / work.seconds) : "-"});
  }
  close_table(page);
  page.close().line();
}

}  // namespace reports
