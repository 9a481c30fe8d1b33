// What rank 0 has the other ranks do next.
#ifndef FATHOM_DISTRIBUTED_ORDERS_H_
#define FATHOM_DISTRIBUTED_ORDERS_H_

#include <cstdint>

#include "fathom/distributed/communicator.h"

namespace fathom {

enum class Order : std::int64_t {
  kGoHome,
  kRead,
  kPack,    // the rows that are parsed next may stay where they are parsed
  kPacked,  // they have
  kHold,    // make training data of them
  kRows,    // say something of these
  kTrain,
  kPredict,
  kStudy,
};

// At rank 0. The other ranks take it, in fit/help.h.
inline void GiveOrder(Order order, const Communicator& ranks) {
  ranks.Broadcast(std::span(&order, 1));
}

inline Order TakeOrder(const Communicator& ranks) {
  Order order = Order::kGoHome;
  ranks.Broadcast(std::span(&order, 1));
  return order;
}

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTED_ORDERS_H_
