// librocm_smi64 of the agent: devices and links as HSA reports them, errors, and what RCCL is told.
#include <gtest/gtest.h>
#include <hsa/hsa.h>

#include <cstdint>
#include <cstdlib>

#include "hip/agent/configure.h"

extern "C" {
int rsmi_init(std::uint64_t flags);
int rsmi_shut_down();
int rsmi_num_monitor_devices(std::uint32_t* number);
int rsmi_dev_pci_id_get(std::uint32_t index, std::uint64_t* id);
int rsmi_dev_firmware_version_get(std::uint32_t index, int block, std::uint64_t* version);
int rsmi_topo_get_link_type(std::uint32_t from, std::uint32_t to, std::uint64_t* hops, int* type);
int rsmi_topo_get_link_weight(std::uint32_t from, std::uint32_t to, std::uint64_t* weight);
int rsmi_status_string(int status, const char** text);
}

namespace {

constexpr int kInvalid = 1;
constexpr int kNotInitialized = 8;
constexpr int kXgmi = 2;

struct RocmSmiTest : testing::Test {
  static void begin(std::uint32_t agents) {
    hgagent_options options;
    hgagent_defaults(&options);
    options.agents = agents;
    ASSERT_EQ(hgagent_configure(&options), 0);
    ASSERT_EQ(rsmi_init(0), 0);
  }
};

TEST_F(RocmSmiTest, DevicesAreTheAgentsAndTheirLinksAreXgmi) {
  begin(3);
  std::uint32_t number = 0;
  ASSERT_EQ(rsmi_num_monitor_devices(&number), 0);
  ASSERT_EQ(number, 3u);
  for (std::uint32_t i = 0; i < number; ++i) {
    std::uint64_t id = 0;
    ASSERT_EQ(rsmi_dev_pci_id_get(i, &id), 0);
    EXPECT_EQ(id, (i + 1) << 8) << "the BDF id of agent " << i + 1;
    for (std::uint32_t j = 0; j < number; ++j) {
      std::uint64_t hops = 0;
      std::uint64_t weight = 0;
      int type = 0;
      const int status = i == j ? kInvalid : 0;
      EXPECT_EQ(rsmi_topo_get_link_type(i, j, &hops, &type), status);
      EXPECT_EQ(rsmi_topo_get_link_weight(i, j, &weight), status);
      EXPECT_EQ(type, i == j ? 0 : kXgmi);
      EXPECT_EQ(weight, i == j ? 0u : 15u);
    }
  }
  begin(1);
  ASSERT_EQ(rsmi_num_monitor_devices(&number), 0);
  EXPECT_EQ(number, 1u) << "rsmi_init reads the devices anew";
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED) << "the library keeps no initialisation of HSA";
}

TEST_F(RocmSmiTest, RcclNeedsNoEnvironmentVariable) {
  begin(1);
  std::uint64_t version = 0;
  ASSERT_EQ(rsmi_dev_firmware_version_get(0, 0, &version), 0);
  EXPECT_GE(version, 177u) << "RCCL asks for HSA_NO_SCRATCH_RECLAIM below";
  EXPECT_STREQ(std::getenv("RCCL_USE_ROCM_SMI_LIB"), "1");
}

TEST_F(RocmSmiTest, WrongArgumentsAreErrors) {
  begin(2);
  std::uint64_t value = 0;
  EXPECT_EQ(rsmi_dev_pci_id_get(2, &value), kInvalid);
  EXPECT_EQ(rsmi_dev_pci_id_get(0, nullptr), kInvalid);
  EXPECT_EQ(rsmi_topo_get_link_weight(0, 2, &value), kInvalid);
  EXPECT_EQ(rsmi_topo_get_link_type(0, 1, &value, nullptr), kInvalid);
  const char* text = nullptr;
  EXPECT_EQ(rsmi_status_string(kInvalid, &text), 0);
  EXPECT_NE(text, nullptr);
  EXPECT_EQ(rsmi_shut_down(), 0);
  EXPECT_EQ(rsmi_shut_down(), kNotInitialized);
  EXPECT_EQ(rsmi_dev_pci_id_get(0, &value), kNotInitialized);
}

}  // namespace
