// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: weights that are set by the files of others.
 *
 * Programs that start services and containers know io.weight (of io.cost) or
 * io.bfq.weight.  A group whose weight was not set here follows these:
 * io.weight, or if that is 100, as at first, io.bfq.weight if there is one.
 * All that tells of them is the files, so they are read when one is written, or
 * may have come with a controller that is enabled; and all of them when a disk,
 * which has lines of its own, takes this scheduler, or bfq is unloaded.
 *
 * Lines for single devices in io.weight count before these weights.  Those in
 * io.bfq.weight are for devices where bfq is selected, so they are left alone.
 *
 * This is for version 2.  Version 1 has no io.weight.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs_context.h>
#include <linux/fsnotify_backend.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cfq-group.h"

/* What counts more comes first. */
static const char * const cfq_followed_files[] = { "io.weight", "io.bfq.weight" };

/* One at a time, so that what was read last was there last; with this path. */
static DEFINE_MUTEX(cfq_follow_mutex);
/* What is too long for a path is still so, as nothing is cut off. */
static char cfq_follow_path[PATH_MAX + sizeof("/io.bfq.weight")];

static struct fsnotify_group *cfq_follow_group;

/* Once version 2 is mounted: a mount of our own, and a mark on what is mounted. */
static struct vfsmount *cfq_follow_mnt;
static struct fsnotify_mark cfq_follow_mark;

static void cfq_follow_begin(struct work_struct *work);
static DECLARE_WORK(cfq_follow_work, cfq_follow_begin);

/* Read all groups: at first, and again where no event says so. */
static int cfq_follow_all = 1;

/* What is followed stays until it can be read. */
static void cfq_follow_failed(int error)
{
	pr_warn_once("cfq: cannot follow io.weight (error %d): some weights may be old ones\n",
		     error);
	/* Try again with the next group, unless that would always fail. */
	if (error == -ENOMEM || error == -ENFILE)
		WRITE_ONCE(cfq_follow_all, 1);
}

/* Lines for devices are skipped if @devices is NULL. */
static int cfq_take_line(const char *line, unsigned int *weight,
			 struct list_head *devices)
{
	struct cfq_device_settings *settings;
	unsigned int major, minor, number;

	if (sscanf(line, "default %u", weight) == 1 || !devices ||
	    sscanf(line, "%u:%u %u", &major, &minor, &number) != 3)
		return 0;
	settings = kzalloc_obj(*settings);
	if (!settings)
		return -ENOMEM;
	settings->dev = MKDEV(major, minor);
	settings->followed = number;
	list_add_tail(&settings->node, devices);
	return 0;
}

/*
 * Takes what was opened as @file, or failed to be.  It has a line for each
 * device, so that is by pieces.
 */
static int cfq_take_file(struct file *file, unsigned int *weight,
			 struct list_head *devices)
{
	char text[64], *line, *end;
	size_t length = 0;
	loff_t pos = 0;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	while ((ret = kernel_read(file, text + length, sizeof(text) - 1 - length,
				  &pos)) > 0) {
		text[length + ret] = '\0';
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			ret = cfq_take_line(line, weight, devices);
			if (ret)
				goto out;
		}
		length = strlen(line);
		memmove(text, line, length);
	}
	/* No line is as long as that. */
	if (!ret && length)
		ret = -EMSGSIZE;
out:
	/* fput() would leave all of a walk to the end of the system call. */
	__fput_sync(file);
	return ret;
}

