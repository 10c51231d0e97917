// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: weights that are set by the files of others.
 *
 * Programs that start services and containers know io.weight, which is that of
 * io.cost, or io.bfq.weight.  A group whose weight was not set here follows
 * these: io.weight, or if that is 100, as at first, io.bfq.weight if there is
 * one.  What others have is not known here, but what they show is: the files are
 * read like by any program, whenever one of them was written, or came with a
 * controller.
 *
 * This is for version 2.  Version 1 has no io.weight.
 */
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/fsnotify_backend.h>
#include <linux/kernfs.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <linux/cfq-iosched.h>

#include "cfq-group.h"

/* Those files, what counts more first. */
static const char * const cfq_followed_files[] = {
	"io.weight", "io.bfq.weight",
};

/* One at a time, so that what was read last is what was there last. */
static DEFINE_MUTEX(cfq_follow_mutex);

static struct fsnotify_group *cfq_follow_group;
/* Who reads: not who has written, who may not be allowed to. */
static const struct cred *cfq_follow_cred;

/* Once version 2 was mounted: a mount of our own, and a mark on what it is of. */
static struct vfsmount *cfq_follow_mnt;
static struct fsnotify_mark *cfq_follow_mark;

static void cfq_follow_begin(struct work_struct *work);
static DECLARE_WORK(cfq_follow_work, cfq_follow_begin);

/* The weight in a file of the group at @path, 0 if there is none. */
static unsigned int cfq_read_weight(char *path, const char *name)
{
	const struct path root = {
		.mnt = cfq_follow_mnt, .dentry = cfq_follow_mnt->mnt_root,
	};
	const size_t length = strlen(path);
	unsigned int weight = 0;
	struct file *file;
	char text[32];
	loff_t pos = 0;
	ssize_t nr;

	if (snprintf(path + length, PATH_MAX - length, "/%s", name) >=
	    PATH_MAX - length)
		return 0;
	file = file_open_root(&root, path, O_RDONLY, 0);
	path[length] = '\0';
	if (IS_ERR(file))
		return 0;
	nr = kernel_read(file, text, sizeof(text) - 1, &pos);
	fput(file);
	if (nr <= 0)
		return 0;
	text[nr] = '\0';
	return sscanf(text, "default %u", &weight) == 1 ? weight : 0;
}

static void cfq_set_followed(struct cfq_cgroup *cfqc, struct cfq_followed now)
{
	mutex_lock(&cfq_weight_mutex);
	cfqc->followed = now;
	if (!cfqc->weight_set)
		cfq_cgroup_set(cfqc, &cfqc->weight,
			       now.weight ?: CFQ_WEIGHT_DEFAULT);
	mutex_unlock(&cfq_weight_mutex);
}

/* Reads what the group of @css follows; @path is for its name. */
static void cfq_follow(struct cgroup_subsys_state *css, char *path)
{
	struct cfq_followed now = { };
	unsigned int weight;
	int nr;

	lockdep_assert_held(&cfq_follow_mutex);

	if (css->cgroup->root != &cgrp_dfl_root ||
	    cgroup_path(css->cgroup, path, PATH_MAX) < 0)
		return;
	for (nr = 0; nr < ARRAY_SIZE(cfq_followed_files) && !now.weight; nr++) {
		weight = cfq_read_weight(path, cfq_followed_files[nr]);
		if (weight && weight != CFQ_WEIGHT_DEFAULT)
			now = (struct cfq_followed) {
				.weight = weight,
				.file = cfq_followed_files[nr],
			};
	}
	cfq_set_followed(cfq_css_cgroup(css), now);
}

/* Reads what the group of @top follows, and those below it if they are to. */
static void cfq_follow_groups(struct cgroup_subsys_state *top, bool below)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	struct cgroup_subsys_state *css;

	if (!path)
		return;
	mutex_lock(&cfq_follow_mutex);
	rcu_read_lock();
	css_for_each_descendant_pre(css, top) {
		if (css_tryget_online(css)) {
			rcu_read_unlock();
			cfq_follow(css, path);
			rcu_read_lock();
			css_put(css);
		}
		if (!below)
			break;
	}
	rcu_read_unlock();
	mutex_unlock(&cfq_follow_mutex);
	kfree(path);
}

/* What the cgroup of a directory has of ours, with a reference. */
static struct cgroup_subsys_state *cfq_dentry_css(struct dentry *directory)
{
	struct kernfs_node *kn = d_inode(directory)->i_private;
	struct cgroup_subsys_state *css = NULL;
	struct cgroup *cgrp;

	rcu_read_lock();
	cgrp = rcu_dereference(*(void __rcu __force **)&kn->priv);
	if (cgrp)
		css = rcu_dereference(cgrp->subsys[cfq_subsys->id]);
	if (css && !css_tryget_online(css))
		css = NULL;
	rcu_read_unlock();
	return css;
}

