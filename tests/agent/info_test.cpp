// The values that agents report and that AMD's runtime cannot do without.
#include <hsa/hsa_ext_image.h>

#include <algorithm>
#include <array>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

struct InfoTest : AgentTest {
  template <class T>
  T info(hsa_agent_t agent, int attribute) {
    T value{};
    EXPECT_HSA(hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value));
    return value;
  }
};

TEST_F(InfoTest, AGfx942HasOneInstructionSet) {
  std::vector<hsa_isa_t> isas;
  const auto add = [](hsa_isa_t isa, void* list) {
    static_cast<std::vector<hsa_isa_t>*>(list)->push_back(isa);
    return HSA_STATUS_SUCCESS;
  };
  ASSERT_HSA(hsa_agent_iterate_isas(gpu(), add, &isas));
  ASSERT_EQ(isas.size(), 1u);
  uint32_t length = 0;
  ASSERT_HSA(hsa_isa_get_info_alt(isas[0], HSA_ISA_INFO_NAME_LENGTH, &length));
  std::string name(length, 'x');
  ASSERT_HSA(hsa_isa_get_info_alt(isas[0], HSA_ISA_INFO_NAME, name.data()));
  EXPECT_STREQ(name.c_str(), "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
}

TEST_F(InfoTest, AGfx942IsADiscreteGpuOfWavesOf64) {
  EXPECT_EQ(info<uint32_t>(gpu(), HSA_AGENT_INFO_DEVICE), uint32_t{HSA_DEVICE_TYPE_GPU});
  EXPECT_EQ(info<uint32_t>(host(), HSA_AGENT_INFO_DEVICE), uint32_t{HSA_DEVICE_TYPE_CPU});
  EXPECT_EQ(info<uint32_t>(gpu(), HSA_AGENT_INFO_WAVEFRONT_SIZE), 64u);
  EXPECT_EQ(info<uint32_t>(gpu(), HSA_AGENT_INFO_WORKGROUP_MAX_SIZE), 1024u);
  EXPECT_TRUE(info<bool>(gpu(), HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES));
  EXPECT_EQ((info<std::array<uint8_t, 8>>(gpu(), HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES)), (std::array<uint8_t, 8>{}));
}

TEST_F(InfoTest, ImagesAreReportedButNotMade) {
  const auto bits = info<std::array<uint8_t, 128>>(gpu(), HSA_AGENT_INFO_EXTENSIONS);
  EXPECT_NE(bits[0] & (1 << HSA_EXTENSION_IMAGES), 0);
  EXPECT_NE(info<uint32_t>(gpu(), HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT), 0u);
  hsa_ext_image_t image{};
  hsa_ext_image_descriptor_t descriptor{};
  EXPECT_NE(hsa_ext_image_create(gpu(), &descriptor, &descriptor, HSA_ACCESS_PERMISSION_RW, &image),
            HSA_STATUS_SUCCESS);
}

TEST_F(InfoTest, EightAgentsHaveIdentitiesOfTheirOwn) {
  restart_with(&hgagent_options::agents, 8);
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < gpus(); ++i) {
    seen.push_back(info<std::array<char, 21>>(gpu(i), HSA_AMD_AGENT_INFO_UUID).data());
    seen.push_back("bdf " + std::to_string(info<uint32_t>(gpu(i), HSA_AMD_AGENT_INFO_BDFID)));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.back().substr(0, 3), "bdf");
}

TEST_F(InfoTest, UnknownAttributesAndAgentsAreErrors) {
  uint64_t value = 0;
  EXPECT_EQ(hsa_agent_get_info(gpu(), static_cast<hsa_agent_info_t>(0x7777), &value),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_agent_get_info({1}, HSA_AGENT_INFO_NODE, &value), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_agent_get_info(gpu(), HSA_AGENT_INFO_NODE, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(InfoTest, EveryStatusHasAText) {
  for (const int status : {0, 0x1000, 0x1008, 0x1016, 43, 0x1fff}) {
    const char* text = nullptr;
    ASSERT_HSA(hsa_status_string(static_cast<hsa_status_t>(status), &text));
    EXPECT_NE(text, nullptr);
  }
}

}  // namespace
}  // namespace agent_test
