// The C99 text that an exported header is made of: the parts that are the same for every model. In
// them '@' stands for the header's prefix. The formulas are those of fathom/kernel,
// fathom/inference, fathom/neighbour, fathom/linear and fathom/likelihood, where they are derived
// and tested; a test compiles every part and compares it with the engine.
#ifndef FATHOM_FITTED_C_SOURCE_H_
#define FATHOM_FITTED_C_SOURCE_H_

namespace fathom::c_source {

// `@member`: what an expert needs of a row and what becomes of its answer; `@component`: a part of
// that answer. Need the sizes that the header begins with.
extern const char* const kTypes;

// `@gp`: a latent function; `@network`: a deep GP.
extern const char* const kNetworkTypes;
// Each defines `@moments_KERNEL(gp, mu, s, m, v)`: mean and variance of the latent function under
// an input N(mu, diag(s)).
extern const char* const kSeArd;
extern const char* const kLinearArd;
extern const char* const kSeLinear;
extern const char* const kSpectralMixture;

// Experts. Each defines `@ask_KIND(member, m, v, out)`, which predicts the functions of a row with
// the scaled inputs N(m, diag(v)) as so many components.
extern const char* const kNetwork;
extern const char* const kLine;
extern const char* const kNeighbours;
extern const char* const kTrees;
extern const char* const kLogistic;  // whose components hold probabilities of classes

// `@normal_tail`.
extern const char* const kNormal;
// `@nodes` of Gauss and Legendre must be there.
extern const char* const kPanels;
// Likelihoods of numbers, which need kNormal. Each defines `@observe`, the mean and variance of a
// scaled target, and `@tail`, P(y <= at) or P(y > at).
extern const char* const kGaussian;
extern const char* const kStudentT;
extern const char* const kHeteroscedastic;
extern const char* const kPoisson;  // needs kPanels
// Likelihoods of classes. Each defines `@class_probabilities`.
extern const char* const kProbit;
extern const char* const kRobustMax;  // needs kPanels
extern const char* const kSoftmax;

// `@enter`, what an expert sees of a row.
extern const char* const kEnter;
// `@say`, the components of one member, and moments and tails of mixtures.
extern const char* const kSay;
// `@distribution`, the components of what is predicted: those of the members, or [calibration].
// Need the table `@members`.
extern const char* const kMixture;
extern const char* const kCalibration;
// g of [calibration], or 0. Like the next, it needs `@calibrated`, a member with the calibration's
// scalers.
extern const char* const kLocalNoise;
extern const char* const kNoLocalNoise;
// Rows that the training has seen, and rows beyond it. Each has its opposite, which does nothing.
extern const char* const kSeen;
extern const char* const kNoSeen;
extern const char* const kBeyond;
extern const char* const kNoBeyond;
// The target that follows from a calibrated z [target-shape]: its moments and tails. Needs kNormal
// and, behind kShapeType, the table `@target`.
extern const char* const kShapeType;
extern const char* const kShape;
extern const char* const kNoShape;
// `@value_share`, the probability of the value apart [value-share]. Both need kShareLogit, which
// needs the table `@share_logit`.
extern const char* const kShareLogit;
extern const char* const kShareOfTwo;
extern const char* const kShareOfMembers;  // needs the table `@share_members`
extern const char* const kNoShare;
// `@give_shape`, which kCalibration ends with.
extern const char* const kGiveShape;
extern const char* const kGiveNoShape;
// The functions that a user calls. The first needs `@origin` and `@step`, the grid of a target in
// steps, and `@jump`, the value apart of one without.
extern const char* const kPredictNumbers;
extern const char* const kPredictClasses;

}  // namespace fathom::c_source

#endif  // FATHOM_FITTED_C_SOURCE_H_
