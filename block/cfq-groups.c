// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the group layer.
 *
 * Shares the time of a device between cgroups.  A cgroup (cfq_cgroup, cfqc) has
 * one cfq_data (cfqd) on each device on which its tasks did I/O.  The cfqds
 * form a grid: a row for each cgroup, a column for each device (cfq_meta_data,
 * cfqmd).  What happens inside a cfqd is the business of the per-task layer
 * (block/cfq-iosched.c); this file never looks at a task's queue.  How cgroups
 * come and go is that of block/cfq-cgroup.c, and how they are set that of
 * block/cfq-files.c.
 *
 * 1. Shares.  Weighted fair queueing: what has something to do is on a service
 *    tree, sorted by virtual time, which advances by the device time charged
 *    over the weight.  Whoever received least goes next.  Who was away comes in
 *    at the minimum of the tree, just before those who are there already.  How
 *    device time is found out stands in block/cfq-iosched.c.
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
 *    they compete as the group (cfqd->leaf).  With one, a request costs 120
 *    instructions more (bench/bench --only cost), and more where others have
 *    requests, too.
 *
 * 2. Disks: groups take turns.  If the requests of several groups are always
 *    in a disk at once, the disk decides whom it serves: it prefers what is
 *    near its head, and the requests of the others pile up inside of it, where
 *    no order of dispatch can reach them.  So the tasks of one group at a time,
 *    the active one, send requests, as many as they have, for a slice.  That is
 *    fast as well, as a disk with a full queue from one region seeks little.
 *
 *    When the slice is over, the group of least virtual time is next.  What
 *    the old group has in the disk is not waited for: it is charged to the
 *    old group when it completes, and an empty disk would order badly.
 *
 *    Slices are group_slice on average, in proportion to the share of the
 *    device, but none is longer than four times that.  With siblings of weight
 *    200, 100 and 25 and a group_slice of 400 ms:
 *
 *        group   weight   share   slice = 400 ms * 3 * share
 *        A       200      200/325   738 ms
 *        B       100      100/325   369 ms
 *        C        25       25/325    92 ms
 *
 *    What C still has in the disk at the end of its slice puts it ahead of the
 *    others, so it will be passed over now and then.  Only where the next in
 *    turn have one or a few requests, which would wait in the disk for all of
 *    it, does a group send no more than its slice has time for.  (Without this
 *    a reader beside a flood waits up to 240 ms instead of 170; test_crowd.sh.)
 *    A slice is cut short when the group has nothing more to send and is not
 *    worth waiting for, and when somebody who is behind, or of a better class,
 *    comes back from a real absence.
 *
 *    A few requests are too few for a disk to put in order.  So when all that
 *    the active group has are in the disk, others that have about as few send
 *    theirs along: they ride, as long as they are hardly ahead of the one most
 *    behind.  If that one rides, and falls back in the disk by more than this,
 *    the turn becomes its own, so that the others wait for it.  As a request is
 *    charged what the head does for it, shares are as exact as with turns.
 *    Nobody rides beside a stream, or with many requests beside one with few,
 *    which would wait for all of these.  If nobody did at all, ten groups with
 *    a reader each would have 30 % less of a disk, and a reader would wait for
 *    the turns of the other nine (bench/bench --only few,lone).
 *
 * 3. Flash: groups are mixed.  There is no head to fight over, so each
 *    request is taken from the group of least virtual time.  But a device that
 *    takes all requests that there are leaves nothing to choose from.  So a
 *    group that has had a part of group_slice more than the one most behind,
 *    which may have all its requests in the device or have gone just now,
 *    sends no more than keeps the device busy (block/cfq-iosched.c, 6).  While
 *    three groups of 64 readers and weights 8 : 4 : 1 have 61 / 31 / 8 % with
 *    this, each has a third without it, and a lone reader beside 64 waits six
 *    times as long.
 *
 *    Who is ahead as others leave the device unused owes them little for it:
 *    their credit is forgotten but for another part of group_slice.  Without that a
 *    group that had four fifths of an idle device for three seconds got nothing
 *    in the next one, when the other began to use it (test_flash.sh).
 *
 *    A class better than others is still there for a group_idle after its last
 *    request: its next one shall not meet a flood that came in between.  The
 *    idle class sends nothing then.  Best effort beside real time sends while
 *    the device has fewer requests than it can work on at the same time: one
 *    reader that waits for each of its requests would leave most of it unused.
 *
 * 4. Descriptors.  A device has a fixed number of request descriptors
 *    (nr_requests), and what waits for one cannot be scheduled.  When half of
 *    them are in use, a task needs leave to take another, and those who have to
 *    wait for it are let in group by group, and inside each by class of ionice,
 *    and in order.  A sixteenth is kept for real time, if there was some in the
 *    last second, and the idle class has half of its group's part before
 *    others: without all that, a reader of a better class among 150 of its
 *    group had 2 to 5 % of its reads, and has 99 (test_tasks.sh).  Each group
 *    has its part of the descriptors by share; of those below their part, the
 *    one that is to be served first is next.  What others do not use is lent,
 *    but for an eighth, and at least one, that is kept for those below their
 *    part, so that a group that wakes up gets its first at once.  The weight of
 *    a group whose tasks wait counts, even if it holds none: then it is on no
 *    tree, but sorted among those that are like it (st->waiting).
 *
 *    The order is what shares are made of where parts are less than a request:
 *    with two descriptors, or more groups than descriptors.  If the group that
 *    holds least were next, groups of weights 8 : 4 : 1 would have a third each
 *    of a device that takes one request at a time (test_crowd.sh).
 *
 *    Where groups take turns, the active group is next, and the others have a
 *    fraction of their part: enough to begin their turn with.  With 62
 *    descriptors and 100 readers in each of the groups above, A, B and C hold
 *    9, 4 and 1 of them until it is their turn, and then some 40.  (A fixed
 *    part of 38, 19 and 5 is too little for C to use the disk well, and waiting
 *    for a tag, which knows no order, made tasks wait for 50 times their fair
 *    turn; bench/bench --only many100,many200.)
 *
 * 5. Limits.  On top of that a group may be limited to a number of requests
 *    on a device (cfq.nr_group_requests).  Each counts from before it has a
 *    descriptor until it is done, in its group and all groups above that.  A
 *    task that finds one of these full sleeps on the list of that group; what
 *    is done there makes room, which is given to the first one on the list,
 *    before that wakes up.  So there is room in no group that is waited for,
 *    and nobody overtakes.  Who must not sleep gets an error.
 *
 * 6. Whose request.  It belongs to the group that has caused it, which need not
 *    be that of the task that submits it.  The io controller knows the cause:
 *    writeback, drivers of stacked devices and other helpers tell it whom they
 *    work for.  That is used where it has the same hierarchy; written-back data
 *    can, besides, be told by who owns the memory it is in.
 *
 * 7. Lifetimes.  The grid owns one reference on each cfqd, which ends with
 *    the cgroup or with the scheduler on that device, whichever is first.
 *    Each cfq_queue and the cfqd of each child group own another, so that a
 *    cfqd without a cgroup lives, and is scheduled with the weight it had and
 *    in the place it had, until its last request is done and the tasks that
 *    moved away, or worked for the group, did I/O elsewhere or ended.
 *
 * Locks: cfq_grid_mutex keeps devices and cgroups from going away; whoever
 * holds it may walk a row without another lock, as rows only lose elements
 * under it.  cfqmd->lock nests inside it.  cfq_grid_lock, inside cfqmd->lock,
 * protects what is added to rows and the settings of a cgroup, so that a new
 * cfqd never misses a change.  What has no other context in its description is
 * called with cfqmd->lock held.
 */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/kdev_t.h>
#include <linux/memcontrol.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/cfq-iosched.h>

#include "cfq-calc.h"
#include "cfq-group.h"
#include "cfq-trace.h"

/* Protects the grid from losing devices and cgroups, see above. */
DEFINE_MUTEX(cfq_grid_mutex);
static DEFINE_SPINLOCK(cfq_grid_lock);

/* Was the number of requests of any group ever limited? */
static bool cfq_limit_was_set __read_mostly;

static struct cfq_cgroup *cfqc_parent(struct cfq_cgroup *cfqc)
{
	return cfq_css_cgroup(cfq_cgroup_css(cfqc)->parent);
}

static struct cfq_member *entity_to_member(struct cfq_entity *entity)
{
	return container_of(entity, struct cfq_member, entity);
}

/*
 * Members: the tasks of a group, and child groups.
 */

/* The member that @member is part of; one without a group above the last. */
static struct cfq_member *member_above(const struct cfq_member *member)
{
	return &member->group->self;
}

static bool member_is_tasks(const struct cfq_member *member)
{
	return member == &member->group->tasks;
}

/* Whose tasks, or which child group? */
static struct cfq_data *member_cfqd(struct cfq_member *member)
{
	return member_is_tasks(member) ? member->group :
		container_of(member, struct cfq_data, self);
}

/* Is @member tasks, by themselves or as all that their group has? */
static bool member_is_leaf(struct cfq_member *member)
{
	return member == member_cfqd(member)->leaf;
}

