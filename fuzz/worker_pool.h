// fuzz::WorkerPool: the worker processes of a campaign, and the memory that they share with it.
//
// Deals the shard's programs to the workers. A worker that dies or hangs loses its program, which is a finding (P11),
// and another process takes the next program. A worker that was ended from outside is replaced by one that judges its
// program once more: a finding is not lost, and an end from outside is none.
#pragma once

#include <optional>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/child.h"
#include "fuzz/found.h"
#include "fuzz/worker.h"

namespace fuzz {

class WorkerPool {
 public:
  // `program`: the text of the program that the line is about, where its index does not tell that; else empty.
  using News = std::function<void(const nlohmann::json& line, const std::string& program)>;
  // The references outlive this object. `news` gets each line of each worker; messages go into the result.
  WorkerPool(const CampaignOptions& options, Setup& setup, const Corpus& corpus, Found& found,
             verify::CampaignResult& result, News news)
      : options_(options), setup_(setup), corpus_(corpus), found_(found), result_(result), news_(std::move(news)) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  // the processes have ended before

  // `first_place`: of the shard; an earlier session settled the places before it.
  [[nodiscard]] hip::Status start(std::uint64_t first_place);
  [[nodiscard]] std::vector<const Child*> children() const;
  void read();
  // Replaces the workers that have ended, unless no program is left for them.
  void reap();
  // Ends and replaces the workers that hang.
  void watch();
  // Kills all workers; none is replaced from here on.
  void stop();
  void wait();
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::vector<const Board*> boards() const;
  // The place of the shard below which every program is settled.
  [[nodiscard]] std::uint64_t settled() const { return settled_below(*deal_, boards()); }

 private:
  struct Worker {
    Child child;
    Board* board = nullptr;
    Share share;
    std::string program;  // that it judges now, as for News
    bool finished = false;
    std::uint64_t again = kNothingLeft;  // the place that was judged again because the worker was ended from outside
  };
  using Place = std::optional<std::uint64_t>;
  [[nodiscard]] hip::Status start(Worker& worker, Place again = {});
  void read(Worker& worker);
  void lost(Worker& worker, const std::string& how);
  void judge_again(Worker& worker);
  void go_on(Worker& worker, Place again = {});

  const CampaignOptions& options_;
  Setup& setup_;
  const Corpus& corpus_;
  Found& found_;
  verify::CampaignResult& result_;
  const News news_;
  Board* boards_ = nullptr;
  Deal* deal_ = nullptr;
  std::vector<Worker> workers_;
  bool stopped_ = false;
};

}  // namespace fuzz
