// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the group layer.
 *
 * Shares the time of a device between the groups of the cgroup subsystem
 * "cfq".  A cgroup (cfq_cgroup, cfqc) has one cfq_data (cfqd) on each device
 * on which its tasks did I/O.  The cfqds form a grid: a row for each cgroup, a
 * column for each device (cfq_meta_data, cfqmd).  What happens inside a cfqd
 * is the business of the per-task layer (block/cfq-iosched.c); this file never
 * looks at a task's queue.
 *
 * 1. Shares.  Weighted fair queueing: the cfqds of a device that have
 *    something to do are on a service tree, sorted by virtual time, which
 *    advances by the device time charged over the weight.  Whoever received
 *    least goes next.  A group that was away comes in at the minimum of the
 *    tree.  How device time is found out stands in block/cfq-iosched.c.
 *
 * 2. Disks: groups take turns.  If the requests of several groups are always
 *    in a disk at once, the disk decides whom it serves: it prefers what is
 *    near its head, and the requests of the others pile up inside of it, where
 *    no order of dispatch can reach them.  So one group at a time, the active
 *    one, sends requests, as many as it has, for a slice of time.  That is
 *    fast as well, as a disk with a full queue from one region seeks little.
 *
 *    When the slice is over, the group of least virtual time is next.  What
 *    the old group has in the disk is not waited for: it is charged to the
 *    old group when it completes, and an empty disk would order badly.
 *
 *    Slices are group_slice on average, in proportion to the weight.  With
 *    weights 200, 100 and 25 and a group_slice of 400 ms:
 *
 *        group   weight   slice = 400 ms * 3 * weight / 325
 *        A       200      738 ms
 *        B       100      369 ms
 *        C        25       92 ms
 *
 *    What C still has in the disk at the end of its slice puts it ahead of the
 *    others, so it will be passed over now and then.  A slice is cut short
 *    when the group has nothing more to send and is not worth waiting for, and
 *    when a group that is behind comes back from a real absence.
 *
 * 3. Flash: groups are mixed.  There is no head to fight over, so each
 *    request is taken from the group of least virtual time.
 *
 * 4. Descriptors.  A device has a fixed number of request descriptors
 *    (nr_requests), and what waits for one cannot be scheduled.  So each busy
 *    group has its part of them by weight, lent while others do not use it;
 *    and some are kept for those who hold less than their part, so that a
 *    group that wakes up gets its first at once.
 *
 * 5. Lifetimes.  The grid owns one reference on each cfqd, which ends with
 *    the cgroup or with the scheduler on that device, whichever is first.
 *    Each cfq_queue owns another, so that a cfqd without a cgroup lives, and
 *    is scheduled with the weight it had, until its last request is done and
 *    the tasks that moved away did I/O elsewhere or ended.
 *
 * Locks: cfq_grid_mutex keeps devices and cgroups from going away; whoever
 * holds it may walk a row without another lock, as rows only lose elements
 * under it.  cfqmd->lock nests inside it.  cfq_grid_lock, inside cfqmd->lock,
 * protects what is added to rows and the settings of a cgroup, so that a new
 * cfqd never misses a change.
 */
#include <linux/cgroup.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <linux/cfq-iosched.h>

#include "cfq-calc.h"

/* Group priorities, 0 the highest. */
#define CFQ_GROUP_PRIOS		8

static DEFINE_MUTEX(cfq_grid_mutex);
static DEFINE_SPINLOCK(cfq_grid_lock);

/**
 * struct cfq_cgroup - a group of tasks
 * @css: the cgroup's side
 * @row: its cfqds, one a device; see the locks above
 * @weight: of its cfqds
 * @offline: the cgroup was removed, no cfqd may be added
 */
struct cfq_cgroup {
	struct cgroup_subsys_state css;
	struct list_head	row;
	unsigned int		weight;
	bool			offline;
};

static struct cfq_cgroup cfq_root_cgroup = {
	.row	= LIST_HEAD_INIT(cfq_root_cgroup.row),
	.weight	= CFQ_WEIGHT_DEFAULT,
};

static struct cfq_cgroup *css_to_cfqc(struct cgroup_subsys_state *css)
{
	return container_of(css, struct cfq_cgroup, css);
}