/*
 * To what do the settings of a group apply?  The root group competes with
 * nobody, so there it is its tasks.
 */
static struct cfq_member *cfqd_set_member(struct cfq_data *cfqd)
{
	return cfqd->self.group ? &cfqd->self : &cfqd->tasks;
}

static struct cfq_service_tree *member_tree(const struct cfq_member *member)
{
	return &member->group->members[member->class];
}

/* Has the member a request queued? */
static bool member_ready(struct cfq_member *member)
{
	return member_is_tasks(member) ? member->group->nr_queued :
		member_cfqd(member)->nr_ready;
}

/* Has the member tasks that wait for a descriptor? */
static bool member_in_line(struct cfq_member *member)
{
	return member_is_tasks(member) ? cfq_data_in_line(member->group) :
		member_cfqd(member)->nr_in_line;
}

/* Has the member requests in the device?  It is on the tree. */
static bool member_in_driver(struct cfq_member *member)
{
	return !member_is_leaf(member) || member_cfqd(member)->nr_in_driver;
}

static bool cfq_entity_ready(struct cfq_entity *entity)
{
	return member_ready(entity_to_member(entity));
}

/* Is all that @member has in the device, for too long to be waited for? */
static bool member_stuck(struct cfq_member *member, u64 now_ns)
{
	return !cfq_entity_awaited(&member->group->cfqmd->dd, &member->entity,
				   now_ns, cfq_entity_ready);
}

/* The one most behind on @st that others have to wait for, if any. */
static struct cfq_entity *cfq_first_awaited(const struct cfq_member *member,
					    struct cfq_service_tree *st,
					    u64 now_ns)
{
	return cfq_st_first_awaited(&member->group->cfqmd->dd, st, now_ns,
				    cfq_entity_ready);
}

/**
 * cfq_group_only_stuck - all that is left of a group's tasks is stuck
 * @cfqd: the group on the device, with nothing queued
 * @now_ns: time
 *
 * Others need not wait any more, although some of its tasks sent something just
 * now, and neither for the groups above if they have nothing else.
 */
void cfq_group_only_stuck(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_member *member;
	enum cfq_class class;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		if (member_ready(member))
			return;
		member->entity.sent_ns = 0;
		for (class = 0; class < CFQ_NR_CLASSES; class++)
			if (cfq_first_awaited(member,
					      &member->group->members[class],
					      now_ns))
				return;
	}
}

/* Weights that @member competes with, its own included, of no lower class. */
static unsigned int member_rivals_weight(const struct cfq_member *member)
{
	const struct cfq_service_tree *trees = member->group->members;
	unsigned int weight = member->entity.weight;
	unsigned int total = member->entity.st || member->waiting ? 0 : weight;
	enum cfq_class class;

	for (class = 0; class <= member->class; class++)
		total += trees[class].total_weight;
	return max(total, weight);
}

/* Share of the device for the tasks of @cfqd among what is busy. */
static u32 cfq_group_share(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;
	u32 share = CFQ_SHARE_ALL;

	for (member = cfqd->leaf; member->group; member = member_above(member))
		share = cfq_share_of(share, member->entity.weight,
				     member_rivals_weight(member));
	return share;
}

/* Descriptors that the tasks of @cfqd have, or will have in a moment. */
static unsigned int cfqd_held(const struct cfq_data *cfqd)
{
	return cfqd->nr_queued + cfqd->nr_in_driver + cfqd->nr_admitted;
}

/*
 * Is there anything to do in @cfqd or below?  Or, if @waiting, something that
 * only needs descriptors?
 */
static bool cfqd_has_members(const struct cfq_data *cfqd, bool waiting)
{
	const struct cfq_service_tree *st = cfqd->members;
	enum cfq_class class;

	for (class = 0; class < CFQ_NR_CLASSES; class++)
		if (waiting ? st[class].nr_waiting : st[class].nr)
			return true;
	return false;
}

static void member_set_waiting(struct cfq_member *member, bool waiting)
{
	struct cfq_service_tree *st = member_tree(member);

	if (member->waiting == waiting)
		return;
	member->waiting = waiting;
	if (member_in_line(member))
		member->group->nr_waiting_in_line += waiting ? 1 : -1;
	if (waiting) {
		rb_add_cached(&member->entity.rb_node, &st->waiting,
			      cfq_entity_less);
		st->nr_waiting++;
		st->total_weight += member->entity.weight;
	} else {
		rb_erase_cached(&member->entity.rb_node, &st->waiting);
		st->nr_waiting--;
		st->total_weight -= member->entity.weight;
	}
}

/*
 * Charge and turns.
 */

/*
 * Outside of turns: the lead that one @part-th of a slice makes, at the mean
 * weight of those on @st and of one more of weight @weight if that is not 0.  A
 * slice is as a task's here, a quarter of group_slice.
 */
static u64 cfq_mixed_lead(const struct cfq_driver_data *dd,
			  const struct cfq_service_tree *st,
			  unsigned int weight, unsigned int part)
{
	return cfq_st_mean_vdisktime(st, weight,
				     div_u64(dd->tun.group_slice_ns, 4 * part));
}

/**
 * cfq_group_count - add to the statistics of a group and those above it
 * @cfqd: the group on the device
 * @stat: which of them
 * @n: how much
 */
void cfq_group_count(struct cfq_data *cfqd, enum cfq_stat stat, u64 n)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (!n)
		return;
	for (; cfqd; cfqd = cfqd->self.group)
		cfqd->stats[stat] += n;
}

/**
 * cfq_group_sent - a request of a group's tasks is sent to the device
 * @cfqd: the group on the device
 * @sectors: its size
 * @wait_ns: since it was made
 * @cost_ns: device time that it is expected to take, charged in advance
 * @now_ns: time
 */
void cfq_group_sent(struct cfq_data *cfqd, u64 sectors, u64 wait_ns,
		    u64 cost_ns, u64 now_ns)
{
	struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		cfq_entity_charge(&member->entity, cost_ns);
		member->entity.sent_ns = now_ns;
		if (unlikely(cfq_classes_differ(member->group->members)))
			member_tree(member)->due_ns = now_ns +
				cfq_class_wait_ns(&cfqd->cfqmd->dd, cost_ns);
	}
	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->stats[CFQ_STAT_REQUESTS]++;
		cfqd->stats[CFQ_STAT_SECTORS] += sectors;
		cfqd->stats[CFQ_STAT_WAIT] += wait_ns;
	}
}

/**
 * cfq_group_charge - a group is charged device time
 * @cfqd: the group on the device, for what its tasks did
 * @ns: to be charged; negative to take back what was charged in advance
 * @spent_ns: device time that is now known to have been spent
 */
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns)
{
	struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member))
		cfq_entity_charge(&member->entity, ns);
	cfqd->slice_used_ns += spent_ns;
	cfq_group_count(cfqd, CFQ_STAT_TIME, spent_ns);
}

/*
 * @member has something to do.  If it goes before the active group where it
 * competes, it need not wait for the end of a slice that began without it.
 */
static void cfq_member_preempt(struct cfq_member *member, bool was_away)
{
	struct cfq_data *active = member->group->cfqmd->active_cfqd;
	struct cfq_member *rival;
	bool goes_first;

	if (!active)
		return;
	for (rival = active->leaf; rival->group; rival = member_above(rival)) {
		if (rival->group != member->group)
			continue;
		if (member->class != rival->class)
			goes_first = member->class < rival->class;
		else
			goes_first = was_away &&
				     cfq_entity_lead(&rival->entity,
						     &member->entity) > 0;
		if (goes_first && !active->slice_cut) {
			active->slice_cut = true;
			cfq_group_message(active, "preempted by group=%llu",
					  cfq_group_id(member_cfqd(member)));
		}
		return;
	}
}

/*
 * By how much a newcomer may be behind the minimum of its tree, to go before
 * its equals.  The first on it may itself be behind, as it was given back some of
 * what it had been charged in advance; and where groups take turns, more may
 * be given back, for all that is in the disk, while the newcomer waits to be
 * chosen.
 */
static u64 cfq_newcomer_credit(const struct cfq_member *member)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;
	struct cfq_service_tree *st = member_tree(member);
	const struct cfq_entity *first = cfq_st_first(st);
	s64 behind = first ? st->min_vdisktime - first->vdisktime : 0;

	return max(behind, 0LL) + (dd->one_head ?
		cfq_st_mean_vdisktime(st, member->entity.weight,
				      dd->tun.group_slice_ns / 16) : 1);
}

/*
 * The same for one that was not away: hardly more than if it had stayed.  But
 * who had to wait for a descriptor keeps what it has not had.
 */
static u64 cfq_return_credit(const struct cfq_member *member, bool waited)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;

	if (dd->one_head || waited)
		return 2 * dd->tun.group_slice_ns;
	return 2 * cfq_mixed_lead(dd, member_tree(member),
				  member->entity.weight, CFQ_MIXED_DEBT_PART);
}

/* As cfq_member.idle_since_ns of one that waits. */
#define CFQ_NOT_IDLE	((u64)S64_MAX)

