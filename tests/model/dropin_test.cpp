// libhgmodel.so as a stand-in for AMD's library: names, versions, and functions that the model does not have.
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
// Included after hip_runtime_api.h, which it needs.
#include <hip/hip_deprecated.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>

#include "hip/api/api.h"
#include "model/abi/in_process.h"

namespace model::abi {
namespace {

// The soname and the exported functions of a shared library.
struct Library {
  std::string soname;
  std::map<std::string, std::string> functions;  // exported name to version
};

class Elf {
 public:
  explicit Elf(const std::string& path) : file_(open(path.c_str(), O_RDONLY)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(file_, ELF_C_READ, nullptr);
  }
  Elf(const Elf&) = delete;
  Elf& operator=(const Elf&) = delete;
  ~Elf() {
    elf_end(elf_);
    close(file_);
  }

  [[nodiscard]] Elf_Data* data(GElf_Word type, GElf_Shdr* header) const {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      if (gelf_getshdr(section, header) != nullptr && header->sh_type == type) return elf_getdata(section, nullptr);
    }
    return nullptr;
  }
  [[nodiscard]] std::string text(GElf_Word section, std::size_t at) const {
    const char* found = elf_strptr(elf_, section, at);
    return found == nullptr ? "" : found;
  }

 private:
  int file_;
  ::Elf* elf_;
};

std::map<int, std::string> versions_of(const Elf& elf) {
  std::map<int, std::string> names;
  GElf_Shdr header;
  Elf_Data* data = elf.data(SHT_GNU_verdef, &header);
  for (int at = 0; data != nullptr;) {
    GElf_Verdef version;
    GElf_Verdaux name;
    if (gelf_getverdef(data, at, &version) == nullptr) break;
    if (gelf_getverdaux(data, at + static_cast<int>(version.vd_aux), &name) == nullptr) break;
    names[version.vd_ndx] = elf.text(header.sh_link, name.vda_name);
    if (version.vd_next == 0) break;
    at += static_cast<int>(version.vd_next);
  }
  return names;
}

Library read_library(const std::string& path) {
  Library library;
  const Elf elf(path);
  GElf_Shdr header, unused;
  Elf_Data* dynamic = elf.data(SHT_DYNAMIC, &header);
  GElf_Dyn entry;
  for (int i = 0; dynamic != nullptr && gelf_getdyn(dynamic, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_SONAME) library.soname = elf.text(header.sh_link, entry.d_un.d_val);
  }
  const std::map<int, std::string> versions = versions_of(elf);
  Elf_Data* numbers = elf.data(SHT_GNU_versym, &unused);
  Elf_Data* symbols = elf.data(SHT_DYNSYM, &header);
  GElf_Sym symbol;
  GElf_Versym number = 0;
  for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
    if (gelf_getversym(numbers, i, &number) == nullptr) break;
    const auto version = versions.find(number & 0x7fff);
    library.functions[elf.text(header.sh_link, symbol.st_name)] = version == versions.end() ? "" : version->second;
  }
  return library;
}

std::map<std::string, std::string> table() {
  return {
#define HIP_FUNCTION(name, need, version, ...) {#name, #version},
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
#define OTHER_FUNCTION(name, version) {#name, #version},
#define IMPLICIT_FUNCTION OTHER_FUNCTION
#include "hip/api/other_functions.inc"
#undef OTHER_FUNCTION
#undef IMPLICIT_FUNCTION
  };
}

template <class Function>
Function symbol(const char* name) {
  static void* const library = dlopen(HGCHECK_LIBHGMODEL, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(library, name));
}

TEST(DropIn, ItsSonameIsThatOfAMDsLibrary) {
  EXPECT_EQ(read_library(HGCHECK_LIBHGMODEL).soname, "libamdhip64.so.7");
}

TEST(DropIn, ItExportsTheTableWithItsVersionsAndNothingElseButItsOwn) {
  std::map<std::string, std::string> exported = read_library(HGCHECK_LIBHGMODEL).functions;
  const auto own = [](const auto& function) { return function.first.starts_with("hgmodel_"); };
  EXPECT_EQ(std::erase_if(exported, own), 3u);
  EXPECT_EQ(exported, table());
}

#ifdef HGCHECK_AMDS_LIBRARY
TEST(DropIn, TheTableIsWhatAMDsLibraryExports) {
  const Library amds = read_library(HGCHECK_AMDS_LIBRARY);
  EXPECT_EQ(amds.soname, "libamdhip64.so.7");
  EXPECT_EQ(amds.functions, table());
}
#endif

