// The C part of the core: atomic variables, thread-local variables, and calls of runtime functions that Swift code
// cannot make, or only slowly. (`Synchronization.Atomic` needs macOS 15 and iOS 18.)
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

extern bool tc_observed;
extern uint64_t tc_number;

/// Whether there is an observer that must be notified of events. If there is none, this load is the whole cost of an
/// event.
static inline bool tc_isObserved(void) {
    return __atomic_load_n(&tc_observed, __ATOMIC_RELAXED);
}

static inline void tc_setObserved(bool isObserved) {
    __atomic_store_n(&tc_observed, isObserved, __ATOMIC_RELAXED);
}

/// The call of an observer that this thread is executing, as an unretained `ObserverCall`; null if there is none.
/// (Reading a task-local value takes ten times as long, and takes a lock of the task.)
const void *tc_observerCall(void);
void tc_setObserverCall(const void *call);

extern bool tc_simulates;

/// Whether the process has run a simulation (see `simulate` of TaskControlTesting). If not, this load is the whole cost
/// of the question whether the thread runs one.
static inline bool tc_hasSimulated(void) {
    return __atomic_load_n(&tc_simulates, __ATOMIC_RELAXED);
}

/// The values of the simulated process that this thread runs, as an unretained `ProcessValues`; null outside
/// simulations. All tasks of a simulation run on one thread.
const void *tc_simulatedProcess(void);
void tc_setSimulatedProcess(const void *values);

/// Whether this thread runs code of the client inside a cancellation or priority-escalation handler. The runtime calls
/// such a handler while it holds a lock of the task.
bool tc_isInsideHandler(void);
void tc_setInsideHandler(bool isInside);

/// Whether the current thread is the main thread, with which the process has started. Always false on platforms other
/// than Linux and Apple's.
bool tc_isMainThread(void);

/// Lets other threads run before the current thread continues.
void tc_yieldThread(void);

/// Starts a thread that belongs to no pool, receives no signals, and ends when `function` returns. Returns whether it
/// was started: `false` if the system has no thread left, and on platforms other than Linux and Apple's.
bool tc_startThread(void *(*function)(void *context), void *context);

/// Whether the calling code runs on the main dispatch queue, as code of the main actor does.
bool tc_isMainQueue(void);

/// The address of the current task, which is not retained; null outside tasks. (`withUnsafeCurrentTask` takes several
/// times as long.)
const void *tc_runningTask(void);

// Functions of the Swift runtime. Every version of the runtime has them, because compiled code calls them. They are
// declared where they are called: if Swift imported the declarations, it would call the functions with the calling
// convention of C.
#define TC_SWIFT __attribute__((swiftcall))

/// Whether the current task is cancelled; false outside tasks. (`Task.isCancelled` takes several times as long, since
/// it retains the task.)
static inline bool tc_isTaskCancelled(void) {
    extern TC_SWIFT void *swift_task_getCurrent(void);
    extern TC_SWIFT bool swift_task_isCancelled(void *task);
    void *task = swift_task_getCurrent();
    return task && swift_task_isCancelled(task);
}

/// The base priority of the current task; 0 outside tasks. (`Task.basePriority` takes several times as long, since it
/// retains the task.)
static inline uint8_t tc_basePriority(void) {
    extern TC_SWIFT void *swift_task_getCurrent(void);
    extern TC_SWIFT size_t swift_task_basePriority(void *task);
    void *task = swift_task_getCurrent();
    return task ? (uint8_t)swift_task_basePriority(task) : 0;
}

/// The current time, in nanoseconds, of the clock that `ContinuousClock` uses. (Arithmetic with
/// `ContinuousClock.Instant` takes several times as long, since that type is resilient.)
static inline int64_t tc_continuousNanoseconds(void) {
#if defined(__APPLE__)
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#elif defined(_WIN32)
    // The C library has no such clock: the function that `ContinuousClock` calls, with the number of that clock.
    extern TC_SWIFT void swift_get_time(int64_t *seconds, int64_t *nanoseconds, int clock);
    int64_t seconds, nanoseconds;
    swift_get_time(&seconds, &nanoseconds, 1);
    return seconds * 1000000000 + nanoseconds;
#else
    struct timespec time;
#if defined(__linux__)
    clock_gettime(CLOCK_BOOTTIME, &time);
#else
    clock_gettime(CLOCK_MONOTONIC, &time);
#endif
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

/// Whether a task is cancelled. The task must not be deallocated during the call.
bool tc_isCancelled(const void *task);

// The records of cancelled tasks (see `CancellationCauses`) are distributed over `tc_recordParts` parts, by the
// addresses of the tasks. The number of records in each part is counted here. If it is zero, one load shows that a task
// has no record.

enum { tc_recordParts = 64 };
extern uint32_t tc_recordCounts[tc_recordParts];

/// The number of the part to which the record of a task belongs, from 0 to `tc_recordParts - 1`. The lowest four bits
/// of the address are ignored, since tasks are at least 16 bytes apart.
static inline uint32_t tc_recordPart(const void *task) {
    uint64_t bits = (uint64_t)(uintptr_t)task;
    return (uint32_t)((bits >> 4) * 0x9e3779b97f4a7c15u >> 58);
}

static inline bool tc_mayHaveRecord(const void *task) {
    return __atomic_load_n(&tc_recordCounts[tc_recordPart(task)], __ATOMIC_RELAXED) != 0;
}

static inline void tc_countRecord(const void *task, bool isAdded) {
    __atomic_fetch_add(&tc_recordCounts[tc_recordPart(task)], isAdded ? 1u : -1u, __ATOMIC_RELAXED);
}

/// Returns a number that no other call in this process returns. Never returns 0.
static inline uint64_t tc_nextNumber(void) {
    return __atomic_add_fetch(&tc_number, 1, __ATOMIC_RELAXED);
}

// The functions of `AtomicWord`, an atomic 64-bit integer. A successful exchange has acquire and release ordering, like
// acquiring and releasing a lock.

static inline int64_t tc_load(const int64_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/// Returns the value of the word. All writes that another thread has made before it stored this value are visible to
/// the caller.
static inline int64_t tc_loadAcquire(const int64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void tc_store(int64_t *word, int64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline int64_t tc_exchange(int64_t *word, int64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/// Stores `value` if the word is equal to `*expected`, and returns whether this was the case. If not, sets `*expected`
/// to the value of the word.
static inline bool tc_compareExchange(int64_t *word, int64_t *expected, int64_t value) {
    return __atomic_compare_exchange_n(word, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