static bool cfq_member_was_away(const struct cfq_member *member, u64 now_ns)
{
	const struct cfq_tunables *tun = &member->group->cfqmd->dd.tun;

	return member->idle_since_ns + tun->group_idle_ns <= now_ns;
}

/**
 * cfq_group_became_busy - the tasks of a group have a request queued
 * @cfqd: the group on the device; may have been busy before
 * @urgent: which needs no turn
 * @now_ns: time
 */
void cfq_group_became_busy(struct cfq_data *cfqd, bool urgent, u64 now_ns)
{
	struct cfq_member *member, *top = NULL;
	const bool waited = cfqd->leaf->waiting;
	struct cfq_service_tree *st;
	bool was_away = false, waits;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		if (member->entity.st)
			break;
		/*
		 * Between one request and the next it has not been away, and
		 * keeps its place.
		 */
		was_away = cfq_member_was_away(member, now_ns);
		waits = member->waiting;
		member_set_waiting(member, false);
		st = member_tree(member);
		cfq_st_add(st, &member->entity,
			   was_away ? cfq_newcomer_credit(member) :
				      cfq_return_credit(member, waits));
		top = member;
	}
	if (!top)
		return;
	if (!waited)
		cfqd->cfqmd->nr_busy_groups++;
	if (!urgent)
		cfq_member_preempt(top, was_away);
}

/**
 * cfq_group_in_debt - has a group had too much for a request to be urgent?
 * @cfqd: the group on the device
 * @now_ns: time
 *
 * By its turn alone it is ahead by a group_slice at the mean weight.
 *
 * Return: true if the group or one above it is in debt.
 */
bool cfq_group_in_debt(const struct cfq_data *cfqd, u64 now_ns)
{
	const u64 lead_ns = 2 * cfqd->cfqmd->dd.tun.group_slice_ns;
	const struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member))
		if (cfq_entity_in_debt(&member->entity, member->group->members,
				       member->class,
				       cfq_st_mean_vdisktime(member_tree(member),
							     0, lead_ns),
				       now_ns))
			return true;
	return false;
}

/**
 * cfq_group_borrow - an urgent request of a group goes before all others
 * @cfqd: the group on the device
 * @cost_ns: device time that it is expected to take
 * @now_ns: time
 *
 * Return: when at least half of what may be borrowed is there again.
 */
u64 cfq_group_borrow(struct cfq_data *cfqd, u64 cost_ns, u64 now_ns)
{
	const struct cfq_member *member;
	u64 until_ns = 0;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member))
		until_ns = max(until_ns,
			       cfq_class_borrow(member->group->members,
						member->class, cost_ns,
						now_ns));
	return until_ns;
}

static void cfq_group_end_slice(struct cfq_data *cfqd, enum cfq_end end)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	if (cfqmd->active_cfqd != cfqd)
		return;
	cfqmd->active_cfqd = NULL;
	cfq_tell_turn_over(cfqd, cfqd->slice_used_ns, end);
}

/**
 * cfq_group_went_idle - nothing of a group's tasks is queued, sent or awaited
 * @cfqd: the group on the device; its tasks may wait for descriptors
 * @now_ns: time
 */
void cfq_group_went_idle(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	bool waiting = cfq_data_wants(cfqd);
	struct cfq_member *member;

	lockdep_assert_held(&cfqmd->lock);

	if (!waiting) {
		cfq_group_end_slice(cfqd, CFQ_END_EMPTY);
		if (cfqd->leaf->entity.st || cfqd->leaf->waiting)
			cfqmd->nr_busy_groups--;
	}
	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		if (member->entity.st) {
			cfq_st_del(&member->entity);
		} else if (member->waiting == waiting) {
			break;
		}
		member_set_waiting(member, waiting);
		member->idle_since_ns = waiting ? CFQ_NOT_IDLE : now_ns;
		if (cfqd_has_members(member->group, false))
			break;
		waiting = cfqd_has_members(member->group, true);
	}
}

/**
 * cfq_group_waits - a task of a group waits for a descriptor
 * @cfqd: the group on the device
 * @now_ns: time
 *
 * Its weight counts from now on.  If it was away, it is a newcomer when it has
 * its request.
 */
void cfq_group_waits(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_member *member = cfqd->leaf;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (!member->entity.st && !member->waiting)
		cfqd->cfqmd->nr_busy_groups++;
	for (; member->group; member = member_above(member)) {
		if (member->entity.st || member->waiting)
			return;
		if (!cfq_member_was_away(member, now_ns))
			member->idle_since_ns = CFQ_NOT_IDLE;
		member_set_waiting(member, true);
	}
}

/**
 * cfq_group_became_ready - a group's tasks have the first request queued
 * @cfqd: the group on the device
 */
void cfq_group_became_ready(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	while (cfqd && !cfqd->nr_ready++)
		cfqd = cfqd->self.group;
}

/**
 * cfq_group_ran_dry - the last queued request of a group's tasks is gone
 * @cfqd: the group on the device
 */
void cfq_group_ran_dry(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	while (cfqd && !--cfqd->nr_ready)
		cfqd = cfqd->self.group;
}

/*
 * Is a request of @cfqd about to be queued, as it has been given a descriptor?
 * The task may not be let to run for long, so the wait has an end.
 */
static bool cfq_group_expects_request(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;

	return cfqd->nr_admitted && !cfq_must_empty(dd) &&
	       cfqd->admitted_ns + dd->tun.group_idle_ns > now_ns;
}

/* Is there anything to do for @cfqd, now or as soon as its task goes on? */
static bool cfq_group_needs_device(struct cfq_data *cfqd, u64 now_ns)
{
	return cfqd->nr_queued ||
	       (cfqd->nr_in_driver && !member_stuck(cfqd->leaf, now_ns)) ||
	       cfq_data_holds(cfqd, now_ns) ||
	       cfq_group_expects_request(cfqd, now_ns);
}

static void cfq_group_start_slice(struct cfq_data *cfqd)
{
	cfqd->cfqmd->active_cfqd = cfqd;
	cfqd->slice_used_ns = 0;
	cfqd->slice_cut = false;
	cfq_group_count(cfqd, CFQ_STAT_SLICES, 1);
	cfq_tell_turn(cfqd, &cfqd_set_member(cfqd)->entity);
}

static u64 cfqd_slice_ns(const struct cfq_data *cfqd)
{
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	return cfq_group_slice_ns(cfqmd->dd.tun.group_slice_ns,
				  cfqmd->nr_busy_groups, cfq_group_share(cfqd));
}

static bool cfq_group_slice_over(const struct cfq_data *cfqd)
{
	return cfqd->slice_cut || cfqd->slice_used_ns >= cfqd_slice_ns(cfqd);
}

/* Who has so few requests has a task or two that wait for each of them. */
#define CFQ_FEW_REQUESTS	4U
/*
 * With more than these a disk has enough to put in order.  It is a bound only: with
 * 64 groups of 25 readers do the same (bench/bench --only reads).
 */
#define CFQ_RIDE_REQUESTS	16U

/*
 * Is the next in turn after @cfqd somebody with few requests?  Their next one
 * would wait in the disk for all that @cfqd has left there.
 */
static bool cfq_few_wait_behind(const struct cfq_data *cfqd)
{
	const struct cfq_member *member;

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		struct cfq_entity *rival = cfq_st_first(member_tree(member));
		struct cfq_data *other;

		if (rival == &member->entity)
			rival = cfq_st_next(rival);
		if (!rival)
			continue;
		other = member_cfqd(entity_to_member(rival));
		/* Of its own tasks, with none below that has requests. */
		return other->nr_queued && other->nr_ready == 1 &&
		       !cfq_data_in_line(other) &&
		       cfqd_held(other) <= CFQ_FEW_REQUESTS;
	}
	return false;
}

/*
 * Has @cfqd sent as much as its slice has time for?  What is still in the disk
 * at the end of the slice does not matter to a crowd, as the disk has all the
 * more to choose from, but to those who wait for one request at a time.
 */
static bool cfq_group_tapers_off(struct cfq_data *cfqd, u64 now_ns)
{
	return cfqd->nr_in_driver &&
	       !cfq_entity_stuck(&cfqd->cfqmd->dd, &cfqd->leaf->entity, now_ns) &&
	       cfq_few_wait_behind(cfqd) &&
	       cfqd->slice_used_ns + cfqd->nr_in_driver *
	       cfqd->cfqmd->dd.mean_cost_ns >= cfqd_slice_ns(cfqd);
}

/**
 * cfq_group_has_turn - may this group wait for a task's next request?
 * @cfqd: the group on the device
 *
 * Return: false if it would wait in the time of another group.
 */
bool cfq_group_has_turn(const struct cfq_data *cfqd)
{
	return cfqd->cfqmd->active_cfqd == cfqd;
}

/*
 * On a device without a head, has @member had so much more than the one most
 * behind on its tree that it may send no more than keeps the device busy?  On a
 * disk, has it had too much to ride in the turn of another?
 */
