// Compressed rows by counting sort: stable, so node order within a row is the order of the input.
#include "hip/relocation.h"

#include <cassert>
#include <cstddef>
#include <limits>

namespace hip {
namespace {

BufferIndex buffer_of(const RelocationSite& site) {
  return site.relocation.buffer;
}
BufferIndex buffer_of(const OpaqueUse& use) {
  return use.buffer;
}

template <class Entry>
void sort_into_rows(std::span<const Entry> entries, BufferIndex buffer_count, std::vector<std::uint32_t>& rows,
                    std::vector<Entry>& sorted) {
  assert(entries.size() <= std::numeric_limits<std::uint32_t>::max());
  rows.assign(std::size_t{buffer_count} + 1, 0);
  for (const Entry& entry : entries) {
    assert(buffer_of(entry) < buffer_count && "a relocation names a buffer that the address table does not have");
    ++rows[std::size_t{buffer_of(entry)} + 1];
  }
  for (std::size_t row = 1; row < rows.size(); ++row) rows[row] += rows[row - 1];
  std::vector<std::uint32_t> next(rows.begin(), rows.end() - 1);
  sorted.resize(entries.size());
  for (const Entry& entry : entries) sorted[next[buffer_of(entry)]++] = entry;
}

template <class Entry>
std::span<const Entry> row(const std::vector<std::uint32_t>& rows, const std::vector<Entry>& sorted,
                           BufferIndex buffer) {
  return std::span(sorted).subspan(rows[buffer], rows[std::size_t{buffer} + 1] - rows[buffer]);
}

}  // namespace

RelocationTable::RelocationTable(std::span<const RelocationSite> sites, std::span<const OpaqueUse> uses,
                                 BufferIndex buffer_count)
    : buffer_count_(buffer_count) {
  sort_into_rows(sites, buffer_count, site_rows_, sites_);
  sort_into_rows(uses, buffer_count, use_rows_, uses_);
}

std::span<const RelocationSite> RelocationTable::relocations_of(BufferIndex buffer) const {
  assert(buffer < buffer_count_);
  return row(site_rows_, sites_, buffer);
}

std::span<const OpaqueUse> RelocationTable::opaque_uses_of(BufferIndex buffer) const {
  assert(buffer < buffer_count_);
  return row(use_rows_, uses_, buffer);
}

}  // namespace hip
