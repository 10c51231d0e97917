/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included into arch/x86/kernel/apic/apic.c for kernels of the VM (see kit/kernel).
 *
 * While the kernel measures its timer it waits 0.1 s with "pause". Under emulation with virtual time each pause
 * leaves the emulated processor, and 0.1 s become 15. A loop that stays inside is over in a moment.
 */
#include <asm/processor.h>

static __always_inline void busy_loop(void)
{
	for (int i = 0; i < 2000; i++)
		barrier();
}

#define cpu_relax() busy_loop()
