/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CFQ I/O scheduler: the policy that both layers share.
 *
 * Entities, which may be the queues of tasks or groups, are served from service
 * trees, one for each class, sorted by virtual time: device time over weight.
 * Who is most behind is first, and the clock of its tree.  What holds:
 *
 *  - Who is on a tree is waited for by those who are ahead of it.  A queue is
 *    there while it has requests queued, or in the device and not for so long
 *    that they may be lost (cfq_end_stuck()), or will have one in a moment: as
 *    the active queue of a disk, elsewhere for a group_idle (cfqq_check_idle()).
 *    A group is there while one of its queues or child groups is.
 *  - Who comes back after an absence comes in where the clock is, the queue of a
 *    disk up to a slice before; who is ahead stays ahead.  However many come in,
 *    the clock has to go on: so a new queue comes in later than that by one
 *    request, and a group, which may come in a little before the clock, after
 *    the last one that did.
 *  - The virtual time of an entity changes by what it is charged; when its
 *    weight does, if it is ahead (cfq_entity_reweigh()); and when it is behind,
 *    has nothing to send, nor waits for a descriptor, and others are served
 *    (cfq_st_forget_behind()).
 *  - Questions change nothing and arm no timer.
 *
 * All is under cfqmd->lock, and pure but for the tree that is given.
 */
#ifndef CFQ_SCHED_H
#define CFQ_SCHED_H

#include <linux/rbtree.h>

#include "cfq-device.h"

/*
 * Service tree, empty if all zeroes.  A virtual time is compared by its distance
 * from another, so wrapping does no harm.
 */

static inline struct cfq_entity *cfq_st_first(struct cfq_service_tree *st)
{
	return rb_entry_safe(rb_first_cached(&st->rb), struct cfq_entity, rb_node);
}

static inline struct cfq_entity *cfq_st_next(struct cfq_entity *entity)
{
	return rb_entry_safe(rb_next(&entity->rb_node), struct cfq_entity,
			     rb_node);
}

/* How far @a is ahead of @b, in virtual ns; negative if behind. */
static inline s64 cfq_entity_lead(const struct cfq_entity *a,
				  const struct cfq_entity *b)
{
	return (s64)(a->vdisktime - b->vdisktime);
}

static inline bool cfq_entity_less(struct rb_node *a, const struct rb_node *b)
{
	return cfq_entity_lead(rb_entry(a, struct cfq_entity, rb_node),
			       rb_entry(b, struct cfq_entity, rb_node)) < 0;
}

/* Device time @ns in virtual time of an entity of weight @weight. */
static inline s64 cfq_vdisktime_delta(s64 ns, unsigned int weight)
{
	if (weight == CFQ_WEIGHT_DEFAULT)
		return ns;
	return div_s64(ns * CFQ_WEIGHT_DEFAULT, weight);
}

/*
 * Device time @ns in virtual time of a mean entity of @st, and of one more of
 * weight @weight if that is not 0: the same whatever the scale of the weights.
 */
static inline u64 cfq_st_mean_vdisktime(const struct cfq_service_tree *st,
					unsigned int weight, u64 ns)
{
	return div_u64(ns * CFQ_WEIGHT_DEFAULT *
		       (st->nr + st->nr_waiting + !!weight),
		       (st->total_weight + weight) ?: 1);
}

static inline void cfq_st_update_min(struct cfq_service_tree *st)
{
	struct cfq_entity *first = cfq_st_first(st);

	if (first && (s64)(first->vdisktime - st->min_vdisktime) > 0)
		st->min_vdisktime = first->vdisktime;
}

/*
 * @entity has something to do.  It comes in at the tree's minimum if it is behind that by
 * more than @credit_ns, or so much later if that is negative: absence earns no credit.  If
 * it is ahead it stays ahead: a short gap forgives no debt.
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

	/* With the last one gone, its virtual time is where the tree stands. */
	if (st->nr == 1)
		cfq_st_update_min(st);
	rb_erase_cached(&entity->rb_node, &st->rb);
	entity->st = NULL;
	st->nr--;
	st->total_weight -= entity->weight;
	cfq_st_update_min(st);
}

/*
 * Move the virtual time of @entity, on a tree or not, by @delta.  The tree is
 * left alone where the order of neighbours stays as it is.
 */
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
	if (neighbour && (delta >= 0 ? cfq_entity_less(neighbour, node) :
				       cfq_entity_less(node, neighbour))) {
		rb_erase_cached(node, &st->rb);
		rb_add_cached(node, &st->rb, cfq_entity_less);
	}
	cfq_st_update_min(st);
}

/*
 * @entity is served although some on its tree are further behind.  Those who have
 * nothing to do just now are not owed what they leave, but for @lead_ns to twice that
 * of virtual time (so that this is done now and then), before the first one that is
 * @ready: @entity, or who is held back, and owed all of it.  They move, and nobody
 * else, so that all others keep their places.
 * Return: whether somebody had left that much.
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
	excess = cfq_entity_lead(next, first) - lead_ns;
	if (excess <= (s64)lead_ns)
		return false;
	while (excess > 0) {
		cfq_entity_advance(first, excess);
		first = cfq_st_first(entity->st);
		excess = cfq_entity_lead(next, first) - lead_ns;
	}
	return true;
}

/* @entity, on a tree or not, has used device time; negative: was charged too much. */
static inline void cfq_entity_charge(struct cfq_entity *entity, s64 ns)
{
	cfq_entity_advance(entity, cfq_vdisktime_delta(ns, entity->weight));
}

