/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module misses in a kernel that the scheduler was not written for,
 * beyond what the patch for that kernel changes.  Every file sees this first.
 */
#ifndef CFQ_COMPAT_H
#define CFQ_COMPAT_H

#include <linux/slab.h>
#include <linux/version.h>

#include "blk-cgroup.h"

/* Memory for an object of that type: GFP_KERNEL unless flags are given. */
#ifndef kmalloc_obj
#define cfq_gfp(none, gfp, ...)	gfp
#define kmalloc_obj(object, ...)					\
	kmalloc(sizeof(object), cfq_gfp(0, ##__VA_ARGS__, GFP_KERNEL))
#define kzalloc_obj(object, ...)					\
	kzalloc(sizeof(object), cfq_gfp(0, ##__VA_ARGS__, GFP_KERNEL))
#endif

/*
 * To hold the disk of which the number stands in ctx->input.  What does that is
 * not exported everywhere, but is part of what is: that then fails with one
 * error for a policy without data for disks, and with others without a disk.
 */
static inline int cfq_conf_open_bdev(struct blkg_conf_ctx *ctx,
				     const struct blkcg_policy *policy)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
	int ret = blkg_conf_prep(css_to_blkcg(blkcg_root_css), policy, ctx);

	if (ret == -EOPNOTSUPP)
		return 0;
	blkg_conf_exit(ctx);
	return ret;
#else
	return blkg_conf_open_bdev(ctx);
#endif
}

static inline void cfq_conf_close_bdev(struct blkg_conf_ctx *ctx)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
	blkg_conf_exit(ctx);
#else
	blkg_conf_close_bdev(ctx);
#endif
}

#endif /* CFQ_COMPAT_H */
