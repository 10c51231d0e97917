// SPDX-License-Identifier: GPL-2.0
/*
 * Takes all places for policies of the io controller that are left.
 */
#include <linux/module.h>

#include "blk-cgroup.h"

static struct blkcg_policy policies[BLKCG_MAX_POLS];
static unsigned int nr_policies;

static int __init cfq_policies_init(void)
{
	while (nr_policies < ARRAY_SIZE(policies) &&
	       !blkcg_policy_register(&policies[nr_policies]))
		nr_policies++;
	return 0;
}

static void __exit cfq_policies_exit(void)
{
	while (nr_policies)
		blkcg_policy_unregister(&policies[--nr_policies]);
}

module_init(cfq_policies_init);
module_exit(cfq_policies_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("No place for a policy of the io controller");
