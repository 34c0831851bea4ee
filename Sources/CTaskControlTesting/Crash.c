// Signal handlers that print the seed if the process crashes inside a simulation, before other handlers report the
// crash.
#if defined(__linux__) || defined(__APPLE__)
#include "Interposed.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <TargetConditionals.h>
#endif

static const int caught[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
enum { CaughtCount = sizeof caught / sizeof *caught, SignalCount = 65 };

/// The handlers that were installed before, by signal: those of Swift's backtracer or of a sanitizer, or the default
/// actions.
static struct sigaction previous[SignalCount];

static void printNote(void) {
    static _Thread_local bool hasPrinted;
    Progress *progress = tc_progress();
    if (!progress || hasPrinted) return;
    hasPrinted = true;
    Text text = {.count = 0};
    tc_append(&text, "\nsimulate: crashed in ");
    tc_appendPlace(&text, progress);
    tc_append(&text, ", ");
    tc_appendCallSite(&text, progress);
    tc_append(&text, "\n");
    tc_appendLastSteps(&text);
    tc_print(&text);
}

static void crashed(int signal, siginfo_t *info, void *context) {
    int error = errno;
    printNote();
    struct sigaction *before = &previous[signal];
    errno = error;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
        // If the fault were ignored, its instruction would fail again, forever.
        struct sigaction byDefault = {.sa_handler = SIG_DFL};
        sigaction(signal, &byDefault, NULL);
        // After the handler, the instruction that has failed runs again, and raises its signal again. A breakpoint does
        // not, nor does a signal that was sent by a function such as `kill`: such a signal is raised here.
        // Not `raise`, which is interposed.
        if (info->si_code <= 0 || info->si_code == SI_USER || signal == SIGTRAP) pthread_kill(pthread_self(), signal);
    } else {
        before->sa_handler(signal);
    }
}

/// Installs the handlers, which are never removed. On a thread without a simulation, they only call the handlers that
/// were installed before.
static void install(void) {
    for (int index = 0; index < CaughtCount; index++) {
        int signal = caught[index];
        sigaction(signal, NULL, &previous[signal]);
        struct sigaction own = {.sa_sigaction = crashed, .sa_mask = previous[signal].sa_mask};
        // With the flags that the previous handler expects; and on an alternative stack, since the thread may have
        // crashed because its own stack has overflowed.
        own.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous[signal].sa_flags & (SA_NODEFER | SA_RESTART));
        sigaction(signal, &own, NULL);
    }
}

// MARK: An alternative stack for the handlers, on a thread that has none

static pthread_key_t stackKey;

#if defined(__APPLE__) && (TARGET_OS_TV || TARGET_OS_WATCH)
// These platforms have no alternative stacks for handlers.
static void removeStack(void *stack) { (void)stack; }
static void addStack(void) {}
#else
enum { StackSize = 64 * 1024 };

static void removeStack(void *stack) {
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && current.ss_sp == stack) {
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
    }
    munmap(stack, StackSize);
}

static void addStack(void) {
    stack_t current;
    if (sigaltstack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
    void *stack = mmap(NULL, StackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return;
    stack_t own = {.ss_sp = stack, .ss_size = StackSize};
    if (sigaltstack(&own, NULL) == 0) pthread_setspecific(stackKey, stack); else munmap(stack, StackSize);
}
#endif

static void prepare(void) {
    pthread_key_create(&stackKey, removeStack);
    install();
}

void tc_catchCrashes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool isPrepared;
    if (isPrepared) return;
    isPrepared = true;
    pthread_once(&once, prepare);
    // Looks the function up, which a signal handler must not do.
    ssize_t none = write(STDERR_FILENO, "", 0);
    (void)none;
    addStack();
}
#else
// Some linkers want a symbol in every object file.
void tc_noCrash(void) {}
#endif
