// The table and its loader, with libraries that only export names.
// Not verified here: that a real runtime's functions have the types of the header (the header is the only word on it).
#include "hip/api/api.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::string> all_functions() {
  return {
#define HIP_FUNCTION(name, ...) #name,
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  };
}

TEST(Functions, NoneIsListedTwice) {
  const std::vector<std::string> all = all_functions();
  std::set<std::string> once;
  for (const std::string& name : all) EXPECT_TRUE(once.insert(name).second) << name;
  EXPECT_GT(all.size(), 200u);
}

TEST(MissingFunctions, AnEmptyTableMissesEveryFunctionOnce) {
  const hip::MissingFunctions missing = hip::missing_functions(hip::Api{});
  EXPECT_EQ(missing.required.size() + missing.optional.size(), all_functions().size());
  EXPECT_THAT(missing.required, testing::Contains("hipGraphLaunch"));
  EXPECT_THAT(missing.optional, testing::Contains("hipGraphAddNode"));
}

TEST(LoadApi, ACompleteLibraryMissesNothing) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(STUB_RUNTIME_COMPLETE);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(loaded.value().missing.required, IsEmpty());
  EXPECT_THAT(loaded.value().missing.optional, IsEmpty());
  EXPECT_EQ(loaded.value().path, STUB_RUNTIME_COMPLETE);
}

TEST(LoadApi, EveryEntryIsTheFunctionOfThatName) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(STUB_RUNTIME_COMPLETE);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
// EXPECT_ENTRY expands a name that HIP's header renames.
#define EXPECT_ENTRY(name) \
  EXPECT_EQ(reinterpret_cast<void*>(loaded.value().api.name), dlsym(loaded.value().library.get(), #name)) << #name;
#define HIP_FUNCTION(name, ...) EXPECT_ENTRY(name)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
}

TEST(LoadApi, FunctionsThatTheHeaderRenamesAreLookedUpUnderTheirExportedName) {
  const hip::MissingFunctions missing = hip::missing_functions(hip::Api{});
  EXPECT_THAT(missing.optional, testing::Contains("hipGetDevicePropertiesR0600"));
  EXPECT_THAT(missing.optional, Not(testing::Contains("hipGetDeviceProperties")));
}

// Returns the message of the error with which a library is refused.
std::string refusal_of(const char* path, int code, const hip::LoadOptions& options = {}) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(path, options);
  EXPECT_EQ(loaded.ok() ? hipSuccess : loaded.error().code, code);
  return loaded.ok() ? "" : loaded.error().message;
}

TEST(LoadApi, ALibraryThatLacksRequiredFunctionsIsRefusedNamingItAndEachOfThem) {
  const std::string message = refusal_of(STUB_RUNTIME_WITHOUT_REQUIRED, hipErrorSharedObjectSymbolNotFound);
  EXPECT_THAT(message, HasSubstr(STUB_RUNTIME_WITHOUT_REQUIRED));
  EXPECT_THAT(message, HasSubstr(" hipGraphLaunch"));
  EXPECT_THAT(message, HasSubstr(" hipMemcpy"));
  EXPECT_THAT(message, Not(HasSubstr("hipGraphAddNode")));
}

TEST(LoadApi, ALibraryThatLacksOptionalFunctionsIsLoadedAndSaysWhich) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(STUB_RUNTIME_WITHOUT_OPTIONAL);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(loaded.value().missing.optional, UnorderedElementsAre("hipGraphAddNode", "hipMallocAsync"));
  EXPECT_EQ(loaded.value().api.hipGraphAddNode, nullptr);
  EXPECT_NE(loaded.value().api.hipFreeAsync, nullptr);
}

TEST(LoadApi, APathThatIsNotThereIsAnErrorThatNamesIt) {
  const char* const path = "/nowhere/libamdhip64.so";
  EXPECT_THAT(refusal_of(path, hipErrorSharedObjectInitFailed), HasSubstr(path));
}

TEST(LoadApi, AFileThatIsNoLibraryIsAnErrorWithTheLinkersReason) {
  const std::string message = refusal_of("/proc/self/comm", hipErrorSharedObjectInitFailed);
  EXPECT_THAT(message, HasSubstr("/proc/self/comm"));
  EXPECT_THAT(message, HasSubstr("file too short"));
}

TEST(LoadApi, AnEmptyPathIsAnErrorAndNotTheProgramItself) {
  EXPECT_EQ(hip::load_api("").error().code, hipErrorInvalidValue);
}

bool is_loaded(const char* path) {
  void* handle = dlopen(path, RTLD_NOLOAD | RTLD_NOW);
  if (handle == nullptr) return false;
  EXPECT_EQ(dlclose(handle), 0);
  return true;
}

