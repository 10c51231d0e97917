// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the group layer.
 *
 * Shares the time of a device between cgroups.  A cgroup (cfq_cgroup, cfqc) has
 * one cfq_data (cfqd) on each device on which its tasks did I/O.  The cfqds
 * form a grid: a row for each cgroup, a column for each device (cfq_meta_data,
 * cfqmd).  What happens inside a cfqd is the business of the per-task layer
 * (block/cfq-iosched.c); this file never looks at a task's queue.  Where the
 * cfqds come from stands in block/cfq-grid.c, and how many descriptors each gets
 * in block/cfq-group-tags.c.
 *
 * 1. Shares.  Weighted fair queueing on service trees (block/cfq-sched.h), by the
 *    device time that is charged (block/cfq-device.c).
 *
 *    Groups nest, and so does this.  What competes (cfq_member) is the child
 *    groups of a group and, as one of them, its own tasks.  For each class
 *    (cfq.ioprio_class) there is a tree; a class waits for the better ones,
 *    up to a bound (cfq_class_wait_ns()): then one request of it is sent, in
 *    the turn of another group if there are turns, and one of its tasks that
 *    wait for a descriptor is let in.  A charge goes to all members from the
 *    tasks up to the top, and the choice goes down from there.  With every
 *    weight 100 but where it says so:
 *
 *        root            of the disk                what competes there
 *          +- tasks      1/4    = 1/4               weight of the root group
 *          +- A (200)    2/4    = 1/2
 *          |   +- tasks  1/2 * 1/4 = 1/8            cfq.leaf_weight of A
 *          |   +- C (300) 1/2 * 3/4 = 3/8
 *          |       +- tasks  all of C's
 *          +- B          1/4
 *              +- tasks  all of B's
 *
 *    What is idle is on no tree, so its part falls to those beside it.  A group
 *    without I/O in it or below it on a device does not exist there.  Until
 *    a group has its first child there, its tasks need no tree of their own:
 *    they compete as the group (cfqd_leaf()), which makes a request cheaper.
 *
 * 2. Disks: groups take turns.  If the requests of several groups are always
 *    in a disk at once, the disk decides whom it serves: it prefers what is
 *    near its head, and the requests of the others pile up inside of it, where
 *    no order of dispatch can reach them.  So the tasks of one group at a time,
 *    the active one, send requests, as many as they have, for a turn.  That is
 *    fast as well, as a disk with a full queue from one region seeks little.
 *
 *    When the turn is over, the group of least virtual time is next.  What
 *    the old group has in the disk is not waited for: it is charged to the
 *    old group when it completes, and an empty disk would order badly.
 *
 *    Turns are group_slice on average, in proportion to the share of the
 *    device, but none is longer than four times that.  What a group still has
 *    in the disk at the end of its turn puts it ahead of the others, so one of
 *    short turns will be passed over now and then.  Only if the group that is
 *    next has few requests does it send no more than its turn has time for.  A
 *    turn is cut short when the group has nothing more to send
 *    and is not worth waiting for, and when somebody of a better class comes, or
 *    somebody who is behind comes back from a real absence.
 *
 *    A few requests are too few for a disk to put in order.  So when all that
 *    the active group has are in the disk, others that have about as few send
 *    theirs along: they ride, as long as they are hardly ahead of the one most
 *    behind.  If that one rides, and falls back in the disk by more than this,
 *    the turn becomes its own, so that the others wait for it.  As a request is
 *    charged what the head does for it, shares are as exact as with turns.
 *    Nobody rides beside a stream, or with many requests beside one with few,
 *    which would wait for all of these.
 *
 * 3. Flash: groups are mixed.  There is no head to fight over, so each
 *    request is taken from the group of least virtual time.  But a device that
 *    takes all requests that there are leaves nothing to choose from.  So a
 *    group that has had a part of group_slice more than the one most behind,
 *    which may have all its requests in the device or be idle for a moment,
 *    sends no more than keeps the device busy (block/cfq-device.c, 2), or waits
 *    whether it is busy or not (block/cfq-heads.c, 3).  What others leave is not
 *    owed to them (cfqq_passes_others()).
 *
 *    A class better than others is still there for a group_idle after its last
 *    request: its next one shall not meet a flood that came in between.  The
 *    idle class sends nothing then.  Best effort beside real time sends while
 *    the device has fewer pages than it can work on at the same time: one
 *    reader that waits for each of its requests would leave most of it unused.
 */
