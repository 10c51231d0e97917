// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the groups of a device: lifetime, settings, whose a
 * request is.
 *
 * 1. Whose request.  That of the group that caused it.  Writeback, drivers of
 *    stacked devices and other helpers tell the io controller whom they work
 *    for; that is used where it has the same hierarchy.  Written-back data is,
 *    besides, of who owns its memory.
 *
 * 2. Lifetimes.  The grid owns one reference on each cfqd, until the cgroup or
 *    the scheduler goes away.  Each cfq_queue and the cfqd of each child group
 *    own another.  So a cfqd without a cgroup is scheduled as before until its
 *    last request is done and the tasks that moved away, or worked for it, did
 *    I/O elsewhere or ended.
 *
 * Locks: cfq_grid_mutex keeps devices and cgroups from going away; who holds it
 * may walk a row, as rows only lose elements under it.  Inside it nests
 * cfqmd->lock, and inside that cfq_grid_lock: it protects what is added to rows
 * and the settings of a cgroup, so that a new cfqd never misses a change.  To
 * change a setting takes cfq_grid_lock and the mutex.
 */
#include <linux/blk-cgroup.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>

#include "cfq-group.h"
#include "cfq-member.h"

/* What these protect stands above. */
DEFINE_MUTEX(cfq_grid_mutex);
static DEFINE_SPINLOCK(cfq_grid_lock);

static struct cfq_cgroup *cfqc_parent(struct cfq_cgroup *cfqc)
{
	return cfq_css_cgroup(cfq_cgroup_css(cfqc)->parent);
}

static struct cfq_device_settings *
cfqc_device_settings(const struct cfq_cgroup *cfqc, dev_t dev)
{
	struct cfq_device_settings *settings;

	list_for_each_entry(settings, &cfqc->devices, node)
		if (settings->dev == dev)
			return settings;
	return NULL;
}

/* The virtual times of each class are its own: @member stays as far ahead. */
static void member_change_class(struct cfq_member *member, enum cfq_class class)
{
	struct cfq_entity *entity = &member->entity;
	const s64 lead = entity->vdisktime - member_tree(member)->min_vdisktime;
	const bool busy = entity->st;

	if (busy)
		cfq_st_del(entity);
	entity->class = class;
	entity->vdisktime = member_tree(member)->min_vdisktime + max(lead, 0);
	if (busy)
		cfq_st_add(member_tree(member), entity, 0);
	if (busy && member_with_turn(member))
		member->group->cfqmd->active_cfqd->turn_cut = true;
}

static void member_set(struct cfq_member *member, enum cfq_class class,
		       unsigned int weight)
{
	const bool waiting = member->waiting;
	const bool in_line = member_in_line(member);

	member_set_waiting(member, false);
	member_set_in_line(member, false);
	if (member->entity.class != class)
		member_change_class(member, class);
	cfq_entity_reweigh(member_tree(member), &member->entity, weight);
	member_set_waiting(member, waiting);
	member_set_in_line(member, in_line);
}

static void cfqd_apply_settings(struct cfq_data *cfqd, const struct cfq_cgroup *cfqc)
{
	const struct cfq_device_settings *settings =
		cfqc_device_settings(cfqc, cfq_group_dev(cfqd));
	struct cfq_member *member = cfqd_set_member(cfqd);
	unsigned int max_held = cfqc->max_held;
	unsigned int weight = cfqc_weight(cfqc);

	lockdep_assert_held(&cfqd->cfqmd->lock);

	if (settings) {
		weight = cfqc_device_weight(cfqc, settings) ?: weight;
		max_held = settings->max_held ?: max_held;
	}
	if (member != &cfqd->tasks)
		member_set(&cfqd->tasks, CFQ_CLASS_BE, cfqc->leaf_weight);
	member_set(member, cfqc->class, weight);

	WRITE_ONCE(cfqd->max_held, max_held);
	cfqd_admit(cfqd);
}

/* @cfqd will have a child group, beside which its tasks compete from now on. */
static void cfqd_separate_tasks(struct cfq_data *cfqd)
{
	const struct cfq_member *self = cfqd_leaf(cfqd);
	struct cfq_member *tasks = &cfqd->tasks;

	if (self == tasks)
		return;
	cfqd->queues.above = &tasks->entity;
	tasks->idle_since_ns = self->idle_since_ns;
	member_set_waiting(tasks, self->waiting);
	member_set_in_line(tasks, member_in_line(self));
	if (self->entity.st)
		cfq_st_add(member_tree(tasks), &tasks->entity, 0);
}

/* Sets up @cfqd, with the grid's reference; takes one on @parent, NULL for the root. */
static void cfq_grid_link(struct cfq_meta_data *cfqmd, struct cfq_data *cfqd,
			  struct cfq_data *parent, struct cfq_cgroup *cfqc)
{
	lockdep_assert_held(&cfqmd->lock);
	lockdep_assert_held(&cfq_grid_lock);

