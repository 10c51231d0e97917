/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: the policy that both layers share.
 *
 * Entities, queues of tasks or groups, are served from trees, one for each
 * class, by virtual time: device time over weight.  Who is most behind is
 * first, and the clock of its tree.  What holds:
 *
 *  - Who is on a tree is waited for by those ahead of it.  A queue is there
 *    while it has requests or flushes, queued or in the device and not lost
 *    (cfq_end_stuck()), or will have one in a moment: on a disk as the active
 *    queue, elsewhere for a group_idle (cfqq_check_idle()); a group while one
 *    of its queues or child groups is.
 *  - Who comes back comes in at the clock, the queue of a disk up to a slice
 *    before; who is ahead stays ahead.  For the clock to go on however many
 *    come, a new queue comes in one request later, or on a disk takes the place
 *    of one that ended (cfqq_take_place()), before the clock only if that was
 *    just now; and a group, which may come in a little before the clock, after
 *    the last one that did.
 *  - Virtual time changes by a charge; with the weight, if it is ahead
 *    (cfq_entity_reweigh()); if it is ahead and the queue is favoured, which its
 *    group pays (cfqq_favour()); and if it is behind, has nothing to send nor
 *    waits for a descriptor, and others are served (cfq_st_forget_behind()).
 *  - Questions change nothing and arm no timer.
 *
 * All is under cfqmd->lock.
 */
#ifndef CFQ_SCHED_H
#define CFQ_SCHED_H

#include "cfq-device.h"

/* Virtual times are compared by their distance, so wrapping does no harm. */

static inline struct cfq_entity *cfq_st_first(struct cfq_service_tree *st)
{
	return rb_entry_safe(rb_first_cached(&st->rb), struct cfq_entity, rb_node);
}

static inline struct cfq_entity *cfq_st_next(struct cfq_entity *entity)
{
	return rb_entry_safe(rb_next(&entity->rb_node), struct cfq_entity, rb_node);
}

/* @a ahead of @b, in virtual ns; negative if behind. */
static inline s64 cfq_entity_lead(const struct cfq_entity *a, const struct cfq_entity *b)
{
	return (s64)(a->vdisktime - b->vdisktime);
}

static inline bool cfq_entity_less(struct rb_node *a, const struct rb_node *b)
{
	return cfq_entity_lead(rb_entry(a, struct cfq_entity, rb_node),
			       rb_entry(b, struct cfq_entity, rb_node)) < 0;
}

static inline s64 cfq_vdisktime_delta(s64 ns, unsigned int weight)
{
	if (likely(weight == CFQ_WEIGHT_DEFAULT))
		return ns;
	return div_s64(ns * CFQ_WEIGHT_DEFAULT, weight);
}

/* Virtual time of a mean entity of @st, and one more of @weight unless that is 0. */
static inline u64 cfq_st_mean_vdisktime(const struct cfq_service_tree *st,
					unsigned int weight, u64 ns)
{
	return div_u64(ns * CFQ_WEIGHT_DEFAULT * (st->nr + st->nr_waiting + !!weight),
		       (st->total_weight + weight) ?: 1);
}

static inline void cfq_st_update_min(struct cfq_service_tree *st)
{
	struct cfq_entity *first = cfq_st_first(st);

	if (first && (s64)(first->vdisktime - st->min_vdisktime) > 0)
		st->min_vdisktime = first->vdisktime;
}

/*
 * @entity has something to do.  It comes in up to @credit_ns before the clock
 * (after it, if negative), or stays ahead: absence earns no credit, a short gap
 * forgives no debt.
 */
static inline void cfq_st_add(struct cfq_service_tree *st,
			      struct cfq_entity *entity, s64 credit_ns)
{
	u64 floor = st->min_vdisktime - credit_ns;

	if ((s64)(entity->vdisktime - floor) < 0)
		entity->vdisktime = floor;
	rb_add_cached(&entity->rb_node, &st->rb, cfq_entity_less);
	entity->st = st;
	st->nr++;
	st->total_weight += entity->weight;
}

