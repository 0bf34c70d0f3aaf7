// The catalogue of verify/language/kernel_spec.h. Layouts follow the natural alignment of C++, which is also that of
// the AMDGPU kernel argument segment; the names match hip/kernels/kernels.inc.
#include "verify/language/kernel_spec.h"

#include <algorithm>
#include <cassert>

#include "verify/language/foreign_kernels.h"

namespace verify {

int KernelSpec::field_index(std::string_view wanted) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == wanted) return static_cast<int>(i);
  }
  return -1;
}

int KernelSpec::pointer_count() const {
  return static_cast<int>(std::ranges::count(fields, FieldKind::kPointer, &FieldSpec::kind));
}

namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Lays arguments out one after another; a struct is opened, filled and closed.
class Builder {
 public:
  explicit Builder(std::string name, Extent extent = Extent::kElements) {
    spec_.name = std::move(name);
    spec_.extent = extent;
  }

  Builder& pointer(const std::string& name, Touch touch, std::uint32_t element) {
    return argument({name, 0, 8, FieldKind::kPointer, touch, element});
  }
  Builder& scalar(const std::string& name, std::uint32_t size) {
    return argument({name, 0, size, FieldKind::kScalar, Touch::kNothing, size});
  }

  // A by-value struct of `size` bytes; members give their offsets within it.
  Builder& structure(const std::string& name, std::uint32_t size, std::uint32_t alignment,
                     const std::vector<FieldSpec>& members) {
    const std::uint32_t offset = place(name, size, alignment);
    for (FieldSpec member : members) {
      member.name = name + "." + member.name;
      member.offset += offset;
      spec_.fields.push_back(std::move(member));
    }
    return *this;
  }

  KernelSpec done(std::string_view count = "n") {
    spec_.argument_bytes = next_;
    if (spec_.extent == Extent::kElements) {
      spec_.count_field = spec_.field_index(count);
      assert(spec_.count_field >= 0);
    }
    return spec_;
  }

 private:
  std::uint32_t place(const std::string& name, std::uint32_t size, std::uint32_t alignment) {
    const std::uint32_t offset = align_up(next_, alignment);
    spec_.arguments.push_back({name, offset, size, alignment});
    next_ = offset + size;
    return offset;
  }
  Builder& argument(FieldSpec field) {
    field.offset = place(field.name, field.size, field.size);
    spec_.fields.push_back(std::move(field));
    return *this;
  }

  KernelSpec spec_;
  std::uint32_t next_ = 0;
};

FieldSpec member_pointer(const std::string& name, std::uint32_t offset, Touch touch, std::uint32_t element) {
  return {name, offset, 8, FieldKind::kPointer, touch, element};
}
FieldSpec member_scalar(const std::string& name, std::uint32_t offset, std::uint32_t size) {
  return {name, offset, size, FieldKind::kScalar, Touch::kNothing, size};
}

// 100 arguments: out, n, then 49 pairs of a pointer and a scalar whose size cycles through 1, 2, 4, 8.
KernelSpec many_args() {
  constexpr int kPairs = 49;
  Builder builder("many_args");
  builder.pointer("out", Touch::kWrite, 4).scalar("n", 4);
  for (int k = 0; k < kPairs; ++k) {
    builder.pointer("in" + std::to_string(k), Touch::kRead, 4);
    builder.scalar("s" + std::to_string(k), 1U << (k % 4));
  }
  return builder.done();
}

std::vector<KernelSpec> structured_kernels() {
  std::vector<KernelSpec> specs;
  specs.push_back(
      Builder("gather_struct")
          .structure("p", 32, 8,
                     {member_pointer("out", 0, Touch::kWrite, 8), member_pointer("in", 8, Touch::kRead, 8),
                      member_scalar("n", 16, 4), member_scalar("flag", 20, 1), member_scalar("bias", 24, 8)})
          .scalar("tag", 2)
          .done("p.n"));
  specs.push_back(Builder("nested_struct")
                      .structure("q", 40, 8,
                                 {member_scalar("tag", 0, 2), member_pointer("a.in", 8, Touch::kRead, 4),
                                  member_scalar("a.k", 16, 4), member_scalar("flag", 24, 1),
                                  member_pointer("out", 32, Touch::kWrite, 4)})
                      .scalar("n", 4)
                      .done());
  return specs;
}

