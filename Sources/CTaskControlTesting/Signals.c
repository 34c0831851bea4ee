// Dispatch's sources of signals, which services use to learn that they must shut down. A simulation plays them: the handlers run as a task, in the order
// in which Dispatch would call them, and a signal that the program sends to itself arrives there. The sources themselves are never activated.
#include "Interposed.h"
#if defined(__linux__)
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define WORK "which makes another thread work"

typedef struct SignalSource {
    void *source;
    int signal;
    void *event, *cancellation, *registration;
    bool isActive, isCancelled;
    struct SignalSource *following;
} SignalSource;

/// The sources that this thread has created in the seed that it runs.
static _Thread_local SignalSource *sources;

void tc_forgetSignals(void) {
    while (sources) {
        SignalSource *first = sources;
        sources = first->following;
        // The handlers stay: those of a seed that has failed can be in use.
        free(first);
    }
}

static SignalSource *sourceOf(void *object) {
    if (!tc_isProgram()) return NULL;
    SignalSource *source = sources;
    while (source && source->source != object) source = source->following;
    return source;
}

static void *retained(void *block) {
    return block ? ORIGINAL(void *(*)(void *), _Block_copy)(block) : NULL;
}

static void released(void *block) {
    if (block) ORIGINAL(void (*)(void *), _Block_release)(block);
}

void tc_callBlock(void *block, const bool *unless) {
    typedef struct { void *kind; int flags, reserved; void (*invoke)(void *); } Block;
    if (!unless || !*unless) ((Block *)block)->invoke(block);
    released(block);
}

/// - block: A block that is released after its call. The variable is cleared.
/// - unless: The block is not called if this is `true` then; `NULL` for a block that is always called.
static void enqueue(void **block, const bool *unless) {
    void *once = *block;
    *block = NULL;
    if (once) simulation->perform(simulation->context, once, unless);
}

INTERPOSED void *dispatch_source_create(void *type, uintptr_t handle, uintptr_t mask, void *queue) {
    typedef void *(*Create)(void *, uintptr_t, uintptr_t, void *);
    if (!tc_isProgram() || type != ORIGINAL(void *, _dispatch_source_type_signal)) {
        tc_touch("dispatch_source_create", WORK);
        return ORIGINAL(Create, dispatch_source_create)(type, handle, mask, queue);
    }
    void *object = ORIGINAL(Create, dispatch_source_create)(type, handle, mask, queue);
    SignalSource *source = calloc(1, sizeof *source);
    if (!object || !source) return object;
    // An inactive source must not be deallocated: it is leaked.
    ORIGINAL(void (*)(void *), dispatch_retain)(object);
    *source = (SignalSource){.source = object, .signal = (int)handle, .following = sources};
    sources = source;
    return object;
}

#define SETS_HANDLER(name, field) \
    INTERPOSED void name(void *object, void *block) { \
        SignalSource *source = sourceOf(object); \
        if (!source) return ORIGINAL(void (*)(void *, void *), name)(object, block); \
        void *former = source->field; \
        source->field = retained(block); \
        released(former); \
    }
SETS_HANDLER(dispatch_source_set_event_handler, event)
SETS_HANDLER(dispatch_source_set_cancel_handler, cancellation)
SETS_HANDLER(dispatch_source_set_registration_handler, registration)

static void activate(SignalSource *source) {
    if (source->isActive) return;
    source->isActive = true;
    enqueue(source->isCancelled ? &source->cancellation : &source->registration, NULL);
}

INTERPOSED void dispatch_activate(void *object) {
    SignalSource *source = sourceOf(object);
    if (source) return activate(source);
    tc_touch("dispatch_activate", WORK);
    ORIGINAL(void (*)(void *), dispatch_activate)(object);
}

INTERPOSED void dispatch_resume(void *object) {
    SignalSource *source = sourceOf(object);
    if (source) return activate(source);
    tc_touch("dispatch_resume", WORK);
    ORIGINAL(void (*)(void *), dispatch_resume)(object);
}

INTERPOSED void dispatch_source_cancel(void *object) {
    SignalSource *source = sourceOf(object);
    if (!source) {
        ORIGINAL(void (*)(void *), dispatch_source_cancel)(object);
    } else if (!source->isCancelled) {
        source->isCancelled = true;
        void *event = source->event;
        source->event = NULL;
        if (source->isActive) enqueue(&source->cancellation, NULL);
        released(event);
    }
}

INTERPOSED intptr_t dispatch_source_testcancel(void *object) {
    SignalSource *source = sourceOf(object);
    return source ? source->isCancelled : ORIGINAL(intptr_t (*)(void *), dispatch_source_testcancel)(object);
}

/// Delivers a signal to the sources of the simulation.
///
/// - Returns: Whether there was one that listens.
static bool deliver(int signal) {
    bool isHeard = false;
    for (SignalSource *source = tc_isProgram() ? sources : NULL; source; source = source->following) {
        if (source->signal != signal || !source->isActive || source->isCancelled) continue;
        void *event = retained(source->event);
        enqueue(&event, &source->isCancelled);
        isHeard = true;
    }
    return isHeard;
}

INTERPOSED int kill(pid_t process, int signal) {
    if (process == getpid() && deliver(signal)) return 0;
    return ORIGINAL(int (*)(pid_t, int), kill)(process, signal);
}

INTERPOSED int raise(int signal) {
    if (deliver(signal)) return 0;
    return ORIGINAL(int (*)(int), raise)(signal);
}
#elif defined(__APPLE__)
void tc_forgetSignals(void) {}
// Never called: no source of signals is played.
void tc_callBlock(void *block, const bool *unless) { (void)block, (void)unless; }
#endif
