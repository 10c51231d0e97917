// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: weights that are set by the files of others.
 *
 * Programs that start services and containers know io.weight, which is that of
 * io.cost, or io.bfq.weight.  A group whose io.cfq.weight was not set follows
 * these: io.weight, or if that is 100, as at first, io.bfq.weight if there is
 * one.  What others have is not known to a module, but what they show is: the
 * files are read like by any program, whenever one of them was written.
 *
 * This is for version 2.  Version 1 has no io.weight.
 */
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify_backend.h>
#include <linux/kernfs.h>
#include <linux/magic.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "cfq-blkcg.h"

/* Those files, what counts more first. */
static const char * const cfq_followed_files[] = {
	"io.weight", "io.bfq.weight",
};

/* One at a time, so that what was read last is what was there last. */
static DEFINE_MUTEX(cfq_follow_mutex);

static struct fsnotify_group *cfq_follow_group;
/* On the file system of version 2, once that was mounted. */
static struct fsnotify_mark *cfq_follow_mark;
/* Were the files of all groups read that were there before the mark? */
static bool cfq_follow_all_read;
/* Who reads: not who has written, who may not be allowed to. */
static const struct cred *cfq_follow_cred;

static void cfq_follow_begin(struct work_struct *work);
static DECLARE_WORK(cfq_follow_work, cfq_follow_begin);