static inline void cfq_st_del(struct cfq_entity *entity)
{
	struct cfq_service_tree *st = entity->st;

	if (st->nr == 1)
		cfq_st_update_min(st);
	rb_erase_cached(&entity->rb_node, &st->rb);
	entity->st = NULL;
	st->nr--;
	st->total_weight -= entity->weight;
	cfq_st_update_min(st);
}

/* Move the virtual time of @entity, on a tree or not, by @delta. */
static inline void cfq_entity_advance(struct cfq_entity *entity, s64 delta)
{
	struct rb_node *node = &entity->rb_node, *neighbour;
	struct cfq_service_tree *st = entity->st;

	entity->vdisktime += delta;
	if (!st)
		return;
	if (st->nr == 1) {
		cfq_st_update_min(st);
		return;
	}

	neighbour = delta >= 0 ? rb_next(node) : rb_prev(node);
	if (unlikely(neighbour && (delta >= 0 ? cfq_entity_less(neighbour, node) :
						cfq_entity_less(node, neighbour)))) {
		rb_erase_cached(node, &st->rb);
		rb_add_cached(node, &st->rb, cfq_entity_less);
	}
	cfq_st_update_min(st);
}

/*
 * @entity is served before others further behind.  Those who have nothing to
 * do, before the first one that is @ready, are owed @lead_ns of virtual time
 * for that at most; this is looked at once it is twice as much.  Return:
 * whether it was.
 */
static __always_inline bool
cfq_st_forget_behind(struct cfq_entity *entity, u64 lead_ns,
		     bool (*ready)(struct cfq_entity *entity))
{
	struct cfq_entity *first = cfq_st_first(entity->st);
	struct cfq_entity *next = first;
	s64 excess;

	if (cfq_entity_lead(entity, first) <= 2 * (s64)lead_ns)
		return false;
	while (next != entity && !ready(next))
		next = cfq_st_next(next);
	if (cfq_entity_lead(next, first) <= 2 * (s64)lead_ns)
		return false;
	while ((excess = cfq_entity_lead(next, first) - lead_ns) > 0) {
		cfq_entity_advance(first, excess);
		first = cfq_st_first(entity->st);
	}
	return true;
}

/* @entity has used device time; negative: was charged too much. */
static inline void cfq_entity_charge(struct cfq_entity *entity, s64 ns)
{
	cfq_entity_advance(entity, cfq_vdisktime_delta(ns, entity->weight));
}

static inline void cfq_entity_set_weight(struct cfq_entity *entity, unsigned int weight)
{
	if (entity->st)
		entity->st->total_weight += weight - entity->weight;
	entity->weight = weight;
}

/*
 * Change the weight of @entity, on @st or no tree.  It stays ahead by as much
 * device time: by as much virtual time one of small weight would wait for long.
 */
static inline void cfq_entity_reweigh(struct cfq_service_tree *st,
				      struct cfq_entity *entity, unsigned int weight)
{
	s64 lead = entity->vdisktime - st->min_vdisktime;
	unsigned int old_weight = entity->weight;

	if (weight == old_weight)
		return;
	cfq_entity_set_weight(entity, weight);
	if (lead > 0)
		cfq_entity_advance(entity,
				   mul_u64_u32_div(lead, old_weight, weight) - lead);
}

/*
 * A class that waits for better ones sends a request so long after its last
 * one: a disk has the rest of a second to serve it, and better classes lose a
 * hundredth of theirs.  Without a head: or as often as takes one part in so many.
 */
#define CFQ_CLASS_WAIT_NS	(800 * (u64)NSEC_PER_MSEC)
#define CFQ_CLASS_WAIT_COSTS	250

static inline u64 cfq_class_wait_ns(const struct cfq_driver_data *dd, u64 cost_ns)
{
	return dd->one_head ? CFQ_CLASS_WAIT_NS :
	       min(CFQ_CLASS_WAIT_NS, CFQ_CLASS_WAIT_COSTS * cost_ns);
}

static inline bool cfq_trees_busy(const struct cfq_trees *trees)
{
	return trees->of[CFQ_CLASS_BE].nr || trees->of[CFQ_CLASS_RT].nr ||
	       trees->of[CFQ_CLASS_IDLE].nr;
}

