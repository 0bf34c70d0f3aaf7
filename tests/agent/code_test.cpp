// Executables: symbols, variables, relocations, addresses of their own, and decoding once.
#include <elf.h>

#include <fstream>
#include <set>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

size_t mappings_of_code_files() {
  size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("hgagent-code") != std::string::npos;
  return count;
}

struct CodeTest : AgentTest {
  hsa_executable_t loaded(const std::vector<std::byte>& bytes, hsa_status_t expected = HSA_STATUS_SUCCESS) {
    const hsa_executable_t executable = create_executable();
    EXPECT_EQ(load(executable, bytes), expected);
    return executable;
  }
  template <class T>
  T info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute) {
    T value{};
    EXPECT_HSA(hsa_executable_symbol_get_info(symbol, attribute, &value));
    return value;
  }
  hsa_executable_symbol_t symbol(hsa_executable_t executable, const char* name) {
    const hsa_agent_t where = gpu();
    hsa_executable_symbol_t found{0};
    EXPECT_HSA(hsa_executable_get_symbol_by_name(executable, name, &where, &found));
    return found;
  }
};

TEST_F(CodeTest, VariablesHaveAddressesAndTheirInitialValues) {
  const hsa_executable_t executable = loaded(file_bytes(AGENT_KERNELS));
  const hsa_executable_symbol_t table = symbol(executable, "table");
  EXPECT_EQ(info<uint32_t>(table, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), uint32_t{HSA_SYMBOL_KIND_VARIABLE});
  EXPECT_EQ(info<uint32_t>(table, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 16u);
  const auto* values =
      reinterpret_cast<const uint32_t*>(info<uint64_t>(table, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  EXPECT_EQ(std::vector<uint32_t>(values, values + 4), (std::vector<uint32_t>{10, 20, 30, 40}));
  const auto* pointer = reinterpret_cast<const uint32_t* const*>(
      info<uint64_t>(symbol(executable, "pointer_to_table"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  EXPECT_EQ(*pointer, values + 1) << "a relocation";
  EXPECT_HSA(hsa_executable_destroy(executable));
}

TEST_F(CodeTest, KernelsReadVariablesThatTheHostWrote) {
  auto* out = allocate_zeros(4);
  hsa_queue_t* queue = create_queue();
  static_cast<void>(kernel("add_table"));
  auto* table = reinterpret_cast<uint32_t*>(
      info<uint64_t>(symbol(executable(), "table"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  table[1] = 200;
  ASSERT_TRUE(run(queue, "add_table", out));
  EXPECT_EQ(out[0], 10u + 200u);
}

TEST_F(CodeTest, KernelSymbolsTellTheirSegments) {
  const hsa_executable_t executable = loaded(file_bytes(AGENT_KERNELS));
  const hsa_executable_symbol_t k = symbol(executable, "store_index.kd");
  EXPECT_EQ(info<uint32_t>(k, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), uint32_t{HSA_SYMBOL_KIND_KERNEL});
  EXPECT_GE(info<uint32_t>(k, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 12u);
  EXPECT_EQ(info<uint32_t>(k, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 0u);
  EXPECT_EQ(info<uint32_t>(k, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 14u);
  EXPECT_EQ(info<hsa_agent_t>(k, HSA_EXECUTABLE_SYMBOL_INFO_AGENT).handle, gpu().handle);
  EXPECT_HSA(hsa_executable_destroy(executable));
}

TEST_F(CodeTest, AllSymbolsAreIterated) {
  const hsa_executable_t executable = loaded(file_bytes(AGENT_KERNELS));
  std::set<std::string> names;
  const auto add = [](hsa_executable_t, hsa_executable_symbol_t s, void* data) {
    char name[256] = {};
    EXPECT_HSA(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    static_cast<std::set<std::string>*>(data)->insert(name);
    return HSA_STATUS_SUCCESS;
  };
  ASSERT_HSA(hsa_executable_iterate_symbols(executable, add, &names));
  EXPECT_TRUE(names.contains("table"));
  EXPECT_TRUE(names.contains("append.kd"));
  EXPECT_HSA(hsa_executable_destroy(executable));
}

TEST_F(CodeTest, TheSameCodeIsDecodedOnceAndLoadedAtAddressesOfItsOwn) {
  const std::vector<std::byte> bytes = file_bytes(AGENT_KERNELS);
  const hsa_executable_t first = loaded(bytes);
  const uint64_t decoded = hgagent_counters(HGAGENT_DECODED_OBJECTS);
  const hsa_executable_t second = loaded(bytes);
  EXPECT_EQ(hgagent_counters(HGAGENT_DECODED_OBJECTS), decoded);
  EXPECT_EQ(hgagent_counters(HGAGENT_EXECUTABLES), 2u);
  const auto address = [&](hsa_executable_t e) {
    return info<uint64_t>(symbol(e, "table"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
  };
  EXPECT_NE(address(first), address(second));
  *reinterpret_cast<uint32_t*>(address(first)) = 99;
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(address(second)), 10u);
  EXPECT_HSA(hsa_executable_destroy(first));
  EXPECT_HSA(hsa_executable_destroy(second));
  EXPECT_EQ(hgagent_counters(HGAGENT_EXECUTABLES), 0u);
}

// The pages of a large code object are shared by its loads until they are written.
TEST_F(CodeTest, LoadsOfALargeCodeObjectHaveVariablesOfTheirOwn) {
  std::vector<std::byte> bytes = file_bytes(AGENT_KERNELS);
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  Elf64_Phdr last{};
  std::byte* place = nullptr;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    std::byte* const at = &bytes[header.e_phoff + i * sizeof(segment)];
    std::memcpy(&segment, at, sizeof(segment));
    if (segment.p_type != PT_LOAD || segment.p_vaddr < last.p_vaddr) continue;
    last = segment;
    place = at;
  }
  ASSERT_NE(place, nullptr);
  ASSERT_NE(last.p_flags & PF_W, 0u);
  last.p_memsz += 8 << 20;  // zeros behind the variables
  std::memcpy(place, &last, sizeof(last));
  const hsa_executable_t first = loaded(bytes);
  const hsa_executable_t second = loaded(bytes);
  EXPECT_GE(mappings_of_code_files(), 2u) << "the pages are not shared";
  const auto table = [&](hsa_executable_t e) {
    return reinterpret_cast<uint32_t*>(info<uint64_t>(symbol(e, "table"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  };
  const auto pointer = [&](hsa_executable_t e) {
    return *reinterpret_cast<uint32_t**>(
        info<uint64_t>(symbol(e, "pointer_to_table"), HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  };
  for (const hsa_executable_t e : {first, second}) {
    EXPECT_EQ(pointer(e), table(e) + 1) << "relocations are those of the load";
    EXPECT_EQ(*pointer(e), 20u);
  }
  table(first)[1] = 99;
  EXPECT_EQ(table(second)[1], 20u);
  const hsa_executable_t third = loaded(bytes);
  EXPECT_EQ(table(third)[1], 20u);
  for (const hsa_executable_t e : {first, second, third}) EXPECT_HSA(hsa_executable_destroy(e));
}

TEST_F(CodeTest, WhatIsNoCodeObjectIsRefused) {
  std::vector<std::byte> bytes = file_bytes(AGENT_KERNELS);
  bytes.resize(100);
  EXPECT_HSA(hsa_executable_destroy(loaded(bytes, HSA_STATUS_ERROR_INVALID_CODE_OBJECT)));
  std::fill(bytes.begin(), bytes.end(), std::byte{7});
  EXPECT_HSA(hsa_executable_destroy(loaded(bytes, HSA_STATUS_ERROR_INVALID_CODE_OBJECT)));
}

TEST_F(CodeTest, AFrozenExecutableTakesNoMoreCode) {
  const hsa_executable_t executable = loaded(file_bytes(AGENT_KERNELS));
  ASSERT_HSA(hsa_executable_freeze(executable, ""));
  EXPECT_EQ(hsa_executable_freeze(executable, ""), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  hsa_executable_symbol_t none{0};
  EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, "absent", nullptr, &none),
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  EXPECT_HSA(hsa_executable_destroy(executable));
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

}  // namespace
}  // namespace agent_test