	cfq_data_init(cfqd, cfqmd);
	cfqd->tasks.group = cfqd;
	cfqd->tasks.entity.trees = &cfqd->members;
	cfqd->tasks.entity.class = CFQ_CLASS_BE;
	RB_CLEAR_NODE(&cfqd->tasks.line_node);
	cfqd->self.group = parent;
	cfqd->self.entity.class = cfqc->class;
	RB_CLEAR_NODE(&cfqd->self.line_node);
	INIT_LIST_HEAD(&cfqd->waiters);
	cfqd->queues.above = parent ? &cfqd->self.entity : &cfqd->tasks.entity;
	if (parent) {
		cfqd->self.entity.trees = &parent->members;
		/* Behind the clock, whatever it is by now. */
		cfqd->self.entity.vdisktime =
			member_tree(&cfqd->self)->min_vdisktime - S64_MAX / 2;
		cfqd->members.above = &cfqd->self.entity;
		parent->ref++;
		cfqd_separate_tasks(parent);
	}
	cfqd_apply_settings(cfqd, cfqc);
	cfqd->cfqc = cfqc;
	cfqd->cgroup_id = cgroup_id(cfq_cgroup_css(cfqc)->cgroup);
	list_add_tail_rcu(&cfqd->column_node, &cfqmd->column);
	list_add_tail_rcu(&cfqd->row_node, &cfqc->row);
}

/* Ends the grid's reference.  No request will be added to @cfqd. */
static void cfq_grid_unlink(struct cfq_data *cfqd)
{
	lockdep_assert_held(&cfq_grid_mutex);
	lockdep_assert_held(&cfqd->cfqmd->lock);

	/* Nobody walks the row now: that needs the mutex. */
	scoped_guard(spinlock, &cfq_grid_lock)
		list_del(&cfqd->row_node);
	WRITE_ONCE(cfqd->cfqc, NULL);
	cfq_data_exit(cfqd);
	cfq_group_put(cfqd);
}

void cfq_group_put(struct cfq_data *cfqd)
{
	struct cfq_meta_data *cfqmd = cfqd->cfqmd;

	lockdep_assert_held(&cfqmd->lock);

	while (cfqd && !--cfqd->ref) {
		struct cfq_data *parent = cfqd->self.group;

		list_del_rcu(&cfqd->column_node);
		WARN_ON_ONCE(member_counts(cfqd_leaf(cfqd)) ||
			     cfqmd->active_cfqd == cfqd);
		if (parent)
			kfree_rcu(cfqd, rcu);
		cfqd = parent;
	}
}

/* The group that counts for a cgroup: too deep ones count as the last that is not. */
static struct cfq_cgroup *cfq_css_counts(struct cgroup_subsys_state *css)
{
	while (unlikely(css->cgroup->level > CFQ_MAX_DEPTH))
		css = css->parent;
	return cfq_css_cgroup(css);
}

/* Needs RCU, or the task's own context. */
struct cfq_cgroup *cfq_current_cgroup(void)
{
	return cfq_css_counts(task_css(current, cfq_subsys->id));
}

static bool cfq_same_hierarchy(const struct cgroup_subsys *ss)
{
	return READ_ONCE(ss->root) == READ_ONCE(cfq_subsys->root);
}

#ifdef CONFIG_MEMCG
/*
 * The owner of the first page, if that is written back or metadata.  Of direct
 * I/O it is no sign.
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
static struct cgroup *cfq_bio_page_owner(struct bio *bio) { return NULL; }
#endif

/* Of the nearest cgroup, from @cgroup up, that has one. */
static noinline struct cfq_cgroup *cgroup_to_cfqc(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css;

	for (; cgroup; cgroup = cgroup_parent(cgroup)) {
		css = rcu_dereference(cgroup->subsys[cfq_subsys->id]);
		if (css)
			return cfq_css_counts(css);
	}
	return cfq_root_cgroup();
}

/* Is @bio marked as of another group than the task's, as of who is helped?  Needs RCU. */
bool cfq_bio_told(struct bio *bio)
{
	struct cgroup_subsys_state *io_css = bio_blkcg_css(bio);

	return io_css && cfq_same_hierarchy(io_css->ss) &&
	       io_css != task_css(current, io_css->ss->id);
}

/*
 * Which group caused what the current task submits, and is it another than its
 * own (@behalf)?  Needs RCU: it may be removed at any time.
 */
struct cfq_cgroup *cfq_bio_cgroup(struct bio *bio, bool *behalf)
{
	struct cgroup_subsys_state *io_css = bio_blkcg_css(bio);
	struct cgroup *owner = cfq_bio_page_owner(bio);
	struct cfq_cgroup *own = cfq_current_cgroup();
	struct cfq_cgroup *cfqc = own;

