/* SPDX-License-Identifier: GPL-2.0 */
/* CFQ I/O scheduler: who gets a descriptor, see block/cfq-tags.c. */
#ifndef CFQ_TAGS_H
#define CFQ_TAGS_H

#include <linux/blk-mq.h>
#include <linux/completion.h>

#include "cfq-sched.h"

/* All but those for the driver's own commands. */
static inline unsigned int cfq_all_descriptors(const struct request_queue *q)
{
	return q->nr_requests - q->tag_set->reserved_tags;
}

/* In use, or about to be; read locklessly it may be outdated. */
static inline unsigned int cfq_nr_descriptors(const struct cfq_meta_data *cfqmd)
{
	return READ_ONCE(cfqmd->nr_queued) + READ_ONCE(cfqmd->dd.nr_in_driver) +
	       READ_ONCE(cfqmd->dd.nr_flushes) + READ_ONCE(cfqmd->nr_admitted);
}

/*
 * Who waits for a descriptor, and not for a tag: tags know nothing of groups
 * and classes, and one may go to a task that did not wait.  What is not
 * inserted yet is not counted, so at times there are too few, and a task waits
 * for a tag as well.
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

/* The best class in line. */
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

/* With so many requests a task leaves others as much as with more. */
#define CFQ_KEPT_MOST		4U

/* For a task of @class with @nr requests: all but those kept for others. */
static inline unsigned int
cfq_descriptors_for(const struct cfq_meta_data *cfqmd, enum cfq_class class,
		    unsigned int nr)
{
	const unsigned int total = cfq_all_descriptors(cfqmd->dd.queue);
	unsigned int kept = 0;

	if (total >= CFQ_KEPT_FOR_FEWER)
		kept = min(nr, CFQ_KEPT_MOST) * total / CFQ_KEPT_FOR_FEWER;
	if (class != CFQ_CLASS_RT && cfqmd->dd.rt_until_ns &&
	    cfqmd->dd.rt_until_ns > ktime_get_ns())
		kept += total / CFQ_KEPT_FOR_RT;
	return total - kept;
}

#endif /* CFQ_TAGS_H */
