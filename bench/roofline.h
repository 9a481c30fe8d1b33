// What one core of this machine can do, measured in the run that uses it, and the least time that
// counted work can take on it.
#ifndef FATHOM_BENCH_ROOFLINE_H_
#define FATHOM_BENCH_ROOFLINE_H_

#include <string>

namespace fathom::bench {

// Work that no implementation of the same mathematics in double can avoid; see work.h.
struct Work {
  double exps = 0;
  double flops = 0;  // in multiply-add slots: a multiplication or addition alone counts 2, as it
                     // keeps a slot of two busy
  double bytes = 0;  // from memory, where the data cannot be in a cache
  double cells = 0;  // of text to be read as numbers

  Work& operator+=(const Work& other);
  friend Work operator*(double factor, const Work& work);
};

struct Roofline {
  double exp_seconds = 0;         // one exponential of the inline vector loop, data in L1
  double dgemm_flops = 0;         // flops per second of a 512 x 512 x 512 product
  double fma_flops = 0;           // the same of multiply-adds between registers: for information
  double bytes_per_second = 0;    // reading 256 MB, beyond all caches
  double from_chars_seconds = 0;  // one cell of text by std::from_chars
  std::string target;             // the instruction set that the run-time dispatch chose

  // The best of what was measured so far and a new measurement (about 50 ms; the first one also
  // looks at the memory and takes 0.3 s). To be called now and then during a run: a neighbour that
  // slows one measurement then does not flatter the ratios.
  void Refine();
  // exps * exp_seconds + flops / dgemm_flops + bytes / bytes_per_second + cells *
  // from_chars_seconds. The kinds of work are added, not overlapped: exponentials and products use
  // the same units of the processor.
  double IdealSeconds(const Work& work) const;
};

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_ROOFLINE_H_
