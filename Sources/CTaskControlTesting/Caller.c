// The code that has called an interposed function, for the messages of escapes.
#if defined(__linux__)
#include "Interposed.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <execinfo.h>
#endif

extern char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

enum { MostFrames = 64 };

/// The symbols of the executable, mapped from its file. Most functions of an executable are not exported, so the dynamic
/// linker does not know their names.
typedef struct {
    const char *bytes;
    size_t size;
    const ElfW(Sym) *symbols;
    size_t count;
    const char *names;
    size_t namesSize;
    /// The difference between the addresses in memory and those in the file.
    uintptr_t bias;
} Symbols;

static bool contains(const Symbols *file, size_t offset, size_t size) {
    return offset <= file->size && size <= file->size - offset;
}

static bool findTable(Symbols *file) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)file->bytes;
    if (!contains(file, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (!contains(file, header->e_shoff, (size_t)header->e_shnum * sizeof(ElfW(Shdr)))) return false;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file->bytes + header->e_shoff);
    for (int index = 0; index < header->e_shnum; index++) {
        const ElfW(Shdr) *section = &sections[index];
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= header->e_shnum) continue;
        const ElfW(Shdr) *names = &sections[section->sh_link];
        if (!contains(file, section->sh_offset, section->sh_size) || !contains(file, names->sh_offset, names->sh_size)) return false;
        file->symbols = (const ElfW(Sym) *)(file->bytes + section->sh_offset);
        file->count = section->sh_size / sizeof(ElfW(Sym));
        file->names = file->bytes + names->sh_offset;
        file->namesSize = names->sh_size;
        if (header->e_type == ET_EXEC) file->bias = 0;
        return true;
    }
    return false;
}

static bool openSymbols(Symbols *file, uintptr_t base) {
    int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct stat status;
    void *bytes = MAP_FAILED;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    if (bytes == MAP_FAILED) return false;
    *file = (Symbols){.bytes = bytes, .size = (size_t)status.st_size, .bias = base};
    if (findTable(file)) return true;
    munmap(bytes, file->size);
    return false;
}

/// Returns the name of the function that contains an address; `NULL` if it is not known.
static const char *nameOf(const Symbols *file, uintptr_t address) {
    uintptr_t wanted = address - file->bias;
    for (size_t index = 0; index < file->count; index++) {
        const ElfW(Sym) *symbol = &file->symbols[index];
        if ((symbol->st_info & 0xF) != STT_FUNC || wanted < symbol->st_value) continue;
        if (wanted - symbol->st_value < symbol->st_size && symbol->st_name < file->namesSize) {
            return file->names + symbol->st_name;
        }
    }
    return NULL;
}

static char *demangled(const char *name) {
    char *text = swift_demangle(name, strlen(name), NULL, NULL, 0);
    return text ? text : strdup(name);
}

static bool isOfSimulation(const char *name) {
    return strncmp(name, "$s18TaskControlTesting", 22) == 0 || strncmp(name, "tc_", 3) == 0;
}

/// Returns the name of the first function of the executable among some frames, except functions of the simulation.
static char *firstOfProgram(void *const *frames, int count, const void *base) {
    Symbols file;
    if (!openSymbols(&file, (uintptr_t)base)) return NULL;
    char *found = NULL;
    for (int index = 0; index < count && !found; index++) {
        // The address before that to which the function returns: the call may be the last instruction of its caller.
        uintptr_t address = (uintptr_t)frames[index] - 1;
        Dl_info image;
        if (!dladdr((void *)address, &image) || image.dli_fbase != base) continue;
        const char *name = nameOf(&file, address);
        if (name && !isOfSimulation(name)) found = demangled(name);
    }
    munmap((void *)file.bytes, file.size);
    return found;
}

char *tc_copyCaller(const void *caller) {
    void *frames[MostFrames] = {(void *)caller};
    int first = 0, count = 1;
    tc_exempt();
#if defined(__GLIBC__)
    int all = backtrace(frames, MostFrames);
    for (int index = 0; index < all; index++) {
        if (frames[index] != caller) continue;
        first = index;
        count = all - index;
        break;
    }
    if (frames[first] != caller) frames[first] = (void *)caller;
#endif
    Dl_info own, image;
    char *found = NULL;
    if (dladdr((void *)tc_copyCaller, &own)) found = firstOfProgram(frames + first, count, own.dli_fbase);
    if (!found && dladdr((const char *)caller - 1, &image) && image.dli_sname) found = demangled(image.dli_sname);
    tc_stopExempting();
    return found;
}
#elif defined(__APPLE__)
#include "CTaskControlTesting.h"

char *tc_copyCaller(const void *caller) {
    (void)caller;
    return NULL;
}
#else
// Some linkers want a symbol in every object file.
void tc_noCaller(void) {}
#endif
