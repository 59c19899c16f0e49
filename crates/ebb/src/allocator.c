// Memory that nobody uses goes back to the system after 10 ms, not after a second: the allocator
// prefers memory that it has not used yet to what was freed a moment ago, so that work which frees as
// much as it takes would hold twice its share meanwhile. MIMALLOC_PURGE_DELAY names another delay.
#include <mimalloc.h>

__attribute__((constructor)) static void ebb_set_up_allocator(void) {
  mi_option_set_default(mi_option_purge_delay, 10);
}
