// The report folder: whole files or an error that names the path, and nothing left behind.
#include "reports/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "reports/html.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/samples.h"

namespace {

namespace fs = std::filesystem;

struct ReportFolder : testing::Test {
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hgcheck-report-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::set<std::string> names(const fs::path& folder) {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename().string());
    return found;
  }

  fs::path folder_;
};

TEST_F(ReportFolder, HoldsThePageTheJsonAndTheJunitFileAndNothingElse) {
  const verify::CampaignResult result = samples::campaign(3);
  const fs::path place = folder_ / "new" / "deeper";
  const hip::Status status = reports::write_report(result, place);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(names(place),
            (std::set<std::string>{"index.html", "junit.xml", "report.json", "report.sarif", "summary.md"}));
  EXPECT_EQ(content(place / "index.html"), reports::to_html(result));
  EXPECT_EQ(content(place / "junit.xml"), reports::to_junit(result));
  const auto read = reports::from_json(nlohmann::ordered_json::parse(content(place / "report.json")));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(reports::to_json(read.value()), reports::to_json(result));
}

TEST_F(ReportFolder, AnEarlierReportIsReplacedAndOtherFilesAreLeftAlone) {
  ASSERT_TRUE(reports::write_report(samples::campaign(1000), folder_).ok());
  std::ofstream(folder_ / "A1-000000.program") << "kept";
  ASSERT_TRUE(reports::write_report(samples::campaign(0), folder_).ok());
  EXPECT_EQ(content(folder_ / "index.html"), reports::to_html(samples::campaign(0)));
  EXPECT_EQ(content(folder_ / "A1-000000.program"), "kept");
}

TEST_F(ReportFolder, AFileInThePlaceOfTheFolderIsAnErrorThatNamesItAndARemedy) {
  const fs::path place = folder_ / "file";
  std::ofstream(place) << "not a folder";
  const hip::Status status = reports::write_report(samples::campaign(0), place);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find(place.string()), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("remedy:"), std::string::npos);
  EXPECT_NE(status.error().code, 0);
  EXPECT_EQ(content(place), "not a folder");
}

TEST_F(ReportFolder, AFailureHalfWayLeavesNoTemporaryFileAndTheEarlierFilesWhole) {
  ASSERT_TRUE(reports::write_report(samples::campaign(1), folder_).ok());
  // A folder that is not empty cannot be replaced by a file, not even by root.
  fs::remove(folder_ / "junit.xml");
  fs::create_directories(folder_ / "junit.xml" / "occupied");
  const hip::Status status = reports::write_report(samples::campaign(2), folder_);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("junit.xml"), std::string::npos) << status.error().message;
  EXPECT_EQ(names(folder_),
            (std::set<std::string>{"index.html", "junit.xml", "report.json", "report.sarif", "summary.md"}));
  const std::string page = content(folder_ / "index.html");
  EXPECT_TRUE(page == reports::to_html(samples::campaign(1)) || page == reports::to_html(samples::campaign(2)));
}

TEST_F(ReportFolder, ATemporaryNameThatIsTakenByAFolderIsAnErrorAndNoFileChanges) {
  ASSERT_TRUE(reports::write_report(samples::campaign(1), folder_).ok());
  fs::create_directories(folder_ / (".report.json." + std::to_string(::getpid())) / "occupied");
  EXPECT_FALSE(reports::write_report(samples::campaign(2), folder_).ok());
  EXPECT_EQ(content(folder_ / "index.html"), reports::to_html(samples::campaign(1)));
}

TEST_F(ReportFolder, ACampaignsPageLinksToTheRacesThatStandBesideIt) {
  ASSERT_TRUE(reports::write_report(samples::campaign(1), folder_).ok());
  EXPECT_EQ(content(folder_ / "index.html").find("races.html"), std::string::npos);
  ASSERT_TRUE(reports::write_report(verify::RaceResult{}, folder_).ok());
  EXPECT_EQ(content(folder_ / "races.html"), reports::to_html(verify::RaceResult{}));
  ASSERT_TRUE(reports::write_report(samples::campaign(1), folder_).ok());
  EXPECT_NE(content(folder_ / "index.html").find("href=\"races.html\""), std::string::npos);
}

}  // namespace