/* Change the weight of @entity; what it used so far stays as it was. */
static inline void cfq_entity_set_weight(struct cfq_entity *entity,
					 unsigned int weight)
{
	if (entity->st)
		entity->st->total_weight += weight - entity->weight;
	entity->weight = weight;
}

/*
 * Change the weight of @entity, on @st or on no tree, as if it always had it.  By how
 * much device time it is ahead stays, so the virtual time by which it is ahead changes.
 * Otherwise one of small weight would have to wait as long as before the change.
 */
static inline void cfq_entity_reweigh(struct cfq_service_tree *st,
				      struct cfq_entity *entity,
				      unsigned int weight)
{
	s64 lead = entity->vdisktime - st->min_vdisktime;
	unsigned int old_weight = entity->weight;

	if (weight == old_weight)
		return;
	cfq_entity_set_weight(entity, weight);
	if (lead > 0)
		cfq_entity_advance(entity,
				   mul_u64_u32_div(lead, old_weight, weight) -
				   lead);
}

/*
 * Classes are served in strict order up to a bound: one that has to wait for
 * better ones has a request sent all the same so long after its last one, which
 * leaves a disk the rest of a second to serve it.  It costs the better ones a
 * hundredth of their time.  Where there is no head it is done as often as takes
 * one part in so many.
 */
#define CFQ_CLASS_WAIT_NS	(800 * (u64)NSEC_PER_MSEC)
#define CFQ_CLASS_WAIT_COSTS	250

/* How long a class may have to wait after a request that costs so much. */
static inline u64 cfq_class_wait_ns(const struct cfq_driver_data *dd,
				    u64 cost_ns)
{
	return dd->one_head ? CFQ_CLASS_WAIT_NS :
	       min(CFQ_CLASS_WAIT_NS, CFQ_CLASS_WAIT_COSTS * cost_ns);
}

/* Has anybody on @trees something to do, or just had? */
static inline bool cfq_trees_busy(const struct cfq_trees *trees)
{
	return trees->of[CFQ_CLASS_BE].nr || trees->of[CFQ_CLASS_RT].nr ||
	       trees->of[CFQ_CLASS_IDLE].nr;
}

/* Has a better class of @trees than @class something to do, or wants descriptors? */
static inline bool cfq_class_outranked(const struct cfq_trees *trees,
				       enum cfq_class class)
{
	while (class-- > 0)
		if (trees->of[class].nr || trees->of[class].nr_waiting)
			return true;
	return false;
}

/* The first of the next better class than @class that has something to do, or NULL. */
static inline struct cfq_entity *
cfq_first_better(struct cfq_trees *trees, enum cfq_class class)
{
	while (class-- > 0)
		if (trees->of[class].nr)
			return cfq_st_first(&trees->of[class]);
	return NULL;
}

/* What @entity is part of, one level up; NULL at the top. */
static inline struct cfq_entity *cfq_above(const struct cfq_entity *entity)
{
	return entity->trees->above;
}

/* The tree on which @entity competes, whether it is there or not. */
static inline struct cfq_service_tree *
cfq_entity_tree(const struct cfq_entity *entity)
{
	return &entity->trees->of[entity->class];
}

/*
 * A @part-th of what a slice is for @entity, in virtual time.  Among groups a slice is
 * a quarter of group_slice, at the mean weight of those on the tree.
 */
static inline u64 cfq_lead_ns(const struct cfq_driver_data *dd,
			      const struct cfq_entity *entity, unsigned int part)
{
	if (entity->trees->queues)
		return div_u64(dd->tun.slice_ns[1], part);
	return cfq_st_mean_vdisktime(cfq_entity_tree(entity), 0,
				     div_u64(dd->tun.group_slice_ns, 4 * part));
}

/*
 * Who is due before @entity, which is on its tree, by more than @lead_ns of virtual
 * time, or of a better class?  That does not count if it has kept this one waiting for
 * too long, or if another of this class has had so much more meanwhile, and a request
 * that takes @cost_ns.  He may have nothing to send just now.  NULL if nobody is.
 */
static inline struct cfq_entity *
cfq_due_before(const struct cfq_entity *entity, u64 lead_ns, u64 cost_ns,
	       u64 now_ns)
{
	struct cfq_entity *first = cfq_st_first(entity->st);
	struct cfq_entity *last = rb_entry(rb_last(&entity->st->rb.rb_root),
					   struct cfq_entity, rb_node);
	struct cfq_entity *better = NULL;

	if (entity->st->due_ns > now_ns && cfq_entity_lead(last, entity) <=
	    (s64)lead_ns + cfq_vdisktime_delta(cost_ns, last->weight))
		better = cfq_first_better(entity->trees, entity->class);
	if (better || cfq_entity_lead(entity, first) <= (s64)lead_ns)
		return better;
	return first;
}

