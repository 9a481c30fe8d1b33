// The C99 text that an exported header is made of: the parts that are the same for every model. In
// them '@' stands for the header's prefix. The formulas are those of fathom/kernel and
// fathom/inference, where they are derived and tested; a test compiles every part and compares it
// with the engine.
#ifndef FATHOM_FITTED_C_SOURCE_H_
#define FATHOM_FITTED_C_SOURCE_H_

namespace fathom::c_source {

// `@gp`: a latent function as its kernel's moments function reads it; `@network`: a deep GP.
extern const char* const kTypes;
// Each defines `@moments_KERNEL(gp, mu, s, m, v)`: mean and variance of the latent function under
// an input N(mu, diag(s)).
extern const char* const kSeArd;
extern const char* const kLinearArd;
extern const char* const kSeLinear;
extern const char* const kSpectralMixture;
// `@latent` and `@predict`, the functions that a user calls. Need the table `@networks`.
extern const char* const kPredict;

}  // namespace fathom::c_source

#endif  // FATHOM_FITTED_C_SOURCE_H_