	if (io_css && !cfq_same_hierarchy(io_css->ss))
		io_css = NULL;
	if (owner && (!io_css || cgroup_is_descendant(owner, io_css->cgroup)))
		cfqc = cgroup_to_cfqc(owner);
	else if (cfq_bio_told(bio))
		cfqc = cgroup_to_cfqc(io_css->cgroup);
	*behalf = cfqc != own;
	return cfqc;
}

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

/*
 * @cfqc on a device, with no reference but the grid's, so until the lock is
 * dropped.  Of a removed cgroup that of the nearest above; without memory that of
 * the root group.  Needs RCU.
 */
struct cfq_data *cfq_group_of(struct cfq_meta_data *cfqmd, struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd, *parent;

	lockdep_assert_held(&cfqmd->lock);

	spin_lock(&cfq_grid_lock);
	while (cfqc->offline)
		cfqc = cfqc_parent(cfqc);
	/* That of the root group is always there. */
	while (!(cfqd = cfq_group_find(cfqmd, cfqc))) {
		struct cfq_cgroup *missing = cfqc;

		/* The highest one that is missing comes first. */
		while (!(parent = cfq_group_find(cfqmd, cfqc_parent(missing))))
			missing = cfqc_parent(missing);
		cfqd = kzalloc_node(sizeof(*cfqd), GFP_NOWAIT, cfqmd->dd.queue->node);
		if (!cfqd) {
			cfqd = &cfqmd->root;
			break;
		}
		cfq_grid_link(cfqmd, cfqd, parent, missing);
	}
	spin_unlock(&cfq_grid_lock);
	return cfqd;
}

void cfq_groups_init(struct cfq_meta_data *cfqmd)
{
	INIT_LIST_HEAD(&cfqmd->column);

	guard(mutex)(&cfq_grid_mutex);
	scoped_guard(cfq_lock, cfqmd)
		scoped_guard(spinlock, &cfq_grid_lock)
			cfq_grid_link(cfqmd, &cfqmd->root, NULL, cfq_root_cgroup());
	/* What groups follow may be for a disk that had the same number. */
	cfq_follow_soon(true);
}

/* All requests of the device are done: takes its column off the grid. */
void cfq_groups_exit(struct cfq_meta_data *cfqmd)
{
	struct cfq_data *cfqd, *next;

	guard(mutex)(&cfq_grid_mutex);
	scoped_guard(cfq_lock, cfqmd)
		cfq_groups_end_turn(cfqmd, ktime_get_ns(), "left");
	/* What is freed besides @cfqd is above it, so before it on the list. */
	list_for_each_entry_safe(cfqd, next, &cfqmd->column, column_node)
		scoped_guard(cfq_lock, cfqmd)
			if (cfqd->cfqc)
				cfq_grid_unlink(cfqd);
	WARN_ON_ONCE(!list_empty(&cfqmd->column));
}

void cfq_groups_show(struct cfq_meta_data *cfqmd, struct seq_file *m)
{
	struct cfq_data *cfqd;

	lockdep_assert_held(&cfqmd->lock);

	seq_printf(m, "busy %u\n", cfqmd->nr_busy_groups);
	list_for_each_entry(cfqd, &cfqmd->column, column_node) {
		const struct cfq_member *member = cfqd_set_member(cfqd);
		char path[256] = "(removed)", limit[16] = "max";

		/* It is shown again, with more room. */
		if (seq_has_overflowed(m))
			break;
		if (cfqd->max_held != CFQ_NO_LIMIT)
			snprintf(limit, sizeof(limit), "%u", cfqd->max_held);
		if (cfqd->cfqc)
			cgroup_path(cfq_cgroup_css(cfqd->cfqc)->cgroup, path,
				    sizeof(path));
		seq_printf(m,
			   "group %s weight %u vdisktime %llu tasks weight %u vdisktime %llu time_us %llu queued %u driver %u held %u limit %s%s%s\n",
			   path, member->entity.weight,
			   member->entity.vdisktime, cfqd->tasks.entity.weight,
			   cfqd->tasks.entity.vdisktime,
			   div_u64(cfqd->stats[CFQ_STAT_TIME], NSEC_PER_USEC),
			   cfqd->nr_queued, cfqd->nr_in_driver, cfqd->nr_held, limit,
			   cfqd_leaf(cfqd)->entity.st ? " busy" : "",
			   cfqmd->active_cfqd == cfqd ? " active" : "");
		cfq_data_show(cfqd, m);
	}
}