#include "cfq-member.h"
#include <trace/events/cfq.h>

/* Does @member, on no tree, want descriptors before it can do anything? */
void member_set_waiting(struct cfq_member *member, bool waiting)
{
	struct cfq_service_tree *st = member_tree(member);
	const int n = waiting ? 1 : -1;

	if (member->waiting == waiting)
		return;
	member->waiting = waiting;
	st->nr_waiting += n;
	st->total_weight += n * (int)member->entity.weight;
}

/* Has the member of @entity a request queued? */
bool cfq_member_ready(struct cfq_entity *entity)
{
	struct cfq_member *member = entity_to_member(entity);

	return member_is_tasks(member) ? member->group->nr_queued :
		member_cfqd(member)->nr_ready;
}

/* Or would have one, if its tasks had a descriptor for it? */
bool cfq_member_held_back(struct cfq_entity *entity)
{
	return cfq_member_ready(entity) ||
	       member_in_line(entity_to_member(entity));
}

/* Has it, on its tree, some in the device, or may groups below it have some? */
bool cfq_member_in_driver(struct cfq_entity *entity)
{
	struct cfq_member *member = entity_to_member(entity);

	return !member_is_leaf(member) || member_cfqd(member)->nr_in_driver;
}

/* Add @n to the statistics of @cfqd and those above it. */
void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group)
		cfqd->stats[stat] += n;
}

/*
 * A request of the tasks of @cfqd is sent, @wait_ns after it was queued.  It
 * takes @spent_ns of the device's time; 0 if that is known when it is done.
 */
void cfq_group_sent(struct cfq_data *cfqd, u64 sectors, u64 wait_ns,
		    u64 spent_ns)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->stats[CFQ_STAT_REQUESTS]++;
		cfqd->stats[CFQ_STAT_SECTORS] += sectors;
		cfqd->stats[CFQ_STAT_WAIT] += wait_ns;
		cfqd->stats[CFQ_STAT_TIME] += spent_ns;
	}
}

/*
 * @cfqd is charged @ns for what its tasks did; negative, to take back what was
 * charged in advance.  It is now known that @spent_ns were spent.
 */
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns)
{
	struct cfq_entity *entity;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (entity = cfqd->queues.above; entity; entity = cfq_above(entity))
		cfq_entity_charge(entity, ns);
	cfqd->turn_used_ns += spent_ns;
	cfq_group_count(cfqd, CFQ_STAT_TIME, spent_ns);
}

/*
 * @member has something to do.  If it goes before the active group where it
 * competes, it need not wait for the end of a turn that began without it.
 */
static void cfq_member_preempt(struct cfq_member *member, bool was_away)
{
	struct cfq_data *active = member->group->cfqmd->active_cfqd;
	struct cfq_member *rival;

	if (!active || active->turn_cut)
		return;
	rival = cfqd_leaf(active);
	while (rival->group && rival->group != member->group)
		rival = member_above(rival);
	if (!rival->group || rival->entity.class < member->entity.class)
		return;
	if (rival->entity.class == member->entity.class &&
	    (!was_away || cfq_entity_lead(&rival->entity, &member->entity) <= 0))
		return;
	active->turn_cut = true;
}

/*
 * By how much one that comes back may be behind the minimum of its tree.  Who was
 * not away, or had to wait for a descriptor, keeps its place.  A newcomer goes
 * before its equals; and where groups take turns, these may be given back some of
 * what they were charged in advance, for all that is in the disk, before it is
 * chosen.  The next one comes in later by what a request is of the time of all, so
 * that the clock goes on, however many come.
 */
