// The functions of this target on Apple's platforms. No function is interposed there, because calls are bound to a
// function of a particular library. The simulation has only the capabilities that the hooks of the runtime make
// possible.
//
// This code compiles, and has not been run yet.
#if defined(__APPLE__)
#include "Hooks.h"
#include "Interposed.h"
#include <pthread.h>

extern void *swift_retain(void *object);
extern void swift_release(void *object);

/// The functions and hooks of the runtime. They are looked up by name, since the runtime of an older system lacks some
/// of them, and tests must start there, too.
static struct {
    Hooks hooks;
    SWIFT uint64_t (*getJobTaskId)(const void *job);
    SWIFT void *(*getCurrent)(void);
    SWIFT void (*enqueueGlobal)(void *job);
    SWIFT void (*enqueue)(void *job, Executor executor);
    SWIFT Executor (*getCurrentExecutor)(void);
} runtime;

#define FIND(place, name) place = (__typeof__(place))dlsym(RTLD_DEFAULT, name)

static void find(void) {
    FIND(runtime.hooks.enqueue, "swift_task_enqueueGlobal_hook");
    FIND(runtime.hooks.enqueueMain, "swift_task_enqueueMainExecutor_hook");
    FIND(runtime.hooks.enqueueAfter, "swift_task_enqueueGlobalWithDelay_hook");
    FIND(runtime.hooks.enqueueAt, "swift_task_enqueueGlobalWithDeadline_hook");
    FIND(runtime.hooks.getMain, "swift_task_getMainExecutor_hook");
    FIND(runtime.hooks.getTime, "swift_get_time");
    FIND(runtime.getJobTaskId, "swift_task_getJobTaskId");
    FIND(runtime.getCurrent, "swift_task_getCurrent");
    FIND(runtime.enqueueGlobal, "swift_task_enqueueGlobal");
    FIND(runtime.enqueue, "swift_task_enqueue");
    FIND(runtime.getCurrentExecutor, "swift_task_getCurrentExecutor");
}

Hooks tc_findHooks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return runtime.hooks;
}

bool tc_isAvailable(void) {
    Hooks hooks = tc_findHooks();
    return hooks.enqueue && hooks.enqueueMain && hooks.enqueueAfter && hooks.enqueueAt && hooks.getTime
        && runtime.getJobTaskId && runtime.getCurrent && runtime.enqueueGlobal && runtime.enqueue
        && runtime.getCurrentExecutor;
}

void tc_retain(void *task) { swift_retain(task); }
void tc_release(void *task) { swift_release(task); }
uint64_t tc_taskID(const void *task) { return runtime.getJobTaskId(task); }
void *tc_currentTask(void) { return runtime.getCurrent(); }
void tc_enqueueGlobal(void *job) { runtime.enqueueGlobal(job); }
void tc_enqueueOnActor(void *job, void *actor) { runtime.enqueue(job, (Executor){actor, NULL}); }
bool tc_isOnActor(void *actor) { return runtime.getCurrentExecutor().identity == actor; }

// MARK: What only interposed functions know

bool tc_isCreating(void) { return false; }
bool tc_isDetaching(void) { return false; }
void *tc_destination(void) { return NULL; }
void tc_setNow(int64_t nanoseconds) { (void)nanoseconds; }
void tc_resetLead(void) {}
int64_t tc_lead(void) { return 0; }
void tc_look(bool looks) { (void)looks; }
void tc_hint(void) {}
bool tc_takeHint(void) { return false; }
void tc_exempt(void) {}
void tc_stopExempting(void) {}
bool tc_isProgram(void) { return false; }
#else
// Some linkers want a symbol in every object file.
void tc_notDarwin(void) {}
#endif