static void cfq_follow(struct cgroup_subsys_state *css)
{
	const char *name = NULL;
	unsigned int weight = 0;
	int nr, length, ret;
	LIST_HEAD(devices);

	guard(mutex)(&cfq_follow_mutex);
	if (css->cgroup->root != &cgrp_dfl_root)
		return;
	length = cgroup_path(css->cgroup, cfq_follow_path, PATH_MAX);
	ret = min(length, 0);
	for (nr = 0; !ret && !weight && nr < ARRAY_SIZE(cfq_followed_files); nr++) {
		name = cfq_followed_files[nr];
		snprintf(cfq_follow_path + length, sizeof(cfq_follow_path) - length,
			 "/%s", name);
		ret = cfq_take_file(file_open_root_mnt(cfq_follow_mnt, cfq_follow_path,
						       O_RDONLY, 0),
				    &weight, nr ? NULL : &devices);
		if (ret == -ENOENT || ret == -ENODEV)
			ret = 0;
		/* As at first. */
		if (weight == CFQ_WEIGHT_DEFAULT)
			weight = 0;
	}
	if (ret)
		cfq_follow_failed(ret);
	else
		cfq_cgroup_follow(cfq_css_cgroup(css), weight, name, &devices);
	cfq_settings_free(&devices);
}

/* All from @top down, or only its children. */
static void cfq_follow_groups(struct cgroup_subsys_state *top, bool all)
{
	struct cgroup_subsys_state *css;

	rcu_read_lock();
	css_for_each_descendant_pre(css, top) {
		if ((all || css->parent == top) && css_tryget_online(css)) {
			rcu_read_unlock();
			cfq_follow(css);
			rcu_read_lock();
			css_put(css);
		}
	}
	rcu_read_unlock();
}

/* Our css of the cgroup of a directory, with a reference. */
static struct cgroup_subsys_state *cfq_dentry_css(struct dentry *directory)
{
	struct kernfs_node *kn = d_inode(directory)->i_private;
	struct cgroup_subsys_state *css;
	struct cgroup *cgrp;

	guard(rcu)();
	cgrp = rcu_dereference(*(void __rcu __force **)&kn->priv);
	css = cgrp ? rcu_dereference(cgrp->subsys[cfq_subsys->id]) : NULL;
	return css && css_tryget_online(css) ? css : NULL;
}

/* A weight was written in a group where "cfq" is not enabled, without effect. */
static void cfq_follow_missed(const struct path *written)
{
	const struct path path = { .mnt = cfq_follow_mnt, .dentry = written->dentry };
	unsigned int weight = CFQ_WEIGHT_DEFAULT;
	LIST_HEAD(devices);

	if (IS_ENABLED(CONFIG_CFQ_CGROUP_IO) || cfq_subsys->root != &cgrp_dfl_root ||
	    list_empty(&cfq_root_cgroup()->row))
		return;
	cfq_take_file(dentry_open(&path, O_RDONLY, current_cred()), &weight, &devices);
	/* Some write the default. */
	if (weight != CFQ_WEIGHT_DEFAULT || !list_empty(&devices))
		pr_notice_once("cfq: %s was set in a group without cfq; write +cfq to cgroup.subtree_control of the groups above it\n",
			       written->dentry->d_name.name);
	cfq_settings_free(&devices);
}

/* A file was written; in the context of who has done it. */
static int cfq_follow_event(struct fsnotify_group *group, u32 mask,
			    const void *data, int data_type, struct inode *dir,
			    const struct qstr *file_name, u32 cookie,
			    struct fsnotify_iter_info *iter_info)
{
	const struct path *file = fsnotify_data_path(data, data_type);
	struct cgroup_subsys_state *css;
	const struct cred *old;
	const char *name;
	bool below;

	if (!file)
		return 0;
	/* Nobody renames or moves what is open. */
	name = file->dentry->d_name.name;
	/* Children may have come, or got those files. */
	below = !strcmp(name, "cgroup.subtree_control");
	if (!below && match_string(cfq_followed_files,
				   ARRAY_SIZE(cfq_followed_files), name) < 0)
		return 0;

	css = cfq_dentry_css(file->dentry->d_parent);
	/* Who has written may not be allowed to read. */
	old = override_creds(kernel_cred());
	if (css && below)
		cfq_follow_groups(css, false);
	else if (css)
		cfq_follow(css);
	else if (!below)
		cfq_follow_missed(file);
	if (css)
		css_put(css);
	revert_creds(old);
	return 0;
}

