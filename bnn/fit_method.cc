#include "bnn/fit_method.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <vector>

#include "bnn/dropout.h"
#include "bnn/fit.h"
#include "bnn/hmc.h"
#include "bnn/job.h"
#include "bnn/pbp.h"
#include "bnn/sgld.h"
#include "bnn/vi.h"
#include "fathom/base/error.h"
#include "fathom/io/json_value.h"

namespace fathom::bnn {

namespace {

using Json = nlohmann::json;

std::string Digits(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

Index Default(Index given, Index otherwise) { return given > 0 ? given : otherwise; }

// Where PBP is: in the middle of an epoch as a rule.
struct PbpFit {
  PbpState state;
  Index epoch = 0, row = 0;  // that are done; the rows are those of the next epoch
  Index epochs = 0, rows = 0;

  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("epoch", &epoch, epochs);
    visit("row", &row, rows);
    state.Visit(visit);
  }
};

NetworkPosterior FitPbp(FitContext* context) {
  const Index epochs = Default(context->options.epochs, 40);
  const TrainingRows& train = context->train;
  context->watch->Plan(static_cast<double>(epochs * train.size()));
  RandomStream start(context->Seed("start"));
  PbpFit fit{
      .state = PbpState::Start(context->shape, &start), .epochs = epochs, .rows = train.size()};
  Job job("fit", context->watch);
  if (job.Restore(&fit)) job.Advance(static_cast<double>(fit.epoch * fit.rows + fit.row));
  const auto after_row = [&] {
    ++fit.row;
    job.KeepIfDue(&fit);
    return job.Advance();
  };
  while (fit.epoch < epochs) {
    RandomStream stream(context->Seed("order"), static_cast<std::uint64_t>(fit.epoch));
    const std::vector<Index> order = stream.Permutation(train.size());
    const auto left = std::span(order).subspan(static_cast<std::size_t>(fit.row));
    if (!PbpPass(context->shape, train.x, train.rows.y, left, after_row, &fit.state)) break;
    RefinePrior(&fit.state);
    ++fit.epoch;
    fit.row = 0;
  }
  job.Keep(&fit);
  const PbpState& state = fit.state;
  context->steps = fit.epoch;
  context->Choose("epochs", epochs);
  context->Note("noise_shape", ToJson(state.noise.shape));
  context->Note("prior_variance", ToJson(state.prior.Variance()));
  context->Note("refused_weight_updates", state.refused_weights);
  context->Note("refused_gamma_updates", state.refused_gammas);
  context->Note("skipped_prior_factors", state.skipped_factors);
  if (state.refused_weights + state.refused_gammas > 0)
    context->Warn("updates were refused: " + std::to_string(state.refused_weights) +
                  " of weights, " + std::to_string(state.refused_gammas) + " of the noise");
  return PbpPosterior{state.weights, state.noise.Variance()};
}

NetworkPosterior FitVariational(FitContext* context) {
  const BaselineOptions& options = context->options;
  const Rows& rows = context->train.rows;
  const double target_scale = context->train.target_scaler.scale[0];
  ViOptions vi{.samples = options.samples,
               .kl_weight = options.kl_weight,
               .prior_variance = options.prior_variance,
               .optimal_prior = options.optimal_prior,
               .noise_variance = options.noise_variance / (target_scale * target_scale)};
  vi.batch_size = DefaultBatchSize(rows.size());
  vi.steps = Default(options.steps, DefaultViSteps(context->shape, rows.size(), vi.batch_size));
  if (options.gauss_newton) vi.curvature = Curvature::kGaussNewton;
  if (options.draws_of == DrawsOf::kWeights) vi.form = ViForm::kWeight;
  if (options.method == Baseline::kViG) vi.form = ViForm::kGraves;
  context->watch->Plan(static_cast<double>(vi.steps));
  const ViResult result = FitVi(context->shape, rows, vi, context->Seed("fit"), context->watch);
  context->steps = result.steps;
  const Index draws = Default(options.draws, 200);
  context->Choose("steps", vi.steps);
  context->Choose("draws", draws);
  context->Note("negative_elbo_per_row", ToJson(result.loss_per_row));
  context->Note("change_of_the_bound_per_row", ToJson(result.trend.change));
  context->Note("error_of_the_change", ToJson(result.trend.error));
  if (!std::isnan(result.trend.change) && !result.trend.Settled())
    context->Warn("the bound has not settled: before the learning rate fell, it changed by " +
                  Digits(-result.trend.change) +
                  " per row in a twentieth of the steps; give more steps");
  return GaussianPosterior{.mu = result.q.mu,
                           .sd = result.q.Sd(),
                           .noise = std::exp(result.q.lambda),
                           .draws = draws,
                           .seed = context->Seed("draws")};
}

Json TrialsJson(const std::vector<DropoutTrial>& trials) {
  Json list = Json::array();
  for (const DropoutTrial& trial : trials)
    list.push_back({{"rate", trial.rate},
                    {"precision", ToJson(trial.choice.precision)},
                    {"log_likelihood", ToJson(trial.choice.log_likelihood)}});
  return list;
}

NetworkPosterior FitDropout(FitContext* context) {
  const BaselineOptions& options = context->options;
  const Rows& rows = context->train.rows;
  DropoutSearch search{.epochs = Default(options.epochs, DefaultDropoutEpochs(rows.size()))};
  if (options.rate > 0) search.rates = {options.rate};
  const std::vector<Cut> cuts = MakeCuts(context->dataset, context->Seed("cuts"));
  double work = DropoutWork(rows.size(), search.epochs);
  for (const Cut& cut : cuts)
    work += static_cast<double>(search.rates.size()) * DropoutWork(cut.train.size(), search.epochs);
  context->watch->Plan(work);
  const std::vector<DropoutTrial> trials = TryDropoutRates(
      context->shape, cuts, search, context->Seed("trials"), context->pool, context->watch);
  if (trials.empty()) throw StoppedTooEarly("stopped while the rate of dropout was chosen");
  const DropoutPrior prior{.rate = trials.front().rate,
                           .precision = trials.front().choice.precision};
  Job job("fit", context->watch);
  const Vector weights =
      TrainDropout(context->shape, rows, prior, search.epochs, context->Seed("fit"), &job);
  if (!weights.allFinite()) throw NumericalError("the weights are not finite");
  context->steps = search.epochs;
  context->Choose("epochs", search.epochs);
  context->Choose("rate", prior.rate);
  context->Choose("draws", Default(options.draws, 2000));
  context->Choose("precision", ToJson(prior.precision));
  context->Note("trials", TrialsJson(trials));
  return DropoutPosterior{.weights = weights,
                          .rate = prior.rate,
                          .noise = 1 / prior.precision,
                          .draws = Default(options.draws, 2000),
                          .seed = context->Seed("passes")};
}

// Above this split R-hat the chains do not agree.
constexpr double kAgreed = 1.1;
constexpr Index kProbes = 50;

// Whether the chains agree about f at some of the training inputs.
void NoteAgreement(const std::vector<Chain>& chains, FitContext* context) {
  RandomStream stream(context->Seed("probes"));
  std::vector<Index> probes = stream.Permutation(context->train.size());
  probes.resize(static_cast<std::size_t>(std::min(kProbes, context->train.size())));
  const Matrix X = context->train.rows.X(probes, Eigen::all);
  const Agreement of_f = AgreementOfOutputs(context->shape, chains, X);
  context->Note("f_rhat_median", ToJson(of_f.median_rhat));
  context->Note("f_rhat_worst", ToJson(of_f.worst_rhat));
  context->Note("f_ess_median", ToJson(of_f.median_ess));
  context->Note("f_ess_least", ToJson(of_f.least_ess));
  if (of_f.median_rhat > kAgreed)
    context->Warn("the chains do not agree: the median split R-hat of f is " +
                  Digits(of_f.median_rhat) + ", above " + Digits(kAgreed));
}

// The trials of steps and priors, the best first; none if the step is given.
std::vector<SgldTrial> TrialsOf(const SgldOptions& sgld, FitContext* context) {
  const auto work = static_cast<double>(sgld.chains * (sgld.start_steps + sgld.steps));
  if (context->options.step > 0) {
    context->watch->Plan(work);
    return {};
  }
  const std::vector<Cut> cuts = MakeCuts(context->dataset, context->Seed("cuts"));
  context->watch->Plan(work + SgldTrialWork(cuts.size(), sgld));
  std::vector<SgldTrial> trials = TrySgldSettings(
      context->shape, cuts, sgld, context->Seed("trials"), context->pool, context->watch);
  if (context->watch->stopped()) throw StoppedTooEarly("stopped while the step was chosen");
  std::erase_if(trials,
                [](const SgldTrial& trial) { return !std::isfinite(trial.log_likelihood); });
  if (trials.empty()) throw NumericalError("every step that was tried diverged");
  return trials;
}

}  // namespace

std::vector<Chain> SampleWithSteps(const std::vector<SgldTrial>& trials, SgldOptions* sgld,
                                   FitContext* context) {
  std::vector<Chain> chains;
  const auto sample = [&] {
    chains = SampleSgld(context->shape, context->train.rows, *sgld, context->Seed("chains"),
                        context->pool, context->watch);
    ++sgld->attempt;
    return !chains.empty() || context->watch->stopped();
  };
  if (trials.empty()) sample();
  for (const SgldTrial& trial : trials) {
    if (sgld->attempt > 0 && trial.step >= sgld->step) continue;
    sgld->step = trial.step;
    sgld->prior = trial.prior;
    context->Note("trial_log_likelihood", ToJson(trial.log_likelihood));
    if (sample()) break;
  }
  if (chains.empty() && context->watch->stopped())
    throw StoppedTooEarly("stopped before the first draw was kept");
  if (chains.empty()) throw NumericalError("all chains diverged; give a smaller step");
  if (sgld->attempt > 1) context->Note("steps_that_diverged", sgld->attempt - 1);
  return chains;
}

namespace {

NetworkPosterior FitSgld(FitContext* context) {
  const BaselineOptions& options = context->options;
  SgldOptions sgld{.steps = Default(options.steps, 20000),
                   .draws = Default(options.draws, 400),
                   .chains = options.chains,
                   .plain = options.plain,
                   .step = options.step,
                   .kappa_step = options.noise_step};
  sgld.draws = std::min(sgld.draws, std::max<Index>(1, sgld.steps - sgld.steps / 3));
  const std::vector<SgldTrial> trials = TrialsOf(sgld, context);
  const std::vector<Chain> chains = SampleWithSteps(trials, &sgld, context);
  context->steps = sgld.steps;
  context->Choose("steps", sgld.steps);
  context->Choose("step", sgld.step);
  context->Choose("draws", sgld.draws);
  context->Choose("prior", NameOf(sgld.prior));
  const Index lost = sgld.chains - static_cast<Index>(chains.size());
  context->Note("diverged_chains", lost);
  if (lost > 0) context->Warn(std::to_string(lost) + " chains diverged and were left out");
  NoteAgreement(chains, context);
  return Pool(chains);
}

// The log variances of priors and noise in all chains.
Agreement AgreementOfVariances(const std::vector<HmcChain>& chains) {
  Index length = chains.front().chain.size();
  for (const HmcChain& chain : chains) length = std::min(length, chain.chain.size());
  std::vector<Matrix> traces;
  for (Index g = 0; g < chains.front().log_variances.cols(); ++g) {
    Matrix& trace = traces.emplace_back(static_cast<Index>(chains.size()), length);
    for (std::size_t c = 0; c < chains.size(); ++c)
      trace.row(static_cast<Index>(c)) = chains[c].log_variances.col(g).head(length);
  }
  return AgreementOf(traces);
}

void NoteHmc(const std::vector<HmcChain>& chains, FitContext* context) {
  Json acceptance = Json::array();
  Json steps = Json::array();
  Json divergences = Json::array();
  Index diverged = 0;
  for (const HmcChain& chain : chains) {
    acceptance.push_back(ToJson(chain.acceptance));
    steps.push_back(ToJson(chain.step));
    divergences.push_back(chain.divergences);
    diverged += chain.divergences;
    if (chain.acceptance < 0.4)
      context->Warn("a chain accepted only " + Digits(chain.acceptance) + " of its trajectories");
  }
  context->Note("acceptance", acceptance);
  context->Note("step", steps);
  context->Note("divergences", divergences);
  const Agreement variances = AgreementOfVariances(chains);
  context->Note("variance_rhat_worst", ToJson(variances.worst_rhat));
  context->Note("variance_ess_least", ToJson(variances.least_ess));
  const Index draws = static_cast<Index>(chains.size()) * chains.front().chain.size();
  if (diverged * 20 > draws)
    context->Warn(std::to_string(diverged) + " of " + std::to_string(draws) +
                  " trajectories diverged");
}

NetworkPosterior FitHmc(FitContext* context) {
  const BaselineOptions& options = context->options;
  const Rows& rows = context->train.rows;
  const bool large = rows.size() > 5000;
  const HmcOptions hmc{.chains = options.chains,
                       .burn_in = Default(options.burn_in, large ? 200 : 500),
                       .draws = Default(options.draws, large ? 300 : 1000)};
  std::vector<HmcChain> chains =
      SampleHmc(context->shape, rows, hmc, context->Seed("chains"), context->pool, context->watch);
  std::erase_if(chains, [](const HmcChain& chain) { return chain.chain.size() == 0; });
  if (chains.empty()) throw StoppedTooEarly("stopped before the first draw was kept");
  context->steps = hmc.burn_in + hmc.draws;
  context->Choose("burn_in", hmc.burn_in);
  context->Choose("draws", hmc.draws);
  NoteHmc(chains, context);
  std::vector<Chain> draws;
  for (HmcChain& chain : chains) draws.push_back(std::move(chain.chain));
  NoteAgreement(draws, context);
  return Pool(draws);
}

}  // namespace

NetworkPosterior FitMethod(FitContext* context) {
  switch (context->options.method) {
    case Baseline::kPbp:
      return FitPbp(context);
    case Baseline::kVi:
    case Baseline::kViG:
      return FitVariational(context);
    case Baseline::kDropout:
      return FitDropout(context);
    case Baseline::kSgld:
      return FitSgld(context);
    case Baseline::kHmc:
      return FitHmc(context);
  }
  throw InternalError("an unknown baseline");
}

}  // namespace fathom::bnn