static bool cfq_member_too_far_ahead(const struct cfq_member *member,
				     u64 now_ns)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;
	struct cfq_service_tree *st = member_tree(member);
	const struct cfq_entity *first;

	if (dd->one_head ? !member->group->cfqmd->active_cfqd :
	    dd->nr_in_driver < cfq_useful_depth(dd->par.parallel))
		return false;
	first = cfq_first_awaited(member, st, now_ns);
	return first && cfq_entity_lead(&member->entity, first) >
	       (s64)cfq_mixed_lead(dd, st, 0, dd->one_head ? CFQ_RIDE_LEAD_PART :
							     CFQ_MIXED_LEAD_PART);
}

/* Does a better class want the device, where @member competes? */
static bool cfq_member_class_waits(const struct cfq_member *member, u64 now_ns)
{
	struct cfq_service_tree *st = member->group->members;

	for (; st < member_tree(member); st++)
		if (cfq_first_awaited(member, st, now_ns))
			return true;
	return false;
}

/* Must @member wait for a better class? */
static bool cfq_member_outclassed(const struct cfq_member *member, u64 now_ns)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;

	if (!cfq_member_class_waits(member, now_ns))
		return false;
	return dd->one_head || member->class == CFQ_CLASS_IDLE ||
	       dd->nr_in_driver >= cfq_spare_depth(dd->par.parallel);
}

static bool cfq_member_must_wait(const struct cfq_member *member, u64 now_ns)
{
	const struct cfq_driver_data *dd = &member->group->cfqmd->dd;

	/* As both would say: less than is to spare is less than is useful. */
	if (!dd->one_head && member->class != CFQ_CLASS_IDLE &&
	    dd->nr_in_driver < cfq_spare_depth(dd->par.parallel))
		return false;
	return cfq_member_outclassed(member, now_ns) ||
	       cfq_member_too_far_ahead(member, now_ns);
}

/**
 * cfq_group_must_wait - must this group, or one above it, wait for others?
 * @cfqd: the group on the device, with requests queued
 * @now_ns: time
 *
 * Return: true if none of its requests may be sent now.
 */
bool cfq_group_must_wait(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member))
		if (cfq_member_must_wait(member, now_ns))
			return true;
	return false;
}

/* Does every choice on the way down lead to the tasks of @cfqd? */
static bool cfq_group_is_first(struct cfq_data *cfqd)
{
	struct cfq_member *member;

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		enum cfq_class class;

		for (class = 0; class < member->class; class++)
			if (member->group->members[class].nr)
				return false;
		if (cfq_st_first(member_tree(member)) != &member->entity)
			return false;
	}
	return true;
}

static bool cfq_entity_in_line(struct cfq_entity *entity)
{
	return member_in_line(entity_to_member(entity));
}

/*
 * The member of @group that is to be served although there are better classes,
 * as its own has waited for too long.
 */
static struct cfq_member *cfq_overdue_member(struct cfq_data *group, u64 now_ns)
{
	struct cfq_entity *entity;

	entity = cfq_overdue_entity(group->members, false, now_ns,
				    cfq_entity_ready);
	return entity ? entity_to_member(entity) : NULL;
}

/*
 * The next member of @group, after @member if given, that has a request queued or,
 * if @due, in the disk, unless it has to wait for others.
 */
static __always_inline struct cfq_member *
cfq_next_member(struct cfq_data *group, struct cfq_member *member, u64 now_ns,
		bool due)
{
	enum cfq_class class = member ? member->class : 0;
	const struct cfq_driver_data *dd = &group->cfqmd->dd;
	struct cfq_entity *entity;

	/* Where there are turns, it has none for that. */
	if (!member && !dd->one_head) {
		struct cfq_member *overdue = cfq_overdue_member(group, now_ns);

		if (overdue)
			return overdue;
	}

	entity = member ? cfq_st_next(&member->entity) : NULL;
	for (; class < CFQ_NR_CLASSES; class++) {
		if (!member)
			entity = cfq_st_first_awaited(dd,
						      &group->members[class],
						      now_ns, cfq_entity_ready);
		for (; entity; entity = cfq_st_next(entity)) {
			member = entity_to_member(entity);
			if (!member_ready(member) &&
			    !(due && member_in_driver(member) &&
			      !member_stuck(member, now_ns)))
				continue;
			if (cfq_member_must_wait(member, now_ns))
				return NULL;
			return member;
		}
		member = NULL;
	}
	return NULL;
}

/*
 * The first entity on a tree, or among those that wait, which is to be served
 * after @entity, or with it if @same.
 */
static struct cfq_entity *cfq_first_after(const struct rb_root_cached *root,
					  const struct cfq_entity *entity,
					  bool same)
{
	struct rb_node *node = root->rb_root.rb_node;
	struct cfq_entity *first = NULL;

	while (node) {
		struct cfq_entity *other = rb_entry(node, struct cfq_entity,
						    rb_node);
		s64 lead = cfq_entity_lead(other, entity);

		if (lead > 0 || (same && !lead)) {
			first = other;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return first;
}

/*
 * The next after @member, which may be NULL, of all who compete for @st: whether
 * they are on the tree, unless @only_waiting, or wait as they have not even a
 * descriptor.
 */
static struct cfq_member *cfq_st_next_rival(struct cfq_service_tree *st,
					    struct cfq_member *member,
					    bool only_waiting)
{
	struct cfq_entity *busy = NULL, *waiting;

	if (!member) {
		waiting = cfq_first_of(&st->waiting);
		if (!only_waiting)
			busy = cfq_st_first(st);
	} else if (member->waiting) {
		waiting = cfq_st_next(&member->entity);
		if (!only_waiting)
			busy = cfq_first_after(&st->rb, &member->entity, false);
	} else {
		waiting = cfq_first_after(&st->waiting, &member->entity, true);
		busy = cfq_st_next(&member->entity);
	}
	if (!busy || (waiting && cfq_entity_lead(waiting, busy) < 0))
		busy = waiting;
	return busy ? entity_to_member(busy) : NULL;
}

/*
 * The next member of @group with tasks that wait, after @member if given.  Those
 * with requests, which may be many, are left out if none has a line.
 */
static struct cfq_member *cfq_next_in_line(struct cfq_data *group,
					   struct cfq_member *member,
					   u64 now_ns)
{
	enum cfq_class class = member ? member->class : 0;
	const bool only_waiting = (!member || member->waiting) &&
		group->nr_in_line == group->nr_waiting_in_line;

	for (; class < CFQ_NR_CLASSES; class++)
		while ((member = cfq_st_next_rival(&group->members[class],
						   member, only_waiting)))
			if (member_in_line(member))
				return member;
	return NULL;
}

/*
 * The next group of whose tasks @next finds something, in the order in which
 * they are to be served, after @member of @group if given.
 */
static __always_inline struct cfq_data *
cfq_next_leaf(struct cfq_data *group, struct cfq_member *member, u64 now_ns,
	      struct cfq_member *(*next)(struct cfq_data *group,
					 struct cfq_member *member, u64 now_ns))
{
	while (group) {
		member = next(group, member, now_ns);
		if (member && member_is_leaf(member))
			return member_cfqd(member);
		if (member) {
			group = member_cfqd(member);
			member = NULL;
		} else {
			/* Nobody here: what comes after @group? */
			member = &group->self;
			group = member->group;
		}
	}
	return NULL;
}

static struct cfq_member *cfq_next_ready(struct cfq_data *group,
					 struct cfq_member *member, u64 now_ns)
{
	return cfq_next_member(group, member, now_ns, false);
}

static struct cfq_member *cfq_next_due(struct cfq_data *group,
				       struct cfq_member *member, u64 now_ns)
{
	return cfq_next_member(group, member, now_ns, true);
}

/* The next group with a request queued. */
static struct cfq_data *cfq_next_group(struct cfq_data *group,
				       struct cfq_member *member, u64 now_ns)
{
	return cfq_next_leaf(group, member, now_ns, cfq_next_ready);
}

/* The next group with tasks that wait for a descriptor. */
static struct cfq_data *cfq_next_waiting_group(struct cfq_data *group,
					       struct cfq_member *member)
{
	return cfq_next_leaf(group, member, 0, cfq_next_in_line);
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
		if (!cfq_class_overdue(group->members, class, true, now_ns))
			continue;
		member = NULL;
		while ((member = cfq_st_next_rival(&group->members[class],
						   member, false)))
			if (member_in_line(member) && !member_ready(member))
				return member_is_leaf(member) ?
					member_cfqd(member) :
					cfq_next_waiting_group(member_cfqd(member),
							       NULL);
	}
	return NULL;
}

/*
 * All requests of @cfqd, whose turn it is, are in the disk, and they are few.  Who
 * sends some along?  They have to be about as many, so that neither has to wait
 * for long because of the other.  An empty disk has nothing to put in order:
 * there the next request of @cfqd is waited for.
 */
static struct cfq_data *cfq_group_rider(struct cfq_data *cfqd, u64 now_ns)
{
	unsigned int held = cfqd_held(cfqd), others;
	struct cfq_data *rider;

	if (cfqd->nr_queued || !cfqd->cfqmd->dd.nr_in_driver ||
	    held > CFQ_RIDE_REQUESTS || cfq_data_in_line(cfqd) ||
	    !cfq_data_shares_head(cfqd))
		return NULL;
	rider = cfq_next_group(&cfqd->cfqmd->root, NULL, now_ns);
	if (!rider || cfq_data_in_line(rider))
		return NULL;
	others = cfqd_held(rider);
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

	if (!cfq_group_must_wait(cfqd, now_ns) || cfq_group_is_first(cfqd))
		return false;
	due = cfq_next_leaf(&cfqd->cfqmd->root, NULL, now_ns, cfq_next_due);
	return due && !due->nr_queued && !cfq_data_in_line(due) &&
	       cfqd_held(due) <= CFQ_RIDE_REQUESTS;
}

/**
 * cfq_group_overdue - a group that has waited for a better class for too long
 * @cfqmd: the device
 * @now_ns: time
 *
 * Where groups take turns: it is looked for among the rivals of the group whose
 * turn it is, and of those above.  Elsewhere all groups are asked in order.
 *
 * Return: the group, of which one request is to be served now, or NULL.
 */
struct cfq_data *cfq_group_overdue(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *active = cfqmd->active_cfqd;
	struct cfq_member *member, *overdue;

	lockdep_assert_held(&cfqmd->lock);

	if (!active)
		return NULL;
	if (!cfq_data_shares_head(active))
		now_ns -= CFQ_STREAM_WAIT_NS;
	for (member = active->leaf; member->group; member = member_above(member)) {
		overdue = cfq_overdue_member(member->group, now_ns);
		if (!overdue)
			continue;
		if (member_is_leaf(overdue))
			return member_cfqd(overdue);
		return cfq_next_group(member_cfqd(overdue), NULL, now_ns);
	}
	return NULL;
}

/**
 * cfq_groups_end_turn - no group has the device for itself any more
 * @cfqmd: the device
 * @now_ns: time
 * @end: why
 */
void cfq_groups_end_turn(struct cfq_meta_data *cfqmd, u64 now_ns,
			 enum cfq_end end)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqd)
		return;
	cfqmd->active_cfqd = NULL;
	cfq_data_deactivate(cfqd, now_ns);
	cfq_tell_turn_over(cfqd, cfqd->slice_used_ns, end);
}

