// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: how many descriptors a group gets.
 *
 * 1. Descriptors.  A device has a fixed number of request descriptors
 *    (nr_requests), and what waits for one cannot be scheduled.  When half of
 *    them are in use, a task needs leave to take another, and those who have
 *    to wait for it are let in group by group, and inside each by class of
 *    ionice, who has the fewest requests first, and in order.  A 32nd of all
 *    for each request that a task has, up to an eighth, is left to those with
 *    fewer, as streams that read far ahead would have all.  A sixteenth is
 *    kept for real time, if there was some in the last second, and the idle
 *    class has half of its group's part before others.  Each group has its
 *    part of the descriptors by share; of those below their part, the one that
 *    is to be served first is next, if it is among the first few of those in
 *    line or it is its turn.  What others do not use is lent, but for an eighth,
 *    and at least one, that is kept for those below their part, so that a group
 *    that wakes up gets its first at once.  The weight of a group whose tasks
 *    wait counts, even if it holds none and is on no tree.
 *
 *    The order is what shares are made of where parts are less than a request:
 *    with two descriptors, or more groups than descriptors.
 *
 *    Where groups take turns, those whose turn it is not have a fraction of
 *    their part: enough to begin their turn with.  A fixed part of all is too
 *    little for some to use a disk well when it is their turn.
 *
 * 2. Limits.  A group may be limited to a number of requests on a device
 *    (cfq.nr_group_requests).  If it is, or one above, each of its requests counts
 *    from before it has a descriptor until it is done, in its group and all above;
 *    not so what comes to a full group without having asked, as what is written
 *    back.  A task that finds one of these full sleeps on the list of that
 *    group; what is done there makes room, which is given to the first one on
 *    the list, before that wakes up.  So there is room in no group that is
 *    waited for, and nobody overtakes.  Who must not sleep gets an error.
 */
#include "cfq-group.h"
#include "cfq-member.h"

/* A task that does not see it set yet asks for no place, and is not counted. */
bool cfq_limit_was_set __read_mostly;

/* Is there a limit for @cfqd?  Needs either cfqmd->lock or RCU. */
static bool cfqd_limited(const struct cfq_data *cfqd)
{
	while (cfqd && READ_ONCE(cfqd->max_held) == CFQ_NO_LIMIT)
		cfqd = cfqd->self.group;
	return cfqd;
}

/*
 * May requests of the current task, whose last one here belonged to @cfqd, be
 * limited?  Not if it still does, and that has no limit.  Needs RCU.
 */
bool cfq_group_limits_current(const struct cfq_data *cfqd)
{
	return READ_ONCE(cfqd->cfqc) != cfq_current_cgroup() ||
	       cfqd_limited(cfqd);
}

/* The group, @cfqd or above, that has no room for a request of @cfqd. */
static struct cfq_data *cfqd_obstacle(struct cfq_data *cfqd)
{
	while (cfqd && cfqd->nr_held < cfqd->max_held)
		cfqd = cfqd->self.group;
	return cfqd;
}

/*
 * @cfqd has one more request, with a reference: false if it is not counted, as there
 * is no limit or it would be past one, unless it is to be @anyway.
 */
bool cfq_group_hold(struct cfq_data *cfqd, bool anyway)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (!anyway && (!cfqd_limited(cfqd) || cfqd_obstacle(cfqd)))
		return false;
	cfqd->ref++;
	for (; cfqd; cfqd = cfqd->self.group)
		cfqd->nr_held++;
	return true;
}

/*
 * There may be room in @cfqd: it is given to those who wait for it, in the
 * order in which they came.  Who finds another of the groups above full, or
 * waited for, waits there.
 */
void cfqd_admit(struct cfq_data *cfqd)
{
	struct cfq_waiter *waiter, *next;
	struct cfq_data *above;

	list_for_each_entry_safe(waiter, next, &cfqd->waiters, node) {
		struct cfq_data *obstacle = cfqd_obstacle(waiter->cfqd);

		if (obstacle == cfqd)
			break;
		/* Who waits for one above came before. */
		for (above = cfqd->self.group; above && !obstacle;
		     above = above->self.group)
			if (!list_empty(&above->waiters))
				obstacle = above;
		if (obstacle) {
			list_move_tail(&waiter->node, &obstacle->waiters);
			continue;
		}
		list_del(&waiter->node);
		cfq_group_hold(waiter->cfqd, true);
		/* Then it is gone. */
		complete(&waiter->go_on);
	}
}

