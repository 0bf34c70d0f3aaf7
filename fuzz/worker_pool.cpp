#include "fuzz/worker_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "verify/execute/death.h"
#include "verify/properties/property.h"

namespace fuzz {

namespace {

constexpr double kMaxRunsAJudgement = 100;  // each call failing in turn, equal variants, telling causes apart

// Null when there is no memory.
void* shared_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// With these signals the kernel and cluster schedulers end processes, whatever their program does.
bool ended_from_outside(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

}  // namespace

WorkerPool::~WorkerPool() {
  if (boards_ != nullptr) munmap(boards_, options_.jobs * sizeof(Board));
  if (deal_ != nullptr) munmap(deal_, sizeof(Deal));
}

hip::Status WorkerPool::start(std::uint64_t first_place) {
  void* boards = shared_memory(options_.jobs * sizeof(Board));
  void* deal = shared_memory(sizeof(Deal));
  if (boards == nullptr || deal == nullptr)
    return hip::Error{1, fmt::format("no shared memory for the workers: {}", std::strerror(errno))};
  boards_ = static_cast<Board*>(boards);
  deal_ = new (deal) Deal();
  deal_->next.store(first_place);
  workers_.resize(options_.jobs);
  for (unsigned i = 0; i < options_.jobs; ++i) {
    workers_[i].board = new (boards_ + i) Board();
    workers_[i].board->unsettled.store(first_place);
    // Shard s of n takes the programs whose index is s - 1 modulo n.
    workers_[i].share = {options_.shard - 1, options_.shards,
                         options_.programs == 0 ? ~std::uint64_t{0} : options_.programs, deal_};
    if (hip::Status status = start(workers_[i]); !status) return status;
  }
  return {};
}

hip::Status WorkerPool::start(Worker& worker, Place again) {
  const std::string program = std::exchange(worker.program, "");
  hip::Result<Child> child = Child::start([&](int fd) {
    found_.leave_memory();
    run_worker(setup_,
               {options_.seed, options_.size, worker.share, &corpus_, options_.shared_corpus,
                options_.guided_by_runtime, again, program},
               *worker.board, fd);
  });
  if (!child) return child.error();
  worker.child = std::move(child).value();
  return {};
}

std::vector<const Child*> WorkerPool::children() const {
  std::vector<const Child*> children;
  for (const Worker& worker : workers_) children.push_back(&worker.child);
  return children;
}

std::vector<const Board*> WorkerPool::boards() const {
  std::vector<const Board*> boards;
  for (const Worker& worker : workers_) boards.push_back(worker.board);
  return boards;
}

bool WorkerPool::finished() const {
  return std::ranges::all_of(workers_, &Worker::finished);
}

void WorkerPool::read() {
  for (Worker& worker : workers_) read(worker);
}

void WorkerPool::read(Worker& worker) {
  worker.child.read([&](const nlohmann::json& line) {
    if (line.value("kind", "") != "judging") return news_(line, worker.program);
    worker.program = line.value("program", "");
  });
}

void WorkerPool::reap() {
  for (Worker& worker : workers_) {
    const std::optional<int> status = worker.child.ended();
    if (!status) continue;
    read(worker);
    worker.child = {};
    if (worker.board->done.load() != 0 || stopped_) {
      worker.finished = true;
    } else if (WIFEXITED(*status) && WEXITSTATUS(*status) == kRestart) {
      go_on(worker);
    } else if (ended_from_outside(*status) && worker.again != worker.board->unsettled.load()) {
      judge_again(worker);
    } else {
      lost(worker, verify::death_of(*status).text());
    }
  }
}

// The worker's program is a finding, and the work continues with the next program.
void WorkerPool::lost(Worker& worker, const std::string& how) {
  Board& board = *worker.board;
  const std::uint64_t index = board.index.load();
  board.busy_since_ns.store(0);
  board.verdicts[static_cast<std::size_t>(verify::VerdictKind::kDiverge)].fetch_add(1);
  board.violated[static_cast<std::size_t>(verify::PropertyId::kP11)].fetch_add(1);
  found_.note({index, "P11", fmt::format("P11 process {}", how), 1, how, worker.program});
  go_on(worker);
}

void WorkerPool::judge_again(Worker& worker) {
  worker.board->busy_since_ns.store(0);
  worker.again = worker.board->unsettled.load();
  go_on(worker, worker.again);
}

void WorkerPool::go_on(Worker& worker, Place again) {
  if (const hip::Status status = start(worker, again); !status) {
    result_.messages.push_back(status.error().message);
    worker.finished = true;
  }
}

void WorkerPool::watch() {
  // A subject process is watched by its runner, run by run; this limit is for the worker process.
  const double limit = options_.setup.program_timeout * (setup_.contained() ? kMaxRunsAJudgement : 1);
  for (Worker& worker : workers_) {
    const std::uint64_t busy = worker.board->busy_since_ns.load(std::memory_order_acquire);
    // The worker's clock may be read just before it moves on: look twice, a poll apart, before killing.
    if (!worker.child.is_running() || busy == 0) continue;
    if (seconds_since(std::min(busy, steady_ns())) < limit) continue;
    worker.child.kill();
    worker.child.wait();
    read(worker);
    worker.child = {};
    lost(worker, verify::Death{verify::Death::Kind::kHung}.text());
  }
}

void WorkerPool::stop() {
  stopped_ = true;
  for (const Worker& worker : workers_) worker.child.kill();
}

void WorkerPool::wait() {
  for (Worker& worker : workers_) worker.child.wait();
}

}  // namespace fuzz
