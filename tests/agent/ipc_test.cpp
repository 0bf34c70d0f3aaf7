// Memory that processes share: handles within a process and of another one that was started anew, their end, and
// handles that are refused.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

constexpr size_t kWords = 10'000;  // no multiple of a page

// ipc_child.cpp, with pipes to its input and from its output.
class OtherProcess {
 public:
  explicit OtherProcess(std::vector<std::string> arguments) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), AGENT_IPC_CHILD);
    std::vector<char*> list;
    for (std::string& argument : arguments) list.push_back(argument.data());
    list.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      execv(list[0], list.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    output_ = out[0];
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    if (process_ > 0) static_cast<void>(end());
    close(output_);
  }
  [[nodiscard]] hsa_amd_ipc_memory_t handle() const {
    std::string text(64, '\0');
    size_t have = 0;
    for (ssize_t got = 1; have < text.size() && got > 0; have += static_cast<size_t>(got > 0 ? got : 0)) {
      got = read(output_, text.data() + have, text.size() - have);
    }
    EXPECT_EQ(have, text.size()) << "the other process printed no handle";
    hsa_amd_ipc_memory_t handle{};
    for (size_t i = 0; i < 8 && have == text.size(); ++i) {
      handle.handle[i] = static_cast<uint32_t>(std::stoul(text.substr(i * 8, 8), nullptr, 16));
    }
    return handle;
  }
  // Its exit status, or -1.
  [[nodiscard]] int end() {
    close(input_);
    int status = 0;
    const bool exited = waitpid(process_, &status, 0) == process_ && WIFEXITED(status);
    process_ = 0;
    return exited ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = 0;
  int input_ = -1;
  int output_ = -1;
};

std::string text_of(const hsa_amd_ipc_memory_t& handle) {
  std::string text;
  for (const uint32_t part : handle.handle) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", part);
    text += digits.data();
  }
  return text;
}

// Descriptors and mappings of memory files.
size_t memory_files() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(entry.path(), gone).string().find("hgagent-shared") != std::string::npos;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("hgagent-shared") != std::string::npos;
  return count;
}

struct IpcTest : AgentTest {
  void SetUp() override {
    AgentTest::SetUp();
    restart_with(&hgagent_options::agents, 2);
    memory_ = allocate(kWords);
    for (uint32_t i = 0; i < kWords; ++i) memory_[i] = i;
  }
  hsa_amd_ipc_memory_t share() {
    hsa_amd_ipc_memory_t handle{};
    EXPECT_HSA(hsa_amd_ipc_memory_create(memory_, kWords * 4, &handle));
    return handle;
  }
  static hsa_status_t attach(const hsa_amd_ipc_memory_t& handle, uint32_t** mapped, size_t bytes = kWords * 4) {
    void* at = nullptr;
    const hsa_status_t status = hsa_amd_ipc_memory_attach(&handle, bytes, 0, nullptr, &at);
    *mapped = static_cast<uint32_t*>(at);
    return status;
  }
  // Whether the handle is refused with a text that has these words.
  static void expect_refused(const hsa_amd_ipc_memory_t& handle, const std::string& why, size_t bytes = kWords * 4) {
    uint32_t* mapped = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(attach(handle, &mapped, bytes), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_EQ(mapped, nullptr);
  }
  uint32_t* memory_ = nullptr;
};

TEST_F(IpcTest, AHandleIsTheSameMemoryAtOtherAddresses) {
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(share(), &mapped));
  EXPECT_NE(mapped, memory_);
  EXPECT_EQ(mapped[kWords - 1], kWords - 1);
  ASSERT_TRUE(run(create_queue(64, 1), "store_value", mapped, 77u));
  EXPECT_EQ(*memory_, 77u);
  ASSERT_TRUE(run(create_queue(), "store_value", memory_ + 1, 78u));
  EXPECT_EQ(mapped[1], 78u);
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 0u);
  EXPECT_HSA(hsa_amd_ipc_memory_detach(mapped));
}

