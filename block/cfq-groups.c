// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the group layer.
 *
 * Shares the time of a device between cgroups.  A cgroup (cfq_cgroup, cfqc) has
 * one cfq_data (cfqd) on each device on which its tasks did I/O.  The cfqds
 * form a grid: a row for each cgroup, a column for each device (cfq_meta_data,
 * cfqmd).  This file never looks at a task's queue: that is up to
 * block/cfq-iosched.c.  Where cfqds come from stands in block/cfq-grid.c, and
 * what descriptors each gets in block/cfq-group-tags.c.
 *
 * 1. Shares.  Weighted fair queueing on service trees (block/cfq-sched.h), by
 *    the device time that is charged (block/cfq-device.c).
 *
 *    Groups nest.  The members (cfq_member) of a group that compete are its
 *    child groups and, as one of them, its own tasks.  For each class
 *    (cfq.ioprio_class) there is a tree; a class waits for the better ones up
 *    to a bound (cfq_class_wait_ns()): then one request of it is sent,
 *    in whatever turn, or one of its tasks that wait for a descriptor is
 *    let in.  A charge goes to all members from the tasks up, and the choice
 *    goes down from the top.  With every weight 100 but where it says so:
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
 *    What is idle is on no tree, so its part falls to those beside it.  Until a
 *    group has its first child on a device, its tasks compete as the group
 *    (cfqd_leaf()), which makes a request cheaper.
 *
 * 2. Disks: groups take turns.  A disk that has requests of several groups
 *    decides itself whom it serves: it prefers what is near its head, and the
 *    others pile up inside, where no order of dispatch can reach them.  So the
 *    tasks of one group at a time, the active one, send as many requests as
 *    they have.  That is fast as well: a full queue from one region seeks
 *    little.
 *
 *    When the turn is over the group of least virtual time is next.  What the
 *    old one has in the disk is charged to it when it completes, and not waited
 *    for, as an empty disk would order badly.
 *
 *    Turns are group_slice on average, in proportion to the share, but at most
 *    four times that.  What a group still has in the disk puts it ahead, so one
 *    of short turns is passed over now and then.  If the next group has few
 *    requests, a group sends no more than its turn has time for.  A turn ends
 *    early when the group has nothing to send and is not worth waiting for, or
 *    when somebody comes: of a better class, or who is behind and was really
 *    away, or had given back his turn.  It also ends when one with few requests
 *    has fallen further behind.
 *
 *    A few requests are too few for a disk to put in order.  So when all that
 *    the active group has are in the disk, others with about as few send theirs
 *    along: they ride, as long as they are hardly ahead of the one most behind.
 *    If that one rides, and falls back in the disk by more than this, the turn
 *    becomes its own.  Nobody rides beside a stream, or with many requests
 *    beside one with few, which would wait for all of these.
 *
 * 3. Flash: groups are mixed.  Of what is queued each request is taken from the
 *    group of least virtual time.  But a device that takes all requests that
 *    there are leaves nothing to choose from.  So a group that had a part of
 *    group_slice more than the one most behind sends no more than keeps the
 *    device busy (block/cfq-device.c, 2), or waits even if it is not busy
 *    (block/cfq-heads.c, 3).  What others leave is not owed to them
 *    (cfqq_passes_others()).
 *
 *    A better class is still there for a group_idle after its last request, so
 *    that its next one meets no flood.  The idle class sends nothing then; best
 *    effort sends beside real time while the device has fewer pages than it can
 *    work on at once, as one reader that waits for each request would leave
 *    most of it unused.
 */
#include "cfq-member.h"
#include <trace/events/cfq.h>

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

bool cfq_member_ready(struct cfq_entity *entity)
{
	struct cfq_member *member = entity_to_member(entity);

	return member_is_tasks(member) ? member->group->nr_queued :
		member_cfqd(member)->nr_ready;
}

/* Has it a request queued, or would if its tasks had a descriptor? */
bool cfq_member_held_back(struct cfq_entity *entity)
{
	return cfq_member_ready(entity) || member_in_line(entity_to_member(entity));
}

/* Has it, on its tree, requests in the device, or may groups below it? */
bool cfq_member_in_driver(struct cfq_entity *entity)
{
	struct cfq_member *member = entity_to_member(entity);

	return !member_is_leaf(member) || member_cfqd(member)->nr_in_driver;
}

void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group)
		cfqd->stats[stat] += n;
}