/**
 * cfq_group_select - which group's tasks are to be served next?
 * @cfqmd: the device
 * @now_ns: time
 *
 * Return: the group, or NULL if none may be served now.  The group may turn
 * out to have nothing that can be sent yet.
 */
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd, *rider;
	enum cfq_end end = CFQ_END_EMPTY;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqmd->dd.one_head)
		return cfq_next_group(&cfqmd->root, NULL, now_ns);

	if (cfqd && cfq_group_needs_device(cfqd, now_ns)) {
		if (cfq_group_slice_over(cfqd)) {
			end = cfqd->slice_cut ? CFQ_END_PREEMPTED :
						CFQ_END_USED;
		} else if (cfq_group_starves_rider(cfqd, now_ns)) {
			end = CFQ_END_PREEMPTED;
		} else {
			rider = cfq_group_rider(cfqd, now_ns);
			if (rider)
				return rider;
			return cfq_group_tapers_off(cfqd, now_ns) ?
				NULL : cfqd;
		}
		if (cfq_group_is_first(cfqd)) {
			/* It would be chosen again. */
			cfq_group_end_slice(cfqd, end);
			cfq_group_start_slice(cfqd);
			return cfq_group_rider(cfqd, now_ns) ?: cfqd;
		}
	}
	cfq_groups_end_turn(cfqmd, now_ns, end);

	/* Who rides is in the disk when its turn comes, with all that it has. */
	cfqd = cfq_next_leaf(&cfqmd->root, NULL, now_ns, cfq_next_due);
	if (!cfqd)
		return NULL;
	cfq_group_start_slice(cfqd);
	return cfq_group_rider(cfqd, now_ns) ?: cfqd;
}

/**
 * cfq_group_select_next - the selected group had nothing that may be sent
 * @cfqd: that group
 * @now_ns: time
 *
 * Return: the group to try next, NULL if none may be served now.
 */
struct cfq_data *cfq_group_select_next(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_data *active = cfqd->cfqmd->active_cfqd;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	/* It was to ride: the group whose turn it is may have to be waited for. */
	if (cfqd->cfqmd->dd.one_head)
		return cfqd != active ? active : NULL;
	if (!cfqd->leaf->entity.st)
		return NULL;
	return cfq_next_group(cfqd->leaf->group, cfqd->leaf, now_ns);
}

/**
 * cfq_group_passes_others - a request of the selected group is about to be sent
 * @cfqd: the group on the device
 * @now_ns: time
 *
 * There may be some who are further behind.  Who is stuck is away.  Others have
 * nothing to send, where groups are mixed; what they leave is not owed to them,
 * unless it is only for want of descriptors.
 */
void cfq_group_passes_others(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;
	struct cfq_member *member;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (member = cfqd->leaf; member->group; member = member_above(member)) {
		struct cfq_service_tree *st = member_tree(member);
		struct cfq_entity *first;

		if (cfq_st_first(st) == &member->entity)
			continue;
		first = cfq_first_awaited(member, st, now_ns);
		if (first)
			cfq_st_leave_behind(first);
		if (!dd->one_head)
			cfq_st_forget_behind(&member->entity,
					     cfq_mixed_lead(dd, st, 0,
							    CFQ_MIXED_DEBT_PART),
					     cfq_entity_in_line);
	}
}

/*
 * Limits.
 */

/* A task that waits for a place in @cfqd, of which it owns a reference. */
struct cfq_waiter {
	struct list_head	node;	/* on the waiters of a group that is full */
	struct cfq_data		*cfqd;
	struct completion	got_place;
};

/**
 * cfq_groups_limited - may there be groups whose requests are limited?
 *
 * Context: any.
 * Return: false if a place need not be asked for.
 */
bool cfq_groups_limited(void)
{
	return READ_ONCE(cfq_limit_was_set);
}

/**
 * cfq_group_hold - a group has one more request, whatever its limit
 * @cfqd: the group on the device
 */
void cfq_group_hold(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (; cfqd; cfqd = cfqd->self.group)
		cfqd->nr_held++;
}

static bool cfqd_full(const struct cfq_data *cfqd)
{
	return cfqd->nr_held >= cfqd->max_held;
}

/* The group, @cfqd or above, that has no room for a request of @cfqd. */
static struct cfq_data *cfqd_obstacle(struct cfq_data *cfqd)
{
	while (cfqd && !cfqd_full(cfqd))
		cfqd = cfqd->self.group;
	return cfqd;
}

/*
 * There may be room in @cfqd: give it to those who wait for it, in the order
 * in which they came.  Who finds another of the groups above full waits there.
 */
static void cfqd_admit(struct cfq_data *cfqd)
{
	struct cfq_waiter *waiter, *next;

	list_for_each_entry_safe(waiter, next, &cfqd->waiters, node) {
		struct cfq_data *obstacle = cfqd_obstacle(waiter->cfqd);

		if (obstacle == cfqd)
			break;
		if (obstacle) {
			list_move_tail(&waiter->node, &obstacle->waiters);
			continue;
		}
		list_del(&waiter->node);
		cfq_group_hold(waiter->cfqd);
		/* Then it is gone. */
		complete(&waiter->got_place);
	}
}

/**
 * cfq_group_release - a group has one request less
 * @cfqd: the group on the device
 */
void cfq_group_release(struct cfq_data *cfqd)
{
	struct cfq_data *above;
	bool waited_for = false;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	for (above = cfqd; above; above = above->self.group) {
		above->nr_held--;
		waited_for |= !list_empty(&above->waiters);
	}
	if (!waited_for)
		return;
	for (above = cfqd; above; above = above->self.group)
		cfqd_admit(above);
}

/*
 * The grid.
 */

static struct cfq_device_settings *
cfqc_device_settings(const struct cfq_cgroup *cfqc, dev_t dev)
{
	struct cfq_device_settings *settings;

	list_for_each_entry(settings, &cfqc->devices, node)
		if (settings->dev == dev)
			return settings;
	return NULL;
}

/*
 * Virtual times of different trees cannot be compared: each class has its own, so
 * that what is owed there is still owed when the member comes back.
 */
static void member_set_class(struct cfq_member *member, enum cfq_class class)
{
	struct cfq_service_tree *st = &member->group->members[class];
	struct cfq_data *active = member->group->cfqmd->active_cfqd;
	const bool waiting = member->waiting;
	bool busy = member->entity.st;

	if (member->class == class)
		return;
	if (busy)
		cfq_st_del(&member->entity);
	member_set_waiting(member, false);
	member->left_vdisktime[member->class] = member->entity.vdisktime;
	member->class = class;
	member->entity.vdisktime = member->left_vdisktime[class];
	if ((s64)(member->entity.vdisktime - st->min_vdisktime) < 0)
		member->entity.vdisktime = st->min_vdisktime;
	member_set_waiting(member, waiting);
	if (busy)
		cfq_st_add(st, &member->entity, 0);
	/* Whose turn it is may have changed. */
	if (active)
		active->slice_cut = true;
}