TEST_F(IpcTest, AnAttachedPointerIsDescribedAsSuch) {
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(share(), &mapped));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  ASSERT_HSA(hsa_amd_pointer_info(mapped + 1, &info, nullptr, nullptr, nullptr));
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_IPC);
  EXPECT_EQ(info.agentBaseAddress, mapped);
  EXPECT_EQ(info.sizeInBytes, kWords * 4);
  EXPECT_EQ(info.agentOwner.handle, gpu().handle);
  EXPECT_EQ(hsa_amd_memory_pool_free(mapped), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(IpcTest, OnlyTheAgentsOfTheListMayAccessAttachedMemory) {
  const hsa_amd_ipc_memory_t handle = share();
  const hsa_agent_t first = gpu();
  void* mapped = nullptr;
  ASSERT_HSA(hsa_amd_ipc_memory_attach(&handle, kWords * 4, 1, &first, &mapped));
  ASSERT_TRUE(run(create_queue(64, 0), "store_value", static_cast<uint32_t*>(mapped), 5u));
  EXPECT_EQ(*memory_, 5u);
  ASSERT_TRUE(run(create_queue(64, 1), "store_value", static_cast<uint32_t*>(mapped), 6u));
  EXPECT_NE(last_fault().find("agent 2 may not write allocation"), std::string::npos) << last_fault();
  EXPECT_EQ(*memory_, 5u);
}

TEST_F(IpcTest, AnotherProcessReadsAndWritesSharedMemory) {
  EXPECT_EQ(OtherProcess({"use", text_of(share()), std::to_string(kWords)}).end(), 0);
  for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(memory_[i], i + 1000);
  ASSERT_TRUE(run(create_queue(), "store_value", memory_, 0u));
  EXPECT_EQ(*memory_, 0u);
}

TEST_F(IpcTest, KernelsUseMemoryOfAnotherProcessWhichOutlivesIt) {
  OtherProcess other({"share", std::to_string(kWords)});
  const hsa_amd_ipc_memory_t handle = other.handle();
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(handle, &mapped));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  ASSERT_HSA(hsa_amd_pointer_info(mapped, &info, nullptr, nullptr, nullptr));
  EXPECT_EQ(info.agentOwner.handle, gpu(1).handle);
  ASSERT_TRUE(run(create_queue(), "copy_value", memory_, mapped + 9));
  EXPECT_EQ(*memory_, 9u);
  EXPECT_EQ(other.end(), 0);
  ASSERT_TRUE(run(create_queue(), "copy_value", memory_, mapped + 10));
  EXPECT_EQ(*memory_, 10u);
  expect_refused(handle, "its process has ended");
  EXPECT_HSA(hsa_amd_ipc_memory_detach(mapped));
  EXPECT_EQ(memory_files(), 0u);
}

TEST_F(IpcTest, AProcessWithFewerAgentsDoesNotGetTheMemoryOfTheOthers) {
  restart_with(&hgagent_options::agents, 1);
  OtherProcess other({"share", std::to_string(kWords)});
  expect_refused(other.handle(), "a gfx942 that this process does not have");
  EXPECT_EQ(other.end(), 0);
}

TEST_F(IpcTest, AHandleOfFreedMemoryIsRefusedAndAttachedMemoryStays) {
  const hsa_amd_ipc_memory_t handle = share();
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(handle, &mapped));
  ASSERT_HSA(hsa_amd_memory_pool_free(memory_));
  expect_refused(handle, "the allocation is freed");
  EXPECT_EQ(mapped[100], 100u);
  // The next allocation has the old addresses, and memory of its own. Its descriptor may be the old one, too.
  auto* next = allocate(kWords);
  EXPECT_EQ(next, memory_);
  next[100] = 1;
  EXPECT_EQ(mapped[100], 100u);
  hsa_amd_ipc_memory_t second{};
  ASSERT_HSA(hsa_amd_ipc_memory_create(next, kWords * 4, &second));
  expect_refused(handle, "the allocation is freed");
  uint32_t* again = nullptr;
  ASSERT_HSA(attach(second, &again));
  EXPECT_EQ(again[100], 1u);
}