TEST(LoadApi, TheLibraryStaysLoadedExactlyAsLongAsAnyoneHoldsIt) {
  ASSERT_FALSE(is_loaded(STUB_RUNTIME_WITHOUT_OPTIONAL));
  {
    hip::LoadedApi outer;
    {
      hip::Result<hip::LoadedApi> loaded = hip::load_api(STUB_RUNTIME_WITHOUT_OPTIONAL);
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
      outer = loaded.value();
    }
    EXPECT_TRUE(is_loaded(STUB_RUNTIME_WITHOUT_OPTIONAL));
  }
  EXPECT_FALSE(is_loaded(STUB_RUNTIME_WITHOUT_OPTIONAL));
}

TEST(LoadApi, ALibraryThatIsRefusedIsUnloadedAgain) {
  ASSERT_FALSE(hip::load_api(STUB_RUNTIME_WITHOUT_REQUIRED).ok());
  EXPECT_FALSE(is_loaded(STUB_RUNTIME_WITHOUT_REQUIRED));
}

TEST(LoadApi, ARuntimeOlderThanAskedForIsRefusedNamingBothVersionsAndWhatItLacks) {
  const std::string message = refusal_of(STUB_RUNTIME_OLD, hipErrorInsufficientDriver,
                                         {.minimum_version = 70200000, .functions = {"hipStreamGetDevice"}});
  for (const char* part : {STUB_RUNTIME_OLD, "6.4.43484", "7.2.0", " hipStreamGetDevice"}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(LoadApi, ARuntimeThatIsNewEnoughIsLoaded) {
  EXPECT_TRUE(hip::load_api(STUB_RUNTIME_OLD, {.minimum_version = 60443484}).ok());
  EXPECT_TRUE(hip::load_api(STUB_RUNTIME_OLD, {.minimum_version = 60400000}).ok());
  EXPECT_FALSE(hip::load_api(STUB_RUNTIME_OLD, {.minimum_version = 60443485}).ok());
}

TEST(LoadApi, WhoAsksForNoVersionIsRefusedWhatIsOlderThanTheOldestThatWasTried) {
  const std::string message = refusal_of(STUB_RUNTIME_TOO_OLD, hipErrorInsufficientDriver);
  EXPECT_THAT(message, HasSubstr("5.6.31062"));
  EXPECT_THAT(message, HasSubstr("6.4.0"));
  EXPECT_TRUE(hip::load_api(STUB_RUNTIME_OLD).ok());
  EXPECT_TRUE(hip::load_api(STUB_RUNTIME_TOO_OLD, {.minimum_version = 0}).ok());
}

TEST(LoadApi, AnOptionalFunctionThatTheClientNeedsIsNamedWhenItIsMissing) {
  const std::string message = refusal_of(STUB_RUNTIME_OLD, hipErrorSharedObjectSymbolNotFound,
                                         {.functions = {"hipStreamGetDevice", "hipStreamGetFlags"}});
  EXPECT_THAT(message, HasSubstr(" hipStreamGetDevice"));
  EXPECT_THAT(message, Not(HasSubstr("hipStreamGetFlags")));
}

TEST(VersionName, IsMajorMinorAndPatch) {
  EXPECT_EQ(hip::version_name(70253211), "7.2.53211");
  EXPECT_EQ(hip::version_name(60443484), "6.4.43484");
}

TEST(StatusName, IsTheNameOfTheEnumerator) {
  EXPECT_EQ(hip::status_name(hipSuccess), "hipSuccess");
  EXPECT_EQ(hip::status_name(hipErrorInvalidValue), "hipErrorInvalidValue");
  EXPECT_EQ(hip::status_name(hipErrorStreamCaptureUnjoined), "hipErrorStreamCaptureUnjoined");
  EXPECT_EQ(hip::status_name(hipErrorGraphExecUpdateFailure), "hipErrorGraphExecUpdateFailure");
  EXPECT_EQ(hip::status_name(hipErrorRuntimeOther), "hipErrorRuntimeOther");
}

TEST(StatusName, AnUnknownNumberIsShownAsTheNumber) {
  EXPECT_EQ(hip::status_name(-1), "hipError_t(-1)");
  EXPECT_EQ(hip::status_name(123456), "hipError_t(123456)");
}

TEST(StatusName, NoTwoNumbersShareAName) {
  std::set<std::string> names;
  int known = 0;
  for (int status = -16; status < 4096; ++status) {
    const std::string name = hip::status_name(status);
    EXPECT_TRUE(names.insert(name).second) << name;
    if (!name.starts_with("hipError_t(")) ++known;
  }
  EXPECT_EQ(known, 76);
}

}  // namespace