static s64 cfq_member_credit(const struct cfq_member *member, bool was_away)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;
	struct cfq_service_tree *st = member_tree(member);
	s64 cost_ns, lead_ns, credit_ns = 1;

	if (!was_away)
		return 2 * dd->tun.group_slice_ns;
	if (dd->one_head)
		credit_ns = cfq_st_mean_vdisktime(st, member->entity.weight,
						  dd->tun.group_slice_ns / 16);
	cost_ns = cfq_st_mean_vdisktime(st, member->entity.weight,
					min(dd->mean_cost_ns,
					    dd->tun.group_slice_ns));
	lead_ns = clamp((s64)(st->came_vdisktime - st->min_vdisktime) +
			div_s64(cost_ns, st->nr + st->nr_waiting + 1),
			-credit_ns, cost_ns);
	if ((s64)(member->entity.vdisktime - st->min_vdisktime) < lead_ns)
		st->came_vdisktime = st->min_vdisktime + lead_ns;
	return -lead_ns;
}

/* As cfq_member.idle_since_ns of one that waits. */
#define CFQ_NOT_IDLE	((u64)S64_MAX)

static bool cfq_member_was_away(const struct cfq_member *member, u64 now_ns)
{
	const struct cfq_tunables *tun = &member->group->cfqmd->dd.tun;

	return member->idle_since_ns + tun->group_idle_ns <= now_ns;
}

/*
 * The tasks of @cfqd, which may have been busy before, have a request queued,
 * which needs no turn if it is @urgent.
 */
void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns)
{
	struct cfq_member *member = cfqd_leaf(cfqd), *top = NULL;
	const bool new = !member_counts(member);
	bool was_away = false;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; member->group; member = member_above(member)) {
		if (member->entity.st && (urgent || !member->urgent_only))
			break;
		/* Between one request and the next it has not been away. */
		was_away = cfq_member_was_away(member, now_ns);
		member_set_waiting(member, false);
		if (!member->entity.st)
			cfq_st_add(member_tree(member), &member->entity,
				   cfq_member_credit(member, was_away));
		member->urgent_only = urgent && was_away &&
				      cfqd->cfqmd->dd.one_head;
		top = member;
	}
	cfqd->cfqmd->nr_busy_groups += new;
	if (top && !urgent)
		cfq_member_preempt(top, was_away);
}

/* No group has the device for itself any more. */
void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns,
			 const char *end)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqd)
		return;
	cfqmd->active_cfqd = NULL;
	cfq_expire_active(cfqd, now_ns, "turn");
	trace_cfq_expire(cfqd, NULL, cfqd->turn_used_ns, end);
}

/*
 * Nothing of @cfqd is queued, sent or awaited.  If tasks of it wait for descriptors its
 * weight counts all the same, from when the first one does; and it is a newcomer when
 * that has its request only if it was away before.
 */
void cfq_group_not_busy(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	struct cfq_member *member = cfqd_leaf(cfqd);
	bool waiting = cfqd->nr_admitted || member_in_line(member);

	lockdep_assert_held(&cfqmd->lock);

	if (!waiting && cfqmd->active_cfqd == cfqd)
		cfq_groups_end_turn(cfqmd, now_ns, "empty");
	cfqmd->nr_busy_groups += waiting - member_counts(member);
	for (; member->group; member = member_above(member)) {
		/* What was urgent was done in the turns of others. */
		bool was_away = member->urgent_only;

		if (member->entity.st) {
			cfq_st_del(&member->entity);
		} else {
			if (member->waiting == waiting)
				break;
			was_away = cfq_member_was_away(member, now_ns);
		}
		if (!was_away)
			member->idle_since_ns = waiting ? CFQ_NOT_IDLE : now_ns;
		member_set_waiting(member, waiting);
		if (cfq_trees_busy(&member->group->members))
			break;
		/* All that there is waits. */
		waiting = cfq_class_outranked(&member->group->members,
					      CFQ_NR_CLASSES);
	}
}

