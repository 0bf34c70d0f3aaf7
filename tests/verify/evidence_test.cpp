// The evidence of a patch, and the detectors that read it: each one sees its own kind of wrong address. Also the list
// of the properties. Detectors in whole programs: detectors_test.cpp.
#include "verify/properties/evidence.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "judging.h"
#include "verify/properties/property.h"

namespace verify {
namespace {

TEST(Evidence, AValueIsCarriedAlongFromInsideABufferOrOnePastIt) {
  const hip::AddressTable before = {0x1000, 0x2000, 0x3000}, after = {0x5000, 0x2000, 0x1000};
  const std::vector<std::uint64_t> bytes = {256, 256, 256};
  const PatchEvidence patch{0, before, after, bytes, {}};
  EXPECT_TRUE(patch.moved(0));
  EXPECT_FALSE(patch.moved(1));
  EXPECT_TRUE(patch.carried_along(0x1000, 0x5000));
  EXPECT_TRUE(patch.carried_along(0x1100, 0x5100));   // one past the end
  EXPECT_FALSE(patch.carried_along(0x1101, 0x5101));  // beyond
  EXPECT_FALSE(patch.carried_along(0x1000, 0x5001));
  EXPECT_FALSE(patch.carried_along(0x2000, 0x2000));  // did not move
  EXPECT_TRUE(patch.carried_along(0x3010, 0x1010));
}

TEST(Evidence, PlacesOverlapWhereABufferTakesAnothersPlace) {
  const std::vector<std::uint64_t> bytes = {256, 256};
  const hip::AddressTable before = {0x1000, 0x2000}, swapped = {0x2000, 0x1000}, apart = {0x5000, 0x6000},
                          partly = {0x5000, 0x10ff};
  EXPECT_TRUE((PatchEvidence{0, before, swapped, bytes, {}}.places_overlap()));
  EXPECT_TRUE((PatchEvidence{0, before, partly, bytes, {}}.places_overlap()));
  EXPECT_FALSE((PatchEvidence{0, before, apart, bytes, {}}.places_overlap()));
}

// One memset of b0, held at `observed`, after b0 went from 0x1000 to 0x5000.
Violations found_at(bool (*detect)(const PatchEvidence&, Violations&), std::uint64_t observed) {
  static const hip::AddressTable before = {0x1000, 0x2000}, after = {0x5000, 0x6000};
  static const std::vector<std::uint64_t> bytes = {256, 256};
  hip::RecordedNode recorded;
  hip::MemsetRecord memset;
  memset.params.elementSize = 1;
  memset.params.width = 16;
  memset.params.height = 1;
  recorded.record = memset;
  recorded.relocations = {{hip::Field::kMemsetDestination, 0, 0, 16}};
  const model::NodeParams actual = model::MemsetParams{observed, 0, 0, 1, 16, 1};
  PatchEvidence patch{3, before, after, bytes, {}};
  patch.nodes.push_back({"g0.n0", &recorded, &actual, nullptr, true});
  Violations found;
  static_cast<void>(detect(patch, found));
  return found;
}

TEST(Evidence, EachDetectorOfPointersSeesItsOwnKindOfWrongAddress) {
  constexpr std::uint64_t kRight = 0x5010, kStale = 0x1010, kOthers = 0x6010, kNowhere = 0x9990;
  struct Case {
    std::uint64_t observed;
    bool a2, a3, p3;
  };
  for (const Case& c : {Case{kRight, false, false, false}, Case{kStale, true, false, true},
                        Case{kOthers, false, true, true}, Case{kNowhere, false, false, true}}) {
    EXPECT_EQ(!found_at(detect_a2, c.observed).empty(), c.a2) << hex(c.observed);
    EXPECT_EQ(!found_at(detect_a3, c.observed).empty(), c.a3) << hex(c.observed);
    EXPECT_EQ(!found_at(detect_p3, c.observed).empty(), c.p3) << hex(c.observed);
    EXPECT_TRUE(found_at(detect_a1, c.observed).empty()) << hex(c.observed);
  }
  const Violations found = found_at(detect_a2, kStale);
  EXPECT_EQ(found.at(0).step, 3u);
  EXPECT_EQ(found.at(0).property, PropertyId::kA2);
  EXPECT_EQ(found.at(0).expected, "0x5010");
}

TEST(Properties, EveryPropertyHasANameASentenceAndItsPlaceInTheOrder) {
  ASSERT_EQ(properties().size(), kProperties);
  for (std::size_t i = 0; i < kProperties; ++i) {
    const Property& listed = properties()[i];
    EXPECT_EQ(index_of(listed.id), i);
    EXPECT_EQ(&property(listed.id), &listed);
    EXPECT_EQ(find_property(listed.name), &listed);
    EXPECT_FALSE(listed.title.empty());
    EXPECT_TRUE(listed.sentence.ends_with("."));
  }
  EXPECT_EQ(find_property("A0"), nullptr);
}

}  // namespace
}  // namespace verify