/* Does a better class have something to do, or want descriptors? */
static inline bool cfq_class_outranked(const struct cfq_trees *trees,
				       enum cfq_class class)
{
	while (class-- > 0)
		if (trees->of[class].nr || trees->of[class].nr_waiting)
			return true;
	return false;
}

static inline struct cfq_entity *
cfq_first_better(struct cfq_trees *trees, enum cfq_class class)
{
	while (class-- > 0)
		if (trees->of[class].nr)
			return cfq_st_first(&trees->of[class]);
	return NULL;
}

static inline struct cfq_entity *cfq_above(const struct cfq_entity *entity)
{
	return entity->trees->above;
}

static inline struct cfq_service_tree *cfq_entity_tree(const struct cfq_entity *entity)
{
	return &entity->trees->of[entity->class];
}

/*
 * A @part-th of a slice, in virtual time; of groups: of a quarter of a mean
 * group_slice.
 */
static inline u64 cfq_lead_ns(const struct cfq_driver_data *dd,
			      const struct cfq_entity *entity, unsigned int part)
{
	if (entity->trees->queues)
		return div_u64(dd->tun.slice_ns[1], part);
	return cfq_st_mean_vdisktime(cfq_entity_tree(entity), 0,
				     div_u64(dd->tun.group_slice_ns, 4 * part));
}

/* Has another of its class had more than @entity by @lead_ns and a request of @cost_ns? */
static inline bool cfq_entity_outrun(const struct cfq_entity *entity, u64 lead_ns,
				     u64 cost_ns)
{
	const struct cfq_entity *last = rb_entry(rb_last(&entity->st->rb.rb_root),
						 struct cfq_entity, rb_node);

	return cfq_entity_lead(last, entity) >
	       (s64)lead_ns + cfq_vdisktime_delta(cost_ns, last->weight);
}

/*
 * Who is due more than @lead_ns before @entity, or of a better class; or NULL.
 * Not a better class if it kept this one waiting for too long, or if another of
 * this class has had more by a request of @cost_ns.
 */
static inline struct cfq_entity *
cfq_due_before(const struct cfq_entity *entity, u64 lead_ns, u64 cost_ns, u64 now_ns)
{
	struct cfq_entity *first = cfq_st_first(entity->st);
	struct cfq_entity *better = NULL;

	if (entity->st->due_ns > now_ns && !cfq_entity_outrun(entity, lead_ns, cost_ns))
		better = cfq_first_better(entity->trees, entity->class);
	if (better || cfq_entity_lead(entity, first) <= (s64)lead_ns)
		return better;
	return first;
}

static inline bool cfq_classes_differ(const struct cfq_trees *trees)
{
	return trees->of[CFQ_CLASS_RT].nr || trees->of[CFQ_CLASS_IDLE].nr ||
	       trees->of[CFQ_CLASS_IDLE].nr_waiting;
}

/* Has a class, which may have nothing to do, waited for better ones for too long? */
static inline bool cfq_class_overdue(const struct cfq_trees *trees,
				     enum cfq_class class, u64 now_ns)
{
	return trees->of[class].due_ns <= now_ns && cfq_class_outranked(trees, class);
}

/*
 * Debt.  Urgent requests go before others, and are charged.  Who is ahead of
 * equals by more than it may be and may borrow has no urgent reads but for
 * others.  What was taken from better classes comes back at a hundredth of the
 * device's time, from equals as they are served.  A task pays earlier, by
 * pauses where it holds no lock: one operation may need dozens of requests, and
 * others wait for its last.
 */
#define CFQ_BORROW_NS		(500 * (u64)NSEC_PER_MSEC)
#define CFQ_BORROW_CLASS_NS	(4 * CFQ_BORROW_NS)
#define CFQ_BORROW_COSTS	100
#define CFQ_BORROW_PAUSES	16

/*
 * How far @entity is ahead of equals, beyond what it may be: a turn alone puts a
 * group a group_slice ahead.
 */
static inline s64 cfq_entity_ahead_ns(const struct cfq_driver_data *dd,
				      const struct cfq_entity *entity)
{
	const struct cfq_service_tree *st = cfq_entity_tree(entity);

	if (st->nr <= !!entity->st)
		return 0;
	return entity->vdisktime - st->min_vdisktime -
	       (entity->trees->queues ? 4 : 8) * cfq_lead_ns(dd, entity, 1);
}