/* A file of version 2 was written; in the context of who has done it. */
static int cfq_follow_event(struct fsnotify_group *group, u32 mask,
			    const void *data, int data_type, struct inode *dir,
			    const struct qstr *file_name, u32 cookie,
			    struct fsnotify_iter_info *iter_info)
{
	const struct path *file = fsnotify_data_path(data, data_type);
	struct cgroup_subsys_state *css;
	const struct cred *old;
	struct dentry *parent;
	const char *name;
	bool below;

	if (!file)
		return 0;
	/* Nobody renames or removes what is open. */
	name = file->dentry->d_name.name;
	/* Groups below may have come to us, or to who has those files. */
	below = !strcmp(name, "cgroup.subtree_control");
	if (!below && match_string(cfq_followed_files,
				   ARRAY_SIZE(cfq_followed_files), name) < 0)
		return 0;

	parent = dget_parent(file->dentry);
	css = cfq_dentry_css(parent);
	dput(parent);
	if (!css)
		return 0;
	old = override_creds(cfq_follow_cred);
	cfq_follow_groups(css, below);
	revert_creds(old);
	css_put(css);
	return 0;
}

static void cfq_follow_free_mark(struct fsnotify_mark *mark)
{
	kfree(mark);
}

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
 * Mounts version 2, of which there is one file system, where nobody sees it, if
 * somebody has mounted it: by itself that would change what all see.
 */
static struct vfsmount *cfq_mount_unified(void)
{
	struct file_system_type *type = get_fs_type("cgroup2");
	struct vfsmount *mnt = NULL;
	struct super_block *sb = NULL;
	struct fs_context *fc;

	if (!type)
		return NULL;
	iterate_supers_type(type, cfq_get_super, &sb);
	if (!sb)
		goto out;
	fc = fs_context_for_mount(type, 0);
	if (IS_ERR(fc)) {
		deactivate_super(sb);
		goto out;
	}
	/* That is what it mounts, and it lets go of it. */
	fc->root = dget(sb->s_root);
	mnt = vfs_create_mount(fc);
	if (IS_ERR(mnt))
		mnt = NULL;
	put_fs_context(fc);
out:
	module_put(type->owner);
	return mnt;
}

static struct fsnotify_mark *cfq_mark_unified(struct fsnotify_group *group)
{
	struct fsnotify_mark *mark = kzalloc_obj(*mark);

	if (!mark)
		return NULL;
	fsnotify_init_mark(mark, group);
	mark->mask = FS_MODIFY;
	if (fsnotify_add_mark(mark, cfq_follow_mnt->mnt_sb,
			      FSNOTIFY_OBJ_TYPE_SB, 0)) {
		fsnotify_put_mark(mark);
		return NULL;
	}
	return mark;
}

/* Begins, if somebody has mounted version 2 and this was not done before. */
static void cfq_follow_begin(struct work_struct *work)
{
	/* Groups may come before anything else is there. */
	struct fsnotify_group *group = smp_load_acquire(&cfq_follow_group);

	if (!group || cfq_follow_mark)
		return;
	if (!cfq_follow_mnt)
		cfq_follow_mnt = cfq_mount_unified();
	if (!cfq_follow_mnt)
		return;
	cfq_follow_mark = cfq_mark_unified(group);
	/* What was written before. */
	if (cfq_follow_mark)
		cfq_follow_groups(cfq_cgroup_css(cfq_root_cgroup()), true);
}

/**
 * cfq_follow_new - a group comes, so there may be a file system of version 2
 *
 * Context: any.
 */
void cfq_follow_new(void)
{
	schedule_work(&cfq_follow_work);
}

/**
 * cfq_follow_init - groups follow the files of others from now on
 *
 * Context: process context; groups may be there.
 * Return: 0, -ENOMEM.
 */
int __init cfq_follow_init(void)
{
	struct fsnotify_group *group;

	cfq_follow_cred = prepare_kernel_cred(&init_task);
	if (!cfq_follow_cred) {
		disable_work_sync(&cfq_follow_work);
		return -ENOMEM;
	}
	group = fsnotify_alloc_group(&cfq_follow_ops, 0);
	if (IS_ERR(group)) {
		disable_work_sync(&cfq_follow_work);
		put_cred(cfq_follow_cred);
		return PTR_ERR(group);
	}
	/* Behind what an event needs. */
	smp_store_release(&cfq_follow_group, group);
	cfq_follow_new();
	flush_work(&cfq_follow_work);
	return 0;
}

/**
 * cfq_follow_exit - nothing is followed any more
 *
 * Context: process context.
 */
void cfq_follow_exit(void)
{
	disable_work_sync(&cfq_follow_work);
	if (cfq_follow_mark) {
		fsnotify_destroy_mark(cfq_follow_mark, cfq_follow_group);
		fsnotify_put_mark(cfq_follow_mark);
	}
	fsnotify_put_group(cfq_follow_group);
	/* Until nobody is in the functions above any more. */
	fsnotify_wait_marks_destroyed();
	mntput(cfq_follow_mnt);
	put_cred(cfq_follow_cred);
}
