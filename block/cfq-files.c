// SPDX-License-Identifier: GPL-2.0
/*
 * CFQ I/O scheduler: the control files of groups; how to write them stands in
 * the manual.
 *
 * A write is taken as a whole or refused: with -EINVAL if it has not the form,
 * -ERANGE for a number out of range, -ENODEV without such a device.
 */
#include <linux/ctype.h>
#include <linux/string.h>

#include "cfq-group.h"

#define CFQ_WEIGHT_MAX		10000

/* What was written, without blanks around it; no setting is empty. */
static char *cfq_file_text(char *buf, size_t nbytes)
{
	/* What follows a NUL is part of what was written, too. */
	if (strlen(buf) != nbytes)
		buf[0] = '\0';
	return strstrip(buf);
}

static u64 cfqc_ioprio_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return cfq_weight_to_group_prio(cfqc_weight(cfq_css_cgroup(css)));
}

static ssize_t cfqc_ioprio_write(struct kernfs_open_file *of, char *buf,
				 size_t nbytes, loff_t off)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(of_css(of));
	u64 prio;

	return cfq_parse(cfq_file_text(buf, nbytes), 0, IOPRIO_NR_LEVELS - 1, &prio) ?:
		cfq_cgroup_set(cfqc, &cfqc->weight, cfq_group_prio_to_weight(prio)) ?:
		nbytes;
}

static u64 cfqc_class_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return READ_ONCE(cfq_css_cgroup(css)->class) + IOPRIO_CLASS_RT;
}

static ssize_t cfqc_class_write(struct kernfs_open_file *of, char *buf,
				size_t nbytes, loff_t off)
{
	/* The names of ionice, and short ones. */
	static const char * const names[] = {
		"realtime", "best-effort", "idle", "rt", "be",
	};
	struct cfq_cgroup *cfqc = cfq_css_cgroup(of_css(of));
	const char *text = cfq_file_text(buf, nbytes);
	const int name = match_string(names, ARRAY_SIZE(names), text);
	u64 number = name % CFQ_NR_CLASSES + IOPRIO_CLASS_RT;
	int ret = 0;

	if (name < 0)
		ret = cfq_parse(text, IOPRIO_CLASS_RT, IOPRIO_CLASS_IDLE, &number);
	return ret ?: cfq_cgroup_set(cfqc, &cfqc->class,
				     number - IOPRIO_CLASS_RT) ?: nbytes;
}

/* For all devices: weight or, if private, leaf_weight. */
static u64 cfqc_weight_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(css);

	return cft->private ? READ_ONCE(cfqc->leaf_weight) : cfqc_weight(cfqc);
}

static ssize_t cfqc_weight_write(struct kernfs_open_file *of, char *buf,
				 size_t nbytes, loff_t off)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(of_css(of));
	unsigned int *setting = of_cft(of)->private ? &cfqc->leaf_weight : &cfqc->weight;
	u64 weight;

	return cfq_parse(cfq_file_text(buf, nbytes), 1, CFQ_WEIGHT_MAX, &weight) ?:
		cfq_cgroup_set(cfqc, setting, weight) ?: nbytes;
}

/*
 * "MAJ:MIN VALUE" sets a device ("default" as value: no longer), "default
 * VALUE" all others, which weight_device has not.
 */

enum cfq_device_file {
	CFQ_FILE_WEIGHT,
	CFQ_FILE_WEIGHT_DEVICE,
	CFQ_FILE_LIMITS,
};

/* Numbers that no device can have give 0, which no disk has. */
static bool cfq_parse_dev(char *text, dev_t *dev)
{
	const char *major_text = strsep(&text, ":");
	int major_ret, minor_ret;
	u64 major, minor;

	if (!text || !isdigit(major_text[0]) || !isdigit(text[0]))
		return false;
	major_ret = cfq_parse(major_text, 0, MAJOR(~0U), &major);
	minor_ret = cfq_parse(text, 0, MINOR(~0U), &minor);
	*dev = major_ret || minor_ret ? 0 : MKDEV(major, minor);
	return major_ret != -EINVAL && minor_ret != -EINVAL;
}