/* A request is sent, @wait_ns after it was queued; @spent_ns is 0 if known when done. */
void cfq_group_sent(struct cfq_data *cfqd, u64 sectors, u64 wait_ns, u64 spent_ns)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->stats[CFQ_STAT_REQUESTS]++;
		cfqd->stats[CFQ_STAT_SECTORS] += sectors;
		cfqd->stats[CFQ_STAT_WAIT] += wait_ns;
		cfqd->stats[CFQ_STAT_TIME] += spent_ns;
	}
}

/* Charge @ns (negative: take back an advance); @spent_ns of device time are known now. */
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns)
{
	struct cfq_entity *entity;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (entity = cfqd->queues.above; entity; entity = cfq_above(entity))
		cfq_entity_charge(entity, ns);
	cfqd->turn_used_ns += spent_ns;
	cfq_group_count(cfqd, CFQ_STAT_TIME, spent_ns);
}

/* @member has something to do: if it goes before the active group, cut the turn short. */
static void cfq_member_preempt(struct cfq_member *member, bool may_cut)
{
	const struct cfq_member *rival = member_with_turn(member);

	if (rival && (rival->entity.class > member->entity.class ||
		      (rival->entity.class == member->entity.class && may_cut &&
		       cfq_entity_lead(&rival->entity, &member->entity) > 0)))
		member->group->cfqmd->active_cfqd->turn_cut = true;
}

/*
 * How far behind the clock may one come in that comes back?  Who was not away,
 * or waited for a descriptor, keeps its place.  A newcomer goes before its
 * equals; where there are turns also before these get advance charges back.
 * Each comes in after the last by what a request is of the time of all.
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
					min(dd->mean_cost_ns, dd->tun.group_slice_ns));
	lead_ns = clamp((s64)(st->came_vdisktime - st->min_vdisktime) +
			div_s64(cost_ns, st->nr + st->nr_waiting + 1),
			-credit_ns, cost_ns);
	if ((s64)(member->entity.vdisktime - st->min_vdisktime) < lead_ns)
		st->came_vdisktime = st->min_vdisktime + lead_ns;
	return -lead_ns;
}

/* It has something to do, or waits for a descriptor. */
#define CFQ_NOT_IDLE	((u64)S64_MAX)

static bool cfq_member_was_away(const struct cfq_member *member, u64 now_ns)
{
	const struct cfq_tunables *tun = &member->group->cfqmd->dd.tun;

	return member->idle_since_ns + tun->group_idle_ns <= now_ns;
}

/* The tasks of @cfqd, maybe busy before, have a request; an @urgent one needs no turn. */
void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns)
{
	struct cfq_member *member = cfqd_leaf(cfqd), *top = NULL;
	const bool new = !member_counts(member);
	bool was_away = false;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; member->group; member = member_above(member)) {
		if (member->entity.st &&
		    (urgent || member->idle_since_ns == CFQ_NOT_IDLE))
			break;
		was_away = cfq_member_was_away(member, now_ns);
		member_set_waiting(member, false);
		if (!member->entity.st)
			cfq_st_add(member_tree(member), &member->entity,
				   cfq_member_credit(member, was_away));
		/* Urgent requests are sent in the turns of others. */
		if (!urgent || !was_away || !cfqd->cfqmd->dd.one_head)
			member->idle_since_ns = CFQ_NOT_IDLE;
		top = member;
	}
	cfqd->cfqmd->nr_busy_groups += new;
	if (top && !urgent)
		cfq_member_preempt(top, was_away || cfqd->turn_left);
}

static u64 cfqd_turn_ns(const struct cfq_data *cfqd)
{
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	return cfq_turn_ns(cfqmd->dd.tun.group_slice_ns, cfqmd->nr_busy_groups,
			   cfq_group_share(cfqd));
}

void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns, const char *end)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqd)
		return;
	cfqmd->active_cfqd = NULL;
	cfqd->turn_left = !cfqd->turn_cut && cfqd->turn_used_ns < cfqd_turn_ns(cfqd);
	cfq_expire_active(cfqd, now_ns, "turn");
	trace_cfq_expire(cfqd, NULL, cfqd->turn_used_ns, end);
}

/*
 * Nothing of @cfqd is queued, sent or awaited.  While tasks of it wait for
 * descriptors its weight counts all the same, and that is no absence.
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
		if (member->entity.st)
			cfq_st_del(&member->entity);
		else if (member->waiting == waiting)
			break;
		if (!cfq_member_was_away(member, now_ns))
			member->idle_since_ns = waiting ? CFQ_NOT_IDLE : now_ns;
		member_set_waiting(member, waiting);
		if (cfq_trees_busy(&member->group->members))
			break;
		waiting = cfq_class_outranked(&member->group->members, CFQ_NR_CLASSES);
	}
}

/* The first request of @cfqd is queued, or if @n is -1 the last one is not any more. */
void cfq_group_ready(struct cfq_data *cfqd, int n)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->nr_ready += n;
		if (cfqd->nr_ready != max(n, 0))
			return;
	}
}

