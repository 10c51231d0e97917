// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the cgroup subsystem "cfq", where groups are not those of
 * the io controller.  What is done with them: block/cfq-grid.c.
 */
#include <linux/slab.h>

#include "cfq-group.h"

struct cfq_css {
	struct cgroup_subsys_state css;
	struct cfq_cgroup	cfqc;
};

static struct cfq_css cfq_root_css;

struct cgroup_subsys *const cfq_subsys = &cfq_cgrp_subsys;

struct cfq_cgroup *cfq_css_cgroup(struct cgroup_subsys_state *css)
{
	return &container_of(css, struct cfq_css, css)->cfqc;
}

struct cgroup_subsys_state *cfq_cgroup_css(struct cfq_cgroup *cfqc)
{
	return &container_of(cfqc, struct cfq_css, cfqc)->css;
}

struct cfq_cgroup *cfq_root_cgroup(void)
{
	return &cfq_root_css.cfqc;
}

bool cfq_disk_exists(dev_t dev)
{
	struct device *device __free(put_device) =
		class_find_device_by_devt(&block_class, dev);

	return device && device->type == &disk_type;
}

static struct cgroup_subsys_state *cfqc_css_alloc(struct cgroup_subsys_state *parent)
{
	struct cfq_css *new;

	/* As cgroup.max.depth would have it. */
	if (parent && parent->cgroup->level >= CFQ_MAX_DEPTH)
		return ERR_PTR(-EAGAIN);
	new = parent ? kzalloc_obj(*new) : &cfq_root_css;
	if (!new)
		return ERR_PTR(-ENOMEM);
	cfq_cgroup_init(&new->cfqc);
	return &new->css;
}

static void cfqc_css_offline(struct cgroup_subsys_state *css)
{
	cfq_cgroup_offline(cfq_css_cgroup(css));
}

static void cfqc_css_free(struct cgroup_subsys_state *css)
{
	cfq_settings_free(&cfq_css_cgroup(css)->devices);
	kfree(container_of(css, struct cfq_css, css));
}

struct cgroup_subsys cfq_cgrp_subsys = {
	.css_alloc	= cfqc_css_alloc,
	.css_offline	= cfqc_css_offline,
	.css_free	= cfqc_css_free,
	.legacy_cftypes	= cfq_legacy_files,
	.dfl_cftypes	= cfq_files,
	.threaded	= true,
#ifdef CONFIG_BLK_CGROUP
	/*
	 * In version 2 a group is one of io, and so of memory, too, seen or
	 * unseen: they know who has caused what another task submits.
	 */
	.depends_on	= 1 << io_cgrp_id,
#endif
};

/* The kernel registers the subsystem. */
int __init cfq_groups_register(void)
{
	return cfq_follow_init();
}

void cfq_groups_unregister(void)
{
	cfq_follow_exit();
}