/* The tasks of @cfqd have a first request queued, or if @n is -1 none left. */
void cfq_group_ready(struct cfq_data *cfqd, int n)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->nr_ready += n;
		if (cfqd->nr_ready != max(n, 0))
			return;
	}
}

/*
 * Is there anything to do for @cfqd, now or as soon as its task goes on: one that is
 * waited for, or has been given a descriptor?  It may not be let to run for long, so
 * the wait has an end.
 */
static bool cfq_group_needs_device(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;

	if (cfqd->nr_queued || (cfqd->nr_in_driver && cfqd_leaf(cfqd)->entity.st))
		return true;
	return !cfq_must_empty(dd) &&
	       (cfq_data_idles(cfqd, now_ns) ||
		(cfqd->nr_admitted &&
		 cfqd->admitted_ns + dd->tun.group_idle_ns > now_ns));
}

static u64 cfqd_turn_ns(const struct cfq_data *cfqd)
{
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	return cfq_turn_ns(cfqmd->dd.tun.group_slice_ns, cfqmd->nr_busy_groups,
			   cfq_group_share(cfqd));
}

/* Who has so few requests has a task or two that wait for each of them. */
#define CFQ_FEW_REQUESTS	4U
/* With more than these a disk has enough to put in order.  It is a bound only. */
#define CFQ_RIDE_REQUESTS	16U

/* Is the next in turn after @cfqd somebody with few requests? */
static bool cfq_few_wait_behind(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member)) {
		struct cfq_entity *rival = cfq_st_first(member_tree(member));
		struct cfq_data *other;

		if (rival == &member->entity)
			rival = cfq_st_next(rival);
		if (!rival)
			continue;
		other = member_cfqd(entity_to_member(rival));
		/* Of its own tasks, with none below that has requests. */
		return other->nr_queued && other->nr_ready == 1 &&
		       !member_in_line(cfqd_leaf(other)) &&
		       cfqd_nr_descriptors(other) <= CFQ_FEW_REQUESTS;
	}
	return false;
}

/*
 * Has @cfqd sent as much as its turn has time for?  What is still in the disk
 * at the end of the turn does not matter to a crowd, as the disk has all the
 * more to choose from, but to those who wait for one request at a time: their
 * next one would wait for all of that.
 */
static bool cfq_group_tapers_off(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;

	return cfqd->nr_in_driver &&
	       dd->sent_ns + cfq_stuck_ns(dd) > now_ns &&
	       cfq_few_wait_behind(cfqd) &&
	       cfqd->turn_used_ns + cfqd->nr_in_driver * dd->mean_cost_ns >=
	       cfqd_turn_ns(cfqd);
}

/*
 * On a device without a head, has @member had so much more than the one most
 * behind on its tree that it may send no more than keeps the device busy?  On a
 * disk, has it had too much to ride in the turn of another?
 */
static bool cfq_member_too_far_ahead(const struct cfq_member *member)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;
	const struct cfq_entity *first;
	u64 lead;

	if (dd->one_head ? !member->group->cfqmd->active_cfqd :
			   !cfq_order_matters(dd))
		return false;
	first = cfq_st_first(member_tree(member));
	if (!first)
		return false;
	lead = cfq_lead_ns(dd, &member->entity, dd->one_head ?
			   CFQ_RIDE_LEAD_PART : CFQ_MIXED_LEAD_PART);
	return cfq_entity_lead(&member->entity, first) > (s64)lead;
}

/*
 * Must @member wait for a better class, or as it is too far ahead?  Of a device
 * without a head best effort has what better ones leave of it; in a group with
 * others beside it, as much as these may have, who would have it all otherwise.
 */
static noinline bool cfq_member_after_others(const struct cfq_member *member)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;

	if (cfq_first_better(&member->group->members, member->entity.class) &&
	    (dd->one_head || member->entity.class == CFQ_CLASS_IDLE ||
	     (member->group->self.group ? cfq_device_busy(dd) :
					  !cfq_device_spares(dd))))
		return true;
	return cfq_member_too_far_ahead(member);
}

