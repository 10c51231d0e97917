// SPDX-License-Identifier: GPL-2.0
/*
 * A modelled flash device: parallel, without a head to fight over, and with
 * writes that cost more than reads, now and then much more.
 *
 * The model
 *
 * Pages of @page_kb lie on @channels in turn: page n is on channel
 * n mod channels. A channel does one thing at a time, in order of arrival;
 * the channels work in parallel. A request takes @interface_us to get to the
 * channels; the part of it on each channel then takes, when its turn comes,
 *
 *   read:   pages * read_us
 *   write:  pages * program_us
 *
 * and the request is done with the last of its parts. To discard, however much
 * it is, takes @discard_us on each channel. After @erase_pages pages written on
 * a channel a block must be erased, which stalls the channel for @erase_us; no
 * request waits for the erasure itself. Nothing is cached, so there is nothing
 * to flush.
 *
 * As a volume that is rented it may be limited to @limit_mb_s: then a request
 * gets to the channels when those before it and its own data have passed at
 * that rate. What was left unused up to @burst_kb passes at once.
 *
 * With the defaults 4 channels / 80 us give 50000 reads of 4 KB a second.
 *
 * Account
 *
 * The time of the channels counts for the range of sectors that the request
 * starts in, an erasure for the write that made it due. So the sum is up to
 * @channels seconds a second. Files and fault injection are those of
 * cfq_disk.c, in /sys/kernel/debug/cfq_flash/cfqfN/.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/minmax.h>

#include "cfq_device.c"

#define FLASH_MAX_CHANNELS	32

static unsigned int capacity_mb = 65536;
module_param(capacity_mb, uint, 0444);
MODULE_PARM_DESC(capacity_mb, "capacity, MiB (default 65536)");

static unsigned int channels = 4;
module_param(channels, uint, 0444);
MODULE_PARM_DESC(channels, "parts that work in parallel (default 4)");

static unsigned int page_kb = 4;
module_param(page_kb, uint, 0444);
MODULE_PARM_DESC(page_kb, "what is read or written at once, KiB (default 4)");

static unsigned int read_us = 80;
module_param(read_us, uint, 0444);
MODULE_PARM_DESC(read_us, "time to read a page, us (default 80)");

static unsigned int program_us = 400;
module_param(program_us, uint, 0444);
MODULE_PARM_DESC(program_us, "time to write a page, us (default 400)");

static unsigned int erase_us = 2500;
module_param(erase_us, uint, 0444);
MODULE_PARM_DESC(erase_us, "time to erase a block, us (default 2500)");

/* A block of 1 MB. */
static unsigned int erase_pages = 256;
module_param(erase_pages, uint, 0444);
MODULE_PARM_DESC(erase_pages, "pages written on a channel between erasures (default 256; 0: never)");

static unsigned int discard_us;
module_param(discard_us, uint, 0444);
MODULE_PARM_DESC(discard_us, "time to discard, us (default 0)");

static unsigned int interface_us = 5;
module_param(interface_us, uint, 0444);
MODULE_PARM_DESC(interface_us, "way from the host to the channels, us (default 5)");

static unsigned int limit_mb_s;
module_param(limit_mb_s, uint, 0444);
MODULE_PARM_DESC(limit_mb_s, "data that may pass, MB/s (default 0: no limit)");

static unsigned int burst_kb = 1024;
module_param(burst_kb, uint, 0444);
MODULE_PARM_DESC(burst_kb, "data that pass at once after a pause, KiB (default 1024)");

static unsigned int queue_depth = 128;
module_param(queue_depth, uint, 0444);
MODULE_PARM_DESC(queue_depth, "requests in the device (default 128)");

/* What a request wants of one channel. */
struct flash_part {
	struct list_head list;
	struct flash_cmd *owner;
	u32 pages;
};

struct flash_cmd {
	struct cfq_cmd cmd;
	u64 ready_ns;
	u32 parts_left;
	struct flash_part part[FLASH_MAX_CHANNELS];
};

