#include "verify/generate/environments.h"

#include <algorithm>
#include <span>
#include <vector>

#include "verify/generate/generator.h"

namespace verify {

namespace {

struct RuntimeSetting {
  std::string_view name;
  std::vector<std::string_view> values;  // other than the default
};

std::span<const RuntimeSetting> amd_settings() {
  static const std::vector<RuntimeSetting> settings = {
      {"AMD_DIRECT_DISPATCH", {"0"}},
      {"AMD_SERIALIZE_COPY", {"1", "2", "3"}},
      {"AMD_SERIALIZE_KERNEL", {"1", "2", "3"}},
      {"DEBUG_CLR_BATCH_CPU_SYNC_SIZE", {"1"}},
      {"DEBUG_CLR_BLIT_KERNARG_OPT", {"1"}},
      {"DEBUG_CLR_GRAPH_PACKET_CAPTURE", {"0"}},  // 6.4 only
      {"DEBUG_CLR_LIMIT_BLIT_WG", {"1"}},
      {"DEBUG_CLR_MAX_BATCH_SIZE", {"1", "16"}},
      {"DEBUG_HIP_DYNAMIC_QUEUES", {"0"}},
      {"DEBUG_HIP_FORCE_ASYNC_QUEUE", {"1"}},
      {"DEBUG_HIP_FORCE_GRAPH_QUEUES", {"1", "2", "8"}},
      {"DEBUG_HIP_GRAPH_BATCH_SIZE", {"1"}},               // 7.2 only
      {"DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING", {"0", "1"}},  // 7.2 only
      {"DEBUG_HIP_KERNARG_COPY_OPT", {"0"}},
      {"GPU_FORCE_BLIT_COPY_SIZE", {"0", "1024"}},
      {"GPU_MAX_HW_QUEUES", {"1", "2", "8"}},
      {"HIP_FORCE_DEV_KERNARG", {"0", "1"}},
      {"HIP_HOST_COHERENT", {"1"}},
      {"HIP_LAUNCH_BLOCKING", {"1"}},
      {"HIP_MEM_POOL_USE_VM", {"0"}},
      {"ROC_AQL_QUEUE_SIZE", {"1024"}},
      {"ROC_CPU_WAIT_FOR_SIGNAL", {"0"}},
      {"ROC_SIGNAL_POOL_SIZE", {"1", "4096"}},
      {"ROC_SYSTEM_SCOPE_SIGNAL", {"0"}},
      {"ROC_USE_FGS_KERNARG", {"0"}},
  };
  return settings;
}

std::span<const RuntimeSetting> nvidia_settings() {
  static const std::vector<RuntimeSetting> settings = {
      {"CUDA_DEVICE_MAX_CONNECTIONS", {"1", "2", "32"}},
      {"CUDA_LAUNCH_BLOCKING", {"1"}},
      {"CUDA_MODULE_LOADING", {"EAGER"}},
  };
  return settings;
}

}  // namespace

Environment campaign_environment(const Environments& environments, std::uint64_t seed, std::uint64_t index) {
  Environment environment = environments.stated;
  if (environments.drawn_from == DrawnFrom::kNothing) return environment;
  constexpr std::uint64_t kApartFromPrograms = 0x656e7669726f6e6d;
  const std::uint64_t set = index / kProgramsWithSameSets * kSetsAtATime + index % kSetsAtATime;
  RandomChoices choices = campaign_choices(seed ^ kApartFromPrograms, set);
  const auto settings = environments.drawn_from == DrawnFrom::kAmd ? amd_settings() : nvidia_settings();
  for (std::uint64_t left = choices.between(1, 2); left > 0; --left) {
    const RuntimeSetting& setting = settings[choices.below(settings.size())];
    const std::string_view value = setting.values[choices.below(setting.values.size())];
    environment.try_emplace(std::string(setting.name), value);
  }
  return environment;
}

bool is_runtime_setting(std::string_view name) {
  const auto has = [name](std::span<const RuntimeSetting> settings) {
    return std::ranges::find(settings, name, &RuntimeSetting::name) != settings.end();
  };
  return has(amd_settings()) || has(nvidia_settings());
}

}  // namespace verify
