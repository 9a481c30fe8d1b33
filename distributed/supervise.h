// A rank that is killed cannot say so, and its launcher ends the others in silence or with an exit
// code of its own. So a second process stands beside each rank and speaks for it.
#ifndef FATHOM_DISTRIBUTED_SUPERVISE_H_
#define FATHOM_DISTRIBUTED_SUPERVISE_H_

namespace fathom {

// Under a launcher of several processes: returns in a new process, which lives no longer than the
// one that called. That one passes signals on, waits, and exits as the new one does; if a signal
// ends the new one, it says which rank, host and signal on standard error and exits with
// `exit_code`, upon which the launcher ends the other ranks. Does nothing otherwise. Call it before
// anything else: threads are not copied.
void Supervise(int exit_code);

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTED_SUPERVISE_H_