/* May there be entities of more than one class? */
static inline bool cfq_classes_differ(const struct cfq_trees *trees)
{
	return trees->of[CFQ_CLASS_RT].nr || trees->of[CFQ_CLASS_IDLE].nr ||
	       trees->of[CFQ_CLASS_IDLE].nr_waiting;
}

/*
 * Has a class of @trees, which may have nothing to do, waited for better ones for so
 * long?
 */
static inline bool cfq_class_overdue(const struct cfq_trees *trees,
				     enum cfq_class class, u64 now_ns)
{
	return trees->of[class].due_ns <= now_ns &&
	       cfq_class_outranked(trees, class);
}

/*
 * Debt.  Urgent requests go before others, and are charged as all are.  Who is
 * ahead of its equals by more than @lead_ns and what it may borrow reads nothing
 * that is urgent, but for others.  What was taken from better classes comes back
 * at a hundredth of the device's time, what was taken from equals as they are
 * served.  A task pays for it where it holds no lock, and the longer the more is
 * borrowed, as many may do so together.  So debt is not where it ends: one
 * operation may need dozens of requests, and others wait for its last one.
 */
#define CFQ_BORROW_NS		(500 * (u64)NSEC_PER_MSEC)
#define CFQ_BORROW_CLASS_NS	(4 * CFQ_BORROW_NS)
#define CFQ_BORROW_COSTS	100
/* A pause is up to so many times longer, in proportion to what is borrowed. */
#define CFQ_BORROW_PAUSES	16

static inline bool cfq_entity_in_debt(const struct cfq_entity *entity,
				      u64 lead_ns, u64 now_ns)
{
	const struct cfq_service_tree *st = cfq_entity_tree(entity);

	if (cfq_class_outranked(entity->trees, entity->class) &&
	    st->borrowed_until_ns >
	    now_ns + CFQ_BORROW_COSTS * CFQ_BORROW_CLASS_NS)
		return true;
	return st->nr > !!entity->st &&
	       (s64)(entity->vdisktime - st->min_vdisktime) > (s64)lead_ns +
	       cfq_vdisktime_delta(CFQ_BORROW_NS, entity->weight);
}

/* How long is a pause for a request, with so much borrowed of what may be? */
static inline u64 cfq_pause_ns(u64 cost_ns, u64 borrowed_ns, u64 most_ns)
{
	return (1 + div64_u64(CFQ_BORROW_PAUSES * borrowed_ns, most_ns)) *
	       CFQ_BORROW_COSTS * cost_ns;
}

/*
 * An urgent request of @entity that costs so much goes before others: those of better
 * classes, and those of its own that it is ahead of by more than @lead_ns.  For that
 * the task is to pause, @pause_ns if it is not for longer anyway.
 * Return: when all but an eighth of what a class may borrow is there again, and the
 * others are no further behind, as far as the device is theirs.
 */
static inline u64 cfq_entity_borrow(struct cfq_entity *entity, u64 lead_ns,
				    u64 cost_ns, u64 now_ns, u64 *pause_ns)
{
	const u64 most_ns = CFQ_BORROW_COSTS * CFQ_BORROW_CLASS_NS;
	struct cfq_service_tree *st = cfq_entity_tree(entity);
	const unsigned int others = st->total_weight -
				    (entity->st ? entity->weight : 0);
	s64 ahead_ns = entity->vdisktime - st->min_vdisktime - lead_ns;
	u64 borrowed_ns, wait_ns = 0;

	if (st->nr > !!entity->st && ahead_ns > 0) {
		const u64 most_ahead_ns =
			cfq_vdisktime_delta(CFQ_BORROW_NS, entity->weight);

		wait_ns = div_u64((u64)ahead_ns * others, CFQ_WEIGHT_DEFAULT);
		*pause_ns = max(*pause_ns,
				min(wait_ns, cfq_pause_ns(cost_ns, ahead_ns,
							  most_ahead_ns)));
	}
	if (!cfq_class_outranked(entity->trees, entity->class))
		return now_ns + wait_ns;

	entity->borrowed_until_ns = max(entity->borrowed_until_ns, now_ns) +
				    CFQ_BORROW_COSTS * cost_ns;
	st->borrowed_until_ns = max(st->borrowed_until_ns, now_ns) +
				CFQ_BORROW_COSTS * cost_ns;
	/* What other groups have borrowed makes no pause longer. */
	borrowed_ns = (entity->trees->queues ? st->borrowed_until_ns :
		       entity->borrowed_until_ns) - now_ns;
	*pause_ns = max(*pause_ns, cfq_pause_ns(cost_ns, borrowed_ns, most_ns));
	return max(now_ns + wait_ns, st->borrowed_until_ns -
				     min(st->borrowed_until_ns, most_ns / 8));
}

/*
 * Who is @ready on one of @trees whose class has waited for better ones for too
 * long, or, if @any, on whichever: then all of them wait for others elsewhere, and
 * send one request at a time.  Of several classes it is that which had its last one
 * the longest ago, so that none waits for ever behind another.
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
