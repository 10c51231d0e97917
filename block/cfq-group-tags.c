// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: how many descriptors a group gets.
 *
 * 1. Descriptors.  A device has a fixed number (nr_requests), and what waits
 *    for one cannot be scheduled.  When half of them are in use, or of those
 *    for async requests, a task needs leave to take another.  Those who wait
 *    are let in group by group; inside each by class of ionice, then by virtual
 *    time.  Each group has its part by share; async requests, of which there
 *    may be fewer, have parts of these.  Of those below their part the one to
 *    be served first is next, if it is among the first few in line or it is its
 *    turn.  What others do not use is lent, but for an eighth, and at least
 *    one, kept for those below their part.  So a group that wakes up gets its
 *    first at once, or beside a single one that has them all with the next
 *    completion.  The weight of a group whose tasks wait counts, even if
 *    it holds none and is on no tree.
 *
 *    An eighth is left to those with few requests, as streams that read far
 *    ahead would have all.  A sixteenth is kept for real time, if there was
 *    some in the last second, and the idle class has half of its group's part.
 *
 *    Where groups take turns, those whose turn it is not have a fraction of
 *    their part, to begin their turn with: a fixed part of all is too little
 *    for some to use a disk well in their turn.  Where parts are less than a
 *    request the order of service makes the shares.
 *
 * 2. Limits.  A group may be limited to a number of requests on a device
 *    (cfq.nr_group_requests).  Each of its requests then counts from before it
 *    has a descriptor until it is done, in its group and all above; not so what
 *    comes to a full group without having asked, as written-back data.  A task
 *    that finds one of these full sleeps on the list of that group.  What is
 *    done there makes room, which is given to the first on the list before that
 *    wakes up: so nobody overtakes.  Who must not sleep gets an error.
 */
#include "cfq-group.h"
#include "cfq-member.h"

/* A task that does not see it set yet is not counted. */
bool cfq_limit_was_set __read_mostly;

/* Needs cfqmd->lock or RCU. */
static bool cfqd_limited(const struct cfq_data *cfqd)
{
	while (cfqd && READ_ONCE(cfqd->max_held) == CFQ_NO_LIMIT)
		cfqd = cfqd->self.group;
	return cfqd;
}

/* May the current task be limited, whose last request was of @cfqd?  Needs RCU. */
bool cfq_group_limits_current(const struct cfq_data *cfqd)
{
	return READ_ONCE(cfqd->cfqc) != cfq_current_cgroup() || cfqd_limited(cfqd);
}

/* The group, from @cfqd up, that has no room for a request of @cfqd. */
static struct cfq_data *cfqd_obstacle(struct cfq_data *cfqd)
{
	while (cfqd && cfqd->nr_held < cfqd->max_held)
		cfqd = cfqd->self.group;
	return cfqd;
}

/*
 * Count one more request of @cfqd, with a reference, if it is limited and has
 * room, or @anyway.  Return: whether it is counted.
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
 * Give room in @cfqd to those who wait for it, in order.  Who finds another
 * group above full, or waited for, waits there.
 */
void cfqd_admit(struct cfq_data *cfqd)
{
	struct cfq_waiter *waiter, *next;
	struct cfq_data *above;

	list_for_each_entry_safe(waiter, next, &cfqd->waiters, node) {
		struct cfq_data *obstacle = cfqd_obstacle(waiter->cfqd);

		if (obstacle == cfqd)
			break;
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
		/* Then @waiter is gone. */
		complete(&waiter->go_on);
	}
}

/* @cfqd, which may be freed, has one request less. */
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

/* Takes cfqmd->lock. */
bool cfq_group_current_full(struct cfq_meta_data *cfqmd)
{
	guard(cfq_lock)(cfqmd);
	return cfqd_obstacle(cfq_group_of_current(cfqmd));
}

/*
 * A place for a request of the current task within all limits: the group that
 * holds it; NULL if not limited, or if there is none and no @wait.
 *
 * To wait, cfqmd->lock is dropped, in process context with the device's queue
 * entered.  What holds a place is on its way to the device, so the wait ends;
 * and the scheduler outlives it, as who freezes the queue waits for all
 * requests.
 */
struct cfq_data *cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait)
	__must_hold(&cfqmd->lock)
{
	struct cfq_data *cfqd = cfq_group_of_current(cfqmd);
	struct cfq_data *obstacle = cfqd_obstacle(cfqd);
	struct cfq_waiter waiter = { .cfqd = cfqd };

	if (cfq_group_hold(cfqd, false))
		return cfqd;
	if (!obstacle || !wait)
		return NULL;
	cfqd->ref++;
	list_add_tail(&waiter.node, &obstacle->waiters);
	cfq_wait(&waiter);
	cfq_group_put(cfqd);
	return cfqd;
}

/* Who has not the turn gets one part in so many of its share. */
#define CFQ_PARKED_PART		4