/* There is one, which is not allocated. */
static void cfq_follow_free_mark(struct fsnotify_mark *mark) { }

static const struct fsnotify_ops cfq_follow_ops = {
	.handle_event	= cfq_follow_event,
	.free_mark	= cfq_follow_free_mark,
};

static void cfq_get_super(struct super_block *sb, void *found)
{
	if (atomic_inc_not_zero(&sb->s_active))
		*(struct super_block **)found = sb;
}

/*
 * Mounts version 2, of which there is one file system, where nobody sees it;
 * NULL if nobody has mounted it before, as that would change what all see.
 */
static struct vfsmount *cfq_mount_unified(void)
{
	/* As groups are, it is always in the kernel. */
	struct file_system_type *type = get_fs_type("cgroup2");
	struct super_block *sb = NULL;
	struct fs_context *fc;
	struct vfsmount *mnt;

	iterate_supers_type(type, cfq_get_super, &sb);
	if (!sb)
		return NULL;
	fc = fs_context_for_mount(type, 0);
	if (IS_ERR(fc)) {
		deactivate_super(sb);
		return ERR_CAST(fc);
	}
	/* Mounts that, and lets go of it. */
	fc->root = dget(sb->s_root);
	mnt = vfs_create_mount(fc);
	put_fs_context(fc);
	return mnt;
}

static void cfq_follow_begin(struct work_struct *work)
{
	struct vfsmount *mnt = cfq_follow_mnt ?: cfq_mount_unified();
	int ret = PTR_ERR_OR_ZERO(mnt);

	if (mnt && !ret && !cfq_follow_mnt) {
		/* Before an event needs it. */
		cfq_follow_mnt = mnt;
		ret = fsnotify_add_mark(&cfq_follow_mark, mnt->mnt_sb,
					FSNOTIFY_OBJ_TYPE_SB, 0);
		if (ret) {
			cfq_follow_mnt = NULL;
			mntput(mnt);
		}
	}
	if (ret)
		cfq_follow_failed(ret);
	else if (mnt && xchg(&cfq_follow_all, 0))
		cfq_follow_groups(cfq_cgroup_css(cfq_root_cgroup()), true);
}

/*
 * Version 2 may be mounted, or, if @all, what groups follow have changed
 * without a write.
 */
void cfq_follow_soon(bool all)
{
	if (all)
		WRITE_ONCE(cfq_follow_all, 1);
	/* Groups may come before cfq_follow_init(). */
	if (smp_load_acquire(&cfq_follow_group))
		schedule_work(&cfq_follow_work);
}

/* The files of bfq are gone when its exit function is done. */
static int cfq_follow_module(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *module = data;

	if (state == MODULE_STATE_GOING && !strcmp(module->name, "bfq"))
		cfq_follow_soon(true);
	return NOTIFY_OK;
}

static struct notifier_block cfq_follow_module_nb = {
	.notifier_call = cfq_follow_module,
};

int __init cfq_follow_init(void)
{
	struct fsnotify_group *group = fsnotify_alloc_group(&cfq_follow_ops, 0);

	if (IS_ERR(group))
		return PTR_ERR(group);
	fsnotify_init_mark(&cfq_follow_mark, group);
	cfq_follow_mark.mask = FS_MODIFY;
	/* Behind what an event needs. */
	smp_store_release(&cfq_follow_group, group);
	cfq_follow_soon(false);
	flush_work(&cfq_follow_work);
	/* It cannot fail the first time. */
	register_module_notifier(&cfq_follow_module_nb);
	return 0;
}

void cfq_follow_exit(void)
{
	unregister_module_notifier(&cfq_follow_module_nb);
	disable_work_sync(&cfq_follow_work);
	fsnotify_destroy_mark(&cfq_follow_mark, cfq_follow_group);
	fsnotify_put_mark(&cfq_follow_mark);
	fsnotify_put_group(cfq_follow_group);
	/* Until nobody is in the functions above. */
	fsnotify_wait_marks_destroyed();
	mntput(cfq_follow_mnt);
}