static struct cfq_cgroup *cfqc_parent(struct cfq_cgroup *cfqc)
{
	return css_to_cfqc(cfqc->css.parent);
}

static struct cfq_data *entity_to_cfqd(struct cfq_entity *entity)
{
	return container_of(entity, struct cfq_data, entity);
}

/*
 * Charge and turns.
 */

/* Where groups are mixed, the part of a group_slice that one may be ahead. */
#define CFQ_MIXED_LEAD_PART	64

/**
 * cfq_group_charge - a group is charged device time
 * @cfqd: the group on the device
 * @ns: to be charged; negative to take back what was charged in advance
 * @spent_ns: device time that is now known to have been spent
 *
 * Context: cfqmd->lock held.
 */
void cfq_group_charge(struct cfq_data *cfqd, s64 ns, u64 spent_ns)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	cfq_entity_charge(&cfqd->entity, ns);
	cfqd->slice_used_ns += spent_ns;
	cfqd->total_time_ns += spent_ns;
}

/**
 * cfq_group_became_busy - a group has a request queued
 * @cfqd: the group on the device; may have been busy before
 * @now_ns: time
 *
 * Context: cfqmd->lock held.
 */
void cfq_group_became_busy(struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_tunables *tun = &cfqd->cfqmd->dd.tun;
	struct cfq_data *active;
	u64 credit_ns = 0;

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (cfqd->entity.st)
		return;
	/* Between one request and the next of a task it has not been away. */
	if (cfqd->idle_since_ns + tun->group_idle_ns > now_ns)
		credit_ns = 2 * tun->group_slice_ns;
	cfq_st_add(cfqd->sibling_tree, &cfqd->entity, credit_ns);

	/* Whoever comes back need not wait for a slice that began without it. */
	active = cfqd->cfqmd->active_cfqd;
	if (!credit_ns && active &&
	    cfq_entity_lead(&active->entity, &cfqd->entity) > 0)
		active->slice_cut = true;
}

/**
 * cfq_group_went_idle - a group has nothing queued, in flight or waited for
 * @cfqd: the group on the device
 * @now_ns: time
 *
 * Context: cfqmd->lock held.
 */
void cfq_group_went_idle(struct cfq_data *cfqd, u64 now_ns)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	if (cfqd->entity.st) {
		cfq_st_note_gone(&cfqd->entity, now_ns,
				 cfqmd->dd.tun.group_idle_ns);
		cfq_st_del(&cfqd->entity);
	}
	if (cfqmd->active_cfqd == cfqd)
		cfqmd->active_cfqd = NULL;
	cfqd->idle_since_ns = now_ns;
}

/* Is there anything to do for @cfqd, now or as soon as its task goes on? */
static bool cfq_group_needs_device(const struct cfq_data *cfqd, u64 now_ns)
{
	return cfq_data_busy(cfqd) || cfq_data_holds(cfqd, now_ns);
}

static void cfq_group_start_slice(struct cfq_data *cfqd)
{
	cfqd->cfqmd->active_cfqd = cfqd;
	cfqd->slice_used_ns = 0;
	cfqd->slice_cut = false;
}

static bool cfq_group_slice_over(const struct cfq_data *cfqd)
{
	const struct cfq_service_tree *st = cfqd->sibling_tree;

	return cfqd->slice_cut || cfqd->slice_used_ns >=
	       cfq_group_slice_ns(cfqd->cfqmd->dd.tun.group_slice_ns, st->nr,
				  cfqd->entity.weight, st->total_weight);
}

/**
 * cfq_group_has_turn - may this group wait for a task's next request?
 * @cfqd: the group on the device
 *
 * Context: cfqmd->lock held.
 * Return: false if it would wait in the time of another group.
 */
bool cfq_group_has_turn(const struct cfq_data *cfqd)
{
	return cfqd->cfqmd->active_cfqd == cfqd;
}

/*
 * On a device without a head, @cfqd has had so much more than @first that it
 * may send no more than keeps the device busy.
 */
