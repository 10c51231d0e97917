// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: groups of the io controller.
 *
 * For kernels without a subsystem "cfq": it was not chosen, or the scheduler is
 * a module, which can bring none.  Each group of the io controller (blkio in
 * version 1) is one here, by data of a policy of that controller: the files are
 * io.cfq.* and blkio.cfq.*.  The policy has no data for devices.  What is done
 * with groups: block/cfq-grid.c.
 */
#include <linux/slab.h>

#include "blk-cgroup.h"
#include "cfq-group.h"

struct cfq_blkcg {
	struct blkcg_policy_data cpd;
	struct cfq_cgroup	cfqc;
};

static struct blkcg_policy cfq_policy;

struct cgroup_subsys *const cfq_subsys = &io_cgrp_subsys;

struct cfq_cgroup *cfq_css_cgroup(struct cgroup_subsys_state *css)
{
	struct blkcg_policy_data *cpd = blkcg_to_cpd(css_to_blkcg(css), &cfq_policy);

	return &container_of(cpd, struct cfq_blkcg, cpd)->cfqc;
}

struct cgroup_subsys_state *cfq_cgroup_css(struct cfq_cgroup *cfqc)
{
	return &container_of(cfqc, struct cfq_blkcg, cfqc)->cpd.blkcg->css;
}

struct cfq_cgroup *cfq_root_cgroup(void)
{
	return cfq_css_cgroup(blkcg_root_css);
}

bool cfq_disk_exists(dev_t dev)
{
	char text[sizeof("4095:1048575 ")];
	struct blkg_conf_ctx ctx;

	snprintf(text, sizeof(text), "%u:%u ", MAJOR(dev), MINOR(dev));
	blkg_conf_init(&ctx, text);
	if (blkg_conf_open_bdev(&ctx))
		return false;
	blkg_conf_close_bdev(&ctx);
	return true;
}

static struct blkcg_policy_data *cfq_cpd_alloc(gfp_t gfp)
{
	struct cfq_blkcg *new = kzalloc_obj(*new, gfp);

	if (!new)
		return NULL;
	cfq_cgroup_init(&new->cfqc);
	return &new->cpd;
}

static void cfq_cpd_free(struct blkcg_policy_data *cpd)
{
	struct cfq_blkcg *gone = container_of(cpd, struct cfq_blkcg, cpd);

	cfq_cgroup_offline(&gone->cfqc);
	cfq_settings_free(&gone->cfqc.devices);
	kfree(gone);
}

static struct blkcg_policy cfq_policy = {
	.legacy_cftypes	= cfq_legacy_files,
	.dfl_cftypes	= cfq_files,
	.cpd_alloc_fn	= cfq_cpd_alloc,
	.cpd_free_fn	= cfq_cpd_free,
};

int __init cfq_groups_register(void)
{
	int ret = blkcg_policy_register(&cfq_policy);

	if (ret == -ENOSPC)
		pr_err("cfq: all %d places for policies of the io controller are taken; unload another one, as bfq\n",
		       BLKCG_MAX_POLS);
	if (ret)
		return ret;
	ret = cfq_follow_init();
	if (ret)
		blkcg_policy_unregister(&cfq_policy);
	return ret;
}

void cfq_groups_unregister(void)
{
	cfq_follow_exit();
	blkcg_policy_unregister(&cfq_policy);
}
