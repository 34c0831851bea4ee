#if defined(__linux__)
#include "Interposed.h"
#include <pthread.h>
#include <string.h>

#define SWIFT __attribute__((swiftcall))

_Thread_local TCSimulation *tc_simulation;
static _Thread_local bool isCreating;
static _Thread_local void *destination;

void tc_enter(TCSimulation *entered) { simulation = entered; }
void *tc_context(void) { return simulation ? simulation->context : NULL; }
bool tc_isCreating(void) { return isCreating; }
void *tc_destination(void) { return destination; }

// MARK: What the runtime exports

typedef struct { void *identity, *witness; } Executor;

extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern SWIFT uint64_t swift_task_getJobTaskId(const void *job);
extern SWIFT void *swift_task_getCurrent(void);
extern SWIFT void swift_task_enqueueGlobal(void *job);
extern SWIFT void swift_task_enqueue(void *job, Executor executor);
extern SWIFT Executor swift_task_getCurrentExecutor(void);

void tc_retain(void *task) { swift_retain(task); }
void tc_release(void *task) { swift_release(task); }
uint64_t tc_taskID(const void *task) { return swift_task_getJobTaskId(task); }
void *tc_currentTask(void) { return swift_task_getCurrent(); }
void tc_enqueueGlobal(void *job) { swift_task_enqueueGlobal(job); }
void tc_enqueueOnActor(void *job, void *actor) { swift_task_enqueue(job, (Executor){actor, NULL}); }

// MARK: Hooks, which catch what the runtime calls itself

typedef SWIFT void (*Enqueue)(void *job);
typedef SWIFT void (*EnqueueHook)(void *job, Enqueue original);
typedef SWIFT void (*EnqueueAfter)(uint64_t nanoseconds, void *job);
typedef SWIFT void (*EnqueueAfterHook)(uint64_t nanoseconds, void *job, EnqueueAfter original);
typedef SWIFT Executor (*GetMain)(void);
typedef SWIFT Executor (*GetMainHook)(GetMain original);

extern __attribute__((weak)) EnqueueHook swift_task_enqueueGlobal_hook;
extern __attribute__((weak)) EnqueueHook swift_task_enqueueMainExecutor_hook;
extern __attribute__((weak)) EnqueueAfterHook swift_task_enqueueGlobalWithDelay_hook;
extern __attribute__((weak)) GetMainHook swift_task_getMainExecutor_hook;

// Who was there before. Other threads may be reading the hooks and these while they change: each is one aligned word, and is read once.
static EnqueueHook otherEnqueue, otherEnqueueMain;
static EnqueueAfterHook otherEnqueueAfter;
static GetMainHook otherGetMain;

#define GET(word) __atomic_load_n(&word, __ATOMIC_ACQUIRE)
#define SET(word, value) __atomic_store_n(&word, value, __ATOMIC_RELEASE)

/// A job of a task that is not the simulation's goes on as it would without it. How the runtime brings it there is not the program's doing.
#define OUTSIDE(statement) \
    do { \
        if (simulation) tc_hint(); \
        tc_exempt(); \
        statement; \
        tc_stopExempting(); \
    } while (0)

static SWIFT void enqueueHook(void *job, Enqueue original) {
    if (simulation && simulation->enqueue(simulation->context, job, false)) return;
    EnqueueHook other = GET(otherEnqueue);
    OUTSIDE(if (other) other(job, original); else original(job));
}

static SWIFT void enqueueMainHook(void *job, Enqueue original) {
    if (simulation && simulation->enqueue(simulation->context, job, true)) return;
    EnqueueHook other = GET(otherEnqueueMain);
    OUTSIDE(if (other) other(job, original); else original(job));
}

static SWIFT void enqueueAfterHook(uint64_t nanoseconds, void *job, EnqueueAfter original) {
    int64_t bounded = nanoseconds > INT64_MAX ? INT64_MAX : (int64_t)nanoseconds;
    if (simulation && simulation->enqueueAfter(simulation->context, job, bounded)) return;
    EnqueueAfterHook other = GET(otherEnqueueAfter);
    OUTSIDE(if (other) other(nanoseconds, job, original); else original(nanoseconds, job));
}

static SWIFT Executor getMainHook(GetMain original) {
    if (simulation) return (Executor){simulation->mainExecutor[0], simulation->mainExecutor[1]};
    GetMainHook other = GET(otherGetMain);
    return other ? other(original) : original();
}

static pthread_mutex_t mainLock = PTHREAD_MUTEX_INITIALIZER;

void tc_lockMain(void) { pthread_mutex_lock(&mainLock); }
void tc_unlockMain(void) { pthread_mutex_unlock(&mainLock); }

static pthread_mutex_t hookLock = PTHREAD_MUTEX_INITIALIZER;
static unsigned hookCount;