/* Has @cfqd anything to do, or will have in a moment?  A wait for that has an end. */
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

/* So few requests are of a task or two that wait for each of them. */
#define CFQ_FEW_REQUESTS	4U
/* With more a disk has enough to put in order: a bound only. */
#define CFQ_RIDE_REQUESTS	16U

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
		/* It has requests of its own tasks only. */
		return other->nr_queued &&
		       (rival == &other->tasks.entity || other->nr_ready == 1) &&
		       !member_in_line(cfqd_leaf(other)) &&
		       cfqd_nr_descriptors(other) <= CFQ_FEW_REQUESTS;
	}
	return false;
}

/*
 * Has @cfqd sent what its turn has time for?  Who waits for each request comes
 * next, and its next one would wait for all that is in the disk.
 */
static bool cfq_group_tapers_off(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;

	return cfqd->nr_in_driver && dd->sent_ns + cfq_stuck_ns(dd) > now_ns &&
	       cfq_few_wait_behind(cfqd) &&
	       cfqd->turn_used_ns + cfqd->nr_in_driver * dd->mean_cost_ns >=
	       cfqd_turn_ns(cfqd);
}

/*
 * Must @member wait for a better class, or as it is so far ahead that it may send no
 * more than keeps flash busy, or not ride?  Without a head best effort has what
 * better classes leave; below a group, what keeps the device busy, as its rivals
 * would have all of that otherwise.
 */
static bool cfq_member_must_wait(const struct cfq_member *member)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;
	const struct cfq_entity *entity = &member->entity, *first;

	/* Short for what follows: less than is to spare is less than is useful. */
	if (!dd->one_head && !dd->strict && !dd->held_for_equal &&
	    entity->class != CFQ_CLASS_IDLE && cfq_device_spares(dd))
		return false;
	if (cfq_first_better(entity->trees, entity->class) &&
	    (dd->one_head || entity->class == CFQ_CLASS_IDLE ||
	     (member->group->self.group ? cfq_device_busy(dd) :
					  !cfq_device_spares(dd))))
		return true;
	if (dd->one_head ? !member->group->cfqmd->active_cfqd : !cfq_order_matters(dd))
		return false;
	first = cfq_st_first(member_tree(member));
	return first && first != entity && cfq_entity_lead(entity, first) >
	       (s64)cfq_lead_ns(dd, entity, dd->one_head ? CFQ_RIDE_LEAD_PART :
							   CFQ_MIXED_LEAD_PART);
}

/* Must @cfqd or a group above it wait for others? */
bool cfq_group_must_wait(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member))
		if (cfq_member_must_wait(member))
			return true;
	return false;
}

static bool cfq_group_is_first(struct cfq_data *cfqd)
{
	struct cfq_member *member;

	for (member = cfqd_leaf(cfqd); member->group; member = member_above(member))
		if (cfq_first_better(&member->group->members, member->entity.class) ||
		    cfq_st_first(member_tree(member)) != &member->entity)
			return false;
	return true;
}

/* The member of @group of an overdue class, or, if @any, of whichever. */
static struct cfq_member *cfq_overdue_member(struct cfq_data *group, bool any, u64 now_ns)
{
	struct cfq_entity *entity;

	entity = cfq_overdue_entity(&group->members, any, now_ns, cfq_member_ready);
	return entity ? entity_to_member(entity) : NULL;
}

/* An overdue class that may send nothing is asked again after this. */
#define CFQ_OVERDUE_AGAIN_NS	NSEC_PER_MSEC

/*
 * The next member of @group, after @member if given, with a request queued
 * (@due: or in the disk), unless it has to wait for others.
 */
