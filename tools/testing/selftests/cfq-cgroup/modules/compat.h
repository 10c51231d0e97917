/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the modelled devices miss in a kernel older than the one they are
 * written for; the Makefile looks which it is.
 */
#ifndef _CFQ_COMPAT_H
#define _CFQ_COMPAT_H

#ifdef CFQ_NEEDS_SHOULD_MERGE
#define CFQ_TAG_SET_FLAGS	BLK_MQ_F_SHOULD_MERGE
#else
#define CFQ_TAG_SET_FLAGS	0
#endif

#ifdef CFQ_NEEDS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* _CFQ_COMPAT_H */
