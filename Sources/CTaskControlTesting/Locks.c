// The locks of the C library. A simulation has one thread: if a task waits for a lock that another task of the simulation
// holds while it is suspended, neither can continue. The wait is reported, and fails, so that the run ends.
#if defined(__linux__)
#include "Interposed.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>

/// A lock that this thread has acquired in the simulation.
typedef struct {
    const void *lock;
    /// The number of the task that has acquired the lock; negative if no task was running.
    int64_t task;
} Held;

/// A program that holds more locks at a time is hardly one that a simulation can run: further locks are not noted.
enum { MostHeld = 64 };
static _Thread_local Held held[MostHeld];
static _Thread_local int heldCount;

void tc_forgetLocks(void) { heldCount = 0; }
bool tc_holdsLock(void) { return heldCount > 0; }

// The runtime locks each task several times per step, so these functions are inlined, also in a debug build.

INLINED void note(const void *lock) {
    int index = heldCount;
    if (index >= MostHeld) return;
    held[index].lock = lock;
    held[index].task = tc_taskOfStep;
    heldCount = index + 1;
}

INLINED void forget(const void *lock) {
    if (held[heldCount - 1].lock == lock) {
        heldCount--;
        return;
    }
    for (int index = heldCount - 1; index >= 0; index--) {
        if (held[index].lock != lock) continue;
        heldCount--;
        for (; index < heldCount; index++) held[index] = held[index + 1];
        return;
    }
}

static const Held *find(const void *lock) {
    for (int index = heldCount - 1; index >= 0; index--) {
        if (held[index].lock == lock) return &held[index];
    }
    return NULL;
}

static void report(const char *call, const Held *holder, const void *caller) {
    tc_exempt();
    simulation->blocked(simulation->context, call, holder->task, caller);
    tc_stopExempting();
}

/// Acquires a lock for the program. Each function has the arguments of `pthread_mutex_lock`.
INLINED int acquire(const char *call, void *lock, int (*try)(void *), int (*wait)(void *)) {
    int result = try(lock);
    if (result == EBUSY) {
        const Held *holder = find(lock);
        if (holder) {
            report(call, holder, __builtin_return_address(0));
            return EDEADLK;
        }
        // A thread outside the simulation holds the lock, and usually releases it soon.
        result = BLOCKING(call, wait(lock));
    }
    if (result == 0) note(lock);
    return result;
}

// MARK: Mutexes

typedef int (*MutexCall)(pthread_mutex_t *);

#if defined(__GLIBC__)
enum { KindMask = 3 };
INLINED int kind(const pthread_mutex_t *mutex) { return mutex->__data.__kind & KindMask; }
/// Such a mutex reports by itself if a thread acquires it twice.
INLINED bool checksErrors(const pthread_mutex_t *mutex) { return kind(mutex) == PTHREAD_MUTEX_ERRORCHECK_NP; }
INLINED bool isRecursiveAndHeld(const pthread_mutex_t *mutex) {
    return mutex->__data.__count > 0 && kind(mutex) == PTHREAD_MUTEX_RECURSIVE_NP;
}
#else
static bool checksErrors(const pthread_mutex_t *mutex) { return false; }
static bool isRecursiveAndHeld(const pthread_mutex_t *mutex) { return false; }
#endif

/// Reports if a task is about to acquire a recursive mutex that another task holds: on one thread this succeeds.
INLINED void checkOwner(const char *call, pthread_mutex_t *mutex) {
    if (!isRecursiveAndHeld(mutex)) return;
    const Held *holder = find(mutex);
    if (holder && holder->task != tc_taskOfStep) report(call, holder, __builtin_return_address(0));
}

INTERPOSED int pthread_mutex_lock(pthread_mutex_t *mutex) {
    MutexCall lock = ORIGINAL(MutexCall, pthread_mutex_lock);
    if (!tc_isProgram() || checksErrors(mutex)) return lock(mutex);
    MutexCall try = ORIGINAL(MutexCall, pthread_mutex_trylock);
    checkOwner("pthread_mutex_lock", mutex);
    return acquire("pthread_mutex_lock", mutex, (int (*)(void *))try, (int (*)(void *))lock);
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    int result = ORIGINAL(MutexCall, pthread_mutex_trylock)(mutex);
    if (result == 0 && tc_isProgram() && !checksErrors(mutex)) note(mutex);
    return result;
}

INTERPOSED int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (heldCount > 0) forget(mutex);
    return ORIGINAL(MutexCall, pthread_mutex_unlock)(mutex);
}

/// Acquires a mutex, or gives up at once and lets virtual time pass up to the limit.
static int lockUpTo(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit, const char *call) {
    int result = ORIGINAL(MutexCall, pthread_mutex_trylock)(mutex);
    if (result == 0) note(mutex);
    if (result != EBUSY) return result;
    tc_passUpTo(clock, limit, call);
    return ETIMEDOUT;
}

INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict limit) {
    if (tc_isProgram()) return lockUpTo(mutex, CLOCK_REALTIME, limit, "pthread_mutex_timedlock");
    typedef int (*Lock)(pthread_mutex_t *, const struct timespec *);
    return ORIGINAL(Lock, pthread_mutex_timedlock)(mutex, limit);
}

INTERPOSED int pthread_mutex_clocklock(
    pthread_mutex_t *restrict mutex, clockid_t clock, const struct timespec *restrict limit) {
    if (tc_isProgram()) return lockUpTo(mutex, clock, limit, "pthread_mutex_clocklock");
    typedef int (*Lock)(pthread_mutex_t *, clockid_t, const struct timespec *);
    return ORIGINAL(Lock, pthread_mutex_clocklock)(mutex, clock, limit);
}

// MARK: Locks for readers and writers

typedef int (*SharedCall)(pthread_rwlock_t *);

#define ACQUIRES(name, try) \
    INTERPOSED int name(pthread_rwlock_t *lock) { \
        SharedCall wait = ORIGINAL(SharedCall, name); \
        if (!tc_isProgram()) return wait(lock); \
        return acquire(#name, lock, (int (*)(void *))ORIGINAL(SharedCall, try), (int (*)(void *))wait); \
    }
ACQUIRES(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock)
ACQUIRES(pthread_rwlock_wrlock, pthread_rwlock_trywrlock)

#define TRIES(name) \
    INTERPOSED int name(pthread_rwlock_t *lock) { \
        int result = ORIGINAL(SharedCall, name)(lock); \
        if (result == 0 && tc_isProgram()) note(lock); \
        return result; \
    }
TRIES(pthread_rwlock_tryrdlock)
TRIES(pthread_rwlock_trywrlock)

INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    if (heldCount > 0) forget(lock);
    return ORIGINAL(SharedCall, pthread_rwlock_unlock)(lock);
}
#elif defined(__APPLE__)
#include "CTaskControlTesting.h"

void tc_forgetLocks(void) {}
bool tc_holdsLock(void) { return false; }
#else
// Some linkers want a symbol in every object file.
void tc_noLocks(void) {}
#endif
