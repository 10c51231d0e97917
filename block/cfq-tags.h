/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: who gets a descriptor, see block/cfq-tags.c.
 */
#ifndef CFQ_TAGS_H
#define CFQ_TAGS_H

#include <linux/blk-mq.h>
#include <linux/completion.h>

#include "cfq-sched.h"

/* All of them, but those that the driver has for commands of its own. */
static inline unsigned int cfq_all_descriptors(const struct request_queue *q)
{
	return q->nr_requests - q->tag_set->reserved_tags;
}

/* Descriptors in use, or about to be; read locklessly it may be outdated. */
static inline unsigned int cfq_nr_descriptors(const struct cfq_meta_data *cfqmd)
{
	return READ_ONCE(cfqmd->nr_queued) + READ_ONCE(cfqmd->dd.nr_in_driver) +
	       READ_ONCE(cfqmd->dd.nr_flushes) + READ_ONCE(cfqmd->nr_admitted);
}

/*
 * Who wants a descriptor where they are scarce, and waits here, not for a tag: that
 * may be taken by a task that did not wait, again and again, and tags know nothing of
 * groups and classes.  Descriptors that are not inserted yet are not counted, so there
 * may be too few at times; then there are still the tags to wait for.
 */
struct cfq_waiter {
	struct list_head	node;	/* on cfqd->line[class], or cfqd->waiters */
	struct cfq_data		*cfqd;	/* owns a reference */
	enum cfq_class		class;
	struct cfq_io_cq	*cic;	/* of the task, if that is to be asked */
	struct completion	go_on;
};

void cfq_wait(struct cfq_waiter *waiter, struct list_head *list);
struct cfq_waiter *cfq_line_due(struct cfq_data *cfqd, u64 now_ns);

/* The best class of which tasks of @cfqd are in line, if there are any. */
static inline enum cfq_class cfq_line_best(const struct cfq_data *cfqd)
{
	enum cfq_class class = CFQ_CLASS_RT;

	while (class < CFQ_NR_CLASSES && list_empty(&cfqd->line[class]))
		class++;
	return class;
}

/* Parts that are kept of all descriptors. */
#define CFQ_KEPT_FOR_FEWER	32
#define CFQ_KEPT_FOR_RT		16

/* With so many requests a task leaves as much to others as with more. */
#define CFQ_KEPT_MOST		4U

/*
 * Descriptors for a task of @class that has @nr requests: a few are kept for real
 * time, if needed, and some for those who have fewer than it, and than that.
 */
static inline unsigned int
cfq_descriptors_for(const struct cfq_meta_data *cfqmd, enum cfq_class class,
		    unsigned int nr)
{
	const unsigned int total = cfq_all_descriptors(cfqmd->dd.queue);
	unsigned int kept = 0;

	if (total >= CFQ_KEPT_FOR_FEWER)
		kept = min(nr, CFQ_KEPT_MOST) * total / CFQ_KEPT_FOR_FEWER;
	if (class != CFQ_CLASS_RT && cfqmd->rt_until_ns &&
	    cfqmd->rt_until_ns > ktime_get_ns())
		kept += total / CFQ_KEPT_FOR_RT;
	return total - kept;
}

#endif /* CFQ_TAGS_H */
