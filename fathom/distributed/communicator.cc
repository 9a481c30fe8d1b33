#include "fathom/distributed/communicator.h"

#include <cstdint>

namespace fathom {

namespace {

class AloneCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string Name() const override { return "rank 0"; }
  void Broadcast(std::span<std::byte> /*bytes*/) const override {}
  void Exchange(const Parcels& out, Parcels* in) const override { in->values = out.values; }
  int Largest(int value) const override { return value; }
  std::vector<std::string> Gather(const std::string& text) const override { return {text}; }
};

}  // namespace

void Communicator::Broadcast(std::string* text) const {
  std::uint64_t size = text->size();
  Broadcast(std::span(&size, 1));
  text->resize(size);
  Broadcast(std::span(text->data(), text->size()));
}

const Communicator& Alone() {
  static const AloneCommunicator alone;
  return alone;
}

void RequireSuccess(const Communicator& ranks, const std::string& failure) {
  if (ranks.Largest(failure.empty() ? 0 : 1) == 0) return;
  for (const std::string& text : ranks.Gather(failure)) {
    if (!text.empty()) throw NumericalError(text);
  }
  throw NumericalError(failure.empty() ? "another rank has failed" : failure);
}

}  // namespace fathom
