/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module misses in a kernel that the scheduler was not written for,
 * beyond what the patch for that kernel changes.  Every file sees this first.
 */
#ifndef CFQ_COMPAT_H
#define CFQ_COMPAT_H

#include <linux/slab.h>

/* Memory for an object of that type: GFP_KERNEL unless flags are given. */
#ifndef kmalloc_obj
#define cfq_gfp(none, gfp, ...)	gfp
#define kmalloc_obj(object, ...)					\
	kmalloc(sizeof(object), cfq_gfp(0, ##__VA_ARGS__, GFP_KERNEL))
#define kzalloc_obj(object, ...)					\
	kzalloc(sizeof(object), cfq_gfp(0, ##__VA_ARGS__, GFP_KERNEL))
#endif

#endif /* CFQ_COMPAT_H */