TEST_F(IpcTest, WhatIsNoWholeAllocationOfDeviceMemoryIsNotShared) {
  hsa_amd_ipc_memory_t handle{};
  auto* host_memory = allocate(kWords, PoolKind::kFine);
  for (const auto& [pointer, bytes] :
       {std::pair<void*, size_t>{memory_ + 1, kWords * 4}, {memory_, 4096}, {host_memory, kWords * 4}, {&handle, 64}}) {
    EXPECT_EQ(hsa_amd_ipc_memory_create(pointer, bytes, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT) << bytes;
  }
  EXPECT_EQ(hsa_amd_ipc_memory_create(memory_, kWords * 4, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_HSA(hsa_amd_ipc_memory_create(memory_, kWords * 4, &handle));
}

TEST_F(IpcTest, AWrongHandleLengthOrPointerIsRefused) {
  const hsa_amd_ipc_memory_t handle = share();
  hsa_amd_ipc_memory_t other = handle;
  other.handle[0] ^= 1;
  expect_refused(other, "no handle of this agent");
  expect_refused(handle, "another length", kWords * 4 + 4096);
  void* mapped = nullptr;
  EXPECT_EQ(hsa_amd_ipc_memory_attach(nullptr, kWords * 4, 0, nullptr, &mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, kWords * 4, 0, nullptr, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const hsa_agent_t nobody{1};
  EXPECT_EQ(hsa_amd_ipc_memory_attach(&handle, kWords * 4, 1, &nobody, &mapped), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_ipc_memory_detach(memory_), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(IpcTest, DetachedMemoryIsGoneForKernelsAndForASecondDetach) {
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(share(), &mapped));
  ASSERT_HSA(hsa_amd_ipc_memory_detach(mapped));
  EXPECT_EQ(hsa_amd_ipc_memory_detach(mapped), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(run(create_queue(), "store_value", mapped, 1u));
  EXPECT_NE(last_fault().find("memory shared by a process"), std::string::npos) << last_fault();
}

TEST_F(IpcTest, NothingIsLeftOfSharingAndAttaching) {
  for (int round = 0; round < 300; ++round) {
    const hsa_amd_ipc_memory_t handle = share();
    EXPECT_EQ(text_of(handle), text_of(share())) << "an allocation has one handle";
    uint32_t* mapped = nullptr;
    ASSERT_HSA(attach(handle, &mapped));
    if (round % 2 == 0) {
      ASSERT_HSA(hsa_amd_ipc_memory_detach(mapped));
    }
    ASSERT_HSA(hsa_amd_memory_pool_free(memory_));
    if (round % 2 != 0) {
      ASSERT_HSA(hsa_amd_ipc_memory_detach(mapped));
    }
    ASSERT_EQ(memory_files(), 0u);
    memory_ = allocate(kWords);
  }
  static_cast<void>(share());
  EXPECT_EQ(memory_files(), 2u);
  TearDown();
  EXPECT_EQ(memory_files(), 0u) << "the machine's end is the end of all of it";
  SetUp();
}

// The kernel runs until it is told to end, so it runs while its memory moves. Stepped, it runs when somebody waits for
// its end, which is after the move: only the bytes are checked then.
TEST_F(IpcTest, NoWriteOfARunningKernelIsLostWhileMemoryIsBeingShared) {
  hsa_queue_t* queue = create_queue();
  for (int round = 0; round < 20; ++round) {
    auto* counter = allocate_zeros(kWords);
    auto* others = allocate_zeros(2, PoolKind::kFine);
    std::atomic_ref<uint32_t> count(*counter);
    std::atomic_ref<uint32_t> flag(others[0]);
    const Signal done;
    launch(queue, "count_until_store", {.items = 64, .completion = done.get()}, counter, others, others + 1);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kLong);
    while (AGENT_STEPPED == 0 && count.load() == 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    const bool runs = count.load() != 0 && done.value() == 1;
    hsa_amd_ipc_memory_t handle{};
    const hsa_status_t created = hsa_amd_ipc_memory_create(counter, kWords * 4, &handle);
    flag.store(1);
    ASSERT_TRUE(done.done());
    ASSERT_HSA(created);
    ASSERT_EQ(runs, AGENT_STEPPED == 0) << last_fault();
    ASSERT_EQ(count.load(), others[1]) << "round " << round;
    ASSERT_HSA(hsa_amd_memory_pool_free(counter));
    ASSERT_HSA(hsa_amd_memory_pool_free(others));
  }
}

TEST_F(IpcTest, AHandleOfAnotherFileOrSizeIsRefused) {
  hsa_amd_ipc_memory_t other = share();
  other.handle[4] += 4096;
  expect_refused(other, "its file has another size", kWords * 4 + 4096);
  other.handle[4] = other.handle[5] = ~0u;
  expect_refused(other, "no handle of this agent", ~size_t{0});
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  struct stat about{};
  ASSERT_EQ(ftruncate(fileno(file), 10 * 4096), 0);
  ASSERT_EQ(fstat(fileno(file), &about), 0);
  other = share();
  other.handle[2] = static_cast<uint32_t>(fileno(file));
  std::memcpy(&other.handle[6], &about.st_ino, 8);
  expect_refused(other, "the allocation is freed");
  std::fclose(file);
}

// The next allocation would have the addresses of the last one that was freed.
TEST_F(IpcTest, AddressesThatStaySharedAreNotAllocatedAgain) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
#endif
  uint32_t* mapped = nullptr;
  ASSERT_HSA(attach(share(), &mapped));
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &usual), 0);
  const rlimit none{0, usual.rlim_max};
  testing::internal::CaptureStderr();
  setrlimit(RLIMIT_AS, &none);  // mmap fails from here on
  const hsa_status_t freed = hsa_amd_memory_pool_free(memory_);
  setrlimit(RLIMIT_AS, &usual);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_HSA(freed);
  EXPECT_NE(said.find("40000 bytes stay shared and are lost"), std::string::npos) << said;
  auto* next = allocate(kWords);
  EXPECT_NE(next, memory_);
  next[100] = 1;
  EXPECT_EQ(mapped[100], 100u);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory_), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

}  // namespace
}  // namespace agent_test
