#include <array>
#include <cstdlib>

#include "distributed/mpi.h"

namespace fathom {

bool StartedAsOneOfSeveral() {
  // Open MPI; MPICH, Intel MPI and srun --mpi=pmi2; MVAPICH; srun --mpi=pmix.
  constexpr std::array kSizes = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  for (const char* name : kSizes) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return std::getenv("PMIX_RANK") != nullptr && tasks != nullptr && std::atoi(tasks) > 1;
}

int RankByLauncher() {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr) return std::atoi(rank);
  }
  return 0;
}

}  // namespace fathom
