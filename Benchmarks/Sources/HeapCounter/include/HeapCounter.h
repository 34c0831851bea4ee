#ifndef HEAP_COUNTER_H
#define HEAP_COUNTER_H

#include <stdbool.h>

/// Whether this platform lets us stand before its allocator. Where it does not, everything below reads zero.
bool heap_counter_is_available(void);

/// Sets both counts to zero and starts counting, in all threads.
void heap_counter_start(void);

/// Stops counting. While nothing is counted, an allocation costs one more relaxed load and nothing else: timings are taken so.
void heap_counter_stop(void);

/// Blocks allocated since the start, whether or not they have been freed. A block that is resized counts again.
long heap_counter_allocations(void);

/// Usable bytes allocated since the start, less those freed since the start: the change of the heap, whatever was there before.
long heap_counter_bytes(void);

/// An atomic counter for Swift code that also runs where Swift's own `Atomic` does not exist yet. Returns the new value.
static inline long heap_counter_decrement(long *_Nonnull counter) {
    return __atomic_sub_fetch(counter, 1, __ATOMIC_ACQ_REL);
}

#endif
