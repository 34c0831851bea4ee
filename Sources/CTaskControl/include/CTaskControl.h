// The C part of the core: words that many threads read and write at once. (`Synchronization.Atomic` needs macOS 15 and iOS 18.)
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

extern bool tc_observed;
extern uint64_t tc_number;

/// Whether any observer must be notified. This load is the whole cost of an event when none must be.
static inline bool tc_isObserved(void) {
    return __atomic_load_n(&tc_observed, __ATOMIC_RELAXED);
}

static inline void tc_setObserved(bool isObserved) {
    __atomic_store_n(&tc_observed, isObserved, __ATOMIC_RELAXED);
}

/// The call of an observer that this thread is in, as an object of the emitter; null: none. (A task-local takes ten times as long, and the
/// runtime's lock of its task.)
const void *tc_observerCall(void);
void tc_setObserverCall(const void *call);

/// Whether this thread runs a simulation, which has no other thread.
bool tc_isSimulated(void);
void tc_setSimulated(bool isSimulated);

/// Whether this thread calls code of others inside a handler of the runtime.
bool tc_isInsideHandler(void);
void tc_setInsideHandler(bool isInside);

/// Whether this is the thread that the program began on.
bool tc_isMainThread(void);

/// The task that asks, to be compared and nothing else; null outside tasks. (`withUnsafeCurrentTask` takes a multiple.)
const void *tc_runningTask(void);

// Functions of the Swift runtime, as old as that: compiled code calls them. Declared where they are called, since Swift would import them with the
// convention of C.
#define TC_SWIFT __attribute__((swiftcall))

/// Whether the running task was cancelled; false outside tasks. (`Task.isCancelled` takes a multiple: it retains the task.)
static inline bool tc_isTaskCancelled(void) {
    extern TC_SWIFT void *swift_task_getCurrent(void);
    extern TC_SWIFT bool swift_task_isCancelled(void *task);
    void *task = swift_task_getCurrent();
    return task && swift_task_isCancelled(task);
}

/// The base priority of the running task; 0 outside tasks. (`Task.basePriority` takes a multiple: it retains the task.)
static inline uint8_t tc_basePriority(void) {
    extern TC_SWIFT void *swift_task_getCurrent(void);
    extern TC_SWIFT size_t swift_task_basePriority(void *task);
    void *task = swift_task_getCurrent();
    return task ? (uint8_t)swift_task_basePriority(task) : 0;
}

/// The nanoseconds of the clock that `ContinuousClock` reads. (Its `Instant` is resilient, so arithmetic with instants takes several times as long.)
static inline int64_t tc_continuousNanoseconds(void) {
#if defined(__APPLE__)
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
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

/// Whether a task that lives was cancelled.
bool tc_isCancelled(const void *task);

// How many tasks of each part of all addresses have a record: a task that has none finds that out by one load.

enum { tc_recordParts = 64 };
extern uint32_t tc_recordCounts[tc_recordParts];

/// The part of a task's address. Tasks are objects, 16 bytes apart at least, and most often hundreds.
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

/// A number that is unique in this process; never 0.
static inline uint64_t tc_nextNumber(void) {
    return __atomic_add_fetch(&tc_number, 1, __ATOMIC_RELAXED);
}

// A word of an `AtomicWord`. An exchange is a barrier in both directions, as a lock is.

static inline int64_t tc_load(const int64_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/// The word, and with it what was written before it was stored.
static inline int64_t tc_loadAcquire(const int64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void tc_store(int64_t *word, int64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline int64_t tc_exchange(int64_t *word, int64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/// Stores `value` if the word is `expected`. Returns whether it was; if not, `expected` is what it is.
static inline bool tc_compareExchange(int64_t *word, int64_t *expected, int64_t value) {
    return __atomic_compare_exchange_n(word, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
