/* SPDX-License-Identifier: GPL-2.0 */
/* CFQ I/O scheduler: who gets a descriptor, see block/cfq-tags.c. */
#ifndef CFQ_TAGS_H
#define CFQ_TAGS_H

#include <linux/completion.h>

#include "cfq-sched.h"

/* All but those for the driver's own commands. */
static inline unsigned int cfq_all_descriptors(const struct request_queue *q)
{
	return q->nr_requests - q->tag_set->reserved_tags;
}

/* Fewer for what nobody waits for, and swap. */
static inline unsigned int cfq_async_descriptors(const struct request_queue *q)
{
	return min(cfq_all_descriptors(q), q->async_depth);
}

/* In use, or about to be; read locklessly it may be outdated. */
static inline unsigned int cfq_nr_descriptors(const struct cfq_meta_data *cfqmd)
{
	return READ_ONCE(cfqmd->nr_queued) + READ_ONCE(cfqmd->dd.nr_in_driver) +
	       READ_ONCE(cfqmd->dd.nr_flushes) + READ_ONCE(cfqmd->nr_admitted);
}

/* All, or async requests with all that are about to be, sync ones as well. */
static inline unsigned int cfq_nr_in_use(const struct cfq_meta_data *cfqmd, bool sync)
{
	return sync ? cfq_nr_descriptors(cfqmd) : cfqmd->nr_async + cfqmd->nr_admitted;
}

/*
 * Who waits for a descriptor, and not for a tag: tags know nothing of groups
 * and classes, and one may go to a task that did not wait.  What is not
 * inserted yet is not counted, so at times there are too few, and a task waits
 * for a tag as well.
 */
struct cfq_waiter {
	struct rb_node		line_node; /* in cfqd->line[sync][class], */
	u64			vdisktime; /* by that; */
	struct list_head	node;	/* or on cfqd->waiters */
	struct cfq_data		*cfqd;	/* owns a reference */
	struct cfq_queue	*cfqq;	/* of the last request, the same; or NULL */
	enum cfq_class		class;
	bool			sync;
	bool			overdue; /* nothing is kept from it */
	struct completion	go_on;
};

void cfq_wait(struct cfq_waiter *waiter);
unsigned int cfq_descriptors_for(const struct cfq_waiter *waiter);
struct cfq_waiter *cfq_line_due(struct cfq_data *cfqd, u64 now_ns);

/* The best class in line. */
static inline enum cfq_class cfq_line_best(const struct cfq_data *cfqd, bool sync)
{
	enum cfq_class class = CFQ_CLASS_RT;

	while (class < CFQ_NR_CLASSES && RB_EMPTY_ROOT(&cfqd->line[sync][class].rb_root))
		class++;
	return class;
}

#endif /* CFQ_TAGS_H */
