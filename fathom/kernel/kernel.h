// What a covariance function must offer to be part of a deep GP. A new kernel is one pair of files
// beside this one, a line in kernel.cc and a line in the list of kernels in
// tests/support/every_kernel.h; one that is not part of Fathom derives from Kernel and calls
// RegisterKernel. One that gives its values and their slopes alone is whole: QuadratureProjection
// does the rest. A closed form of the expectations makes it faster.
#ifndef FATHOM_KERNEL_KERNEL_H_
#define FATHOM_KERNEL_KERNEL_H_

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/export.h"
#include "fathom/base/precision.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

class FullLayer;
class Projection;

// A kind of kernel: stateless and shared. Its parameters theta are a vector of positive numbers
// that belongs to the latent function, so that a gradient with respect to theta is a vector too.
class Kernel {
 public:
  struct Block {
    std::string name;
    Index size;
  };
  using Rows = Eigen::Ref<const Matrix>;

  virtual ~Kernel() = default;

  virtual std::string Name() const = 0;
  // The named parts of theta, in order, for inputs of dimension `input_dim`. The first block scales
  // k, unless the kernel is a sum.
  virtual std::vector<Block> Blocks(Index input_dim) const = 0;
  Index NumParameters(Index input_dim) const;
  // A theta to start training from: functions of about unit size over inputs of about unit size
  // that change over a distance of `lengthscale`.
  virtual Vector InitialParameters(Index input_dim, double lengthscale) const = 0;

  // K = k(X, Z) [N, M]. A row of K does not depend on the other rows of X.
  virtual void Cross(const Vector& theta, const Rows& X, const Matrix& Z,
                     Eigen::Ref<Matrix> K) const = 0;
  // Where CrossBackward adds its gradients; X may be null.
  struct CrossGradient {
    Eigen::Ref<Vector> theta;
    Eigen::Ref<Matrix>* X;
    Eigen::Ref<Matrix> Z;
  };
  // K as Cross gave it.
  virtual void CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z, const Rows& K,
                             const Rows& dK, CrossGradient gradient) const = 0;
  // k(x, x) [N] of every row of X.
  virtual void Diagonal(const Vector& theta, const Rows& X, Eigen::Ref<Vector> k) const = 0;
  virtual void DiagonalBackward(const Vector& theta, const Rows& X,
                                const Eigen::Ref<const Vector>& dk, Eigen::Ref<Vector> d_theta,
                                Eigen::Ref<Matrix>* dX) const = 0;

  // The first and second derivatives of k(x, z) [N, M] and the second of k(x, x) [N] along one
  // input of x, for every row of X: what the derivative with respect to an input's variance is made
  // of where that variance is 0. Unless a kernel knows better, by differences of Cross and Diagonal
  // over steps of 0.004, which give about nine digits for lengthscales of about 1.
  struct Along {
    Matrix first, second;
    Vector diagonal_second;
  };
  virtual void CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                          Along* out) const;

  // K = k(Z, Z) [M, M]. `scratch` is memory of the caller, kept for the next call: the training
  // steps of some kernels allocate nothing.
  virtual void Gram(const Vector& theta, const Matrix& Z, Matrix* K, AlignedBuffer* scratch) const;
  // Where GramBackward adds its gradients.
  struct GramGradient {
    Vector& theta;
    Matrix& Z;
  };
  // dK is symmetric.
  virtual void GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                            GramGradient gradient, AlignedBuffer* scratch) const;
  // The same with memory of its own.
  void Gram(const Vector& theta, const Matrix& Z, Matrix* K) const;

  // [D]: E[(df/dx_d)^2] of a function drawn from the prior, how strongly it    [slope-variance]
  // depends on each input. For a stationary kernel this is -d2k/dt_d^2 at t = 0.
  virtual Vector SlopeVariance(const Vector& theta, Index input_dim) const = 0;

  // How many inputs of a row may be uncertain at once.
  virtual Index MostUncertainInputs() const { return std::numeric_limits<Index>::max(); }
  // The kernel must outlive it.
  virtual std::unique_ptr<Projection> NewProjection() const = 0;
  // A layer for jointly Gaussian inputs, or null if the kernel cannot take them.
  virtual std::unique_ptr<FullLayer> NewFullLayer() const;
};

