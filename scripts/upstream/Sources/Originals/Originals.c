#define _GNU_SOURCE
#include "Originals.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// A call of such a function by its own name would arrive at the replacement. These jump to the definition of the next library.
void *upstream_originals[6];

static const char *const names[] = {
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGAA06SourceM0VSaySS05firstJ0_AQ06secondJ0ypXp4typetGyyYaYbKctRi_zRi0_zlFZ",
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits9arguments14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGq_yYaYbKcAA06SourceN0VSaySS05firstJ0_AR06secondJ0ypXp4typetGy7ElementQy_YaYbKctSlR_s8SendableR_sA1_A0_RQRi_zRi0_zr0_lFZ",
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits9arguments_14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGq_yYaYbKcq0_yYaYbKcAA06SourceN0VSaySS05firstJ0_AR06secondJ0ypXp4typetGy7ElementQy__A_Qy0_tYaYbKctSlR_s8SendableR_SlR0_sA2_R0_sA2_A0_RQsA2_A1_RQRi_zRi0_zr1_lFZ",
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits9arguments14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGq_yYaYbKcAA06SourceN0VSaySS05firstJ0_AR06secondJ0ypXp4typetGyq0__q1_t_tYaYbKctSlR_s8SendableR_sA_R0_sA_R1_q0__q1_t7ElementRt_Ri_zRi0_zr2_lFZ",
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits9arguments14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGSDyq_q0_GyYaYbKcAA06SourceN0VSaySS05firstJ0_AR06secondJ0ypXp4typetGyq__q0_t_tYaYbKctSHR_s8SendableR_sA0_R0_Ri_zRi0_zr1_lFZ",
    "$s7Testing4TestV10__function5named2in02xcB18CompatibleSelector11displayName6traits9arguments14sourceLocation10parameters12testFunctionACSS_xmSgs5NeverOSgSSSgSayAA0B5Trait_pGs12Zip2SequenceVyq_q0_GyYaYbKcAA06SourceN0VSaySS05firstJ0_AR06secondJ0ypXp4typetGy7ElementQy__A2_Qy0_tYaYbKctSlR_s8SendableR_SlR0_sA5_R0_sA5_A3_RQsA5_A4_RQRi_zRi0_zr1_lFZ",
};

// The methods of XCTWaiter are called through the table of their class. An asynchronous function
// stands in it as the address of its record.
#define FULFILLMENT "11fulfillment2of7timeout12enforceOrder4file4line"
#define PARAMETERS "SayAA0A11ExpectationCG_SdSbs12StaticStringVSitYaF"
extern const char upstream_fulfillment_of_waiter[] __asm__("upstream_fulfillment_of_waiterTu");
extern const char upstream_fulfillment_of_waiters[] __asm__("upstream_fulfillment_of_waitersTu");

typedef struct {
    void *kind, *superclass;
    uint32_t flags, instanceAddressPoint, instanceSize;
    uint16_t instanceAlignment, reserved;
    uint32_t size, addressPoint;
} ClassMetadata;

static void replace(const char *class, const char *method, const void *replacement) {
    ClassMetadata *metadata = dlsym(RTLD_NEXT, class);
    const void *original = dlsym(RTLD_NEXT, method);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t word = 0; metadata && original && word < (metadata->size - metadata->addressPoint) / sizeof(void *); word++) {
        const void **entry = (const void **)metadata + word;
        if (*entry != original) continue;
        // The table may stand in memory that is read-only once it is relocated.
        char *start = (char *)((uintptr_t)entry / page * page);
        if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE) == 0) *entry = replacement;
        return;
    }
    fprintf(stderr, "XCTest has no method %s: this library is written for Swift 6.3.\n", method);
    abort();
}

__attribute__((constructor)) static void find(void) {
    replace("$s6XCTest9XCTWaiterCN", "$s6XCTest9XCTWaiterC" FULFILLMENT "AC6ResultO" PARAMETERS "Tu", upstream_fulfillment_of_waiter);
    replace("$s6XCTest9XCTWaiterCN", "$s6XCTest9XCTWaiterC" FULFILLMENT "AC6ResultO" PARAMETERS "ZTu", upstream_fulfillment_of_waiters);
    for (int index = 0; index < 6; index++) {
        upstream_originals[index] = dlsym(RTLD_NEXT, names[index]);
        if (!upstream_originals[index]) {
            fprintf(stderr, "Swift Testing has no function %s: this library is written for Swift 6.3.\n", names[index]);
            abort();
        }
    }
}

#if defined(__x86_64__)
#define JUMP(number) \
    __asm__(".globl upstream_original_" #number "\n.type upstream_original_" #number ", @function\nupstream_original_" #number ":\n" \
            "movq upstream_originals@GOTPCREL(%rip), %r11\njmpq *8*" #number "(%r11)\n");
#elif defined(__aarch64__)
#define JUMP(number) \
    __asm__(".globl upstream_original_" #number "\n.type upstream_original_" #number ", %function\nupstream_original_" #number ":\n" \
            "adrp x16, :got:upstream_originals\nldr x16, [x16, :got_lo12:upstream_originals]\nldr x16, [x16, #8*" #number "]\nbr x16\n");
#endif
JUMP(0)
JUMP(1)
JUMP(2)
JUMP(3)
JUMP(4)
JUMP(5)
