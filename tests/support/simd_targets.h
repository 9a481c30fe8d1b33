// Runs a piece of code once for every SIMD target that is compiled in and that this machine has,
// the baseline included.
#ifndef FATHOM_TESTS_SUPPORT_SIMD_TARGETS_H_
#define FATHOM_TESTS_SUPPORT_SIMD_TARGETS_H_

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <functional>

namespace fathom {

inline void ForEachSimdTarget(const std::function<void()>& run) {
  struct Reset {
    ~Reset() { Choose(0); }
    static void Choose(std::int64_t targets) {
      hwy::SetSupportedTargetsForTest(targets);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } reset;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    Reset::Choose(target);
    run();
  }
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SIMD_TARGETS_H_