bool tc_isAvailable(void) {
    return &swift_task_enqueueGlobal_hook && &swift_task_enqueueMainExecutor_hook
        && &swift_task_enqueueGlobalWithDelay_hook && &swift_task_getMainExecutor_hook;
}

// These functions never go away, so whoever has read a hook may still call it after it was taken out.

#define HOOK(hook, other, own) SET(other, GET(hook)); SET(hook, own)
// Somebody may have hooked in since, in front of us: then ours stays, and passes everything on.
#define UNHOOK(hook, other, own) \
    do { __typeof__(hook) expected = own; \
        __atomic_compare_exchange_n(&hook, &expected, GET(other), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); } while (0)

void tc_hook(void) {
    pthread_mutex_lock(&hookLock);
    if (hookCount++ == 0 && !tc_isHooked()) {
        HOOK(swift_task_enqueueGlobal_hook, otherEnqueue, enqueueHook);
        HOOK(swift_task_enqueueMainExecutor_hook, otherEnqueueMain, enqueueMainHook);
        HOOK(swift_task_enqueueGlobalWithDelay_hook, otherEnqueueAfter, enqueueAfterHook);
        HOOK(swift_task_getMainExecutor_hook, otherGetMain, getMainHook);
    }
    pthread_mutex_unlock(&hookLock);
}

void tc_unhook(void) {
    pthread_mutex_lock(&hookLock);
    if (--hookCount == 0) {
        UNHOOK(swift_task_enqueueGlobal_hook, otherEnqueue, enqueueHook);
        UNHOOK(swift_task_enqueueMainExecutor_hook, otherEnqueueMain, enqueueMainHook);
        UNHOOK(swift_task_enqueueGlobalWithDelay_hook, otherEnqueueAfter, enqueueAfterHook);
        UNHOOK(swift_task_getMainExecutor_hook, otherGetMain, getMainHook);
    }
    pthread_mutex_unlock(&hookLock);
}

bool tc_isHooked(void) {
    return GET(swift_task_enqueueGlobal_hook) == enqueueHook;
}

// MARK: Interposed functions, which catch what compiled code calls

typedef struct { void *task, *context; } TaskAndContext;

/// The options of `swift_task_create` are a list on the stack of the caller. Their kinds are ABI.
typedef struct Option {
    size_t flags;
    struct Option *parent;
} Option;

enum { FlagEnqueue = 1 << 12 };
enum { OptionSerialExecutor = 0, OptionGroup = 1, OptionExecutorUnowned = 5, OptionExecutorOwned = 6, OptionName = 7 };

typedef struct { Option option; Executor executor; } ExecutorOption;
typedef struct { Option option; const char *name; } NameOption;

/// An actor with the runtime's own executor.
static bool isDefaultActor(Executor executor) { return executor.identity && !executor.witness; }

/// An executor with a mind of its own: an actor that has none has no witness.
static bool isForeign(Executor executor) {
    return simulation && executor.identity && executor.witness && executor.identity != simulation->mainExecutor[0];
}

INTERPOSED SWIFT TaskAndContext
swift_task_create(size_t flags, Option *options, const void *type, void *entry, void *closure) {
    typedef SWIFT TaskAndContext (*Create)(size_t, Option *, const void *, void *, void *);
    static Create original;
    Create create = __atomic_load_n(&original, __ATOMIC_ACQUIRE);
    if (!create) {
        create = (Create)next("swift_task_create");
        __atomic_store_n(&original, create, __ATOMIC_RELEASE);
    }
    TCSimulation *current = simulation;
    if (!current) return create(flags, options, type, entry, closure);

    // Children have their parent's executor, and whoever names an executor means it; but not if it is none, or the system's own.
    bool hasExecutor = false;
    const char *name = NULL;
    ExecutorOption *named = NULL;
    ExecutorOption *serialOption = NULL;
    Executor before = {NULL, NULL}, serial = {NULL, NULL};
    for (Option *option = options; option; option = option->parent) {
        switch (option->flags & 0xFF) {
        case OptionSerialExecutor:
            serialOption = (ExecutorOption *)option;
            serial = serialOption->executor;
            break;
        case OptionGroup: hasExecutor = true; break;
        case OptionExecutorUnowned: case OptionExecutorOwned: hasExecutor = true; named = (ExecutorOption *)option; break;
        case OptionName: name = ((NameOption *)option)->name; break;
        }
    }
    Executor own = {current->taskExecutor[0], current->taskExecutor[1]};
    void *foreign = isForeign(serial) ? serial.identity : NULL;
    if (named && (!named->executor.identity || named->executor.identity == current->globalExecutor)) {
        before = named->executor;
        named->executor = own;
    } else {
        if (named && named->executor.identity != own.identity) foreign = named->executor.identity;
        named = NULL;
    }
    // Owned, so that a task that is left behind does not outlive its executor.
    ExecutorOption executor = {{OptionExecutorOwned, options}, own};
    bool isGivenAway = !hasExecutor || (named && (named->option.flags & 0xFF) == OptionExecutorOwned);
    if (isGivenAway) swift_retain(own.identity);
    // A task that begins on an actor comes to the simulation first, which decides when it arrives there.
    bool isSent = isDefaultActor(serial) && (flags & FlagEnqueue);
    if (isSent) {
        destination = serial.identity;
        serialOption->executor = (Executor){current->hopExecutor[0], current->hopExecutor[1]};
    }
    isCreating = true;
    // Where such an executor brings the task is told by its name.
    if (foreign) tc_exempt();
    TaskAndContext made = create(flags, hasExecutor ? options : &executor.option, type, entry, closure);
    if (foreign) tc_stopExempting();
    isCreating = false;
    if (isSent) serialOption->executor = serial;
    if (named) named->executor = before;
    current->created(current->context, made.task, name, foreign);
    return made;
}