TEST(DropIn, EveryFunctionOfTheInProcessTableIsReal) {
  const auto find = symbol<decltype(&::hipGetProcAddress)>("hipGetProcAddress");
  std::set<std::string_view> missing;
  for (const std::string_view name : hip::missing_functions(InProcess::api()).optional) missing.insert(name);
  int real = 0;
  const auto expect_real = [&](const char* name) {
    if (missing.contains(name)) return;
    void* function = nullptr;
    EXPECT_EQ(find(name, &function, 70200000, 0, nullptr), hipSuccess) << name;
    EXPECT_EQ(function, symbol<void*>(name)) << name;
    ++real;
  };
#define NAME_OF(name) #name
#define HIP_FUNCTION(name, ...) expect_real(NAME_OF(name));
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  EXPECT_GT(real, 100);
}

TEST(DropIn, AFunctionThatTheModelDoesNotHaveSaysSoOnce) {
  const auto bind = symbol<int (*)()>("hipBindTexture");  // whatever it is given
  testing::internal::CaptureStderr();
  EXPECT_EQ(bind(), hipErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hgmodel: hipBindTexture is not supported by the model\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(bind(), hipErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

#define HIP(name) symbol<decltype(&::name)>(#name)

TEST(DropIn, APoolIsItsDeviceAndItsAttributes) {
  hipMemPool_t of_device = nullptr, current = nullptr, made = nullptr;
  EXPECT_EQ(HIP(hipDeviceGetDefaultMemPool)(&of_device, 0), hipSuccess);
  EXPECT_EQ(HIP(hipDeviceGetMemPool)(&current, 0), hipSuccess);
  EXPECT_EQ(current, of_device);
  EXPECT_EQ(HIP(hipMemPoolDestroy)(of_device), hipErrorInvalidValue);
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 7};
  EXPECT_EQ(HIP(hipMemPoolCreate)(&made, &properties), hipErrorInvalidValue);
  properties.location.id = 0;
  EXPECT_EQ(HIP(hipMemPoolCreate)(&made, &properties), hipSuccess);
  std::uint64_t threshold = 4096, found = 0;
  EXPECT_EQ(HIP(hipMemPoolSetAttribute)(made, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  EXPECT_EQ(HIP(hipMemPoolGetAttribute)(made, hipMemPoolAttrReleaseThreshold, &found), hipSuccess);
  EXPECT_EQ(found, threshold);
  EXPECT_EQ(HIP(hipDeviceSetMemPool)(0, made), hipSuccess);
  void* memory = nullptr;
  const auto allocate =
      symbol<hipError_t (*)(void**, std::size_t, hipMemPool_t, hipStream_t)>("hipMallocFromPoolAsync");
  EXPECT_EQ(allocate(&memory, 64, made, nullptr), hipSuccess);
  EXPECT_EQ(HIP(hipFreeAsync)(memory, nullptr), hipSuccess);
  EXPECT_EQ(HIP(hipDeviceSynchronize)(), hipSuccess);
  EXPECT_EQ(HIP(hipMemPoolDestroy)(made), hipSuccess);
  EXPECT_EQ(allocate(&memory, 64, made, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(HIP(hipDeviceGetMemPool)(&current, 0), hipSuccess);
  EXPECT_EQ(current, of_device);
}

TEST(DropIn, PoolsAreNotSharedBetweenProcesses) {
  hipMemPool_t pool = nullptr, imported = nullptr;
  EXPECT_EQ(HIP(hipDeviceGetDefaultMemPool)(&pool, 0), hipSuccess);
  void *handle = nullptr, *memory = nullptr;
  hipMemPoolPtrExportData data{};
  constexpr auto kFile = hipMemHandleTypePosixFileDescriptor;
  EXPECT_EQ(HIP(hipMemPoolExportToShareableHandle)(&handle, pool, kFile, 0), hipErrorNotSupported);
  EXPECT_EQ(HIP(hipMemPoolImportFromShareableHandle)(&imported, handle, kFile, 0), hipErrorNotSupported);
  EXPECT_EQ(HIP(hipMemPoolExportPointer)(&data, memory), hipErrorNotSupported);
  EXPECT_EQ(HIP(hipMemPoolImportPointer)(&memory, pool, &data), hipErrorNotSupported);
}

// These functions are deprecated, but older programs still call them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(DropIn, AContextIsItsDevice) {
  hipCtx_t made = nullptr, current = nullptr;
  hipDevice_t device = -1;
  EXPECT_EQ(HIP(hipCtxCreate)(&made, 0, 5), hipErrorInvalidDevice);
  EXPECT_EQ(HIP(hipCtxCreate)(&made, 0, 0), hipSuccess);
  EXPECT_EQ(HIP(hipCtxGetCurrent)(&current), hipSuccess);
  EXPECT_EQ(current, made);
  EXPECT_EQ(HIP(hipCtxGetDevice)(&device), hipSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(HIP(hipCtxPopCurrent)(&current), hipSuccess);
  EXPECT_EQ(HIP(hipCtxPopCurrent)(&current), hipErrorInvalidValue);
}
#pragma GCC diagnostic pop

TEST(DropIn, APointersAttributesAreThoseOfItsAllocation) {
  void* memory = nullptr;
  EXPECT_EQ(HIP(hipMalloc)(&memory, 96), hipSuccess);
  void* inside = static_cast<char*>(memory) + 10;
  void* start = nullptr;
  std::size_t size = 0;
  unsigned type = 0;
  EXPECT_EQ(HIP(hipPointerGetAttribute)(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), hipSuccess);
  EXPECT_EQ(HIP(hipPointerGetAttribute)(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, inside), hipSuccess);
  EXPECT_EQ(HIP(hipPointerGetAttribute)(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, inside), hipSuccess);
  EXPECT_EQ(start, memory);
  EXPECT_EQ(size, 96u);
  EXPECT_EQ(type, static_cast<unsigned>(hipMemoryTypeDevice));
  EXPECT_EQ(HIP(hipPointerGetAttribute)(&start, HIP_POINTER_ATTRIBUTE_HOST_POINTER, inside), hipErrorInvalidValue);
  EXPECT_EQ(HIP(hipPointerGetAttribute)(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, &type), hipErrorInvalidValue);
  EXPECT_EQ(HIP(hipFree)(memory), hipSuccess);
}

TEST(DropIn, TheGeneralFormsOfNodesAreTheParticularOnes) {
  void* memory = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  EXPECT_EQ(HIP(hipMalloc)(&memory, 4), hipSuccess);
  EXPECT_EQ(HIP(hipGraphCreate)(&graph, 0), hipSuccess);
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeMemset;
  params.memset.dst = memory;
  params.memset.elementSize = 4, params.memset.width = params.memset.height = 1;
  params.memset.value = 5;
  EXPECT_EQ(HIP(hipGraphAddNode)(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(HIP(hipGraphAddNode)(&node, graph, nullptr, 0, &params), hipSuccess);
  hipMemsetParams found{};
  EXPECT_EQ(HIP(hipGraphMemsetNodeGetParams)(node, &found), hipSuccess);
  EXPECT_EQ(found.value, 5u);
  hipGraphInstantiateParams how{};
  EXPECT_EQ(HIP(hipGraphInstantiateWithParams)(&exec, graph, &how), hipSuccess);
  EXPECT_EQ(how.result_out, hipGraphInstantiateSuccess);
  params.memset.value = 6;
  EXPECT_EQ(HIP(hipGraphExecNodeSetParams)(exec, node, &params), hipSuccess);
  EXPECT_EQ(HIP(hipGraphLaunch)(exec, nullptr), hipSuccess);
  unsigned value = 0;
  EXPECT_EQ(HIP(hipMemcpy)(&value, memory, 4, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(value, 6u);
  EXPECT_EQ(HIP(hipGraphExecDestroy)(exec), hipSuccess);
  EXPECT_EQ(HIP(hipGraphDestroy)(graph), hipSuccess);
  EXPECT_EQ(HIP(hipFree)(memory), hipSuccess);
}

TEST(DropIn, PropertiesHaveTheirOlderForm) {
  const auto newer = symbol<hipError_t (*)(hipDeviceProp_tR0600*, int)>("hipGetDevicePropertiesR0600");
  const auto older = symbol<hipError_t (*)(hipDeviceProp_tR0000*, int)>("hipGetDeviceProperties");
  hipDeviceProp_tR0600 now;
  hipDeviceProp_tR0000 then;
  EXPECT_EQ(newer(&now, 0), hipSuccess);
  EXPECT_EQ(older(&then, 0), hipSuccess);
  EXPECT_STREQ(then.gcnArchName, now.gcnArchName);
  EXPECT_EQ(then.multiProcessorCount, now.multiProcessorCount);
  EXPECT_EQ(then.totalGlobalMem, now.totalGlobalMem);
  EXPECT_EQ(older(&then, 9), hipErrorInvalidDevice);
}

TEST(DropIn, WhatTheModelDoesNotHaveIsNotFoundByName) {
  const auto find = symbol<decltype(&::hipGetProcAddress)>("hipGetProcAddress");
  void* function = &function;
  hipDriverProcAddressQueryResult result = HIP_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_EQ(find("hipBindTexture", &function, 70200000, 0, &result), hipSuccess);
  EXPECT_EQ(result, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(find("noSuchFunction", &function, 70200000, 0, nullptr), hipErrorNotFound);
}

}  // namespace
}  // namespace model::abi