static void member_set_weight(struct cfq_member *member, unsigned int weight)
{
	const bool waiting = member->waiting;

	member_set_waiting(member, false);
	cfq_entity_reweigh(member_tree(member), &member->entity, weight);
	member_set_waiting(member, waiting);
}

/* Settings of @cfqc take effect on one device. */
static void cfqd_apply_settings(struct cfq_data *cfqd,
				const struct cfq_cgroup *cfqc)
{
	const struct cfq_device_settings *settings;
	struct cfq_member *member = cfqd_set_member(cfqd);
	unsigned int max_held = cfqc->max_held;
	unsigned int weight = cfqc->weight;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	settings = cfqc_device_settings(cfqc, cfq_group_dev(cfqd));
	if (settings && settings->weight)
		weight = settings->weight;
	if (settings && settings->max_held)
		max_held = settings->max_held;
	if (member != &cfqd->tasks)
		member_set_weight(&cfqd->tasks, cfqc->leaf_weight);
	member_set_class(member, cfqc->class);
	member_set_weight(member, weight);

	if (cfqd->max_held != max_held) {
		WRITE_ONCE(cfqd->max_held, max_held);
		cfqd_admit(cfqd);
	}
}

/*
 * @cfqd will have a child group, beside which its tasks compete: what they did
 * as the group itself until now, they do as its member from now on.
 */
static void cfqd_separate_tasks(struct cfq_data *cfqd)
{
	const struct cfq_member *self = cfqd->leaf;
	struct cfq_member *tasks = &cfqd->tasks;

	if (self == tasks)
		return;
	cfqd->leaf = tasks;
	tasks->idle_since_ns = self->idle_since_ns;
	tasks->entity.sent_ns = self->entity.sent_ns;
	member_set_waiting(tasks, self->waiting);
	if (self->entity.st)
		cfq_st_add(member_tree(tasks), &tasks->entity, 0);
}

/*
 * Takes the grid's reference on a new cfqd, and one on @parent, which is NULL
 * for the root group.
 */
static void cfq_grid_link(struct cfq_meta_data *cfqmd, struct cfq_data *cfqd,
			  struct cfq_data *parent, struct cfq_cgroup *cfqc)
{
	enum cfq_class class;

	lockdep_assert_held(&cfqmd->lock);
	lockdep_assert_held(&cfq_grid_lock);

	for (class = 0; class < CFQ_NR_CLASSES; class++)
		cfq_st_init(&cfqd->members[class]);
	cfqd->tasks.group = cfqd;
	cfqd->tasks.class = CFQ_CLASS_BE;
	cfqd->tasks.entity.weight = CFQ_WEIGHT_DEFAULT;
	cfqd->self.group = parent;
	cfqd->self.class = CFQ_CLASS_BE;
	cfqd->self.entity.weight = CFQ_WEIGHT_DEFAULT;
	INIT_LIST_HEAD(&cfqd->waiters);
	cfqd->leaf = parent ? &cfqd->self : &cfqd->tasks;
	if (parent) {
		parent->ref++;
		cfqd_separate_tasks(parent);
	}
	cfqd_apply_settings(cfqd, cfqc);
	cfqd->cfqc = cfqc;
	cfqd->cgroup_id = cgroup_id(cfq_cgroup_css(cfqc)->cgroup);
	list_add_tail(&cfqd->column_node, &cfqmd->column);
	list_add_tail_rcu(&cfqd->row_node, &cfqc->row);
	cfq_group_message(cfqd, "created parent=%llu weight=%u",
			  parent ? cfq_group_id(parent) : 0,
			  cfqd_set_member(cfqd)->entity.weight);
}

/* Ends the grid's reference.  No request will be added to @cfqd any more. */
static void cfq_grid_unlink(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfq_grid_mutex);
	lockdep_assert_held(&cfqd->cfqmd->lock);

	/* Nobody walks the row now: that needs the mutex. */
	spin_lock(&cfq_grid_lock);
	list_del(&cfqd->row_node);
	spin_unlock(&cfq_grid_lock);
	cfq_group_message(cfqd, "removed queued=%u inflight=%u",
			  cfqd->nr_queued, cfqd->nr_in_driver);
	WRITE_ONCE(cfqd->cfqc, NULL);
	cfq_data_exit(cfqd);
	cfq_group_put(cfqd);
}

/**
 * cfq_group_put - let go of a group on a device
 * @cfqd: the group; the last reference frees it
 */
void cfq_group_put(struct cfq_data *cfqd)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	while (cfqd && !--cfqd->ref) {
		struct cfq_data *parent = cfqd->self.group;

		list_del(&cfqd->column_node);
		if (WARN_ON_ONCE(cfqd->leaf->entity.st || cfqd->leaf->waiting))
			cfq_group_went_idle(cfqd, 0);
		cfq_group_end_slice(cfqd, CFQ_END_LEFT);
		if (cfqmd->sync_writer == cfqd)
			cfqmd->sync_writer = NULL;
		if (parent)
			kfree_rcu(cfqd, rcu);
		cfqd = parent;
	}
}

/*
 * Descriptors.
 */

/*
 * Where groups take turns, a group whose turn it is not needs a few requests to
 * begin with and no more: one of so many that are its part.
 */
#define CFQ_PARKED_PART		4

/**
 * cfq_group_has_room - may a group's tasks have one more descriptor?
 * @cfqd: the group on the device
 * @class: of the task
 *
 * Below its part, and be it less than one, if there is any; above it, if it is
 * the group's turn or there are no turns, what is lent.
 *
 * Return: true if there is one for this task.
 */