struct flash_channel {
	struct list_head parts;		/* in order of arrival */
	struct flash_part *current_part;
	bool erasing;
	u64 start_ns;
	u64 done_ns;			/* CFQ_NEVER if there is nothing to do */
	u64 written_lba;		/* who makes the next erasure due */
	u32 written_pages;		/* since the last erasure */
};

struct flash {
	struct cfq_device dev;
	u64 erasures;
	u64 passed_ns;			/* what came so far has by then */
	struct flash_channel channel[FLASH_MAX_CHANNELS];
};

static struct flash *to_flash(struct cfq_device *dev)
{
	return container_of(dev, struct flash, dev);
}

static void flash_start(struct flash_channel *c, u64 now)
{
	struct flash_part *part;
	u32 page_us;

	if (c->done_ns != CFQ_NEVER)
		return;

	c->start_ns = now;
	c->erasing = erase_pages && c->written_pages >= erase_pages;
	if (c->erasing) {
		c->written_pages -= erase_pages;
		c->done_ns = now + erase_us * NSEC_PER_USEC;
		return;
	}

	part = list_first_entry_or_null(&c->parts, struct flash_part, list);
	if (!part)
		return;
	list_del(&part->list);
	c->current_part = part;
	c->start_ns = max(now, part->owner->ready_ns);
	switch (part->owner->cmd.op) {
	case REQ_OP_READ:
		page_us = read_us;
		break;
	case REQ_OP_DISCARD:
		page_us = discard_us;
		break;
	default:
		page_us = program_us;
		break;
	}
	c->done_ns = c->start_ns + (u64)part->pages * page_us * NSEC_PER_USEC;
}

static void flash_done(struct flash *flash, struct flash_channel *c)
{
	struct flash_part *part = c->current_part;
	u64 done_ns = c->done_ns;

	c->done_ns = CFQ_NEVER;
	if (c->erasing) {
		flash->erasures++;
		cfq_charge(&flash->dev, c->written_lba, c->start_ns, done_ns);
		return;
	}

	c->current_part = NULL;
	cfq_charge(&flash->dev, part->owner->cmd.lba, c->start_ns, done_ns);
	if (part->owner->cmd.op == REQ_OP_WRITE) {
		c->written_pages += part->pages;
		c->written_lba = part->owner->cmd.lba;
	}
	if (--part->owner->parts_left)
		return;
	if (part->owner->cmd.op == REQ_OP_WRITE)
		cfq_store_settle(&flash->dev, part->owner->cmd.lba,
				 part->owner->cmd.sectors);
	cfq_finish(&flash->dev, &part->owner->cmd);
}

static u64 flash_data_ns(u64 bytes)
{
	return div_u64(bytes * 1000, limit_mb_s);
}

static void flash_submit(struct cfq_device *dev, struct cfq_cmd *cmd, u64 now)
{
	struct flash *flash = to_flash(dev);
	struct flash_cmd *fc = container_of(cmd, struct flash_cmd, cmd);
	u32 page_sectors = page_kb * 2;
	u64 first = cmd->lba / page_sectors;
	u32 pages, i;

	fc->ready_ns = now + interface_us * NSEC_PER_USEC;
	if (cmd->op == REQ_OP_READ || cmd->op == REQ_OP_WRITE)
		pages = (cmd->lba + cmd->sectors - 1) / page_sectors - first + 1;
	else
		pages = cmd->op == REQ_OP_DISCARD && discard_us ? channels : 0;

	if (limit_mb_s) {
		const u64 burst_ns = flash_data_ns(burst_kb << 10);

		flash->passed_ns = max(flash->passed_ns, now - min(now, burst_ns)) +
				   flash_data_ns(cmd->sectors << SECTOR_SHIFT);
		fc->ready_ns = max(fc->ready_ns, flash->passed_ns);
	}

	/* Page i, i + channels, ... of the request are on the same channel. */
	fc->parts_left = clamp(pages, 1, channels);
	for (i = 0; i < fc->parts_left; i++) {
		struct flash_channel *c =
			&flash->channel[(first + i) % channels];
		struct flash_part *part = &fc->part[i];

		part->owner = fc;
		part->pages = pages ? (pages - 1 - i) / channels + 1 : 0;
		list_add_tail(&part->list, &c->parts);
		flash_start(c, now);
	}
}

