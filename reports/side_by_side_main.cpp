// hgcheck-side-by-side: campaign results (the report.json of report folders) as one page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reports/json.h"
#include "reports/side_by_side.h"

namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

int complain(const std::string& message) {
  std::cerr << "hgcheck-side-by-side: " << message << "\n";
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> folders;
  std::string output;
  CLI::App app("Shows the results of several campaigns side by side, as one page", "hgcheck-side-by-side");
  app.add_option("folders", folders, "Report folders of campaigns")->required();
  app.add_option("-o,--output", output, "The page to write")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  std::vector<reports::CampaignColumn> columns;
  for (const std::string& folder : folders) {
    std::ifstream file(fs::path(folder) / "report.json");
    if (!file) return complain(fmt::format("{}/report.json cannot be read: is {} a report folder?", folder, folder));
    hip::Result<verify::CampaignResult> result =
        reports::from_json(nlohmann::ordered_json::parse(file, nullptr, false));
    if (!result) return complain(fmt::format("{}/report.json: {}", folder, result.error().message));
    const fs::path page = fs::path(folder) / "index.html";
    columns.push_back({std::move(result).value(), fs::proximate(page, fs::path(output).parent_path()).string()});
  }
  const std::string temporary = output + ".new";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << reports::side_by_side(columns);
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, output, error);
  if (!file || error) return complain(fmt::format("{} cannot be written", output));
  return 0;
}
