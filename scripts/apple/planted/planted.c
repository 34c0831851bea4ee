// C knows no version of what it declares by hand.

// finds strong import: swift_task_immediate
extern void swift_task_immediate(void);
extern void *swift_task_getCurrent(void);
// finds untested call: callsUntested
extern __attribute__((weak_import)) void swift_task_deinitOnExecutor(void);

// finds strong import: swift_task_getPreferredTaskExecutor
extern void *preferred(void) __asm__("_swift_task_getPreferredTaskExecutor");
void *importsByAnotherName(void) { return preferred(); }

// finds strong import: swift_task_donateThreadToGlobalExecutorUntil_hook
extern void *swift_task_donateThreadToGlobalExecutorUntil_hook;
void *importsAVariable(void) { return swift_task_donateThreadToGlobalExecutorUntil_hook; }

void importsStrongly(void) {
    if (swift_task_getCurrent()) swift_task_immediate();
}

void callsUntested(void) { swift_task_deinitOnExecutor(); }

// finds untested call: callsOnTheWrongSide
void callsOnTheWrongSide(void) {
    if (!swift_task_deinitOnExecutor) swift_task_deinitOnExecutor();
}

void callsTested(void) {
    if (swift_task_deinitOnExecutor) swift_task_deinitOnExecutor();
}