static void cfq_show_number(struct seq_file *m, unsigned int number)
{
	if (number == CFQ_NO_LIMIT)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%u\n", number);
}

static int cfqc_settings_show(struct seq_file *m, void *unused)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(seq_css(m));
	const unsigned long file = seq_cft(m)->private;
	const bool limits = file == CFQ_FILE_LIMITS;
	const struct cfq_device_settings *settings;

	if (file != CFQ_FILE_WEIGHT_DEVICE) {
		seq_puts(m, "default ");
		cfq_show_number(m, limits ? READ_ONCE(cfqc->max_held) :
					    cfqc_weight(cfqc));
	}
	guard(mutex)(&cfq_grid_mutex);
	list_for_each_entry(settings, &cfqc->devices, node) {
		unsigned int value = limits ? settings->max_held :
					      cfqc_device_weight(cfqc, settings);

		if (!value)
			continue;
		seq_printf(m, "%u:%u ", MAJOR(settings->dev), MINOR(settings->dev));
		cfq_show_number(m, value);
	}
	return 0;
}

static ssize_t cfqc_settings_write(struct kernfs_open_file *of, char *buf,
				   size_t nbytes, loff_t off)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(of_css(of));
	const unsigned long file = of_cft(of)->private;
	const bool limits = file == CFQ_FILE_LIMITS;
	char *text = cfq_file_text(buf, nbytes), *word;
	bool for_device;
	u64 value = 0;
	int ret = 0;
	dev_t dev;

	if (strchr(text, '\n'))
		return -EINVAL;
	word = strsep(&text, " \t");
	for_device = text && strcmp(word, "default");
	if (for_device ? !cfq_parse_dev(word, &dev) : file == CFQ_FILE_WEIGHT_DEVICE)
		return -EINVAL;

	if (text)
		word = text + strspn(text, " \t");
	if (limits && !strcmp(word, "max"))
		value = CFQ_NO_LIMIT;
	else if ((limits && !for_device) || strcmp(word, "default"))
		ret = cfq_parse(word, limits || !for_device,
				limits ? INT_MAX : CFQ_WEIGHT_MAX, &value);
	if (ret)
		return ret;

	if (for_device)
		ret = cfq_cgroup_set_for_device(cfqc, dev, limits, value);
	else
		ret = cfq_cgroup_set(cfqc, limits ? &cfqc->max_held :
						    &cfqc->weight, value);
	if (!ret && limits && value && value != CFQ_NO_LIMIT)
		WRITE_ONCE(cfq_limit_was_set, true);
	return ret ?: nbytes;
}

/*
 * Adds what waits and what was sent of @group and below.  There may be very
 * many groups, so without the lock.
 */
static void cfqd_count_requests(const struct cfq_data *group,
				unsigned int *queued, unsigned int *inflight)
{
	const struct cfq_data *cfqd = group;

	guard(rcu)();
	list_for_each_entry_from_rcu(cfqd, &group->cfqmd->column, column_node) {
		/* It is only shown, so it may be of any moment, */
		const unsigned int waiting = data_race(cfqd->nr_queued);
		/* and so may this. */
		const unsigned int sent = data_race(cfqd->nr_in_driver);
		const struct cfq_data *above = waiting || sent ? cfqd : NULL;

		while (above && above != group)
			above = above->self.group;
		if (above) {
			*queued += waiting;
			*inflight += sent;
		}
		/* It never had one below. */
		if (data_race(group->queues.above) == &group->self.entity)
			break;
	}
}