static __always_inline struct cfq_member *
cfq_next_member(struct cfq_data *group, struct cfq_member *member, u64 now_ns, bool due)
{
	enum cfq_class class = member ? member->entity.class : 0;
	const struct cfq_driver_data *dd = &group->cfqmd->dd;
	struct cfq_entity *entity;

	/* Nothing of the overdue class may be sent: go on with better ones. */
	if (member && !dd->one_head &&
	    cfq_class_overdue(&group->members, class, now_ns)) {
		group->members.of[class].due_ns = now_ns + CFQ_OVERDUE_AGAIN_NS;
		member = NULL;
		class = 0;
	}
	/* Where there are turns: cfq_group_overdue(). */
	if (!member && !dd->one_head) {
		member = cfq_overdue_member(group, false, now_ns);
		if (member)
			return member;
	}

	entity = member ? cfq_st_next(&member->entity) :
			  cfq_st_first(&group->members.of[class]);
	for (;; entity = cfq_st_first(&group->members.of[class])) {
		while (entity && !cfq_member_ready(entity) &&
		       !(due && cfq_member_in_driver(entity)))
			entity = cfq_st_next(entity);
		if (entity || ++class == CFQ_NR_CLASSES)
			break;
	}
	return entity && !cfq_member_must_wait(entity_to_member(entity)) ?
		entity_to_member(entity) : NULL;
}

static struct cfq_data *cfq_next_group(struct cfq_meta_data *cfqmd,
				       struct cfq_data *cfqd, u64 now_ns, bool due)
{
	return cfq_next_leaf(cfqmd, cfqd, now_ns, due, cfq_next_member);
}

/*
 * Who rides with @cfqd, if all it has is in the disk?  With many more or fewer,
 * the few would fall behind.
 */
static struct cfq_data *cfq_group_rider(struct cfq_data *cfqd, u64 now_ns)
{
	unsigned int held = cfqd_nr_descriptors(cfqd), others;
	struct cfq_data *rider;

	if (cfqd->nr_queued || !cfqd->cfqmd->dd.nr_in_driver ||
	    held > CFQ_RIDE_REQUESTS || member_in_line(cfqd_leaf(cfqd)) ||
	    cfq_data_keeps_head(cfqd))
		return NULL;
	rider = cfq_next_group(cfqd->cfqmd, NULL, now_ns, false);
	if (!rider || member_in_line(cfqd_leaf(rider)))
		return NULL;
	others = cfqd_nr_descriptors(rider);
	return max(held, others) <= max(CFQ_FEW_REQUESTS, 2 * min(held, others)) ?
		rider : NULL;
}

/*
 * Is @cfqd further ahead than a rider may be, of one that is due and has few
 * requests?  These are in the disk, which prefers others, or queued, and not a
 * stream's.
 */
static bool cfq_group_starves_few(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_data *due;

	if (!cfq_group_must_wait(cfqd))
		return false;
	due = cfq_next_group(cfqd->cfqmd, NULL, now_ns, true);
	return due && !member_in_line(cfqd_leaf(due)) &&
	       (!due->nr_queued || !cfq_data_wants_head(due)) &&
	       cfqd_nr_descriptors(due) <= (due->nr_queued ? CFQ_FEW_REQUESTS :
							     CFQ_RIDE_REQUESTS);
}

/*
 * Where there are turns: a group of an overdue class, among the rivals of the
 * active group and those above; or NULL.  One request of it is served now.
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
			overdue = cfq_overdue_member(member_cfqd(overdue), true, now_ns);
		if (overdue)
			return member_cfqd(overdue);
	}
	return NULL;
}

/*
 * The group to serve next, or NULL; after @before, if given, that had nothing that
 * may be sent.  It may turn out to have nothing to send yet, either.
 */
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd,
				  struct cfq_data *before, u64 now_ns)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;
	const char *end = "empty";
	bool again = false;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqmd->dd.one_head)
		return cfq_next_group(cfqmd, before, now_ns, false);
	/* It was to ride: ask the group whose turn it is. */
	if (before)
		return before != cfqd ? cfqd : NULL;

	if (cfqd && cfq_group_needs_device(cfqd, now_ns)) {
		if (!cfqd->turn_cut && cfqd->turn_used_ns >= cfqd_turn_ns(cfqd)) {
			end = "used";
		} else {
			cfqd->turn_cut |= cfq_group_starves_few(cfqd, now_ns);
			if (!cfqd->turn_cut)
				return cfq_group_rider(cfqd, now_ns) ?:
				       (cfq_group_tapers_off(cfqd, now_ns) ? NULL : cfqd);
			end = "preempted";
		}
		again = cfq_group_is_first(cfqd);
	}
	if (again) {
		trace_cfq_expire(cfqd, NULL, cfqd->turn_used_ns, end);
	} else {
		cfq_groups_end_turn(cfqmd, now_ns, end);
		/* A rider is in the disk when its turn comes, with all it has. */
		cfqd = cfq_next_group(cfqmd, NULL, now_ns, true);
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
