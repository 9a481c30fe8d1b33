// Which of its kernels OpenBLAS uses.
#ifndef FATHOM_BASE_BLAS_KERNELS_H_
#define FATHOM_BASE_BLAS_KERNELS_H_

#include <string>

namespace fathom {

// OpenBLAS chooses by a list of processors. One that is newer than the list gets kernels of 2004,
// with which a GP of 300 pseudo-points trains 2.6 times as slowly (docs/measurements). So where it
// has chosen these although the processor has wider vectors, this chooses by the vectors.
// OPENBLAS_CORETYPE, if set, decides as usual. To be called once, before the first BLAS call.
void ChooseBlasKernels();

// The name of the kernels in use, "Haswell" for example.
std::string BlasKernels();

}  // namespace fathom

#endif  // FATHOM_BASE_BLAS_KERNELS_H_
