// Arguments of the form name=number or name=number,number.
#ifndef FATHOM_BENCH_ARGUMENTS_H_
#define FATHOM_BENCH_ARGUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "fathom/base/types.h"

namespace fathom::bench {

class Arguments {
 public:
  // Throws Error for what is not name=number or whose name is none of `names`.
  Arguments(int argc, char** argv, const std::vector<std::string>& names);

  std::vector<Index> List(const std::string& name, const std::vector<Index>& otherwise) const;
  Index Number(const std::string& name, Index otherwise) const;

 private:
  std::map<std::string, std::vector<Index>> values_;
};

// The most memory that the process has had so far.
double PeakBytes();

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_ARGUMENTS_H_
