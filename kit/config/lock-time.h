/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included into the schedulers' own files for the kernel that
 * bench/guest/lock.sh runs on (see kit/kernel).
 *
 * Counts how often they take a spinlock, and for how long they hold one; the
 * sums are parameters of the scheduler's module, and so is how often one was held
 * for less than 1 us, 2 us, 4 us and so on. It is for one processor: what holds a
 * lock there is not preempted by another holder, but for an interrupt that takes a
 * second lock.
 *
 * LOCK_ACCOUNT is a name of the scheduler's own; of one of several files, all but
 * the first are compiled with LOCK_TIME_PART.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>

#define LOCK_TIMES	16

struct lock_account {
	unsigned long long held_ns, longest_ns, taken, since_ns;
	unsigned long long times[LOCK_TIMES];
	unsigned int depth;
};

#ifdef LOCK_TIME_PART
extern struct lock_account LOCK_ACCOUNT;
#else
struct lock_account LOCK_ACCOUNT;
module_param_named(lock_held_ns, LOCK_ACCOUNT.held_ns, ullong, 0644);
module_param_named(lock_longest_ns, LOCK_ACCOUNT.longest_ns, ullong, 0644);
module_param_named(lock_taken, LOCK_ACCOUNT.taken, ullong, 0644);
module_param_array_named(lock_times, LOCK_ACCOUNT.times, ullong, NULL, 0644);
#endif

static inline void note_lock(void)
{
	LOCK_ACCOUNT.taken++;
	if (!LOCK_ACCOUNT.depth++)
		LOCK_ACCOUNT.since_ns = local_clock();
}

static inline void note_unlock(void)
{
	unsigned long long ns;

	if (--LOCK_ACCOUNT.depth)
		return;
	ns = local_clock() - LOCK_ACCOUNT.since_ns;
	LOCK_ACCOUNT.held_ns += ns;
	LOCK_ACCOUNT.longest_ns = max(LOCK_ACCOUNT.longest_ns, ns);
	ns = ns >= 1000 ? ilog2(ns / 1000) + 1 : 0;
	LOCK_ACCOUNT.times[min(ns, LOCK_TIMES - 1)]++;
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
