// The whitened form of a sparse GP's posterior:
//   u = L v,   K + jitter = L L',   q(v) = N(mu, Delta Delta').
// It is the form to optimise in: the prior of v is N(0, I) whatever the kernel. The cavity is q to
// the power beta times the prior to the power 1 - beta, positive definite for beta in [0, 1]:
//   W   = beta I + (1 - beta) Delta'Delta
//   V   = Delta W^-1 Delta'                                                       [whitened-cavity]
//   m   = beta Delta W^-1 Delta^-1 mu = mu - (1 - beta) V mu
//   a   = L^-T m
//   S   = L^-T (I - V) L^-1
// beta = 1 is the posterior; beta = 1 - alpha/N the cavity. The phi of posterior and cavity are
// never computed: both hold |Delta^-1 mu|^2, which can reach 1e20 where Delta is ill-conditioned,
// and the energy takes their difference N/alpha times. In the difference it cancels: see
// FactorEnergy.
#ifndef FATHOM_MODEL_WHITENED_H_
#define FATHOM_MODEL_WHITENED_H_

#include "fathom/model/conditioned.h"

namespace fathom {

struct Whitened {
  Vector mu;     // [M]
  Matrix Delta;  // [M, M], lower triangular, positive diagonal

  static Whitened Prior(Index M) { return {Vector::Zero(M), Matrix::Identity(M, M)}; }
};

struct WhitenedTape {
  double beta = 1;
  double log_det_W = 0;
  Vector m;  // cavity mean of v
  Matrix V;  // cavity covariance of v
  Matrix Q;  // Delta W^-1
  // Scratch of the backward pass, kept so that a step allocates nothing.
  Vector dm, shrunk_dm, Q_mu, Q_dm;
  Matrix scratch1, scratch2, scratch3;
};

// L_inverse = L^-1 of the jittered K. Writes a and S; phi stays as it is.
void Condition(const Whitened& whitened, const Matrix& L_inverse, double beta, WhitenedTape* tape,
               Conditioned* out);
// Adds to *d_whitened; writes L' dF/dL (its lower triangle counts: see CholeskyBackward) to
// *phi_argument. Consumes the tape.
void ConditionBackward(const Whitened& whitened, const Matrix& L_inverse,
                       const Conditioned& d_conditioned, WhitenedTape* tape, Whitened* d_whitened,
                       Matrix* phi_argument);

// (1 - k) phi(posterior) + k phi(cavity), k = 1 / (1 - beta) = N/alpha, from the tape of Condition
// with beta < 1:
//   log|Delta| - k/2 log|W| - 1/2 m'mu                                            [whitened-energy]
// The backward pass comes before ConditionBackward, which consumes the tape.
double FactorEnergy(const Whitened& whitened, const WhitenedTape& tape);
void FactorEnergyBackward(const Whitened& whitened, WhitenedTape* tape, Whitened* d_whitened);

// -KL(q || prior), the limit of the energy's factor terms for alpha -> 0.            [whitened-kl]
double NegativeKl(const Whitened& whitened);
void NegativeKlBackward(const Whitened& whitened, Whitened* d_whitened);

}  // namespace fathom

#endif  // FATHOM_MODEL_WHITENED_H_
