#include "fathom/fitted/predict_together.h"

#include <cstdint>
#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/distributed/orders.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fitted/model_file.h"

namespace fathom {

// What is wanted of each piece.
struct PredictTogether::Work {
  enum Kind : std::int64_t { kNothingMore, kTables, kScoreParts };
  Kind kind = kNothingMore;
  PredictionColumns columns = {};  // of tables
};

namespace {

// What every rank is told of a round.
struct Round {
  std::int64_t work = 0;
  std::int64_t inputs = 0;
  std::int64_t targets = 0;
  std::int64_t log_density = 0;
  std::int64_t with_targets = 0;
  std::int64_t outside = 0;
  std::int64_t quantiles = 0;
};

// What it is told of the piece of each rank.
struct PieceOfRank {
  std::int64_t rows = 0;
  PredictOptions options;
};

Index NumbersOf(const Round& round, Index rows) {
  return rows * (2 * round.inputs + round.targets);
}

void Append(const Matrix& matrix, std::vector<double>* out) {
  out->insert(out->end(), matrix.data(), matrix.data() + matrix.size());
}

Matrix Take(Index rows, Index cols, const double** next) {
  Matrix matrix = Eigen::Map<const Matrix>(*next, rows, cols);
  *next += matrix.size();
  return matrix;
}

void BroadcastRound(const Communicator& ranks, Round* round, std::vector<PieceOfRank>* pieces,
                    std::vector<double>* quantiles) {
  ranks.Broadcast(std::span(round, 1));
  pieces->resize(static_cast<std::size_t>(ranks.size()));
  quantiles->resize(static_cast<std::size_t>(round->quantiles));
  ranks.Broadcast(std::span(*pieces));
  ranks.Broadcast(std::span(*quantiles));
}

Matrix ScorePartsOf(const ModelPredictor& predictor, const Dataset& rows,
                    const PredictOptions& options, const ThreadPool& pool) {
  return EachEvaluationSums::Parts(PredictTargets(predictor, rows, options), rows.targets(), pool);
}

Dataset TakeRows(const Schema& schema, const Round& round, Index rows, const double* next) {
  DatasetParts parts;
  parts.schema = schema;
  parts.inputs.mean = Take(rows, round.inputs, &next);
  parts.inputs.var = Take(rows, round.inputs, &next);
  parts.targets = Take(rows, round.targets, &next);
  return Dataset(std::move(parts));
}

}  // namespace

PredictTogether::PredictTogether(const ModelPredictor& predictor, const Communicator& ranks,
                                 int threads)
    : predictor_(predictor), ranks_(ranks), pool_(threads) {
  if (ranks_.size() == 1) return;
  GiveOrder(Order::kPredict, ranks_);
  std::string bytes = SafeTensorsToBytes("the model", ModelToTensors(predictor_.model()));
  ranks_.Broadcast(&bytes);
  ranks_.Broadcast(std::span(&threads, 1));
}

PredictTogether::~PredictTogether() {
  if (ranks_.size() == 1 || ranks_.left()) return;
  try {
    Round end;
    std::vector<PieceOfRank> none;
    std::vector<double> no_quantiles;
    BroadcastRound(ranks_, &end, &none, &no_quantiles);
  } catch (const Error&) {
    ranks_.Leave();
  }
}

std::vector<Matrix> PredictTogether::Do(const Work& work, const std::vector<Piece>& pieces,
                                        const std::function<Matrix()>& own) const {
  FATHOM_CHECK(!pieces.empty() && std::cmp_less_equal(pieces.size(), ranks_.size()));
  Parcels out;
  Parcels in;
  out.Clear(ranks_.size());
  in.Clear(ranks_.size());
  Round round{.work = work.kind,
              .inputs = pieces[0].rows.inputs().cols(),
              .targets = pieces[0].rows.targets().cols(),
              .log_density = work.columns.log_density ? 1 : 0,
              .with_targets = work.columns.targets ? 1 : 0,
              .outside = work.columns.outside ? 1 : 0,
              .quantiles = static_cast<std::int64_t>(work.columns.quantiles.size())};
  std::vector<PieceOfRank> of_ranks(static_cast<std::size_t>(ranks_.size()));
  for (std::size_t r = 1; r < pieces.size(); ++r) {
    const Dataset& rows = pieces[r].rows;
    of_ranks[r] = {rows.rows(), pieces[r].options};
    out.counts[r] = NumbersOf(round, rows.rows());
    Append(rows.inputs().mean, &out.values);
    Append(rows.inputs().var, &out.values);
    Append(rows.targets(), &out.values);
  }
  std::vector<double> quantiles = work.columns.quantiles;
  BroadcastRound(ranks_, &round, &of_ranks, &quantiles);
  ranks_.Exchange(out, &in);
  std::vector<Matrix> results(pieces.size());
  DoTogether(ranks_, [&] { results[0] = own(); });
  const Index width = results[0].cols();
  out.Clear(ranks_.size());
  for (std::size_t r = 1; r < pieces.size(); ++r) in.counts[r] = pieces[r].rows.rows() * width;
  ranks_.Exchange(out, &in);
  const double* next = in.values.data();
  for (std::size_t r = 1; r < pieces.size(); ++r)
    results[r] = Take(pieces[r].rows.rows(), width, &next);
  return results;
}

std::vector<Table> PredictTogether::Predict(const std::vector<Piece>& pieces,
                                            const PredictionColumns& columns) const {
  Table table;
  std::vector<Matrix> values = Do({Work::kTables, columns}, pieces, [&] {
    table = PredictTable(predictor_, pieces[0].rows, pieces[0].options, columns);
    return table.values;
  });
  std::vector<Table> tables(pieces.size(), table);
  for (std::size_t i = 0; i < pieces.size(); ++i) tables[i].values = std::move(values[i]);
  return tables;
}

std::vector<Matrix> PredictTogether::ScoreParts(const std::vector<Piece>& pieces) const {
  return Do({Work::kScoreParts}, pieces,
            [&] { return ScorePartsOf(predictor_, pieces[0].rows, pieces[0].options, pool_); });
}

void PredictTogether::Help(const Communicator& ranks) {
  std::string bytes;
  int threads = 0;
  ranks.Broadcast(&bytes);
  ranks.Broadcast(std::span(&threads, 1));
  SafeTensors content = SafeTensorsFromBytes("the model", bytes);
  const ModelPredictor predictor(TakeModel(&content), threads);
  const ThreadPool pool(threads);
  for (;;) {
    Round round;
    std::vector<PieceOfRank> pieces;
    PredictionColumns columns;
    BroadcastRound(ranks, &round, &pieces, &columns.quantiles);
    if (round.work == Work::kNothingMore) return;
    const PieceOfRank& mine = pieces[ranks.rank()];
    columns.log_density = round.log_density != 0;
    columns.targets = round.with_targets != 0;
    columns.outside = round.outside != 0;
    Parcels out;
    Parcels in;
    out.Clear(ranks.size());
    in.Clear(ranks.size());
    in.counts[0] = NumbersOf(round, mine.rows);
    ranks.Exchange(out, &in);
    Matrix values;
    try {
      DoTogether(ranks, [&] {
        if (mine.rows == 0) return;
        const Dataset rows =
            TakeRows(predictor.model().schema(), round, mine.rows, in.values.data());
        values = round.work == Work::kScoreParts
                     ? ScorePartsOf(predictor, rows, mine.options, pool)
                     : PredictTable(predictor, rows, mine.options, columns).values;
      });
    } catch (const NumericalError&) {  // rank 0 has it too, and ends
      continue;
    }
    out.values.assign(values.data(), values.data() + values.size());
    out.counts[0] = values.size();
    in.Clear(ranks.size());
    ranks.Exchange(out, &in);
  }
}

}  // namespace fathom