/* @cfqd has one request less, and may be freed. */
void cfq_group_release(struct cfq_data *cfqd)
{
	struct cfq_data *above;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (above = cfqd; above; above = above->self.group)
		above->nr_held--;
	for (above = cfqd; above; above = above->self.group)
		cfqd_admit(above);
	cfq_group_put(cfqd);
}

/* Would a request of the current task be past a limit?  Takes cfqmd->lock. */
bool cfq_group_current_full(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd;
	bool full;

	cfq_lock(cfqmd);
	cfqd = cfq_group_get_current(cfqmd);
	full = cfqd_obstacle(cfqd);
	cfq_group_put(cfqd);
	cfq_unlock(cfqmd);
	return full;
}

/*
 * The group that holds a place for a request of the current task within all
 * limits; or NULL if the task's group is not limited, or if there is no place and
 * that is not waited for.
 *
 * To wait, cfqmd->lock is dropped, in process context with the device's queue
 * entered.  What holds a place is on its way to the device and gives it back
 * when it is done, so the wait ends with that; and as whoever freezes the queue
 * waits for all requests, the scheduler outlives it.
 */
struct cfq_data *cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait)
	__must_hold(&cfqmd->lock)
{
	struct cfq_data *cfqd = cfq_group_get_current(cfqmd), *place = NULL;
	struct cfq_data *obstacle = cfqd_obstacle(cfqd);
	struct cfq_waiter waiter = { .cfqd = cfqd };

	if (cfqd_limited(cfqd) && (!obstacle || wait)) {
		place = cfqd;
		if (obstacle)
			cfq_wait(&waiter, &obstacle->waiters);
		else
			cfq_group_hold(cfqd, true);
	}
	cfq_group_put(cfqd);
	return place;
}

/* Whose turn it is not has one of so many that are its part. */
#define CFQ_PARKED_PART		4

/* May a task of @cfqd, with @nr requests, have one more descriptor? */
bool cfq_group_has_room(struct cfq_data *cfqd, enum cfq_class class, unsigned int nr)
{
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	const struct cfq_member *leaf = cfqd_leaf(cfqd);
	const unsigned int total = cfq_descriptors_for(cfqmd, class, nr);
	const unsigned int all_held = cfq_nr_descriptors(cfqmd);
	const bool parked = cfqmd->active_cfqd && cfqmd->active_cfqd != cfqd;
	unsigned int held = cfqd_nr_descriptors(cfqd);
	unsigned int part;

	lockdep_assert_held(&cfqmd->lock);

	/*
	 * Where groups are mixed, what is in the device was due.  If it counted,
	 * and parts are less than one, all would have the same.
	 */
	if (!cfqmd->dd.one_head)
		held -= cfqd->nr_in_driver;
	if (all_held >= total)
		return false;
	if (!held || (!parked && cfq_descriptors_lent(total, all_held)))
		return true;
	/* A share of all is at most the share of the group: often that will do. */
	if ((u64)held * member_rivals_weight(leaf) >=
	    (u64)total * leaf->entity.weight)
		return false;

	part = cfq_share_amount(total, cfq_group_share(cfqd));
	if (parked)
		part /= CFQ_PARKED_PART;
	/* What it queues may stay for long. */
	if (class == CFQ_CLASS_IDLE)
		part /= 2;
	return held < part;
}

/*
 * Members in line.  Virtual times only grow, nearly always, so where one is sorted by
 * an older one it is sorted in again when it comes to be the first.
 */

static bool member_line_less(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(rb_entry(a, struct cfq_member, line_node)->line_vdisktime -
		     rb_entry(b, struct cfq_member, line_node)->line_vdisktime) < 0;
}