/* @cfqc is all zeroes. */
void cfq_cgroup_init(struct cfq_cgroup *cfqc)
{
	INIT_LIST_HEAD(&cfqc->row);
	INIT_LIST_HEAD(&cfqc->devices);
	cfqc->leaf_weight = CFQ_WEIGHT_DEFAULT;
	cfqc->class = CFQ_CLASS_BE;
	cfqc->max_held = CFQ_NO_LIMIT;
	cfq_follow_soon(false);
}

/* No cfqd is added to @cfqc from now on. */
void cfq_cgroup_offline(struct cfq_cgroup *cfqc)
{
	struct cfq_data *cfqd, *next;

	guard(mutex)(&cfq_grid_mutex);
	scoped_guard(spinlock_irq, &cfq_grid_lock)
		cfqc->offline = true;

	list_for_each_entry_safe(cfqd, next, &cfqc->row, row_node)
		scoped_guard(cfq_lock, cfqd->cfqmd)
			cfq_grid_unlink(cfqd);
}

void cfq_settings_free(struct list_head *devices)
{
	struct cfq_device_settings *settings, *next;

	list_for_each_entry_safe(settings, next, devices, node)
		kfree(settings);
}

/* What is changed until cfqc_end_change() takes effect at once. */
static void cfqc_begin_change(void)
	__acquires(&cfq_grid_lock)
{
	mutex_lock(&cfq_grid_mutex);
	spin_lock_irq(&cfq_grid_lock);
}

static void cfqc_end_change(struct cfq_cgroup *cfqc)
	__releases(&cfq_grid_lock)
{
	struct cfq_device_settings *settings, *next;
	struct cfq_data *cfqd;
	LIST_HEAD(empty);

	list_for_each_entry_safe(settings, next, &cfqc->devices, node)
		if (!settings->weight && !settings->followed && !settings->max_held)
			list_move(&settings->node, &empty);
	spin_unlock_irq(&cfq_grid_lock);
	list_for_each_entry_rcu(cfqd, &cfqc->row, row_node,
				lockdep_is_held(&cfq_grid_mutex))
		scoped_guard(cfq_lock, cfqd->cfqmd)
			cfqd_apply_settings(cfqd, cfqc);
	mutex_unlock(&cfq_grid_mutex);
	cfq_settings_free(&empty);
}

/*
 * Set a @setting of @cfqc for all devices; @value is valid, 0 takes a weight
 * back.  Return: 0, -EAGAIN if there are too many groups above.
 */
int cfq_cgroup_set(struct cfq_cgroup *cfqc, unsigned int *setting, unsigned int value)
{
	if (cfq_css_counts(cfq_cgroup_css(cfqc)) != cfqc)
		return -EAGAIN;
	cfqc_begin_change();
	WRITE_ONCE(*setting, value);
	cfqc_end_change(cfqc);
	return 0;
}

/*
 * The same for one device: the @limit or else the weight; 0 removes it.  A setting
 * outlives its device, which may come back.  Return: also -ENODEV, -ENOMEM.
 */
int cfq_cgroup_set_for_device(struct cfq_cgroup *cfqc, dev_t dev, bool limit,
			      unsigned int value)
{
	struct cfq_device_settings *new, *settings;
	/* A hidden disk has no number. */
	const bool exists = dev && cfq_disk_exists(dev);
	int ret = 0;

	if (cfq_css_counts(cfq_cgroup_css(cfqc)) != cfqc)
		return -EAGAIN;
	/* Reclaim could wait for a device that waits for the mutex. */
	new = kzalloc_obj(*new);
	if (!new)
		return -ENOMEM;
	new->dev = dev;

	cfqc_begin_change();
	/* If that remains without a setting, it is gone at the end. */
	list_add_tail(&new->node, &cfqc->devices);
	settings = cfqc_device_settings(cfqc, dev);
	if (exists || (settings != new && !value))
		*(limit ? &settings->max_held : &settings->weight) = value;
	else
		ret = -ENODEV;
	cfqc_end_change(cfqc);
	return ret;
}

/*
 * What @cfqc follows from now on: @weight of @file for all devices, and what is
 * set of @devices, of which it takes some.
 */
void cfq_cgroup_follow(struct cfq_cgroup *cfqc, unsigned int weight,
		       const char *file, struct list_head *devices)
{
	struct cfq_device_settings *settings, *next, *had;

	cfqc_begin_change();
	WRITE_ONCE(cfqc->followed, weight);
	cfqc->followed_file = file;
	list_for_each_entry(settings, &cfqc->devices, node)
		settings->followed = 0;
	list_for_each_entry_safe(settings, next, devices, node) {
		had = cfqc_device_settings(cfqc, settings->dev);
		if (had)
			had->followed = settings->followed;
		else
			list_move_tail(&settings->node, &cfqc->devices);
	}
	cfqc_end_change(cfqc);
}
