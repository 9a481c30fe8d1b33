// A sparse GP: kernel, pseudo-inputs and the posterior of the pseudo-outputs in one of its two
// forms.
#ifndef FATHOM_MODEL_SPARSE_GP_H_
#define FATHOM_MODEL_SPARSE_GP_H_

#include <memory>
#include <variant>

#include "fathom/kernel/kernel.h"
#include "fathom/model/sites.h"
#include "fathom/model/whitened.h"

namespace fathom {

using Posterior = std::variant<Sites, Whitened>;

// A gradient with respect to a SparseGp is a SparseGp.
struct SparseGp {
  std::shared_ptr<const Kernel> kernel;
  Vector theta;  // parameters of the kernel, positive
  Matrix Z;      // pseudo-inputs [M, D]
  Posterior posterior;

  Index num_inducing() const { return Z.rows(); }
  Index input_dim() const { return Z.cols(); }
  void SetZero();  // all numbers; the shapes stay
  // [D]: of a kernel that has lengthscales; of others nothing changes.
  void SetLengthscales(const Vector& lengthscales);
};

// How a step looks at a posterior. alpha is the power of EP (0: the variational limit), N the
// number of rows that the factor stands for. `Posterior()` is what predictions use.
struct Cavity {
  double alpha = 0;
  double N = 1;
  static Cavity Posterior() { return {}; }
  double scale() const { return 1 - alpha / N; }
};

// What the whitened form adds to K's diagonal, relative to the diagonal's mean. Raised tenfold,
// up to 1e-2, where the Cholesky factorisation fails.
inline constexpr double kJitter = 1e-6;
// Raises the diagonal by a share of its mean: a linear kernel has k(z, z) = 0 at z = 0, where a
// share of the element itself would not help.
void AddJitter(double jitter, Matrix* K);

// L and L^-1 of K with its diagonal raised; returns the jitter that did it. Throws NumericalError.
double FactorGram(const Matrix& K, double jitter, Matrix* L, Matrix* scratch, Matrix* L_inverse);
// Turns L' dF/dL (see CholeskyBackward) into dF/dK, in its place.
void FactorGramBackward(const Matrix& L_inverse, double jitter, Matrix* phi_argument,
                        Matrix* scratch);

// One GP made ready for a step, and the tape of how. O(M^3).
struct PreparedGp {
  Matrix K;
  Conditioned cavity;
  // The GP's own share of the energy:                                            [factor-energy]
  //   (1 - N/alpha) phi(posterior) + (N/alpha) phi(cavity),  or -KL for alpha = 0.
  double energy = 0;
  double jitter = 0;  // what was used; 0 in the site form

  Matrix L_inverse;  // whitened form
  WhitenedTape whitened;
  SitesTape sites;  // site form

  Conditioned d_cavity;  // for the backward pass: what came back from the rows
  Matrix dK;
  AlignedBuffer kernel_scratch;
};

// `jitter` is the first one tried. Throws NumericalError if the numbers are not finite.
void Prepare(const SparseGp& gp, const Cavity& cavity, double jitter, PreparedGp* out);
// The gradient of `energy` plus what came back from the rows as prepared->d_cavity.a and .S, added
// to *d_gp. Consumes the tapes in *prepared.
void PrepareBackward(const SparseGp& gp, const Cavity& cavity, PreparedGp* prepared,
                     SparseGp* d_gp);

// Conversions at the present K. ToSites throws NumericalError where the factor would not be
// positive semi-definite (a posterior wider than the prior in some direction).
Whitened ToWhitened(const Sites& sites, const Matrix& K, double jitter);
Sites ToSites(const Whitened& whitened, const Matrix& K, double jitter);

}  // namespace fathom

#endif  // FATHOM_MODEL_SPARSE_GP_H_