std::vector<KernelSpec> make_catalogue() {
  using enum Touch;
  std::vector<KernelSpec> specs;
  specs.push_back(
      Builder("axpy_u64").pointer("out", kWrite, 8).pointer("in", kRead, 8).scalar("n", 4).scalar("a", 8).done());
  specs.push_back(Builder("mix_small")
                      .scalar("a", 1)
                      .pointer("out", kWrite, 4)
                      .scalar("b", 2)
                      .pointer("in", kRead, 4)
                      .scalar("c", 1)
                      .scalar("n", 4)
                      .scalar("d", 8)
                      .done());
  specs.push_back(
      Builder("scale_u8").scalar("s", 1).pointer("out", kWrite, 1).scalar("n", 2).pointer("in", kRead, 1).done());
  specs.push_back(Builder("slices_u32")
                      .pointer("out", kWrite, 4)
                      .pointer("x", kRead, 4)
                      .pointer("y", kRead, 4)
                      .pointer("z", kRead, 4)
                      .scalar("n", 4)
                      .done());
  specs.push_back(many_args());
  specs.push_back(Builder("count_only", Extent::kNone).scalar("n", 4).scalar("a", 8).scalar("b", 1).done());
  specs.push_back(Builder("two_outputs")
                      .pointer("lo", kWrite, 4)
                      .pointer("hi", kWrite, 4)
                      .pointer("in", kRead, 8)
                      .scalar("n", 4)
                      .scalar("k", 4)
                      .done());
  specs.push_back(Builder("inplace_u32").pointer("data", kReadWrite, 4).scalar("n", 4).scalar("k", 4).done());
  specs.push_back(Builder("pack_u16")
                      .scalar("n", 2)
                      .scalar("k", 8)
                      .pointer("out", kWrite, 2)
                      .scalar("f", 4)
                      .pointer("in", kRead, 2)
                      .done());
  specs.push_back(Builder("reduce_range", Extent::kRange)
                      .pointer("out", kWrite, 8)
                      .pointer("begin", kRead, 4)
                      .pointer("end", kNothing, 4)
                      .scalar("seed", 8)
                      .done());
  specs.push_back(Builder("gemm_u32", Extent::kMatrix)
                      .pointer("c", kWrite, 4)
                      .pointer("a", kRead, 4)
                      .pointer("b", kRead, 4)
                      .scalar("m", 4)
                      .scalar("n", 4)
                      .scalar("k", 4)
                      .scalar("sa0", 4)
                      .scalar("sa1", 4)
                      .scalar("sb0", 4)
                      .scalar("sb1", 4)
                      .done());
  specs.push_back(Builder("sgd_u32")
                      .pointer("param", kReadWrite, 4)
                      .pointer("grad", kRead, 4)
                      .scalar("n", 4)
                      .scalar("rate", 4)
                      .done());
  specs.push_back(Builder("no_arguments", Extent::kNone).done());
  for (KernelSpec& spec : structured_kernels()) specs.push_back(std::move(spec));
  // The kernels that no generator draws come last.
  specs.push_back(
      Builder("packed_struct")
          .structure("r", 31, 1,
                     {member_scalar("tag", 0, 1), member_pointer("out", 1, kWrite, 4), member_scalar("flag", 9, 2),
                      member_pointer("in", 11, kRead, 4), member_scalar("n", 19, 4), member_scalar("bias", 23, 8)})
          .scalar("k", 4)
          .done("r.n"));
  specs.back().drawn = false;
  return specs;
}

}  // namespace

std::span<const KernelSpec> kernel_catalogue() {
  static const std::vector<KernelSpec> catalogue = make_catalogue();
  return catalogue;
}

std::span<const KernelSpec> drawn_kernels() {
  const std::span<const KernelSpec> all = kernel_catalogue();
  return all.first(static_cast<std::size_t>(std::ranges::count_if(all, &KernelSpec::drawn)));
}

const KernelSpec* find_kernel(std::string_view name) {
  if (name.find('@') != std::string_view::npos) return find_foreign_kernel(name);
  for (const KernelSpec& spec : kernel_catalogue()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace verify
