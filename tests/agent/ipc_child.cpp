// Another process of ipc_test: it attaches memory that the test shares, or shares memory that the test attaches.
//
//   agent_ipc_child use HANDLE WORDS   the memory holds 0, 1, 2...; 1,000 is added to each word
//   agent_ipc_child share WORDS        prints a handle of such memory of the second gfx942, then waits for the end of
//                                      its input
//
// Ends with 0, 2 when the memory holds something else, or 3 when a function fails.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hip/agent/configure.h"

namespace {

void need(bool succeeded) {
  if (!succeeded) std::exit(3);
}

hsa_amd_ipc_memory_t handle_of(const std::string& text) {
  hsa_amd_ipc_memory_t handle{};
  for (std::size_t i = 0; i < 8; ++i) {
    handle.handle[i] = static_cast<std::uint32_t>(std::stoul(text.substr(i * 8, 8), nullptr, 16));
  }
  return handle;
}

int use(const hsa_amd_ipc_memory_t& handle, std::size_t words) {
  void* mapped = nullptr;
  need(hsa_amd_ipc_memory_attach(&handle, words * 4, 0, nullptr, &mapped) == HSA_STATUS_SUCCESS);
  auto* memory = static_cast<std::uint32_t*>(mapped);
  for (std::uint32_t i = 0; i < words; ++i) {
    if (memory[i] != i) return 2;
    memory[i] += 1000;
  }
  need(hsa_amd_ipc_memory_detach(mapped) == HSA_STATUS_SUCCESS);
  return 0;
}

int share(std::size_t words) {
  std::vector<hsa_agent_t> agents;
  const auto add = [](hsa_agent_t agent, void* list) {
    static_cast<std::vector<hsa_agent_t>*>(list)->push_back(agent);
    return HSA_STATUS_SUCCESS;
  };
  need(hsa_iterate_agents(add, &agents) == HSA_STATUS_SUCCESS && agents.size() == 3);
  const auto first = [](hsa_amd_memory_pool_t pool, void* found) {
    *static_cast<hsa_amd_memory_pool_t*>(found) = pool;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa_amd_memory_pool_t pool{};
  need(hsa_amd_agent_iterate_memory_pools(agents[2], first, &pool) == HSA_STATUS_INFO_BREAK);
  void* memory = nullptr;
  need(hsa_amd_memory_pool_allocate(pool, words * 4, 0, &memory) == HSA_STATUS_SUCCESS);
  for (std::uint32_t i = 0; i < words; ++i) static_cast<std::uint32_t*>(memory)[i] = i;
  hsa_amd_ipc_memory_t handle{};
  need(hsa_amd_ipc_memory_create(memory, words * 4, &handle) == HSA_STATUS_SUCCESS);
  for (const std::uint32_t part : handle.handle) std::printf("%08x", part);
  std::printf("\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {}
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  hgagent_options options;
  hgagent_defaults(&options);
  options.agents = 2;
  need(words.size() >= 3 && hgagent_configure(&options) == 0 && hsa_init() == HSA_STATUS_SUCCESS);
  const int status =
      words[1] == "use" ? use(handle_of(words[2]), std::stoul(words.at(3))) : share(std::stoul(words[2]));
  need(hsa_shut_down() == HSA_STATUS_SUCCESS);
  return status;
}