/* What sets the weight of @cfqc on a device? */
static const char *cfqc_weight_by(struct cfq_cgroup *cfqc, dev_t dev)
{
	const struct cfq_device_settings *settings;

	lockdep_assert_held(&cfq_grid_mutex);

	list_for_each_entry(settings, &cfqc->devices, node)
		if (settings->dev == dev && cfqc_device_weight(cfqc, settings))
			return settings->weight ? "device" : "io.weight:device";
	return cfqc->weight ? "group" : cfqc->followed ? cfqc->followed_file : "default";
}

static int cfqc_stat_show(struct seq_file *m, void *unused)
{
	struct cfq_cgroup *cfqc = cfq_css_cgroup(seq_css(m));
	struct cfq_data *cfqd;

	guard(mutex)(&cfq_grid_mutex);
	list_for_each_entry_rcu(cfqd, &cfqc->row, row_node,
				lockdep_is_held(&cfq_grid_mutex)) {
		struct cfq_meta_data *cfqmd = cfqd->cfqmd;
		const dev_t dev = cfq_group_dev(cfqd);
		u64 stats[CFQ_NR_STATS];
		unsigned int queued = 0, inflight = 0;

		scoped_guard(cfq_lock, cfqmd)
			memcpy(stats, cfqd->stats, sizeof(stats));
		if (cfq_nr_descriptors(cfqmd))
			cfqd_count_requests(cfqd, &queued, &inflight);

		seq_printf(m,
			   "%u:%u time=%llu sectors=%llu requests=%llu wait=%llu queued=%u inflight=%u idle=%llu merges=%llu slices=%llu weight_by=%s\n",
			   MAJOR(dev), MINOR(dev),
			   div_u64(stats[CFQ_STAT_TIME], NSEC_PER_USEC),
			   stats[CFQ_STAT_SECTORS], stats[CFQ_STAT_REQUESTS],
			   div_u64(stats[CFQ_STAT_WAIT], NSEC_PER_USEC), queued,
			   inflight,
			   div_u64(stats[CFQ_STAT_IDLE], NSEC_PER_USEC),
			   stats[CFQ_STAT_MERGES], stats[CFQ_STAT_SLICES],
			   cfqc_weight_by(cfqc, dev));
	}
	return 0;
}

#define CFQ_FILE(_name, ...)	{ .name = CFQ_FILE_PREFIX _name, __VA_ARGS__ }

struct cftype cfq_legacy_files[] = {
	CFQ_FILE("ioprio", .read_u64 = cfqc_ioprio_read, .write = cfqc_ioprio_write),
	CFQ_FILE("ioprio_class", .read_u64 = cfqc_class_read, .write = cfqc_class_write),
	CFQ_FILE("weight", .read_u64 = cfqc_weight_read, .write = cfqc_weight_write),
	CFQ_FILE("weight_device", .private = CFQ_FILE_WEIGHT_DEVICE,
		 .seq_show = cfqc_settings_show, .write = cfqc_settings_write),
	/* The weight of the root group is that of its tasks. */
	CFQ_FILE("leaf_weight", .flags = CFTYPE_NOT_ON_ROOT, .private = true,
		 .read_u64 = cfqc_weight_read, .write = cfqc_weight_write),
	CFQ_FILE("nr_group_requests", .private = CFQ_FILE_LIMITS,
		 .seq_show = cfqc_settings_show, .write = cfqc_settings_write),
	CFQ_FILE("stat", .seq_show = cfqc_stat_show),
	{}
};

struct cftype cfq_files[] = {
	CFQ_FILE("ioprio", .read_u64 = cfqc_ioprio_read, .write = cfqc_ioprio_write),
	CFQ_FILE("ioprio_class", .read_u64 = cfqc_class_read, .write = cfqc_class_write),
	CFQ_FILE("weight", .private = CFQ_FILE_WEIGHT,
		 .seq_show = cfqc_settings_show, .write = cfqc_settings_write),
	CFQ_FILE("nr_group_requests", .private = CFQ_FILE_LIMITS,
		 .seq_show = cfqc_settings_show, .write = cfqc_settings_write),
	CFQ_FILE("stat", .seq_show = cfqc_stat_show),
	{}
};
