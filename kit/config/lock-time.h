/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included into the schedulers' own files for the kernel that
 * bench/guest/lock.sh runs on (see kit/kernel).
 *
 * Counts how often they take a spinlock, and for how long they hold one; the
 * sums are parameters of the scheduler's module. It is for one processor: what
 * holds a lock there is not preempted by another holder, but for an interrupt
 * that takes a second lock.
 */
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>

static unsigned long long lock_held_ns, lock_longest_ns, lock_taken;
static unsigned long long lock_since_ns;
static unsigned int lock_depth;

module_param(lock_held_ns, ullong, 0644);
module_param(lock_longest_ns, ullong, 0644);
module_param(lock_taken, ullong, 0644);

static inline void note_lock(void)
{
	lock_taken++;
	if (!lock_depth++)
		lock_since_ns = local_clock();
}

static inline void note_unlock(void)
{
	unsigned long long ns;

	if (--lock_depth)
		return;
	ns = local_clock() - lock_since_ns;
	lock_held_ns += ns;
	lock_longest_ns = max(lock_longest_ns, ns);
}

/* In a macro, its own name is the function behind it. */
#define spin_lock(lock)		do { spin_lock(lock); note_lock(); } while (0)
#define spin_lock_irq(lock)	do { spin_lock_irq(lock); note_lock(); } while (0)
#undef spin_lock_irqsave
#define spin_lock_irqsave(lock, flags)					\
	do {								\
		raw_spin_lock_irqsave(spinlock_check(lock), flags);	\
		note_lock();						\
	} while (0)
#undef spin_trylock_irq
#define spin_trylock_irq(lock)						\
	({								\
		int had = raw_spin_trylock_irq(spinlock_check(lock));	\
									\
		if (had)						\
			note_lock();					\
		had;							\
	})
#define spin_unlock(lock)	do { note_unlock(); spin_unlock(lock); } while (0)
#define spin_unlock_irq(lock)	do { note_unlock(); spin_unlock_irq(lock); } while (0)
#define spin_unlock_irqrestore(lock, flags)				\
	do {								\
		note_unlock();						\
		spin_unlock_irqrestore(lock, flags);			\
	} while (0)