/* @member, which had none, has tasks in line, in the class that it has. */
void member_join_line(struct cfq_member *member)
{
	member->line_vdisktime = member->entity.vdisktime;
	rb_add_cached(&member->line_node, &member_tree(member)->line,
		      member_line_less);
}

/* The last of them may go on. */
void member_leave_line(struct cfq_member *member)
{
	rb_erase_cached(&member->line_node, &member_tree(member)->line);
	RB_CLEAR_NODE(&member->line_node);
}

/* So many are looked at, those most behind: others wait for these anyway. */
#define CFQ_GROUPS_LOOK		4

/* The first in line of a class of a group, or NULL. */
static struct cfq_member *cfq_line_first(struct cfq_service_tree *st)
{
	struct cfq_member *member;

	while ((member = rb_entry_safe(rb_first_cached(&st->line),
				       struct cfq_member, line_node)) &&
	       member->line_vdisktime != member->entity.vdisktime) {
		member_leave_line(member);
		member_join_line(member);
	}
	return member;
}

/* The next member of @group with tasks that wait, after @member if given. */
static struct cfq_member *cfq_next_in_line(struct cfq_data *group,
					   struct cfq_member *member,
					   u64 now_ns, bool due)
{
	enum cfq_class class = 0;

	if (member) {
		class = member->entity.class + 1;
		member = rb_entry_safe(rb_next(&member->line_node),
				       struct cfq_member, line_node);
	}
	for (; !member && class < CFQ_NR_CLASSES; class++)
		member = cfq_line_first(&group->members.of[class]);
	return member;
}

static struct cfq_data *cfq_next_waiting_group(struct cfq_data *group,
					       struct cfq_member *member)
{
	return cfq_next_leaf(group, member, 0, false, cfq_next_in_line);
}

/*
 * A group whose tasks wait for a descriptor, and whose class has waited for
 * better ones for too long.  It need not have been the last request of these
 * tasks that was served, so it is asked again when they have one queued.
 */
static struct cfq_data *cfq_overdue_in_line(struct cfq_data *group, u64 now_ns)
{
	struct cfq_member *member;
	enum cfq_class class;

	for (class = CFQ_CLASS_BE; class < CFQ_NR_CLASSES; class++) {
		if (!cfq_class_overdue(&group->members, class, now_ns))
			continue;
		member = cfq_line_first(&group->members.of[class]);
		if (member && !cfq_member_ready(&member->entity))
			return member_is_leaf(member) ? member_cfqd(member) :
				cfq_next_waiting_group(member_cfqd(member), NULL);
	}
	return NULL;
}

/* A task of @cfqd begins to wait for a descriptor, or the last one may go on. */
void cfq_group_line(struct cfq_data *cfqd, bool begun)
{
	struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member)) {
		if (begun && member_in_line(member))
			return;
		if (begun) {
			member_join_line(member);
			continue;
		}
		member_leave_line(member);
		if (cfq_next_in_line(member->group, NULL, 0, false))
			return;
	}
}

/*
 * Which of the tasks that wait is to have the next descriptor?  NULL if there
 * is none for any.
 */
struct cfq_waiter *cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *cfqd = cfq_overdue_in_line(&cfqmd->root, now_ns);
	struct cfq_waiter *waiter = cfqd ? cfq_line_due(cfqd, now_ns) : NULL;
	int nr;

	lockdep_assert_held(&cfqmd->lock);

	if (waiter || cfq_nr_descriptors(cfqmd) >= cfq_all_descriptors(cfqmd->dd.queue))
		return waiter;

	cfqd = cfq_next_waiting_group(&cfqmd->root, NULL);
	for (nr = 0; cfqd && nr < CFQ_GROUPS_LOOK; nr++) {
		waiter = cfq_line_due(cfqd, now_ns);
		if (waiter)
			return waiter;
		cfqd = cfq_next_waiting_group(cfqd_leaf(cfqd)->group,
					      cfqd_leaf(cfqd));
	}
	/* The group whose turn it is may be far behind others. */
	cfqd = cfqmd->active_cfqd;
	return cfqd && member_in_line(cfqd_leaf(cfqd)) ?
		cfq_line_due(cfqd, now_ns) : NULL;
}