static bool cfq_group_too_far_ahead(const struct cfq_data *cfqd, u64 now_ns)
{
	const struct cfq_driver_data *dd = &cfqd->cfqmd->dd;
	struct cfq_service_tree *st = cfqd->sibling_tree;
	u64 behind = cfq_st_first(st)->vdisktime;

	if (dd->nr_in_driver < cfq_useful_depth(dd->par.parallel))
		return false;
	/* Who went just now will be back. */
	if (st->gone_until_ns > now_ns && (s64)(st->gone_vdisktime - behind) < 0)
		behind = st->gone_vdisktime;
	return (s64)(cfqd->entity.vdisktime - behind) >
	       (s64)dd->tun.group_slice_ns / CFQ_MIXED_LEAD_PART;
}

/* The group of least virtual time that has a request queued, from @entity. */
static struct cfq_data *cfq_group_first_queued(struct cfq_entity *entity)
{
	for (; entity; entity = cfq_st_next(entity)) {
		struct cfq_data *cfqd = entity_to_cfqd(entity);

		if (cfqd->nr_queued)
			return cfqd;
	}
	return NULL;
}

/* The same where groups are mixed; what is further ahead waits. */
static struct cfq_data *cfq_group_next_mixed(struct cfq_entity *entity,
					     u64 now_ns)
{
	struct cfq_data *cfqd = cfq_group_first_queued(entity);

	return cfqd && cfq_group_too_far_ahead(cfqd, now_ns) ? NULL : cfqd;
}

/**
 * cfq_group_select - which group is to be served next?
 * @cfqmd: the device
 * @now_ns: time
 *
 * Context: cfqmd->lock held.
 * Return: the group, or NULL if none may be served now.  The group may turn
 * out to have nothing that can be sent yet.
 */
struct cfq_data *cfq_group_select(struct cfq_meta_data *cfqmd, u64 now_ns)
{
	struct cfq_data *cfqd = cfqmd->active_cfqd;

	lockdep_assert_held(&cfqmd->lock);

	if (!cfqmd->dd.one_head)
		return cfq_group_next_mixed(cfq_st_first(&cfqmd->sibling_tree),
					    now_ns);

	if (cfqd && cfq_group_needs_device(cfqd, now_ns)) {
		if (!cfq_group_slice_over(cfqd))
			return cfqd;
		if (cfq_st_first(cfqd->sibling_tree) == &cfqd->entity) {
			/* It would be chosen again. */
			cfq_group_start_slice(cfqd);
			return cfqd;
		}
	}
	if (cfqd) {
		cfqmd->active_cfqd = NULL;
		cfq_data_deactivate(cfqd, now_ns);
	}

	cfqd = cfq_group_first_queued(cfq_st_first(&cfqmd->sibling_tree));
	if (cfqd)
		cfq_group_start_slice(cfqd);
	return cfqd;
}

/**
 * cfq_group_select_next - the selected group had nothing that may be sent
 * @cfqd: that group
 * @now_ns: time
 *
 * Context: cfqmd->lock held.
 * Return: the group to try next, NULL if none may be served now.
 */
struct cfq_data *cfq_group_select_next(struct cfq_data *cfqd, u64 now_ns)
{
	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (cfqd->cfqmd->dd.one_head || !cfqd->entity.st)
		return NULL;
	return cfq_group_next_mixed(cfq_st_next(&cfqd->entity), now_ns);
}

/*
 * The grid.
 */

/* Takes the grid's reference on a new cfqd; cfqmd->lock is held. */
static void cfq_grid_link(struct cfq_meta_data *cfqmd, struct cfq_data *cfqd,
			  struct cfq_cgroup *cfqc)
{
	lockdep_assert_held(&cfq_grid_lock);

	cfqd->sibling_tree = &cfqmd->sibling_tree;
	cfqd->cfqc = cfqc;
	cfqd->entity.weight = cfqc->weight;
	list_add_tail(&cfqd->column_node, &cfqmd->column);
	list_add_tail_rcu(&cfqd->row_node, &cfqc->row);
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
	cfqd->cfqc = NULL;
	cfq_data_exit(cfqd);
	cfq_group_put(cfqd);
}

/**
 * cfq_group_put - let go of a group on a device
 * @cfqd: the group; the last reference frees it
 *
 * Context: cfqmd->lock held.
 */