static struct flash_channel *flash_next_channel(struct flash *flash)
{
	struct flash_channel *c, *next = &flash->channel[0];

	for (c = next + 1; c < flash->channel + channels; c++)
		if (c->done_ns < next->done_ns)
			next = c;
	return next;
}

static u64 flash_next_event(struct cfq_device *dev)
{
	return flash_next_channel(to_flash(dev))->done_ns;
}

static void flash_advance(struct cfq_device *dev, u64 now)
{
	struct flash *flash = to_flash(dev);
	struct flash_channel *c;

	while ((c = flash_next_channel(flash))->done_ns <= now) {
		u64 done_ns = c->done_ns;

		flash_done(flash, c);
		flash_start(c, done_ns);
	}
}

static void flash_reset(struct cfq_device *dev)
{
	struct flash *flash = to_flash(dev);

	for (u32 i = 0; i < channels; i++) {
		INIT_LIST_HEAD(&flash->channel[i].parts);
		flash->channel[i].current_part = NULL;
		flash->channel[i].done_ns = CFQ_NEVER;
	}
}

static void flash_show_stat(struct cfq_device *dev, struct seq_file *m)
{
	seq_printf(m, "erasures %llu\n", to_flash(dev)->erasures);
}

static void flash_reset_stat(struct cfq_device *dev)
{
	to_flash(dev)->erasures = 0;
}

static void flash_set_limits(struct queue_limits *lim)
{
	lim->io_min = page_kb << 10;
}

static struct cfq_model flash_model __ro_after_init = {
	.disk_name	= "cfqf",
	.cmd_size	= sizeof(struct flash_cmd),
	.device_size	= sizeof(struct flash),
	.set_limits	= flash_set_limits,
	.submit		= flash_submit,
	.advance	= flash_advance,
	.next_event	= flash_next_event,
	.reset		= flash_reset,
	.show_stat	= flash_show_stat,
	.reset_stat	= flash_reset_stat,
};

static int __init flash_init(void)
{
	const struct cfq_limit limits[] = {
		{ "capacity_mb", capacity_mb, 1, 64 << 20 },
		{ "channels", channels, 1, FLASH_MAX_CHANNELS },
		{ "page_kb", page_kb, 1, 64 },
		{ "read_us", read_us, 1, 1000000 },
		{ "program_us", program_us, 1, 1000000 },
		{ "erase_us", erase_us, 0, 1000000 },
		{ "erase_pages", erase_pages, 0, 1000000 },
		{ "discard_us", discard_us, 0, 1000000 },
		{ "interface_us", interface_us, 0, 100000 },
		{ "limit_mb_s", limit_mb_s, 0, 100000 },
		{ "burst_kb", burst_kb, 0, 1000000 },
		{ "queue_depth", queue_depth, 1, 10240 },
	};
	int ret;

	ret = cfq_check_limits(limits, ARRAY_SIZE(limits));
	if (ret)
		return ret;

	flash_model.sectors = (u64)capacity_mb << (20 - SECTOR_SHIFT);
	flash_model.queue_depth = queue_depth;
	ret = cfq_add_devices(&flash_model);
	if (ret)
		return ret;
	pr_info("%u x %u MiB, %u channels, %u reads/s\n", nr_devices,
		capacity_mb, channels,
		(u32)(channels * USEC_PER_SEC / read_us));
	return 0;
}

static void __exit flash_exit(void)
{
	cfq_remove_devices();
}

module_init(flash_init);
module_exit(flash_exit);
MODULE_DESCRIPTION("Modelled flash device that accounts for its time");
MODULE_LICENSE("GPL");