// Where compilers have no such convention, Swift has no such calls: a task that goes away is then seen when it comes back.
#if __has_extension(swiftasynccc)
#define SWIFT_ASYNC __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

/// Compiled code calls it for every hop. A tail call, and so is this one's: otherwise each hop would leave a frame behind.
INTERPOSED SWIFT_ASYNC void swift_task_switch(ASYNC_CONTEXT void *context, void *resume, Executor executor) {
    typedef SWIFT_ASYNC void (*Switch)(ASYNC_CONTEXT void *, void *, Executor);
    static Switch original;
    Switch switchTo = __atomic_load_n(&original, __ATOMIC_ACQUIRE);
    if (!switchTo) {
        switchTo = (Switch)next("swift_task_switch");
        __atomic_store_n(&original, switchTo, __ATOMIC_RELEASE);
    }
    // Now: once it has gone, another thread may run it.
    if (isForeign(executor)) simulation->goes(simulation->context, executor.identity);
    // A hop to another actor ends the step: the simulation decides when the task arrives there.
    if (simulation && isDefaultActor(executor) && executor.identity != swift_task_getCurrentExecutor().identity
        && simulation->mayHop(simulation->context)) {
        destination = executor.identity;
        executor = (Executor){simulation->hopExecutor[0], simulation->hopExecutor[1]};
    }
    __attribute__((musttail)) return switchTo(context, resume, executor);
}
#endif

// MARK: Reading a task

// The layout is the runtime's own, as its debugging tools read it. The simulation tries it on tasks whose state it
// knows before it relies on it.

enum {
    JobFlagsOffset = 32, JobKindMask = 0xFF,
    StatusOffset = 96, StatusIsLocked = 0x200, StatusIsComplete = 0x2000,
    RecordsOffset = 104, RecordKindMask = 0xFF, RecordIsDependency = 0,
};

typedef struct Record {
    size_t flags;
    struct Record *parent;
    void *on[2];
    size_t kind;
} Record;

TCJobKind tc_jobKind(const void *job) {
    uint32_t flags;
    memcpy(&flags, (const char *)job + JobFlagsOffset, sizeof flags);
    switch (flags & JobKindMask) {
    case 0: return TCJobTask;
    case 192: case 193: case 194: return TCJobActor;
    case 195: return TCJobYield;
    default: return TCJobOther;
    }
}

uint8_t tc_jobPriority(const void *job) { return *((const uint8_t *)job + JobFlagsOffset + 1); }

static uint32_t status(const void *task) {
    return __atomic_load_n((const uint32_t *)((const char *)task + StatusOffset), __ATOMIC_ACQUIRE);
}

bool tc_hasEnded(const void *task) { return status(task) & StatusIsComplete; }

/// What the records of a task say. They lie in memory of the task, which it uses anew when it runs.
static TCTaskState recorded(const void *task, void **on) {
    uintptr_t first = __atomic_load_n((const uintptr_t *)((const char *)task + RecordsOffset), __ATOMIC_ACQUIRE);
    int count = 0;
    for (Record *record = (Record *)(first & ~(uintptr_t)7); record && count < 1000; record = record->parent, count++) {
        if ((record->flags & RecordKindMask) != RecordIsDependency) continue;
        *on = record->on[0];
        switch ((uint8_t)record->kind) {
        case 1: return TCTaskAwaitsTask;
        case 2: return TCTaskAwaitsContinuation;
        case 3: return TCTaskAwaitsGroup;
        case 4: return TCTaskAwaitsExecutor;
        }
        return TCTaskReady;
    }
    return TCTaskReady;
}

TCTaskState tc_taskState(const void *task, void **on) {
    *on = NULL;
    uint32_t before = status(task);
    if (before & StatusIsComplete) return TCTaskFinished;
    TCTaskState state = recorded(task, on);
    // Another thread may have resumed it meanwhile: that changes the records under a lock, and then the status.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!(before & StatusIsLocked) && status(task) == before) return state;
    *on = NULL;
    return TCTaskReady;
}
#else
// Some linkers want a symbol in every object file.
void tc_nothing(void) {}
#endif
