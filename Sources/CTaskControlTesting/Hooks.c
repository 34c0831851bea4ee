// The hooks of the Swift runtime: functions that the runtime calls, if they are installed, instead of enqueuing a job
// itself.
#if defined(__linux__) || defined(__APPLE__)
#include "Hooks.h"
#include "Interposed.h"
#include <pthread.h>

_Thread_local TCSimulation *tc_simulation;
/// The simulation that this thread runs, for the hooks only. (`tc_simulation` is for interposed functions, and may be
/// `NULL` although the thread runs a simulation.)
static _Thread_local TCSimulation *hooked;

void tc_enter(TCSimulation *entered, bool interposes) {
    hooked = entered;
    simulation = interposes ? entered : NULL;
}

bool tc_setOutside(bool isOutside) {
    bool wasInside = simulation;
    if (isOutside) {
        simulation = NULL;
        return wasInside;
    }
    simulation = hooked;
    tc_hint();
    return wasInside;
}

void *tc_context(void) { return hooked ? hooked->context : NULL; }

// The hooks that other libraries had installed before. Other threads may read these variables and the runtime's hooks
// while they change: each of them is one aligned word, and is read once per call.
static EnqueueHook otherEnqueue, otherEnqueueMain;
static EnqueueAfterHook otherEnqueueAfter;
static EnqueueAtHook otherEnqueueAt;
static GetMainHook otherGetMain;

/// The runtime's variables. Set while `hookLock` is held, before any thread runs a simulation.
static Hooks hooks;

#define GET(word) __atomic_load_n(&word, __ATOMIC_ACQUIRE)
#define SET(word, value) __atomic_store_n(&word, value, __ATOMIC_RELEASE)

/// Passes on a job that does not belong to the simulation, so that it runs as it would without a simulation. Functions
/// that the runtime calls for this are not reported as calls of the program.
#define OUTSIDE(statement) \
    do { \
        if (hooked) tc_hint(); \
        tc_exempt(); \
        statement; \
        tc_stopExempting(); \
    } while (0)

static SWIFT void enqueueHook(void *job, Enqueue original) {
    if (hooked && hooked->enqueue(hooked->context, job, false)) return;
    EnqueueHook other = GET(otherEnqueue);
    OUTSIDE(if (other) other(job, original); else original(job));
}

static SWIFT void enqueueMainHook(void *job, Enqueue original) {
    if (hooked && hooked->enqueue(hooked->context, job, true)) return;
    EnqueueHook other = GET(otherEnqueueMain);
    OUTSIDE(if (other) other(job, original); else original(job));
}

static SWIFT void enqueueAfterHook(uint64_t nanoseconds, void *job, EnqueueAfter original) {
    int64_t bounded = nanoseconds > INT64_MAX ? INT64_MAX : (int64_t)nanoseconds;
    if (hooked && hooked->enqueueAfter(hooked->context, job, bounded)) return;
    EnqueueAfterHook other = GET(otherEnqueueAfter);
    OUTSIDE(if (other) other(nanoseconds, job, original); else original(nanoseconds, job));
}

static SWIFT void enqueueAtHook(
    long long seconds, long long nanoseconds, long long moreSeconds, long long moreNanoseconds, int clock, void *job,
    EnqueueAt original) {
    if (hooked) {
        long long nowSeconds = 0, nowNanoseconds = 0;
        hooks.getTime(&nowSeconds, &nowNanoseconds, clock);
        int64_t delay;
        if (__builtin_mul_overflow(seconds - nowSeconds, (int64_t)1000000000, &delay)
            || __builtin_add_overflow(delay, nanoseconds - nowNanoseconds, &delay)) delay = INT64_MAX;
        if (hooked->enqueueAfter(hooked->context, job, delay > 0 ? delay : 0)) return;
    }
    EnqueueAtHook other = GET(otherEnqueueAt);
    OUTSIDE(
        if (other) other(seconds, nanoseconds, moreSeconds, moreNanoseconds, clock, job, original);
        else original(seconds, nanoseconds, moreSeconds, moreNanoseconds, clock, job));
}

static SWIFT Executor getMainHook(GetMain original) {
    if (hooked) return (Executor){hooked->mainExecutor[0], hooked->mainExecutor[1]};
    GetMainHook other = GET(otherGetMain);
    return other ? other(original) : original();
}

static pthread_mutex_t mainLock = PTHREAD_MUTEX_INITIALIZER;

void tc_lockMain(void) { pthread_mutex_lock(&mainLock); }
void tc_unlockMain(void) { pthread_mutex_unlock(&mainLock); }

static pthread_mutex_t hookLock = PTHREAD_MUTEX_INITIALIZER;
static unsigned hookCount;

static bool isHooked(void) { return hooks.enqueue && GET(*hooks.enqueue) == enqueueHook; }

// The functions of the hooks are never unloaded, so a thread that has read a hook may still call it after the hook was
// removed.

#define HOOK(hook, other, own) if (hook) { SET(other, GET(*hook)); SET(*hook, own); }
// If another library has installed a hook since then, its hook stays installed. It may call our hook, which then passes
// all jobs on.
#define UNHOOK(hook, other, own) \
    if (hook) { __typeof__(*hook) expected = own; \
        __atomic_compare_exchange_n(hook, &expected, GET(other), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); }

void tc_hook(void) {
    pthread_mutex_lock(&hookLock);
    if (hookCount++ == 0 && !isHooked()) {
        hooks = tc_findHooks();
        HOOK(hooks.enqueue, otherEnqueue, enqueueHook);
        HOOK(hooks.enqueueMain, otherEnqueueMain, enqueueMainHook);
        HOOK(hooks.enqueueAfter, otherEnqueueAfter, enqueueAfterHook);
        HOOK(hooks.enqueueAt, otherEnqueueAt, enqueueAtHook);
        HOOK(hooks.getMain, otherGetMain, getMainHook);
    }
    pthread_mutex_unlock(&hookLock);
}

void tc_unhook(void) {
    pthread_mutex_lock(&hookLock);
    if (--hookCount == 0) {
        UNHOOK(hooks.enqueue, otherEnqueue, enqueueHook);
        UNHOOK(hooks.enqueueMain, otherEnqueueMain, enqueueMainHook);
        UNHOOK(hooks.enqueueAfter, otherEnqueueAfter, enqueueAfterHook);
        UNHOOK(hooks.enqueueAt, otherEnqueueAt, enqueueAtHook);
        UNHOOK(hooks.getMain, otherGetMain, getMainHook);
    }
    pthread_mutex_unlock(&hookLock);
}

bool tc_isHooked(void) {
    pthread_mutex_lock(&hookLock);
    bool is = isHooked();
    pthread_mutex_unlock(&hookLock);
    return is;
}

bool tc_standsInForMain(void) { return tc_findHooks().getMain; }
#else
// Some linkers want a symbol in every object file.
void tc_noHooks(void) {}
#endif