/* Has @entity, or one above it, had too much for its reads to be urgent? */
static inline bool cfq_in_debt(const struct cfq_driver_data *dd,
			       const struct cfq_entity *entity, u64 now_ns)
{
	const u64 most_until_ns = now_ns + CFQ_BORROW_COSTS * CFQ_BORROW_CLASS_NS;

	for (; entity; entity = cfq_above(entity))
		if ((cfq_class_outranked(entity->trees, entity->class) &&
		     cfq_entity_tree(entity)->borrowed_until_ns > most_until_ns) ||
		    cfq_entity_ahead_ns(dd, entity) >
		    cfq_vdisktime_delta(CFQ_BORROW_NS, entity->weight))
			return true;
	return false;
}

/* A pause for one request: longer by up to so many, the more is borrowed. */
static inline u64 cfq_pause_ns(u64 cost_ns, u64 borrowed_ns, u64 most_ns)
{
	return (1 + div64_u64(CFQ_BORROW_PAUSES * borrowed_ns, most_ns)) *
	       CFQ_BORROW_COSTS * cost_ns;
}

/*
 * An urgent request goes before better classes, and equals that it is too far
 * ahead of: for that its task pauses @pause_ns.  Return: when all but an eighth
 * of what a class may borrow is there again, and the equals are no further behind.
 */
static inline u64 cfq_entity_borrow(const struct cfq_driver_data *dd,
				    struct cfq_entity *entity, u64 cost_ns,
				    u64 now_ns, u64 *pause_ns)
{
	const u64 most_ns = CFQ_BORROW_COSTS * CFQ_BORROW_CLASS_NS;
	const u64 lent_ns = CFQ_BORROW_COSTS * cost_ns;
	struct cfq_service_tree *st = cfq_entity_tree(entity);
	const unsigned int others = st->total_weight - (entity->st ? entity->weight : 0);
	const s64 ahead_ns = cfq_entity_ahead_ns(dd, entity);
	u64 borrowed_ns, wait_ns = 0;

	if (ahead_ns > 0) {
		const u64 most_ahead_ns =
			cfq_vdisktime_delta(CFQ_BORROW_NS, entity->weight);

		wait_ns = div_u64((u64)ahead_ns * others, CFQ_WEIGHT_DEFAULT);
		*pause_ns = max(*pause_ns, min(wait_ns, cfq_pause_ns(cost_ns, ahead_ns,
								     most_ahead_ns)));
	}
	if (!cfq_class_outranked(entity->trees, entity->class))
		return now_ns + wait_ns;

	entity->borrowed_until_ns = max(entity->borrowed_until_ns, now_ns) + lent_ns;
	st->borrowed_until_ns = max(st->borrowed_until_ns, now_ns) + lent_ns;
	/* What other groups have borrowed makes no pause longer. */
	borrowed_ns = (entity->trees->queues ? st->borrowed_until_ns :
		       entity->borrowed_until_ns) - now_ns;
	*pause_ns = max(*pause_ns, cfq_pause_ns(cost_ns, borrowed_ns, most_ns));
	return max(now_ns + wait_ns, st->borrowed_until_ns -
				     min(st->borrowed_until_ns, most_ns / 8));
}

/*
 * Who is @ready of the class that has waited for better ones for too long, and
 * for longest; if @any, of whichever: then all of @trees waits for others.
 */
static __always_inline struct cfq_entity *
cfq_overdue_entity(struct cfq_trees *trees, bool any, u64 now_ns,
		   bool (*ready)(struct cfq_entity *entity))
{
	struct cfq_entity *entity, *found = NULL;
	enum cfq_class class;

	if (likely(!any && !cfq_classes_differ(trees)))
		return NULL;
	for (class = 0; class < CFQ_NR_CLASSES; class++) {
		if ((!any && !cfq_class_overdue(trees, class, now_ns)) ||
		    (found && found->st->due_ns <= trees->of[class].due_ns))
			continue;
		entity = cfq_st_first(&trees->of[class]);
		while (entity && !ready(entity))
			entity = cfq_st_next(entity);
		if (entity)
			found = entity;
	}
	return found;
}

#endif /* CFQ_SCHED_H */
