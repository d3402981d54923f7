//===- LiveBytes.cpp - how many bytes of a plan matter at each step -------===//
#include "LiveBytes.h"

using namespace mlir;
using namespace ck;

void LiveBytes::use(Value buffer, ByteRange range, int64_t step, bool fresh) {
  if (range.empty())
    return;
  auto life = current.find(buffer);
  if (life == current.end() || (fresh && lives[life->second].last < step)) {
    current[buffer] = lives.size();
    lives.push_back({buffer, range, step, step});
    return;
  }
  lives[life->second].last = step;
}

void LiveBytes::forEachStep(llvm::function_ref<void(ArrayRef<Life>)> visit) const {
  std::vector<Life> active;
  for (size_t next = 0; next < lives.size();) {
    int64_t step = lives[next].first;
    llvm::erase_if(active, [&](const Life &life) { return life.last < step; });
    for (; next < lives.size() && lives[next].first == step; ++next) {
      auto place = std::upper_bound(active.begin(), active.end(), lives[next], [](const Life &a, const Life &b) {
        return std::pair(a.range.begin, a.range.end) < std::pair(b.range.begin, b.range.end);
      });
      active.insert(place, lives[next]);
    }
    visit(active);
  }
}

int64_t LiveBytes::most() const {
  int64_t most = 0;
  forEachStep([&](ArrayRef<Life> active) {
    int64_t sum = 0, covered = 0;
    for (const Life &life : active) {
      int64_t end = (life.range.end + 63) / 64 * 64;
      if (end > covered) {
        sum += end - std::max(covered, life.range.begin);
        covered = end;
      }
    }
    most = std::max(most, sum);
  });
  return most;
}

std::optional<LiveBytes::Crowd> LiveBytes::findCloserThan(int64_t guard, int64_t arenaBytes) const {
  std::optional<Crowd> crowd;
  forEachStep([&](ArrayRef<Life> active) {
    for (size_t i = 0; i < active.size() && !crowd; ++i) {
      if (active[i].range.begin < guard || arenaBytes - active[i].range.end < guard)
        crowd = Crowd{active[i].buffer, {}};
      // A result in place of its operand has the same range; no red zone is between them.
      else if (i > 0 && !(active[i - 1].range == active[i].range) &&
               active[i].range.begin - active[i - 1].range.end < guard)
        crowd = Crowd{active[i].buffer, active[i - 1].buffer};
    }
  });
  return crowd;
}