bool cfq_group_has_room(struct cfq_data *cfqd, enum cfq_class class)
{
	const struct cfq_meta_data *cfqmd = cfqd->cfqmd;
	const struct cfq_member *leaf = cfqd->leaf;
	const unsigned int total = cfq_descriptors_for(cfqmd, class);
	const unsigned int all_held = cfq_nr_held(cfqmd);
	const bool parked = cfqmd->active_cfqd && cfqmd->active_cfqd != cfqd;
	unsigned int held = cfqd_held(cfqd);
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
	/* Where there are no turns, the last one is for who has none. */
	if (!cfqmd->dd.one_head && all_held + 1 >= total &&
	    cfqmd->nr_busy_groups > 1)
		return false;
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

/* The tasks of @cfqd have a line now (@n is 1), or no longer (-1). */
static void cfqd_count_line(struct cfq_data *cfqd, int n)
{
	if (cfqd->leaf == &cfqd->tasks && cfqd->tasks.waiting)
		cfqd->nr_waiting_in_line += n;
	for (; cfqd; cfqd = cfqd->self.group) {
		cfqd->nr_in_line += n;
		if (cfqd->nr_in_line != max(n, 0))
			return;
		if (cfqd->self.waiting)
			cfqd->self.group->nr_waiting_in_line += n;
	}
}

/**
 * cfq_group_line_began - a group's tasks have begun to wait for descriptors
 * @cfqd: the group on the device
 */
void cfq_group_line_began(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	cfqd_count_line(cfqd, 1);
}

/**
 * cfq_group_line_ended - the last of a group's tasks that waited may go on
 * @cfqd: the group on the device
 */
void cfq_group_line_ended(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	cfqd_count_line(cfqd, -1);
}

/**
 * cfq_group_to_admit - whose task that waits is to have the next descriptor?
 * @cfqmd: the device, with tasks waiting
 * @now_ns: time
 *
 * Where groups take turns it is the group whose turn it is, unless that ends
 * now, as the others can do nothing with it; else the one that is to be served
 * first of those that have room.
 *
 * Return: the group, NULL if there is no descriptor for any.
 */
struct cfq_data *cfq_group_to_admit(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	const enum cfq_class class = cfqmd->nr_rt_waiting ? CFQ_CLASS_RT :
							    CFQ_CLASS_BE;
	struct cfq_data *cfqd = cfqmd->active_cfqd;
	struct cfq_data *overdue;

	lockdep_assert_held(&cfqmd->lock);

	overdue = cfq_overdue_in_line(&cfqmd->root, now_ns);
	if (overdue && cfq_group_has_room(overdue, cfq_line_best(overdue)))
		return overdue;
	if (cfqd && cfq_data_in_line(cfqd) && !cfq_group_slice_over(cfqd) &&
	    cfq_group_has_room(cfqd, cfq_line_best(cfqd)))
		return cfqd;
	if (cfq_nr_held(cfqmd) >= cfq_descriptors_for(cfqmd, class))
		return NULL;
	cfqd = cfq_next_waiting_group(&cfqmd->root, NULL);
	while (cfqd && !cfq_group_has_room(cfqd, cfq_line_best(cfqd)))
		cfqd = cfq_next_waiting_group(cfqd->leaf->group, cfqd->leaf);
	return cfqd;
}

/*
 * Whose request is it?
 */

/*
 * The group that counts for I/O of the cgroup: where deeper ones can be made,
 * these are as one with the last that are told apart.
 */
static struct cfq_cgroup *cfq_css_counts(struct cgroup_subsys_state *css)
{
	while (unlikely(css->cgroup->level > CFQ_MAX_DEPTH))
		css = css->parent;
	return cfq_css_cgroup(css);
}

static struct cfq_cgroup *cfq_current_cgroup(void)
{
	return cfq_css_counts(task_css(current, cfq_subsys->id));
}

/* Has @ss the same hierarchy as the groups here? */
static bool cfq_same_hierarchy(const struct cgroup_subsys *ss)
{
	return READ_ONCE(ss->root) == READ_ONCE(cfq_subsys->root);
}

#ifdef CONFIG_BLK_CGROUP
/* The io group of @bio, if that says something about its group here. */
static struct cgroup_subsys_state *cfq_bio_io_css(struct bio *bio)
{
	return cfq_same_hierarchy(&io_cgrp_subsys) ? bio_blkcg_css(bio) : NULL;
}

static struct cgroup_subsys_state *cfq_current_io_css(void)
{
	return task_css(current, io_cgrp_id);
}
#else
static struct cgroup_subsys_state *cfq_bio_io_css(struct bio *bio)
{
	return NULL;
}

static struct cgroup_subsys_state *cfq_current_io_css(void)
{
	return NULL;
}
#endif

#ifdef CONFIG_MEMCG
/*
 * The owner of the first page, if that is being written back, or is metadata that
 * goes to a journal.  Pages of direct I/O are not, even where they are mapped
 * from a file.
 */
static struct cgroup *cfq_bio_page_owner(struct bio *bio)
{
	struct mem_cgroup *memcg;
	struct folio *folio;

	if (bio_op(bio) != REQ_OP_WRITE || !bio_has_data(bio) ||
	    !cfq_same_hierarchy(&memory_cgrp_subsys))
		return NULL;
	folio = page_folio(bio_page(bio));
	if (!folio_test_writeback(folio) && !(bio->bi_opf & REQ_META))
		return NULL;
	memcg = folio_memcg_check(folio);
	return memcg ? memcg->css.cgroup : NULL;
}
#else
static struct cgroup *cfq_bio_page_owner(struct bio *bio)
{
	return NULL;
}
#endif

/* Of the nearest cgroup, @cgroup or above, that is one of the subsystem. */
static struct cfq_cgroup *cgroup_to_cfqc(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css;

	while (cgroup) {
		css = rcu_dereference(cgroup->subsys[cfq_subsys->id]);
		if (css)
			return cfq_css_counts(css);
		cgroup = cgroup_parent(cgroup);
	}
	return cfq_root_cgroup();
}

/**
 * cfq_bio_cgroup - which group has caused what the current task submits?
 * @bio: not yet sent
 * @behalf: set to whether this is not the task's own group
 *
 * The io controller knows the cause of a bio, as those who submit for others
 * tell it.  Where its groups are coarser than ours, or not in the same
 * hierarchy, the owner of written-back memory, or else the task, is asked.
 *
 * Context: RCU read side, which the returned group lives as long as.
 * Return: the group; may be removed at any time.
 */
struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf)
{
	struct cfq_cgroup *own = cfq_current_cgroup();
	struct cgroup_subsys_state *io_css = cfq_bio_io_css(bio);
	struct cgroup *owner = cfq_bio_page_owner(bio);
	struct cfq_cgroup *cfqc = own;

	if (owner && (!io_css || cgroup_is_descendant(owner, io_css->cgroup)))
		cfqc = cgroup_to_cfqc(owner);
	else if (io_css && io_css != cfq_current_io_css())
		cfqc = cgroup_to_cfqc(io_css->cgroup);
	*behalf = cfqc != own;
	return cfqc;
}

/* The cfqd of @cfqc on a device, NULL if it has none there. */
static struct cfq_data *cfq_group_find(struct cfq_meta_data *cfqmd,
				       struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfq_grid_lock);

	list_for_each_entry(cfqd, &cfqc->row, row_node)
		if (cfqd->cfqmd == cfqmd)
			return cfqd;
	return NULL;
}

/* The same, or a new one; NULL without memory.  The root's is always there. */
static struct cfq_data *cfq_group_find_or_create(struct cfq_meta_data *cfqmd,
						 struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd;

	while (!(cfqd = cfq_group_find(cfqmd, cfqc))) {
		struct cfq_cgroup *missing = cfqc;
		struct cfq_data *parent;

		/* The highest one that is missing comes first. */
		while (!(parent = cfq_group_find(cfqmd, cfqc_parent(missing))))
			missing = cfqc_parent(missing);
		cfqd = kzalloc_node(sizeof(*cfqd), GFP_NOWAIT | __GFP_NOWARN,
				    cfqmd->dd.queue->node);
		if (!cfqd)
			return NULL;
		cfq_data_init(cfqd, cfqmd);
		cfq_grid_link(cfqmd, cfqd, parent, missing);
	}
	return cfqd;
}

/**
 * cfq_group_get - a group on a device
 * @cfqmd: the device
 * @cfqc: the group
 *
 * Context: cfqmd->lock held, RCU read side.
 * Return: the group on the device with a reference for the caller.  For a
 * cgroup that was removed it is that of the nearest one above.  Without memory
 * it is the root group's.
 */
struct cfq_data *cfq_group_get(struct cfq_meta_data *cfqmd,
			       struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	spin_lock(&cfq_grid_lock);
	while (cfqc->offline)
		cfqc = cfqc_parent(cfqc);
	cfqd = cfq_group_find_or_create(cfqmd, cfqc) ?: &cfqmd->root;
	spin_unlock(&cfq_grid_lock);

	cfqd->ref++;
	return cfqd;
}

/* Is there a limit for @cfqd?  Needs either cfqmd->lock or RCU. */
static bool cfqd_limited(const struct cfq_data *cfqd)
{
	while (cfqd && READ_ONCE(cfqd->max_held) == CFQ_NO_LIMIT)
		cfqd = cfqd->self.group;
	return cfqd;
}

/**
 * cfq_group_limits_current - may the current task's requests be limited?
 * @cfqd: the group that its last one on the device belonged to
 *
 * Context: RCU read side.
 * Return: false if it still belongs to @cfqd, and that has no limit.
 */
bool cfq_group_limits_current(const struct cfq_data *cfqd)
{
	return READ_ONCE(cfqd->cfqc) != cfq_current_cgroup() ||
	       cfqd_limited(cfqd);
}

/**
 * cfq_group_current_full - would a request of the current task be past a limit?
 * @cfqmd: the device
 *
 * Context: process context, takes cfqmd->lock.
 * Return: true if it would have to wait for a place.
 */
bool cfq_group_current_full(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd;
	bool full;

	spin_lock_irq(&cfqmd->lock);
	cfqd = cfq_group_get_current(cfqmd);
	full = cfqd_limited(cfqd) && cfqd_obstacle(cfqd);
	cfq_group_put(cfqd);
	spin_unlock_irq(&cfqmd->lock);
	return full;
}

/**
 * cfq_group_get_place - have a request of the current task within all limits
 * @cfqmd: the device
 * @wait: until there is a place
 *
 * Context: cfqmd->lock held; is dropped to wait, in process context with the
 * device's queue entered.  What holds a place is on its way to the device and
 * gives it back when it is done, so the wait ends with that; and as whoever
 * freezes the queue waits for all requests, the scheduler outlives it.
 * Return: the group that holds the place, with a reference for the caller, or
 * NULL if the task's group is not limited, or if there is no place and that is
 * not waited for.
 */
struct cfq_data *cfq_group_get_place(struct cfq_meta_data *cfqmd, bool wait)
	__must_hold(&cfqmd->lock)
{
	struct cfq_data *cfqd = cfq_group_get_current(cfqmd);
	struct cfq_waiter waiter = { .cfqd = cfqd };
	struct cfq_data *obstacle;

	if (!cfqd_limited(cfqd)) {
		cfq_group_put(cfqd);
		return NULL;
	}
	obstacle = cfqd_obstacle(cfqd);
	if (!obstacle) {
		cfq_group_hold(cfqd);
		return cfqd;
	}
	if (!wait) {
		cfq_group_put(cfqd);
		return NULL;
	}

	init_completion(&waiter.got_place);
	list_add_tail(&waiter.node, &obstacle->waiters);
	spin_unlock_irq(&cfqmd->lock);
	/* Sends what the task has plugged. */
	wait_for_completion_io(&waiter.got_place);
	spin_lock_irq(&cfqmd->lock);
	return cfqd;
}

/**
 * cfq_group_get_current - the current task's group on a device
 * @cfqmd: the device
 *
 * Return: as cfq_group_get().
 */
struct cfq_data *cfq_group_get_current(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd;

	rcu_read_lock();
	cfqd = cfq_group_get(cfqmd, cfq_current_cgroup());
	rcu_read_unlock();
	return cfqd;
}

/**
 * cfq_group_css - the cgroup of a group on a device, for messages about it
 * @cfqd: the group on the device
 *
 * Return: NULL once the cgroup is removed.
 */