void cfq_group_put(struct cfq_data *cfqd)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	if (--cfqd->ref)
		return;
	list_del(&cfqd->column_node);
	if (WARN_ON_ONCE(cfqd->entity.st))
		cfq_group_went_idle(cfqd, 0);
	if (cfqmd->active_cfqd == cfqd)
		cfqmd->active_cfqd = NULL;
	if (cfqd != &cfqmd->root)
		kfree_rcu(cfqd, rcu);
}

/**
 * cfq_group_depth - how many descriptors may a group choose from?
 * @cfqd: the group on the device
 * @total: descriptors of the device
 *
 * Its part of them is that of its weight among the groups that are busy.
 *
 * Context: RCU read side; what is read may be about to change.
 * Return: at least 1, at most @total.
 */
unsigned int cfq_group_depth(const struct cfq_data *cfqd, unsigned int total)
{
	const struct cfq_entity *entity = &cfqd->entity;
	unsigned int weight = READ_ONCE(entity->weight);
	unsigned int total_weight = READ_ONCE(cfqd->sibling_tree->total_weight);
	unsigned int held = READ_ONCE(cfqd->nr_queued) +
			    READ_ONCE(cfqd->nr_in_driver);

	if (!READ_ONCE(entity->st))
		total_weight += weight;
	return cfq_depth_limit(total, mult_frac(total, weight,
						max(total_weight, weight)),
			       held);
}

static struct cfq_cgroup *cfq_current_cgroup(void)
{
	return css_to_cfqc(task_css(current, cfq_cgrp_id));
}

/**
 * cfq_group_is_current - does the current task belong to this group?
 * @cfqd: the group on a device
 *
 * Context: cfqmd->lock held.  The group may change at any time; a request
 * that is underway meanwhile belongs to the one or to the other.
 */
bool cfq_group_is_current(const struct cfq_data *cfqd)
{
	struct cfq_cgroup *cfqc;

	rcu_read_lock();
	cfqc = cfq_current_cgroup();
	rcu_read_unlock();
	return cfqd->cfqc == cfqc;
}

/* A cfqd for @cfqc, which has none on this device yet; NULL without memory. */
static struct cfq_data *cfq_group_create(struct cfq_meta_data *cfqmd,
					 struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd;

	cfqd = kzalloc_node(sizeof(*cfqd), GFP_ATOMIC | __GFP_NOWARN,
			    cfqmd->dd.queue->node);
	if (!cfqd)
		return NULL;
	cfq_data_init(cfqd, cfqmd);
	cfq_grid_link(cfqmd, cfqd, cfqc);
	return cfqd;
}

/**
 * cfq_group_get_current - the current task's group on a device
 * @cfqmd: the device
 *
 * Context: cfqmd->lock held.
 * Return: the group with a reference for the caller.  An exiting task may
 * belong to a cgroup that was removed; then it is the nearest one above.
 * Without memory it is the root group.
 */
struct cfq_data *cfq_group_get_current(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd, *found = NULL;
	struct cfq_cgroup *cfqc;

	lockdep_assert_held(&cfqmd->lock);

	rcu_read_lock();
	spin_lock(&cfq_grid_lock);
	cfqc = cfq_current_cgroup();
	while (cfqc->offline)
		cfqc = cfqc_parent(cfqc);
	list_for_each_entry(cfqd, &cfqc->row, row_node) {
		if (cfqd->cfqmd == cfqmd) {
			found = cfqd;
			break;
		}
	}
	if (!found)
		found = cfq_group_create(cfqmd, cfqc) ?: &cfqmd->root;
	spin_unlock(&cfq_grid_lock);
	rcu_read_unlock();

	found->ref++;
	return found;
}

/**
 * cfq_groups_init - set up the group layer of a device
 * @cfqmd: the device
 *
 * Context: process context, nothing is queued yet.
 */
void cfq_groups_init(struct cfq_meta_data *cfqmd)
{
	cfq_st_init(&cfqmd->sibling_tree);
	INIT_LIST_HEAD(&cfqmd->column);
	cfq_data_init(&cfqmd->root, cfqmd);

	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfqmd->lock);
	spin_lock(&cfq_grid_lock);
	cfq_grid_link(cfqmd, &cfqmd->root, &cfq_root_cgroup);
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
 * cfq_groups_show - print the groups of a device, those with work in order
 * @cfqmd: the device
 * @m: where to
 *
 * Context: cfqmd->lock held.
 */