static inline bool cfq_member_must_wait(const struct cfq_member *member)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;

	/* For neither reason: less than is to spare is less than is useful. */
	if (!dd->one_head && !dd->strict && !dd->held_for_equal &&
	    member->entity.class != CFQ_CLASS_IDLE && cfq_device_spares(dd))
		return false;
	return cfq_member_after_others(member);
}

/* Must @cfqd, with requests queued, or a group above it wait for others? */
bool cfq_group_must_wait(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member))
		if (cfq_member_must_wait(member))
			return true;
	return false;
}

/* Does every choice on the way down lead to the tasks of @cfqd? */
static bool cfq_group_is_first(struct cfq_data *cfqd)
{
	struct cfq_member *member;

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member))
		if (cfq_first_better(&member->group->members, member->entity.class) ||
		    cfq_st_first(member_tree(member)) != &member->entity)
			return false;
	return true;
}

/*
 * The member of @group that is to be served although there are better classes,
 * as its own has waited for too long, or, if @any, as @group has.
 */
static struct cfq_member *cfq_overdue_member(struct cfq_data *group, bool any,
					     u64 now_ns)
{
	struct cfq_entity *entity;

	entity = cfq_overdue_entity(&group->members, any, now_ns,
				    cfq_member_ready);
	return entity ? entity_to_member(entity) : NULL;
}

/* A class that is overdue and has nothing that may be sent is not asked before that. */
#define CFQ_OVERDUE_AGAIN_NS	NSEC_PER_MSEC

/*
 * The next member of @group, after @member if given, that has a request queued or,
 * if @due, in the disk, unless it has to wait for others.
 */
static __always_inline struct cfq_member *
cfq_next_member(struct cfq_data *group, struct cfq_member *member, u64 now_ns,
		bool due)
{
	enum cfq_class class = member ? member->entity.class : 0;
	const struct cfq_driver_data *dd = &group->cfqmd->dd;
	struct cfq_entity *entity;

	/* Better classes were passed over for it, and nothing of it may be sent. */
	if (member && !dd->one_head &&
	    cfq_class_overdue(&group->members, class, now_ns)) {
		group->members.of[class].due_ns = now_ns + CFQ_OVERDUE_AGAIN_NS;
		member = NULL;
		class = 0;
	}
	/* Where there are turns, it has none for that. */
	if (!member && !dd->one_head) {
		member = cfq_overdue_member(group, false, now_ns);
		if (member)
			return member;
	}

	entity = member ? cfq_st_next(&member->entity) :
			  cfq_st_first(&group->members.of[class]);
	for (;;) {
		while (entity && !cfq_member_ready(entity) &&
		       !(due && cfq_member_in_driver(entity)))
			entity = cfq_st_next(entity);
		if (entity || ++class == CFQ_NR_CLASSES)
			break;
		entity = cfq_st_first(&group->members.of[class]);
	}
	return entity && !cfq_member_must_wait(entity_to_member(entity)) ?
		entity_to_member(entity) : NULL;
}

/* The next group with a request queued or, if @due, in the disk. */
static struct cfq_data *cfq_next_group(struct cfq_data *group,
				       struct cfq_member *member, u64 now_ns,
				       bool due)
{
	return cfq_next_leaf(group, member, now_ns, due, cfq_next_member);
}

/*
 * All requests of @cfqd, whose turn it is, are in the disk, and they are few.  Who
 * sends some along?  They have to be about as many, or the few fall behind in the disk
 * and are waited for.  An empty disk has nothing to put in order:
 * there the next request of @cfqd is waited for.
 */
static struct cfq_data *cfq_group_rider(struct cfq_data *cfqd, u64 now_ns)
{
	unsigned int held = cfqd_nr_descriptors(cfqd), others;
	struct cfq_data *rider;