struct cgroup_subsys_state *cfq_group_css(const struct cfq_data *cfqd)
{
	return cfqd->cfqc ? cfq_cgroup_css(cfqd->cfqc) : NULL;
}

/**
 * cfq_groups_init - set up the group layer of a device
 * @cfqmd: the device
 *
 * Context: process context, nothing is queued yet.
 */
void cfq_groups_init(struct cfq_meta_data *cfqmd)
{
	INIT_LIST_HEAD(&cfqmd->column);
	cfq_data_init(&cfqmd->root, cfqmd);

	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfqmd->lock);
	spin_lock(&cfq_grid_lock);
	cfq_grid_link(cfqmd, &cfqmd->root, NULL, cfq_root_cgroup());
	spin_unlock(&cfq_grid_lock);
	spin_unlock_irq(&cfqmd->lock);
	mutex_unlock(&cfq_grid_mutex);
}

/**
 * cfq_groups_exit - take the column of a device off the grid
 * @cfqmd: the device, on which all requests are done
 *
 * Context: process context.
 */
void cfq_groups_exit(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd, *next;

	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfqmd->lock);
	/* What is freed besides @cfqd is above it in the tree, and before it. */
	list_for_each_entry_safe(cfqd, next, &cfqmd->column, column_node) {
		cfq_data_deactivate(cfqd, ktime_get_ns());
		if (cfqd->cfqc)
			cfq_grid_unlink(cfqd);
	}
	WARN_ON_ONCE(!list_empty(&cfqmd->column));
	spin_unlock_irq(&cfqmd->lock);
	mutex_unlock(&cfq_grid_mutex);
}

/**
 * cfq_groups_show - print the groups of a device
 * @cfqmd: the device
 * @m: where to
 */
void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m)
{
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	seq_printf(m, "busy %u\n", cfqmd->nr_busy_groups);
	list_for_each_entry(cfqd, &cfqmd->column, column_node) {
		const struct cfq_member *member = cfqd_set_member(cfqd);
		char path[128] = "(removed)", limit[16] = "max";

		if (cfqd->max_held != CFQ_NO_LIMIT)
			snprintf(limit, sizeof(limit), "%u", cfqd->max_held);
		if (cfqd == &cfqmd->root)
			strscpy(path, "/");
		else if (cfqd->cfqc)
			cgroup_path(cfq_group_css(cfqd)->cgroup, path,
				    sizeof(path));
		seq_printf(m,
			   "group %s weight %u vdisktime %llu tasks weight %u vdisktime %llu time_us %llu queued %u driver %u held %u limit %s%s%s\n",
			   path, member->entity.weight,
			   member->entity.vdisktime, cfqd->tasks.entity.weight,
			   cfqd->tasks.entity.vdisktime,
			   div_u64(cfqd->stats[CFQ_STAT_TIME], NSEC_PER_USEC),
			   cfqd->nr_queued, cfqd->nr_in_driver, cfqd->nr_held,
			   limit,
			   cfqd->leaf->entity.st ? " busy" : "",
			   cfqmd->active_cfqd == cfqd ? " active" : "");
		cfq_data_show(cfqd, m);
	}
}

/*
 * Cgroups.
 */

/**
 * cfq_cgroup_init - a cgroup comes
 * @cfqc: the cgroup, all zeroes
 *
 * Context: any; nobody can find it yet.
 */
void cfq_cgroup_init(struct cfq_cgroup *cfqc)
{
	INIT_LIST_HEAD(&cfqc->row);
	INIT_LIST_HEAD(&cfqc->devices);
	cfqc->weight = CFQ_WEIGHT_DEFAULT;
	cfqc->leaf_weight = CFQ_WEIGHT_DEFAULT;
	cfqc->class = CFQ_CLASS_BE;
	cfqc->max_held = CFQ_NO_LIMIT;
}

/**
 * cfq_cgroup_offline - a cgroup goes
 * @cfqc: the cgroup, to which no cfqd is added from now on
 *
 * Context: process context.
 */
void cfq_cgroup_offline(struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd;

	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfq_grid_lock);
	cfqc->offline = true;
	spin_unlock_irq(&cfq_grid_lock);

	while ((cfqd = list_first_entry_or_null(&cfqc->row, struct cfq_data,
						row_node))) {
		struct cfq_meta_data *cfqmd = cfqd->cfqmd;

		spin_lock_irq(&cfqmd->lock);
		cfq_grid_unlink(cfqd);
		spin_unlock_irq(&cfqmd->lock);
	}
	mutex_unlock(&cfq_grid_mutex);
}

/**
 * cfq_cgroup_exit - a cgroup is gone
 * @cfqc: the cgroup, which nobody can find any more
 *
 * Context: process context.
 */
void cfq_cgroup_exit(struct cfq_cgroup *cfqc)
{
	struct cfq_device_settings *settings, *next;

	list_for_each_entry_safe(settings, next, &cfqc->devices, node)
		kfree(settings);
}

/*
 * Settings.
 */

/* What is changed until cfqc_end_change() takes effect at once. */
static void cfqc_begin_change(void)
	__acquires(&cfq_grid_lock)
{
	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfq_grid_lock);
}

/* Settings of a group that does not count would be without effect. */
static bool cfqc_too_deep(struct cfq_cgroup *cfqc)
{
	return cfq_cgroup_css(cfqc)->cgroup->level > CFQ_MAX_DEPTH;
}

static void cfqc_end_change(struct cfq_cgroup *cfqc)
	__releases(&cfq_grid_lock)
{
	struct cfq_data *cfqd;

	spin_unlock_irq(&cfq_grid_lock);
	list_for_each_entry_rcu(cfqd, &cfqc->row, row_node,
				lockdep_is_held(&cfq_grid_mutex)) {
		spin_lock_irq(&cfqd->cfqmd->lock);
		cfqd_apply_settings(cfqd, cfqc);
		spin_unlock_irq(&cfqd->cfqmd->lock);
	}
	mutex_unlock(&cfq_grid_mutex);
}

/**
 * cfq_cgroup_set - a number that is set for a cgroup on all devices
 * @cfqc: the cgroup
 * @setting: which one, of @cfqc
 * @value: valid for it
 *
 * Context: process context.
 * Return: 0, -EAGAIN if there are too many groups above.
 */
int cfq_cgroup_set(struct cfq_cgroup *cfqc, unsigned int *setting,
		   unsigned int value)
{
	if (cfqc_too_deep(cfqc))
		return -EAGAIN;
	cfqc_begin_change();
	WRITE_ONCE(*setting, value);
	cfqc_end_change(cfqc);
	return 0;
}

/**
 * cfq_cgroup_set_class - the class of a cgroup on all devices
 * @cfqc: the cgroup
 * @class: the class
 *
 * Context: process context.
 * Return: 0, -EAGAIN if there are too many groups above.
 */
int cfq_cgroup_set_class(struct cfq_cgroup *cfqc, enum cfq_class class)
{
	if (cfqc_too_deep(cfqc))
		return -EAGAIN;
	cfqc_begin_change();
	WRITE_ONCE(cfqc->class, class);
	cfqc_end_change(cfqc);
	return 0;
}

/**
 * cfq_cgroup_set_for_device - what is set for a cgroup on one device
 * @cfqc: the cgroup
 * @dev: the device
 * @offset: what, into a struct cfq_device_settings
 * @value: valid for it; 0 removes the setting
 *
 * A setting outlives its device, which may come back, and can be removed
 * without.
 *
 * Context: process context.
 * Return: 0, -ENODEV without such a device, -EAGAIN if there are too many groups
 * above, -ENOMEM.
 */
int cfq_cgroup_set_for_device(struct cfq_cgroup *cfqc, dev_t dev, size_t offset,
			      unsigned int value)
{
	struct cfq_device_settings *new, *settings, *dropped = NULL;
	const bool exists = cfq_disk_exists(dev);
	int ret = 0;

	if (cfqc_too_deep(cfqc))
		return -EAGAIN;
	/* Reclaim could wait for a device that waits for the mutex. */
	new = kzalloc_obj(*new);
	if (!new)
		return -ENOMEM;
	new->dev = dev;

	cfqc_begin_change();
	settings = cfqc_device_settings(cfqc, dev);
	if (!exists && (!settings || value)) {
		ret = -ENODEV;
	} else if (!settings && value) {
		settings = new;
		new = NULL;
		list_add_tail(&settings->node, &cfqc->devices);
	}
	if (!ret && settings) {
		*(unsigned int *)((void *)settings + offset) = value;
		if (!settings->weight && !settings->max_held) {
			list_del(&settings->node);
			dropped = settings;
		}
	}
	cfqc_end_change(cfqc);
	kfree(dropped);
	kfree(new);
	return ret;
}

/**
 * cfq_groups_expect_limits - the number of requests of a group will be limited
 *
 * Who sees a limit has seen this, and asks for a place.
 *
 * Context: any.
 */
void cfq_groups_expect_limits(void)
{
	WRITE_ONCE(cfq_limit_was_set, true);
}
