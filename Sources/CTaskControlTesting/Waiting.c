// The functions that wait for another thread, or wake one. A simulation has one thread: a call that would block waits
// for something outside the simulation.
//
// Each wait is tried without blocking first, if possible. If it would block, it is reported. A wait with a time limit
// then gives up after a millisecond of real time, and virtual time passes up to the limit. During a wait without a time
// limit, the other tasks run, on the stack of the one that waits: one of them may end the wait, and the run has failed. If
// none does, the wait blocks, and the watchdog reports its name.
#if defined(__linux__)
#include "Interposed.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define WAIT "which waits for another thread"
#define WAKE "which wakes another thread"

static void sleepReally(void) {
    struct timespec millisecond = {0, 1000000};
    ORIGINAL(int (*)(const struct timespec *, struct timespec *), nanosleep)(&millisecond, NULL);
}

void tc_passUpTo(clockid_t clock, const struct timespec *limit, const char *call) {
    struct timespec now;
    clock_gettime(clock, &now);
    int64_t seconds = limit->tv_sec - now.tv_sec, nanoseconds = limit->tv_nsec - now.tv_nsec;
    if (nanoseconds < 0) {
        seconds--;
        nanoseconds += 1000000000;
    }
    if (seconds >= 0) tc_sleep(seconds, nanoseconds, call);
}

/// Runs steps of other tasks until a condition holds.
///
/// - Returns: Whether it holds. If not, nothing inside the simulation is left that could make it hold.
#define OTHERS_END_WAIT(call, condition) \
    ({ \
        bool holds = false; \
        while (!holds && simulation->runsOther(simulation->context, call, __builtin_return_address(0))) { \
            holds = (condition); \
        } \
        if (!holds) simulation->waitsInVain(simulation->context); \
        holds; \
    })

// MARK: Dispatch

enum { DispatchNow = 0 };
#define DISPATCH_FOREVER UINT64_MAX

typedef intptr_t (*DispatchWait)(void *object, uint64_t limit);

INLINED intptr_t waitForDispatch(DispatchWait wait, void *object, uint64_t limit, const char *call) {
    if (!tc_isProgram() || limit == DispatchNow) return wait(object, limit);
    intptr_t isLate = wait(object, DispatchNow);
    // If the limit has already passed, the program only asks, and does not wait. A limit in wall-clock time counts as
    // not passed, since its number is greater than that of any other time.
    if (!isLate || limit <= ORIGINAL(uint64_t (*)(uint64_t, int64_t), dispatch_time)(DispatchNow, 0)) return isLate;
    if (limit == DISPATCH_FOREVER && OTHERS_END_WAIT(call, wait(object, DispatchNow) == 0)) return 0;
    tc_touch(call, WAIT);
    if (limit == DISPATCH_FOREVER) return BLOCKING(call, wait(object, limit));
    sleepReally();
    // No virtual time passes for a limit in wall-clock time, whose number is greater than `INT64_MAX`.
    int64_t duration = (int64_t)(limit - ORIGINAL(uint64_t (*)(uint64_t, int64_t), dispatch_time)(DispatchNow, 0));
    if (limit <= INT64_MAX && duration > 0) tc_sleep(0, duration, call);
    return wait(object, DispatchNow);
}

#define WAITS(name) \
    INTERPOSED intptr_t name(void *object, uint64_t limit) { \
        return waitForDispatch(ORIGINAL(DispatchWait, name), object, limit, #name); \
    }
WAITS(dispatch_semaphore_wait)
WAITS(dispatch_group_wait)
WAITS(dispatch_block_wait)

INTERPOSED intptr_t dispatch_semaphore_signal(void *semaphore) {
    intptr_t hasWoken = ORIGINAL(intptr_t (*)(void *), dispatch_semaphore_signal)(semaphore);
    if (hasWoken) tc_touch("dispatch_semaphore_signal", WAKE);
    return hasWoken;
}

// MARK: Threads

INTERPOSED int pthread_join(pthread_t thread, void **result) {
    tc_touch("pthread_join", WAIT);
    return BLOCKING("pthread_join", ORIGINAL(int (*)(pthread_t, void **), pthread_join)(thread, result));
}

// MARK: Conditions

/// The condition that the program has signalled last, in the seed of this thread.
static _Thread_local const pthread_cond_t *signalled;

INTERPOSED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    typedef int (*Wait)(pthread_cond_t *, pthread_mutex_t *);
    Wait wait = ORIGINAL(Wait, pthread_cond_wait);
    if (!tc_isProgram()) return wait(condition, mutex);
    signalled = NULL;
    pthread_mutex_unlock(mutex);
    bool isOver = OTHERS_END_WAIT("pthread_cond_wait", signalled == condition);
    pthread_mutex_lock(mutex);
    if (isOver) return 0;
    tc_touch("pthread_cond_wait", WAIT);
    return BLOCKING("pthread_cond_wait", wait(condition, mutex));
}

