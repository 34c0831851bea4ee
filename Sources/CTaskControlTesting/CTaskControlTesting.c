// The functions of the runtime that compiled code calls, on Linux.
#if defined(__linux__)
#include "Hooks.h"
#include "Interposed.h"

static _Thread_local bool isCreating;
static _Thread_local void *destination;

bool tc_isCreating(void) { return isCreating; }

static _Thread_local bool isDetaching;

bool tc_isDetaching(void) { return isDetaching; }
void *tc_destination(void) { return destination; }

// MARK: What the runtime exports

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
bool tc_isOnActor(void *actor) { return swift_task_getCurrentExecutor().identity == actor; }
void tc_enqueueOnActor(void *job, void *actor) { swift_task_enqueue(job, (Executor){actor, NULL}); }

extern __attribute__((weak)) EnqueueHook swift_task_enqueueGlobal_hook;
extern __attribute__((weak)) EnqueueHook swift_task_enqueueMainExecutor_hook;
extern __attribute__((weak)) EnqueueAfterHook swift_task_enqueueGlobalWithDelay_hook;
extern __attribute__((weak)) GetMainHook swift_task_getMainExecutor_hook;

Hooks tc_findHooks(void) {
    // No hook is needed for sleeps until a deadline: the runtime passes them to the executor of the task, which is that
    // of the simulation.
    return (Hooks){
        .enqueue = &swift_task_enqueueGlobal_hook,
        .enqueueMain = &swift_task_enqueueMainExecutor_hook,
        .enqueueAfter = &swift_task_enqueueGlobalWithDelay_hook,
        .getMain = &swift_task_getMainExecutor_hook,
    };
}

bool tc_isAvailable(void) {
    Hooks hooks = tc_findHooks();
    return hooks.enqueue && hooks.enqueueMain && hooks.enqueueAfter && hooks.getMain;
}

// MARK: Interposed functions, which intercept the calls of compiled code

typedef struct { void *task, *context; } TaskAndContext;

/// An option of `swift_task_create`. The options form a linked list on the stack of the caller. Their kinds are part of
/// the ABI.
typedef struct Option {
    size_t flags;
    struct Option *parent;
} Option;

enum { FlagIsChild = 1 << 8, FlagCopiesLocals = 1 << 10, FlagEnqueue = 1 << 12 };
enum { OptionSerialExecutor = 0, OptionGroup = 1, OptionExecutorUnowned = 5, OptionExecutorOwned = 6, OptionName = 7 };

typedef struct { Option option; Executor executor; } ExecutorOption;
typedef struct { Option option; const char *name; } NameOption;

/// Whether an executor is that of an actor without a custom executor: the runtime implements it.
static bool isDefaultActor(Executor executor) { return executor.identity && !executor.witness; }

/// Whether an executor is a custom executor outside the simulation. The executor of an actor without a custom executor
/// has no witness table.
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

    // Child tasks inherit the executor of their parent. A task that names an executor keeps it, unless it names no
    // executor or the global one.
    bool hasExecutor = false, isOfGroup = false;
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
        case OptionGroup: hasExecutor = isOfGroup = true; break;
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
    // Passed as an owned executor, so that a task that never ends does not outlive its executor.
    ExecutorOption executor = {{OptionExecutorOwned, options}, own};
    bool isGivenAway = !hasExecutor || (named && (named->option.flags & 0xFF) == OptionExecutorOwned);
    if (isGivenAway) swift_retain(own.identity);
    // A task that begins on an actor is sent to the simulation first, which decides when the task arrives at the actor.
    bool isSent = isDefaultActor(serial) && (flags & FlagEnqueue);
    if (isSent) {
        destination = serial.identity;
        serialOption->executor = (Executor){current->hopExecutor[0], current->hopExecutor[1]};
    }
    isCreating = true;
    isDetaching = !isOfGroup && !(flags & (FlagIsChild | FlagCopiesLocals));
    // A custom executor is reported by its name, and not by the functions that it calls while it enqueues the task.
    if (foreign) tc_exempt();
    TaskAndContext made = create(flags, hasExecutor ? options : &executor.option, type, entry, closure);
    if (foreign) tc_stopExempting();
    isCreating = isDetaching = false;
    if (isSent) serialOption->executor = serial;
    if (named) named->executor = before;
    current->created(current->context, made.task, name, foreign);
    return made;
}

/// Compiled code calls this function when an actor is deallocated. Another actor may get its address.
INTERPOSED SWIFT void swift_defaultActor_destroy(void *actor) {
    typedef SWIFT void (*Destroy)(void *);
    if (simulation) tc_unclaim(actor);
    ORIGINAL(Destroy, swift_defaultActor_destroy)(actor);
}

// If the compiler does not support the calling convention of async functions, hops cannot be intercepted: a task that
// leaves the simulation is noticed only when it returns.
#if __has_extension(swiftasynccc)
#define SWIFT_ASYNC __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

/// Compiled code calls this function for every hop, with a tail call. The original function must be called with a tail
/// call, too: otherwise each hop would leave a stack frame behind.
INTERPOSED SWIFT_ASYNC void swift_task_switch(ASYNC_CONTEXT void *context, void *resume, Executor executor) {
    typedef SWIFT_ASYNC void (*Switch)(ASYNC_CONTEXT void *, void *, Executor);
    static Switch original;
    Switch switchTo = __atomic_load_n(&original, __ATOMIC_ACQUIRE);
    if (!switchTo) {
        switchTo = (Switch)next("swift_task_switch");
        __atomic_store_n(&original, switchTo, __ATOMIC_RELEASE);
    }
    // Reported before the hop: after it, another thread may already run the task.
    if (isForeign(executor)) simulation->goes(simulation->context, executor.identity);
    // A hop to another actor ends the step: the simulation decides when the task arrives at the actor.
    if (simulation && isDefaultActor(executor) && executor.identity != swift_task_getCurrentExecutor().identity
        && simulation->mayHop(simulation->context)) {
        destination = executor.identity;
        executor = (Executor){simulation->hopExecutor[0], simulation->hopExecutor[1]};
    }
    __attribute__((musttail)) return switchTo(context, resume, executor);
}
#endif

#else
// Some linkers want a symbol in every object file.
void tc_nothing(void) {}
#endif