// The kernel of that name: "se_ard", "linear_ard", "matern32", "matern52", "spectral_mixture" or,
// with a number of components, "spectral_mixture:3"; a registered one; or a sum of several,
// "se_ard+linear_ard", for which "se+linear" is short. MakeKernel(kernel.Name()) is the same kernel
// again. Throws Error with the known names otherwise.
std::shared_ptr<const Kernel> MakeKernel(const std::string& name);

// Lets MakeKernel, and with it recipes and model files, know a kernel of your own by its Name(),
// which holds no '+'. A model that was trained with it loads only where it is registered again.
// Throws Error if the name belongs to a kernel of Fathom.
void RegisterKernel(std::shared_ptr<const Kernel> kernel);

// A latent function as the rows see it:  f(x) = w'x + g(x),  g a sparse GP with E[g|u] and its
// spread given by a and S.
struct LatentFunction {
  const Vector& theta;
  const Matrix& Z;  // [M, D]
  const Vector& a;  // [M]
  const Matrix& S;  // [M, M], symmetric
  const Vector& w;  // [D], or empty for no linear mean
};

struct LatentFunctionGradient {
  Vector& theta;
  Matrix& Z;
  Vector& a;
  Matrix& S;
};

struct ProjectionOptions {
  // Whether any row may have an input with variance. If not, only certain rows may come and the
  // buffers are smaller.
  bool uncertain = false;
  bool backward = true;  // whether Backward will be called: Forward alone does less
  bool variance = true;  // whether v is looked at; if not, Forward may leave it as it is
  Precision precision = Precision::kDouble;
};

// One latent function made ready for rows. Prepare once per step; then Forward and Backward on
// tiles of rows, from any number of threads; then Finish once with the sums over all tiles. psi2
// exists only tile by tile.
//
// tape and sums are buffers of TapeSize(rows) and SumsSize() doubles, aligned to 64 bytes. Sums of
// several tiles may be kept apart and added; they must start at zero.
class Projection {
 public:
  using Rows = Kernel::Rows;

  virtual ~Projection() = default;

  virtual void Prepare(const LatentFunction& function, const ProjectionOptions& options) = 0;

  virtual Index TapeSize(Index rows) const = 0;
  virtual Index SumsSize() const = 0;

  // Independent Gaussian inputs, a row each.
  struct Input {
    Rows mean, var;
  };
  // dF/dm and dF/dv [rows].
  struct Slopes {
    const double *m, *v;
  };
  // Where Backward adds dF/dmean and dF/dvar; null: not wanted.
  struct InputSlopes {
    Eigen::Ref<Matrix>* mean = nullptr;
    Eigen::Ref<Matrix>* var = nullptr;
  };

  // Moments of the latent function under an input N(mean, diag(var)) per row.
  //   m = psi1 a + w'mean
  //   v = psi0 + <aa' - S, psi2> - (psi1 a)^2                                     [layer-moments]
  //       + sum_q w_q s_q (w_q + 2 d(psi1 a)/dmean_q)
  // A row with var = 0 takes the plain kernel: v = k(x,x) - k' S k. A row's result does not depend
  // on the rows beside it.
  virtual void Forward(const Input& x, double* tape, double* m, double* v) const = 0;
  // Consumes the tape; adds to sums and, as far as wanted, to d_x. The           [layer-backward]
  // derivative with respect to a variance of 0 is that from above (zero_variance.h).
  virtual void Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                        const InputSlopes& d_x) const = 0;
  // Adds the gradients that the sums stand for.
  virtual void Finish(const double* sums, LatentFunctionGradient gradient) const = 0;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_KERNEL_H_