void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m)
{
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	seq_printf(m, "min_vdisktime %llu busy %u total_weight %u\n",
		   cfqmd->sibling_tree.min_vdisktime, cfqmd->sibling_tree.nr,
		   cfqmd->sibling_tree.total_weight);
	list_for_each_entry(cfqd, &cfqmd->column, column_node) {
		char path[128] = "(removed)";

		if (cfqd == &cfqmd->root)
			strscpy(path, "/");
		else if (cfqd->cfqc)
			cgroup_path(cfqd->cfqc->css.cgroup, path, sizeof(path));
		seq_printf(m,
			   "group %s weight %u vdisktime %llu time_us %llu queued %u driver %u%s%s\n",
			   path, cfqd->entity.weight, cfqd->entity.vdisktime,
			   div_u64(cfqd->total_time_ns, NSEC_PER_USEC),
			   cfqd->nr_queued, cfqd->nr_in_driver,
			   cfqd->entity.st ? " busy" : "",
			   cfqmd->active_cfqd == cfqd ? " active" : "");
		cfq_data_show(cfqd, m);
	}
}

/*
 * Control files.
 */

static void cfqc_set_weight(struct cfq_cgroup *cfqc, unsigned int weight)
{
	struct cfq_data *cfqd;

	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfq_grid_lock);
	WRITE_ONCE(cfqc->weight, weight);
	spin_unlock_irq(&cfq_grid_lock);

	list_for_each_entry_rcu(cfqd, &cfqc->row, row_node,
				lockdep_is_held(&cfq_grid_mutex)) {
		spin_lock_irq(&cfqd->cfqmd->lock);
		cfq_entity_set_weight(&cfqd->entity, weight);
		spin_unlock_irq(&cfqd->cfqmd->lock);
	}
	mutex_unlock(&cfq_grid_mutex);
}

static u64 cfqc_ioprio_read(struct cgroup_subsys_state *css,
			    struct cftype *cft)
{
	return cfq_weight_to_group_prio(READ_ONCE(css_to_cfqc(css)->weight));
}

static ssize_t cfqc_ioprio_write(struct kernfs_open_file *of, char *buf,
				 size_t nbytes, loff_t off)
{
	s64 prio;
	int ret;

	/* What follows a NUL is part of what was written, too. */
	if (strlen(buf) != nbytes)
		return -EINVAL;
	ret = kstrtos64(strstrip(buf), 10, &prio);
	if (ret)
		return ret;
	if (prio < 0 || prio >= CFQ_GROUP_PRIOS)
		return -ERANGE;
	cfqc_set_weight(css_to_cfqc(of_css(of)),
			cfq_group_prio_to_weight(prio));
	return nbytes;
}

static struct cftype cfqc_legacy_files[] = {
	{
		.name		= "ioprio",
		.read_u64	= cfqc_ioprio_read,
		.write		= cfqc_ioprio_write,
	},
	{}
};

/*
 * Subsystem.
 */

static struct cgroup_subsys_state *
cfqc_css_alloc(struct cgroup_subsys_state *parent)
{
	struct cfq_cgroup *cfqc;

	if (!parent)
		return &cfq_root_cgroup.css;

	cfqc = kzalloc_obj(*cfqc);
	if (!cfqc)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&cfqc->row);
	cfqc->weight = CFQ_WEIGHT_DEFAULT;
	return &cfqc->css;
}

static void cfqc_css_offline(struct cgroup_subsys_state *css)
{
	struct cfq_cgroup *cfqc = css_to_cfqc(css);
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

static void cfqc_css_free(struct cgroup_subsys_state *css)
{
	struct cfq_cgroup *cfqc = css_to_cfqc(css);

	if (cfqc != &cfq_root_cgroup)
		kfree(cfqc);
}

struct cgroup_subsys cfq_cgrp_subsys = {
	.css_alloc	= cfqc_css_alloc,
	.css_offline	= cfqc_css_offline,
	.css_free	= cfqc_css_free,
	.legacy_cftypes	= cfqc_legacy_files,
};