	if (cfqd->nr_queued || !cfqd->cfqmd->dd.nr_in_driver ||
	    held > CFQ_RIDE_REQUESTS || member_in_line(cfqd_leaf(cfqd)) ||
	    cfq_data_keeps_head(cfqd))
		return NULL;
	rider = cfq_next_group(&cfqd->cfqmd->root, NULL, now_ns, false);
	if (!rider || member_in_line(cfqd_leaf(rider)))
		return NULL;
	others = cfqd_nr_descriptors(rider);
	return max(held, others) <= max(CFQ_FEW_REQUESTS, 2 * min(held, others)) ?
		rider : NULL;
}

/*
 * Is another group due, which rides, and is @cfqd further ahead of others than
 * who rides may be?  The disk prefers the requests of these.
 */
static bool cfq_group_starves_rider(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_data *due;

	if (!cfq_group_must_wait(cfqd))
		return false;
	due = cfq_next_group(&cfqd->cfqmd->root, NULL, now_ns, true);
	return due && !due->nr_queued && !member_in_line(cfqd_leaf(due)) &&
	       cfqd_nr_descriptors(due) <= CFQ_RIDE_REQUESTS;
}

/*
 * A group that has waited for a better class for too long, of which one request
 * is to be served now, or NULL.  Where groups take turns: it is looked for
 * among the rivals of the group whose turn it is, and of those above.
 * Elsewhere all groups are asked in order.
 */
struct cfq_data *cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *active = cfqmd->active_cfqd;
	struct cfq_member *member, *overdue;

	lockdep_assert_held(&cfqmd->lock);

	if (!active)
		return NULL;
	for (member = cfqd_leaf(active); member->group; member = member_above(member)) {
		overdue = cfq_overdue_member(member->group, false, now_ns);
		while (overdue && !member_is_leaf(overdue))
			overdue = cfq_overdue_member(member_cfqd(overdue), true,
						     now_ns);
		if (overdue)
			return member_cfqd(overdue);
	}
	return NULL;
}

/*
 * The group whose tasks are to be served next, NULL if none may be now.  It may
 * turn out to have nothing that can be sent yet.
 */
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;
	const char *end = "empty";
	bool again = false;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqmd->dd.one_head)
		return cfq_next_group(&cfqmd->root, NULL, now_ns, false);

	if (cfqd && cfq_group_needs_device(cfqd, now_ns)) {
		if (!cfqd->turn_cut && cfqd->turn_used_ns >= cfqd_turn_ns(cfqd))
			end = "used";
		else if (cfqd->turn_cut || cfq_group_starves_rider(cfqd, now_ns))
			end = "preempted";
		else
			return cfq_group_rider(cfqd, now_ns) ?:
			       (cfq_group_tapers_off(cfqd, now_ns) ? NULL : cfqd);
		again = cfq_group_is_first(cfqd);
	}
	if (again) {
		/* Its active queue keeps what it has. */
		trace_cfq_expire(cfqd, NULL, cfqd->turn_used_ns, end);
	} else {
		cfq_groups_end_turn(cfqmd, now_ns, end);
		/* Who rides is in the disk when its turn comes, with all it has. */
		cfqd = cfq_next_group(&cfqmd->root, NULL, now_ns, true);
	}
	if (!cfqd)
		return NULL;
	cfqmd->active_cfqd = cfqd;
	cfqd->turn_used_ns = 0;
	cfqd->turn_cut = false;
	cfq_group_count(cfqd, CFQ_STAT_SLICES, 1);
	trace_cfq_select(cfqd, NULL, &cfqd_set_member(cfqd)->entity, "turn");
	return cfq_group_rider(cfqd, now_ns) ?: cfqd;
}

/* @cfqd was selected and had nothing that may be sent: who is next? */
struct cfq_data *cfq_group_select_next(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_data *active = cfqd->cfqmd->active_cfqd;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	/* It was to ride: the group whose turn it is may have to be waited for. */
	if (cfqd->cfqmd->dd.one_head)
		return cfqd != active ? active : NULL;
	return cfq_next_group(cfqd_leaf(cfqd)->group, cfqd_leaf(cfqd), now_ns,
			      false);
}