/* The weight in a file of the group at @path below @root, 0 if there is none. */
static unsigned int cfq_read_weight(const struct path *root, char *path,
				    const char *name)
{
	const size_t length = strlen(path);
	unsigned int weight = 0;
	struct file *file;
	char text[32];
	loff_t pos = 0;
	ssize_t nr;

	if (snprintf(path + length, PATH_MAX - length, "/%s", name) >=
	    PATH_MAX - length)
		return 0;
	file = file_open_root(root, path, O_RDONLY, 0);
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

static void cfq_set_followed(struct cfq_blkcg *cfqb, struct cfq_followed now)
{
	struct cfq_cgroup *cfqc = &cfqb->cfqc;

	mutex_lock(&cfq_weight_mutex);
	cfqb->followed = now;
	if (!cfqc->weight_set)
		cfq_cgroup_set(cfqc, &cfqc->weight,
			       now.weight ?: CFQ_WEIGHT_DEFAULT);
	mutex_unlock(&cfq_weight_mutex);
}

/* Reads what @cgrp follows; @path is for its name. */
static void cfq_follow(const struct path *root, struct cgroup *cgrp,
		       struct cfq_blkcg *cfqb, char *path)
{
	struct cfq_followed now = { };
	unsigned int weight;
	int nr;

	lockdep_assert_held(&cfq_follow_mutex);

	if (cgroup_path(cgrp, path, PATH_MAX) < 0)
		return;
	for (nr = 0; nr < ARRAY_SIZE(cfq_followed_files) && !now.weight; nr++) {
		weight = cfq_read_weight(root, path, cfq_followed_files[nr]);
		if (weight && weight != CFQ_WEIGHT_DEFAULT)
			now = (struct cfq_followed) {
				.weight = weight,
				.file = cfq_followed_files[nr],
			};
	}
	cfq_set_followed(cfqb, now);
}

/* Reads what all groups follow. */
static void cfq_follow_all(const struct path *root, char *path)
{
	struct cgroup_subsys_state *css;

	lockdep_assert_held(&cfq_follow_mutex);

	cfq_follow_all_read = true;
	rcu_read_lock();
	css_for_each_descendant_pre(css, blkcg_root_css) {
		if (!css_tryget_online(css))
			continue;
		rcu_read_unlock();
		cfq_follow(root, css->cgroup, css_to_cfq_blkcg(css), path);
		rcu_read_lock();
		css_put(css);
	}
	rcu_read_unlock();
}

/* The io controller's part of the group of a directory, with a reference. */
static struct cgroup_subsys_state *cfq_dentry_css(struct dentry *directory)
{
	struct kernfs_node *kn = d_inode(directory)->i_private;
	struct cgroup_subsys_state *css = NULL;
	struct cgroup *cgrp;

	rcu_read_lock();
	cgrp = rcu_dereference(*(void __rcu __force **)&kn->priv);
	if (cgrp)
		css = rcu_dereference(cgrp->subsys[io_cgrp_id]);
	if (css && !css_tryget_online(css))
		css = NULL;
	rcu_read_unlock();
	return css;
}

static bool cfq_is_followed(struct dentry *dentry)
{
	/* Nobody renames or removes what is open. */
	return match_string(cfq_followed_files, ARRAY_SIZE(cfq_followed_files),
			    dentry->d_name.name) >= 0;
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
	struct path root;
	char *path;

	if (!file || !cgroup_subsys_on_dfl(io_cgrp_subsys) ||
	    (READ_ONCE(cfq_follow_all_read) && !cfq_is_followed(file->dentry)))
		return 0;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!path)
		return 0;

	parent = dget_parent(file->dentry);
	css = cfq_dentry_css(parent);
	root = (struct path) {
		.mnt = file->mnt, .dentry = file->dentry->d_sb->s_root,
	};
	old = override_creds(cfq_follow_cred);
	mutex_lock(&cfq_follow_mutex);
	if (!cfq_follow_all_read)
		cfq_follow_all(&root, path);
	else if (css)
		cfq_follow(&root, css->cgroup, css_to_cfq_blkcg(css), path);
	mutex_unlock(&cfq_follow_mutex);
	revert_creds(old);
	if (css)
		css_put(css);
	dput(parent);
	kfree(path);
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

static void cfq_follow_sb(struct super_block *sb, void *unused)
{
	struct fsnotify_mark *mark;

	if (cfq_follow_mark) {
		if (cfq_follow_mark->flags & FSNOTIFY_MARK_FLAG_ATTACHED)
			return;
		/* That one was unmounted. */
		fsnotify_put_mark(cfq_follow_mark);
		cfq_follow_mark = NULL;
	}
	mark = kzalloc_obj(*mark);
	if (!mark)
		return;
	fsnotify_init_mark(mark, cfq_follow_group);
	mark->mask = FS_MODIFY;
	if (fsnotify_add_mark(mark, sb, FSNOTIFY_OBJ_TYPE_SB, 0))
		fsnotify_put_mark(mark);
	else
		cfq_follow_mark = mark;
}

/* Marks the file system of version 2, if there is one yet. */
static void cfq_follow_begin(struct work_struct *work)
{
	struct file_system_type *type = get_fs_type("cgroup2");

	if (!type)
		return;
	mutex_lock(&cfq_follow_mutex);
	if (cfq_follow_group)
		iterate_supers_type(type, cfq_follow_sb, NULL);
	mutex_unlock(&cfq_follow_mutex);
	module_put(type->owner);
}

/* What was written before the module came, if it is where all look for it. */
static void cfq_follow_old(void)
{
	struct path root;
	char *path;

	if (kern_path("/sys/fs/cgroup", LOOKUP_DIRECTORY, &root))
		return;
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	if (path && cgroup_subsys_on_dfl(io_cgrp_subsys) &&
	    root.mnt->mnt_sb->s_magic == CGROUP2_SUPER_MAGIC) {
		mutex_lock(&cfq_follow_mutex);
		cfq_follow_all(&root, path);
		mutex_unlock(&cfq_follow_mutex);
	}
	kfree(path);
	path_put(&root);
}

/* A group comes: so there is a file system, if it is of version 2. */
void cfq_follow_new(void)
{
	schedule_work(&cfq_follow_work);
}

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
	mutex_lock(&cfq_follow_mutex);
	cfq_follow_group = group;
	mutex_unlock(&cfq_follow_mutex);
	cfq_follow_begin(NULL);
	cfq_follow_old();
	return 0;
}

void cfq_follow_exit(void)
{
	struct fsnotify_mark *mark;

	disable_work_sync(&cfq_follow_work);
	mark = cfq_follow_mark;
	if (mark) {
		fsnotify_destroy_mark(mark, cfq_follow_group);
		fsnotify_put_mark(mark);
	}
	fsnotify_put_group(cfq_follow_group);
	/* Until nobody is in the functions above any more. */
	fsnotify_wait_marks_destroyed();
	put_cred(cfq_follow_cred);
}
