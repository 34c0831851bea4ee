#include "HeapCounter.h"

#include <stddef.h>
#include <stdlib.h>

// A sanitizer brings an allocator of its own, which must not be passed by.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEAP_COUNTER_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(HEAP_COUNTER_SANITIZED)

// Symbols of the executable come before those of the C library, for every shared library in the process: so these definitions
// stand before the allocator without any preloading, and hand on to it under its internal names.

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static bool counting;
static long allocations;
static long bytes;

static inline bool is_counting(void) {
    return __atomic_load_n(&counting, __ATOMIC_RELAXED);
}

static inline void *allocated(void *block) {
    if (is_counting() && block != NULL) {
        __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&bytes, (long)malloc_usable_size(block), __ATOMIC_RELAXED);
    }
    return block;
}

static inline void freed(size_t size) {
    __atomic_fetch_sub(&bytes, (long)size, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    return allocated(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return allocated(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (!is_counting()) return __libc_realloc(block, size);
    size_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *resized = __libc_realloc(block, size);
    // The old block stays where the C library could not resize it, unless it was asked to free it.
    if (resized != NULL || size == 0) freed(before);
    return allocated(resized);
}

void free(void *block) {
    if (is_counting() && block != NULL) freed(malloc_usable_size(block));
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size) {
    return allocated(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return allocated(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *aligned = __libc_memalign(alignment, size);
    if (aligned == NULL) return ENOMEM;
    *block = allocated(aligned);
    return 0;
}

void *valloc(size_t size) {
    return allocated(__libc_memalign((size_t)sysconf(_SC_PAGESIZE), size));
}

void *pvalloc(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return allocated(__libc_memalign(page, (size + page - 1) / page * page));
}

bool heap_counter_is_available(void) {
    return true;
}

void heap_counter_start(void) {
    __atomic_store_n(&allocations, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&counting, true, __ATOMIC_SEQ_CST);
}

void heap_counter_stop(void) {
    __atomic_store_n(&counting, false, __ATOMIC_SEQ_CST);
}

long heap_counter_allocations(void) {
    return __atomic_load_n(&allocations, __ATOMIC_RELAXED);
}

long heap_counter_bytes(void) {
    return __atomic_load_n(&bytes, __ATOMIC_RELAXED);
}

#else

bool heap_counter_is_available(void) {
    return false;
}

void heap_counter_start(void) {}

void heap_counter_stop(void) {}

long heap_counter_allocations(void) {
    return 0;
}

long heap_counter_bytes(void) {
    return 0;
}

#endif