bool cfq_group_has_room(const struct cfq_waiter *waiter)
{
	struct cfq_data *cfqd = waiter->cfqd;
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	const unsigned int total = cfq_descriptors_for(waiter);
	const unsigned int in_use = cfq_nr_in_use(cfqmd, waiter->sync);
	const bool parked = cfqmd->active_cfqd && cfqmd->active_cfqd != cfqd;
	unsigned int held = waiter->sync ? cfqd_nr_descriptors(cfqd) :
					   cfqd->nr_async + cfqd->nr_admitted;
	unsigned int part;

	lockdep_assert_held(&cfqmd->lock);

	/*
	 * Where groups are mixed, what is in the device was due.  If it
	 * counted, and parts are less than one, all would have the same.
	 */
	if (!cfqmd->dd.one_head && waiter->sync)
		held -= cfqd->nr_in_driver;
	if (in_use >= total)
		return false;
	if (!held || (!parked && cfq_descriptors_lent(total, in_use)))
		return true;

	part = cfq_share_amount(total, cfq_group_share(cfqd));
	if (parked)
		part /= CFQ_PARKED_PART;
	/* What it queues may stay for long. */
	if (waiter->class == CFQ_CLASS_IDLE && !waiter->overdue)
		part /= 2;
	return held < part;
}

/*
 * Members in line.  Virtual times nearly always grow, so one sorted by an older
 * one is sorted again when it comes first.
 */

static bool member_line_less(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(rb_entry(a, struct cfq_member, line_node)->line_vdisktime -
		     rb_entry(b, struct cfq_member, line_node)->line_vdisktime) < 0;
}

void member_set_in_line(struct cfq_member *member, bool in_line)
{
	struct rb_root_cached *line = &member_tree(member)->line;

	if (member_in_line(member))
		rb_erase_cached(&member->line_node, line);
	RB_CLEAR_NODE(&member->line_node);
	if (in_line) {
		member->line_vdisktime = member->entity.vdisktime;
		rb_add_cached(&member->line_node, line, member_line_less);
	}
}

/* So many groups are looked at, those most behind. */
#define CFQ_GROUPS_LOOK		4

static struct cfq_member *cfq_line_first(struct cfq_service_tree *st)
{
	struct cfq_member *member;

	while ((member = rb_entry_safe(rb_first_cached(&st->line),
				       struct cfq_member, line_node)) &&
	       member->line_vdisktime != member->entity.vdisktime)
		member_set_in_line(member, true);
	return member;
}

/*
 * A member of @group in line of an overdue class.  The last request served need
 * not have been of its tasks, so it is asked again when they have one queued.
 */
static struct cfq_member *cfq_overdue_in_line(struct cfq_data *group, u64 now_ns)
{
	struct cfq_member *member;
	enum cfq_class class;

	for (class = CFQ_CLASS_BE; class < CFQ_NR_CLASSES; class++) {
		if (!cfq_class_overdue(&group->members, class, now_ns))
			continue;
		member = cfq_line_first(&group->members.of[class]);
		if (member && !cfq_member_ready(&member->entity))
			return member;
	}
	return NULL;
}

/*
 * The next member with tasks that wait, after @member if given; if @overdue, one
 * of an overdue class before others.
 */
static struct cfq_member *cfq_next_in_line(struct cfq_data *group,
					   struct cfq_member *member,
					   u64 now_ns, bool overdue)
{
	enum cfq_class class = 0;

	if (member) {
		class = member->entity.class + 1;
		member = rb_entry_safe(rb_next(&member->line_node),
				       struct cfq_member, line_node);
	} else if (overdue) {
		member = cfq_overdue_in_line(group, now_ns);
	}
	for (; !member && class < CFQ_NR_CLASSES; class++)
		member = cfq_line_first(&group->members.of[class]);
	return member;
}

static struct cfq_data *cfq_next_waiting_group(struct cfq_meta_data *cfqmd,
					       struct cfq_data *cfqd,
					       u64 now_ns, bool overdue)
{
	return cfq_next_leaf(cfqmd, cfqd, now_ns, overdue, cfq_next_in_line);
}

/* A task of @cfqd begins to wait, or the last one may go on. */
void cfq_group_line(struct cfq_data *cfqd, bool in_line)
{
	struct cfq_member *member = cfqd_leaf(cfqd);

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; member->group && member_in_line(member) != in_line;
	     member = member_above(member)) {
		member_set_in_line(member, in_line);
		in_line = cfq_next_in_line(member->group, NULL, 0, false);
	}
}

/* Of the tasks in line, that to have the next descriptor; NULL if none may. */
struct cfq_waiter *cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_waiter *waiter;
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	cfqd = cfq_next_waiting_group(cfqmd, NULL, now_ns, true);
	waiter = cfqd ? cfq_line_due(cfqd, now_ns) : NULL;
	cfqd = NULL;
	for (int nr = 0; !waiter && nr < CFQ_GROUPS_LOOK; nr++) {
		cfqd = cfq_next_waiting_group(cfqmd, cfqd, now_ns, false);
		if (!cfqd)
			break;
		waiter = cfq_line_due(cfqd, now_ns);
	}
	/* The group whose turn it is may be far behind others. */
	if (!waiter && cfqmd->active_cfqd)
		waiter = cfq_line_due(cfqmd->active_cfqd, now_ns);
	return waiter;
}