INLINED int giveUp(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit, const char *call) {
    tc_touch(call, WAIT);
    pthread_mutex_unlock(mutex);
    sleepReally();
    pthread_mutex_lock(mutex);
    tc_passUpTo(clock, limit, call);
    return ETIMEDOUT;
}

INTERPOSED int pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *limit) {
    if (tc_isProgram()) return giveUp(mutex, CLOCK_REALTIME, limit, "pthread_cond_timedwait");
    typedef int (*Wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    return ORIGINAL(Wait, pthread_cond_timedwait)(condition, mutex, limit);
}

INTERPOSED int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit) {
    if (tc_isProgram()) return giveUp(mutex, clock, limit, "pthread_cond_clockwait");
    typedef int (*Wait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    return ORIGINAL(Wait, pthread_cond_clockwait)(condition, mutex, clock, limit);
}

/// Whether a thread waits for a condition. Always `false` if the layout of the C library's conditions is not known.
static bool isAwaited(const pthread_cond_t *condition) {
#if defined(__GLIBC__)
    enum { FlagBits = 3 };
    return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_ACQUIRE) >> FlagBits;
#else
    return false;
#endif
}

INLINED void touchCondition(const pthread_cond_t *condition, const char *call) {
    if (!tc_isProgram()) return;
    signalled = condition;
    // A thread outside that does not wait yet may find the condition satisfied, and continue without being woken.
    tc_hint();
    if (isAwaited(condition)) tc_touch(call, WAKE);
}

INTERPOSED int pthread_cond_signal(pthread_cond_t *condition) {
    touchCondition(condition, "pthread_cond_signal");
    return ORIGINAL(int (*)(pthread_cond_t *), pthread_cond_signal)(condition);
}

INTERPOSED int pthread_cond_broadcast(pthread_cond_t *condition) {
    touchCondition(condition, "pthread_cond_broadcast");
    return ORIGINAL(int (*)(pthread_cond_t *), pthread_cond_broadcast)(condition);
}

// MARK: Semaphores

INTERPOSED int sem_wait(sem_t *semaphore) {
    int (*wait)(sem_t *) = ORIGINAL(int (*)(sem_t *), sem_wait);
    if (!tc_isProgram()) return wait(semaphore);
    if (sem_trywait(semaphore) == 0) return 0;
    if (OTHERS_END_WAIT("sem_wait", sem_trywait(semaphore) == 0)) return 0;
    tc_touch("sem_wait", WAIT);
    return BLOCKING("sem_wait", wait(semaphore));
}

INLINED int tryAgain(sem_t *semaphore, clockid_t clock, const struct timespec *limit, const char *call) {
    if (sem_trywait(semaphore) == 0) return 0;
    tc_touch(call, WAIT);
    sleepReally();
    if (sem_trywait(semaphore) == 0) return 0;
    tc_passUpTo(clock, limit, call);
    errno = ETIMEDOUT;
    return -1;
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict limit) {
    if (tc_isProgram()) return tryAgain(semaphore, CLOCK_REALTIME, limit, "sem_timedwait");
    return ORIGINAL(int (*)(sem_t *, const struct timespec *), sem_timedwait)(semaphore, limit);
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict limit) {
    if (tc_isProgram()) return tryAgain(semaphore, clock, limit, "sem_clockwait");
    return ORIGINAL(int (*)(sem_t *, clockid_t, const struct timespec *), sem_clockwait)(semaphore, clock, limit);
}

INTERPOSED int sem_post(sem_t *semaphore) {
    if (tc_isProgram()) tc_hint();
    return ORIGINAL(int (*)(sem_t *), sem_post)(semaphore);
}
#else
// Some linkers want a symbol in every object file.
void tc_nothingToWaitFor(void) {}
#endif
