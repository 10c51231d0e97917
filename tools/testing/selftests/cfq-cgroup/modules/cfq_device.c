// SPDX-License-Identifier: GPL-2.0
/*
 * What every modelled device has: a place in the block layer, a store for its
 * data, the account of its time, and faults on order. The file of a model
 * includes this one and supplies a struct cfq_model, which says how long
 * things take.
 *
 * Data move when a request arrives, in the submitter's context; time passes
 * afterwards. So a request that is lost with the device, or that times out,
 * may have been written or not, as on a real one; but no write that ended
 * well is ever lost, not even one that was only in a modelled write cache.
 *
 * With @lossy=1, unplugging cuts the power instead: what the model has not put
 * in its place by then, from requests or from a write cache, is lost. For that,
 * the store keeps what was there before.
 *
 * Device time
 *
 * The model reports each stretch of time that it spent, and on which sectors.
 * The account adds it to the range that holds the first of them. A device that does one
 * thing at a time is charged from the end of the previous request, or from
 * the arrival if there was none, to the end of this one: the sum over all
 * ranges is all the time in which the device was not idle. A device with
 * parts that work at the same time is charged for each of them.
 */

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"

#define CFQ_MAX_DEVICES		16
#define CFQ_MINORS		16
/* Enough for a range a process in the larger tests. */
#define CFQ_MAX_RANGES		256
/* "No event to come". */
#define CFQ_NEVER		U64_MAX

static unsigned int nr_devices = 1;
module_param(nr_devices, uint, 0444);
MODULE_PARM_DESC(nr_devices, "devices to create (default 1)");

static unsigned int timeout_ms = 30000;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "time after which the block layer gives up on a request, ms (default 30000)");

static ushort max_segments = BLK_MAX_SEGMENTS;
module_param(max_segments, ushort, 0444);
MODULE_PARM_DESC(max_segments, "pages, if they are scattered, of a request (default 128)");

static bool store = true;
module_param(store, bool, 0444);
MODULE_PARM_DESC(store, "keep what is written; without, reads give zeros (default 1)");

static bool lossy;
module_param(lossy, bool, 0444);
MODULE_PARM_DESC(lossy, "unplugging loses what is not in its place, as a power cut does (default 0)");

/* Sectors whose device time is counted together. */
struct cfq_range {
	u64 start;
	u64 end;
	u64 time_ns;
	u64 reads;
	u64 writes;
	u64 read_sectors;
	u64 written_sectors;
};

/* What happened to the device as a whole since the last reset. */
struct cfq_totals {
	u64 busy_ns;
	u64 idle_ns;
	u64 requests;
	u64 depth_sum;
	u32 depth_max;
	u64 flushes;
	u64 failed;
	u64 timed_out;
	u64 lost_sectors;
};

struct cfq_device {
	const struct cfq_model *model;
	unsigned int index;

	/*
	 * Protects all below down to @pages, and the model's state. Taken in
	 * the timer's interrupt; nothing else is taken inside.
	 */
	spinlock_t lock;
	struct hrtimer timer;
	u64 armed_ns;			/* when @timer expires */
	u64 last_ns;			/* end of what was charged last */
	bool idle;			/* since @last_ns */
	bool dead;			/* unplugged: fail everything */
	u32 depth;
	struct list_head cmds;		/* all requests in the device */
	struct list_head done;		/* to be completed after unlock */
	struct cfq_totals totals;
	struct cfq_range other;
	u32 nr_ranges;
	struct cfq_range ranges[CFQ_MAX_RANGES];	/* by start */
	u64 fail_start;
	u64 fail_end;
	u64 fail_count;
	u64 hang_count;
	bool hang_requeue;

	struct xarray pages;		/* its lock holds copying and freeing apart */
	/*
	 * By sector, with @lossy: what was there before writes that are not in
	 * their place. Its lock is taken inside of that of @pages, and of @lock.
	 */
	struct xarray before;

	/* Protects plugging and unplugging. */
	struct mutex plug_lock;
	struct blk_mq_tag_set tag_set;
	struct gendisk *disk;		/* NULL if unplugged */
	struct work_struct unplug_work;
	struct dentry *debugfs;
};

/* The driver's part of a request; the model's own follows it. */
struct cfq_cmd {
	struct list_head in_device;
	u64 lba;
	u32 sectors;
	enum req_op op;
	bool fua;
	bool hung;
	blk_status_t status;
	u64 arrival_ns;
};

/*
 * How a device spends its time. All functions but set_limits() are called
 * with the device's lock held.
 */
struct cfq_model {
	const char *disk_name;
	size_t cmd_size;
	size_t device_size;
	/* From the parameters, the same for all devices. */
	u64 sectors;
	unsigned int queue_depth;

	void (*set_limits)(struct queue_limits *lim);
	/* A request arrives. */
	void (*submit)(struct cfq_device *dev, struct cfq_cmd *cmd, u64 now);
	/* Finish what is due, start what can be started. */
	void (*advance)(struct cfq_device *dev, u64 now);
	/* When there is something to finish, or CFQ_NEVER. */
	u64 (*next_event)(struct cfq_device *dev);
	/* Forget all requests: the device is gone. */
	void (*reset)(struct cfq_device *dev);
	/* The model's own lines of the file "stat", and setting them to 0. */
	void (*show_stat)(struct cfq_device *dev, struct seq_file *m);
	void (*reset_stat)(struct cfq_device *dev);
};

static int cfq_major;
static struct cfq_device *cfq_devices[CFQ_MAX_DEVICES];
static struct dentry *cfq_debugfs;

/* A parameter and the values that make sense for it. */
struct cfq_limit {
	const char *name;
	u64 value;
	u64 min;
	u64 max;
};

static int cfq_check_limits(const struct cfq_limit *limit, unsigned int nr)
{
	for (; nr; limit++, nr--) {
		if (limit->value >= limit->min && limit->value <= limit->max)
			continue;
		pr_err("%s=%llu: must be %llu to %llu\n", limit->name,
		       limit->value, limit->min, limit->max);
		return -EINVAL;
	}
	return 0;
}

/* Accounting */

static struct cfq_range *cfq_range_of(struct cfq_device *dev, u64 lba)
{
	u32 low = 0, high = dev->nr_ranges;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (lba < dev->ranges[mid].start)
			high = mid;
		else if (lba >= dev->ranges[mid].end)
			low = mid + 1;
		else
			return &dev->ranges[mid];
	}
	return &dev->other;
}

/* The device worked on the sectors from @lba on, from @start_ns to @end_ns. */
static void cfq_charge(struct cfq_device *dev, u64 lba, u64 start_ns,
		       u64 end_ns)
{
	u64 ns = end_ns - start_ns;

	lockdep_assert_held(&dev->lock);

	cfq_range_of(dev, lba)->time_ns += ns;
	dev->totals.busy_ns += ns;
	dev->last_ns = max(dev->last_ns, end_ns);
}

/* @cmd is done; the caller of the model completes it. */
static void cfq_finish(struct cfq_device *dev, struct cfq_cmd *cmd)
{
	struct cfq_range *range = cfq_range_of(dev, cmd->lba);

	lockdep_assert_held(&dev->lock);

	switch (cmd->op) {
	case REQ_OP_READ:
		range->reads++;
		range->read_sectors += cmd->sectors;
		break;
	case REQ_OP_WRITE:
		range->writes++;
		range->written_sectors += cmd->sectors;
		break;
	case REQ_OP_FLUSH:
		dev->totals.flushes++;
		break;
	default:
		break;
	}
	dev->totals.requests++;
	dev->totals.depth_sum += dev->depth;
	dev->totals.failed += cmd->status != BLK_STS_OK;
	dev->depth--;
	list_move_tail(&cmd->in_device, &dev->done);
}

/* The store */

static bool cfq_store_copy(struct cfq_device *dev, u64 pos, u8 *buf,
			   u32 len, bool write)
{
	while (len) {
		u32 offset = offset_in_page(pos);
		u32 n = min_t(u32, len, PAGE_SIZE - offset);
		u8 *page = xa_load(&dev->pages, pos >> PAGE_SHIFT);

		if (!write) {
			if (page)
				memcpy(buf, page + offset, n);
			else
				memset(buf, 0, n);
		} else {
			if (!page) {
				page = (u8 *)get_zeroed_page(GFP_ATOMIC |
							     __GFP_NOWARN);
				if (!page)
					return false;
				if (xa_is_err(__xa_store(&dev->pages,
							 pos >> PAGE_SHIFT,
							 page, GFP_ATOMIC |
							 __GFP_NOWARN))) {
					free_page((unsigned long)page);
					return false;
				}
			}
			memcpy(page + offset, buf, n);
		}
		pos += n;
		buf += n;
		len -= n;
	}
	return true;
}

/* Zeros from @pos to @end: free the pages, clear the ends. */
static void cfq_store_drop(struct cfq_device *dev, u64 pos, u64 end)
{
	unsigned long index;
	u8 *page;

	xa_for_each_range(&dev->pages, index, page, pos >> PAGE_SHIFT,
			  (end - 1) >> PAGE_SHIFT) {
		u64 start = (u64)index << PAGE_SHIFT;
		u64 from = max(pos, start);
		u64 to = min(end, start + PAGE_SIZE);

		if (to - from < PAGE_SIZE) {
			memset(page + from - start, 0, to - from);
		} else {
			__xa_erase(&dev->pages, index);
			free_page((unsigned long)page);
		}
	}
}

/* Keep what is there, in case that what will be written is lost. */
static bool cfq_store_keep(struct cfq_device *dev, u64 lba, u32 sectors)
{
	unsigned long flags;
	bool ok = true;

	xa_lock_irqsave(&dev->before, flags);
	for (; ok && sectors; lba++, sectors--) {
		u8 *data;

		if (xa_load(&dev->before, lba))
			continue;
		data = kmalloc(SECTOR_SIZE, GFP_ATOMIC | __GFP_NOWARN);
		ok = data && !xa_is_err(__xa_store(&dev->before, lba, data,
						   GFP_ATOMIC | __GFP_NOWARN));
		if (ok)
			cfq_store_copy(dev, lba << SECTOR_SHIFT, data,
				       SECTOR_SIZE, false);
		else
			kfree(data);
	}
	xa_unlock_irqrestore(&dev->before, flags);
	return ok;
}

/* What was written to these sectors is in its place. */
static void cfq_store_settle(struct cfq_device *dev, u64 lba, u32 sectors)
{
	unsigned long index, flags;
	u8 *data;

	if (!lossy)
		return;
	xa_lock_irqsave(&dev->before, flags);
	xa_for_each_range(&dev->before, index, data, lba, lba + sectors - 1) {
		__xa_erase(&dev->before, index);
		kfree(data);
	}
	xa_unlock_irqrestore(&dev->before, flags);
}

/* The power was cut: what is not in its place has never been written. */
static void cfq_store_lose(struct cfq_device *dev)
{
	unsigned long index;
	u8 *data;

	xa_for_each(&dev->before, index, data) {
		xa_lock(&dev->pages);
		WARN_ON_ONCE(!cfq_store_copy(dev, (u64)index << SECTOR_SHIFT,
					     data, SECTOR_SIZE, true));
		xa_unlock(&dev->pages);
		dev->totals.lost_sectors++;
		kfree(data);
	}
	xa_destroy(&dev->before);
}

static bool cfq_store_transfer(struct cfq_device *dev, struct request *rq)
{
	u64 pos = blk_rq_pos(rq) << SECTOR_SHIFT;
	struct req_iterator iter;
	struct bio_vec bv;
	bool ok = true;

	xa_lock(&dev->pages);
	if (lossy && req_op(rq) == REQ_OP_WRITE)
		ok = cfq_store_keep(dev, blk_rq_pos(rq), blk_rq_sectors(rq));
	if (!ok)
		goto out;
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		rq_for_each_segment(bv, rq, iter) {
			u8 *buf = bvec_kmap_local(&bv);

			ok = cfq_store_copy(dev, pos, buf, bv.bv_len,
					    op_is_write(req_op(rq)));
			kunmap_local(buf);
			if (!ok)
				break;
			pos += bv.bv_len;
		}
		break;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		cfq_store_drop(dev, pos, pos + blk_rq_bytes(rq));
		break;
	default:
		break;
	}
out:
	xa_unlock(&dev->pages);
	return ok;
}

static void cfq_store_zero(struct request *rq)
{
	struct req_iterator iter;
	struct bio_vec bv;

	rq_for_each_segment(bv, rq, iter)
		memzero_bvec(&bv);
}

static void cfq_store_free(struct cfq_device *dev)
{
	unsigned long index;
	u8 *page;

	xa_for_each(&dev->pages, index, page)
		free_page((unsigned long)page);
	xa_destroy(&dev->pages);
	xa_for_each(&dev->before, index, page)
		kfree(page);
	xa_destroy(&dev->before);
}

/* Requests */

/* Set the timer to the next event, and note whether there is any. */
static void cfq_arm(struct cfq_device *dev, u64 now)
{
	u64 next = dev->model->next_event(dev);

	lockdep_assert_held(&dev->lock);

	if (next == CFQ_NEVER) {
		dev->idle = true;
		return;
	}
	if (dev->idle) {
		dev->idle = false;
		if (now > dev->last_ns)
			dev->totals.idle_ns += now - dev->last_ns;
	}
	if (next == dev->armed_ns)
		return;
	dev->armed_ns = next;
	hrtimer_start(&dev->timer, ns_to_ktime(next), HRTIMER_MODE_ABS);
}

static void cfq_complete_list(struct list_head *done)
{
	struct cfq_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, done, in_device) {
		list_del_init(&cmd->in_device);
		blk_mq_complete_request(blk_mq_rq_from_pdu(cmd));
	}
}

static enum hrtimer_restart cfq_timer(struct hrtimer *timer)
{
	struct cfq_device *dev = container_of(timer, struct cfq_device, timer);
	u64 now = ktime_get_ns();
	unsigned long flags;
	LIST_HEAD(done);

	spin_lock_irqsave(&dev->lock, flags);
	if (!dev->dead) {
		dev->armed_ns = CFQ_NEVER;
		dev->model->advance(dev, now);
		cfq_arm(dev, now);
		list_splice_init(&dev->done, &done);
	}
	spin_unlock_irqrestore(&dev->lock, flags);

	cfq_complete_list(&done);
	return HRTIMER_NORESTART;
}

/* Whether @cmd is to fail or to hang, as ordered through debugfs. */
static void cfq_inject(struct cfq_device *dev, struct cfq_cmd *cmd)
{
	lockdep_assert_held(&dev->lock);

	if (dev->hang_count) {
		WRITE_ONCE(dev->hang_count, dev->hang_count - 1);
		cmd->hung = true;
	} else if (dev->fail_count && cmd->lba < dev->fail_end &&
		   cmd->lba + cmd->sectors > dev->fail_start) {
		WRITE_ONCE(dev->fail_count, dev->fail_count - 1);
		cmd->status = BLK_STS_IOERR;
	}
}

static blk_status_t cfq_queue_rq(struct blk_mq_hw_ctx *hctx,
				 const struct blk_mq_queue_data *bd)
{
	struct cfq_device *dev = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct cfq_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	INIT_LIST_HEAD(&cmd->in_device);
	cmd->lba = blk_rq_pos(rq);
	cmd->sectors = blk_rq_sectors(rq);
	cmd->op = req_op(rq);
	cmd->fua = rq->cmd_flags & REQ_FUA;
	cmd->hung = false;
	cmd->status = BLK_STS_OK;

	switch (cmd->op) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
	case REQ_OP_FLUSH:
		break;
	default:
		return BLK_STS_NOTSUPP;
	}

	if (unlikely(READ_ONCE(dev->fail_count) ||
		     READ_ONCE(dev->hang_count))) {
		spin_lock_irqsave(&dev->lock, flags);
		cfq_inject(dev, cmd);
		spin_unlock_irqrestore(&dev->lock, flags);
	}
	if (likely(cmd->status == BLK_STS_OK && !cmd->hung)) {
		if (!store) {
			if (cmd->op == REQ_OP_READ)
				cfq_store_zero(rq);
		} else if (!cfq_store_transfer(dev, rq)) {
			return BLK_STS_RESOURCE;
		}
	}

	blk_mq_start_request(rq);

	spin_lock_irqsave(&dev->lock, flags);
	if (unlikely(dev->dead)) {
		spin_unlock_irqrestore(&dev->lock, flags);
		return BLK_STS_IOERR;
	}
	cmd->arrival_ns = ktime_get_ns();
	list_add_tail(&cmd->in_device, &dev->cmds);
	dev->depth++;
	dev->totals.depth_max = max(dev->totals.depth_max, dev->depth);
	if (likely(!cmd->hung)) {
		dev->model->submit(dev, cmd, cmd->arrival_ns);
		cfq_arm(dev, cmd->arrival_ns);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return BLK_STS_OK;
}

static void cfq_complete_rq(struct request *rq)
{
	struct cfq_cmd *cmd = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, cmd->status);
}

static enum blk_eh_timer_return cfq_timeout_rq(struct request *rq)
{
	struct cfq_device *dev = rq->q->queuedata;
	struct cfq_cmd *cmd = blk_mq_rq_to_pdu(rq);
	bool ours, requeue;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	ours = cmd->hung && !list_empty(&cmd->in_device);
	requeue = dev->hang_requeue;
	if (ours) {
		list_del_init(&cmd->in_device);
		dev->depth--;
		dev->totals.timed_out++;
	}
	spin_unlock_irqrestore(&dev->lock, flags);

	/* The others wait for their turn, or are just being completed. */
	if (!ours)
		return BLK_EH_RESET_TIMER;

	if (requeue) {
		blk_mq_requeue_request(rq, true);
	} else {
		cmd->status = BLK_STS_TIMEOUT;
		blk_mq_complete_request(rq);
	}
	return BLK_EH_DONE;
}

static const struct blk_mq_ops cfq_mq_ops = {
	.queue_rq	= cfq_queue_rq,
	.complete	= cfq_complete_rq,
	.timeout	= cfq_timeout_rq,
};

/* Plugging and unplugging */

static const struct block_device_operations cfq_disk_ops = {
	.owner		= THIS_MODULE,
};

static int cfq_plug(struct cfq_device *dev)
{
	struct queue_limits lim = {
		.logical_block_size		= SECTOR_SIZE,
		.physical_block_size		= SECTOR_SIZE,
		/* One command of 48-bit ATA carries 65536 sectors. */
		.max_hw_sectors			= 65535,
		.max_segments			= max_segments,
		.max_hw_discard_sectors		= UINT_MAX >> SECTOR_SHIFT,
		.max_write_zeroes_sectors	= UINT_MAX >> SECTOR_SHIFT,
		.discard_granularity		= PAGE_SIZE,
	};
	struct gendisk *disk;
	int ret;

	lockdep_assert_held(&dev->plug_lock);

	if (dev->disk)
		return -EBUSY;

	dev->tag_set = (struct blk_mq_tag_set) {
		.ops		= &cfq_mq_ops,
		.nr_hw_queues	= 1,
		.queue_depth	= dev->model->queue_depth,
		.numa_node	= NUMA_NO_NODE,
		.cmd_size	= dev->model->cmd_size,
		.timeout	= msecs_to_jiffies(timeout_ms),
		.flags		= CFQ_TAG_SET_FLAGS,
	};
	ret = blk_mq_alloc_tag_set(&dev->tag_set);
	if (ret)
		return ret;

	dev->model->set_limits(&lim);
	disk = blk_mq_alloc_disk(&dev->tag_set, &lim, dev);
	if (IS_ERR(disk)) {
		ret = PTR_ERR(disk);
		goto out_free_tag_set;
	}
	disk->major = cfq_major;
	disk->first_minor = dev->index * CFQ_MINORS;
	disk->minors = CFQ_MINORS;
	disk->fops = &cfq_disk_ops;
	disk->private_data = dev;
	snprintf(disk->disk_name, DISK_NAME_LEN, "%s%u", dev->model->disk_name,
		 dev->index);
	set_capacity(disk, dev->model->sectors);

	spin_lock_irq(&dev->lock);
	dev->dead = false;
	dev->idle = true;
	dev->last_ns = ktime_get_ns();
	dev->armed_ns = CFQ_NEVER;
	spin_unlock_irq(&dev->lock);

	ret = add_disk(disk);
	if (ret)
		goto out_put_disk;
	dev->disk = disk;
	return 0;

out_put_disk:
	put_disk(disk);
out_free_tag_set:
	blk_mq_free_tag_set(&dev->tag_set);
	return ret;
}

/* Take the disk away; the device stays, with its data and its accounts. */
static void cfq_unplug(struct cfq_device *dev)
{
	lockdep_assert_held(&dev->plug_lock);

	if (!dev->disk)
		return;
	del_gendisk(dev->disk);
	put_disk(dev->disk);
	blk_mq_free_tag_set(&dev->tag_set);
	dev->disk = NULL;
}

/* The cable is pulled: nothing that is in the device comes out. */
static void cfq_unplug_work(struct work_struct *work)
{
	struct cfq_device *dev = container_of(work, struct cfq_device,
					      unplug_work);
	struct cfq_cmd *cmd, *next;
	LIST_HEAD(lost);

	mutex_lock(&dev->plug_lock);
	if (!dev->disk)
		goto out;

	spin_lock_irq(&dev->lock);
	dev->dead = true;
	dev->idle = true;
	dev->model->reset(dev);
	list_for_each_entry_safe(cmd, next, &dev->cmds, in_device) {
		cmd->status = BLK_STS_IOERR;
		/* It is not for the timeout any more. */
		cmd->hung = false;
		cfq_finish(dev, cmd);
	}
	list_splice_init(&dev->done, &lost);
	spin_unlock_irq(&dev->lock);

	hrtimer_cancel(&dev->timer);
	cfq_complete_list(&lost);
	blk_mark_disk_dead(dev->disk);
	cfq_unplug(dev);
	cfq_store_lose(dev);
out:
	mutex_unlock(&dev->plug_lock);
}

/* Files */

/* Parse a line of exactly @nr numbers. */
static int cfq_parse_numbers(char *line, u64 *value, unsigned int nr)
{
	char *word;
	int ret;

	line = strim(line);
	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (!nr)
			return -EINVAL;
		ret = kstrtou64(word, 0, value);
		if (ret)
			return ret;
		value++;
		nr--;
	}
	return nr ? -EINVAL : 0;
}

/* Copy what was written and drop the newline at its end. */
static char *cfq_copy_input(const char __user *buf, size_t count)
{
	char *input;

	if (!count || count > PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	input = memdup_user_nul(buf, count);
	if (!IS_ERR(input) && strlen(input) != count) {
		kfree(input);
		return ERR_PTR(-EINVAL);
	}
	return input;
}

static struct cfq_device *cfq_file_device(struct file *file)
{
	return file_inode(file)->i_private;
}

static void cfq_show_range(struct seq_file *m, const struct cfq_range *r)
{
	seq_printf(m, "%llu %llu %llu %llu %llu\n", r->time_ns, r->reads,
		   r->writes, r->read_sectors, r->written_sectors);
}

static int ranges_show(struct seq_file *m, void *v)
{
	struct cfq_device *dev = m->private;
	u32 i;

	spin_lock_irq(&dev->lock);
	seq_puts(m, "start nr time_ns reads writes read_sectors written_sectors\n");
	for (i = 0; i < dev->nr_ranges; i++) {
		const struct cfq_range *r = &dev->ranges[i];

		seq_printf(m, "%llu %llu ", r->start, r->end - r->start);
		cfq_show_range(m, r);
	}
	seq_puts(m, "other - ");
	cfq_show_range(m, &dev->other);
	spin_unlock_irq(&dev->lock);
	return 0;
}

/* Put @range into @table of @nr, sorted; false if it overlaps. */
static bool cfq_range_insert(struct cfq_range *table, u32 nr,
			     const struct cfq_range *range)
{
	u32 i;

	for (i = nr; i && table[i - 1].start >= range->end; i--)
		;
	if (i && table[i - 1].end > range->start)
		return false;
	memmove(&table[i + 1], &table[i], (nr - i) * sizeof(*table));
	table[i] = *range;
	return true;
}

static void cfq_reset_counts(struct cfq_range *r)
{
	*r = (struct cfq_range) {
		.start	= r->start,
		.end	= r->end,
	};
}

/* Add the ranges of @input, a line each, or none of them. */
static int cfq_add_ranges(struct cfq_device *dev, char *input)
{
	struct cfq_range *table;
	u32 nr, old;
	char *line;
	int ret = 0;

	table = kcalloc(CFQ_MAX_RANGES, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	spin_lock_irq(&dev->lock);
	old = dev->nr_ranges;
	memcpy(table, dev->ranges, old * sizeof(*table));
	spin_unlock_irq(&dev->lock);

	nr = old;
	input = strim(input);
	while (!ret && (line = strsep(&input, "\n"))) {
		struct cfq_range range = {};
		u64 value[2];

		ret = cfq_parse_numbers(line, value, ARRAY_SIZE(value));
		if (ret)
			break;
		range.start = value[0];
		range.end = value[0] + value[1];
		if (range.end <= range.start || range.end > dev->model->sectors)
			ret = -ERANGE;
		else if (nr == CFQ_MAX_RANGES)
			ret = -ENOSPC;
		else if (!cfq_range_insert(table, nr, &range))
			ret = -EEXIST;
		else
			nr++;
	}

	if (!ret) {
		u32 i, j = 0;

		spin_lock_irq(&dev->lock);
		/* The old ones have been counting meanwhile. */
		for (i = 0; i < nr && j < old; i++)
			if (table[i].start == dev->ranges[j].start)
				table[i] = dev->ranges[j++];
		memcpy(dev->ranges, table, nr * sizeof(*table));
		dev->nr_ranges = nr;
		spin_unlock_irq(&dev->lock);
	}
	kfree(table);
	return ret;
}

static ssize_t ranges_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *ppos)
{
	struct cfq_device *dev = cfq_file_device(file);
	char *input = cfq_copy_input(buf, count);
	int ret = 0;
	u32 i;

	if (IS_ERR(input))
		return PTR_ERR(input);

	/* Also keeps writers of this file apart. */
	mutex_lock(&dev->plug_lock);
	if (sysfs_streq(input, "reset") || sysfs_streq(input, "clear")) {
		spin_lock_irq(&dev->lock);
		if (sysfs_streq(input, "clear"))
			dev->nr_ranges = 0;
		for (i = 0; i < dev->nr_ranges; i++)
			cfq_reset_counts(&dev->ranges[i]);
		cfq_reset_counts(&dev->other);
		spin_unlock_irq(&dev->lock);
	} else {
		ret = cfq_add_ranges(dev, input);
	}
	mutex_unlock(&dev->plug_lock);
	kfree(input);
	return ret ?: count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(ranges);

static int stat_show(struct seq_file *m, void *v)
{
	struct cfq_device *dev = m->private;
	const struct cfq_totals *t = &dev->totals;
	u64 now, idle_ns;

	spin_lock_irq(&dev->lock);
	now = ktime_get_ns();
	idle_ns = t->idle_ns;
	if (dev->idle && now > dev->last_ns)
		idle_ns += now - dev->last_ns;
	seq_printf(m, "busy_ns %llu\n", t->busy_ns);
	seq_printf(m, "idle_ns %llu\n", idle_ns);
	seq_printf(m, "requests %llu\n", t->requests);
	seq_printf(m, "depth %u\n", dev->depth);
	seq_printf(m, "depth_max %u\n", t->depth_max);
	seq_printf(m, "depth_sum %llu\n", t->depth_sum);
	seq_printf(m, "flushes %llu\n", t->flushes);
	seq_printf(m, "failed %llu\n", t->failed);
	seq_printf(m, "timed_out %llu\n", t->timed_out);
	seq_printf(m, "lost_sectors %llu\n", t->lost_sectors);
	dev->model->show_stat(dev, m);
	spin_unlock_irq(&dev->lock);
	return 0;
}

static ssize_t stat_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	struct cfq_device *dev = cfq_file_device(file);
	char *input = cfq_copy_input(buf, count);
	int ret = 0;

	if (IS_ERR(input))
		return PTR_ERR(input);
	if (sysfs_streq(input, "reset")) {
		spin_lock_irq(&dev->lock);
		dev->totals = (struct cfq_totals) { .depth_max = dev->depth };
		if (dev->idle)
			dev->last_ns = ktime_get_ns();
		dev->model->reset_stat(dev);
		spin_unlock_irq(&dev->lock);
	} else {
		ret = -EINVAL;
	}
	kfree(input);
	return ret ?: count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(stat);

static int fail_show(struct seq_file *m, void *v)
{
	struct cfq_device *dev = m->private;

	spin_lock_irq(&dev->lock);
	seq_printf(m, "%llu %llu %llu\n", dev->fail_start,
		   dev->fail_end - dev->fail_start, dev->fail_count);
	spin_unlock_irq(&dev->lock);
	return 0;
}

static ssize_t fail_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	struct cfq_device *dev = cfq_file_device(file);
	char *input = cfq_copy_input(buf, count);
	u64 value[3];
	int ret;

	if (IS_ERR(input))
		return PTR_ERR(input);
	ret = cfq_parse_numbers(input, value, ARRAY_SIZE(value));
	kfree(input);
	if (ret)
		return ret;
	if (value[0] + value[1] < value[0])
		return -ERANGE;

	spin_lock_irq(&dev->lock);
	dev->fail_start = value[0];
	dev->fail_end = value[0] + value[1];
	WRITE_ONCE(dev->fail_count, value[2]);
	spin_unlock_irq(&dev->lock);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(fail);

static int hang_show(struct seq_file *m, void *v)
{
	struct cfq_device *dev = m->private;

	spin_lock_irq(&dev->lock);
	seq_printf(m, "%llu%s\n", dev->hang_count,
		   dev->hang_requeue ? " requeue" : "");
	spin_unlock_irq(&dev->lock);
	return 0;
}

static ssize_t hang_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	struct cfq_device *dev = cfq_file_device(file);
	char *input = cfq_copy_input(buf, count);
	char *line, *word;
	bool requeue;
	u64 hangs;
	int ret;

	if (IS_ERR(input))
		return PTR_ERR(input);
	line = strim(input);
	word = strsep(&line, " ");
	requeue = line && !strcmp(line, "requeue");
	ret = line && !requeue ? -EINVAL : kstrtou64(word, 0, &hangs);
	kfree(input);
	if (ret)
		return ret;

	spin_lock_irq(&dev->lock);
	WRITE_ONCE(dev->hang_count, hangs);
	dev->hang_requeue = requeue;
	spin_unlock_irq(&dev->lock);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(hang);

static int unplug_set(void *data, u64 value)
{
	struct cfq_device *dev = data;

	if (value != 1)
		return -EINVAL;
	schedule_work(&dev->unplug_work);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(unplug_fops, NULL, unplug_set, "%llu\n");

static int plug_set(void *data, u64 value)
{
	struct cfq_device *dev = data;
	int ret;

	if (value != 1)
		return -EINVAL;
	flush_work(&dev->unplug_work);
	mutex_lock(&dev->plug_lock);
	ret = cfq_plug(dev);
	mutex_unlock(&dev->plug_lock);
	return ret;
}

static int plug_get(void *data, u64 *value)
{
	struct cfq_device *dev = data;

	mutex_lock(&dev->plug_lock);
	*value = !!dev->disk;
	mutex_unlock(&dev->plug_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(plug_fops, plug_get, plug_set, "%llu\n");

static void cfq_create_files(struct cfq_device *dev)
{
	char name[DISK_NAME_LEN];

	snprintf(name, sizeof(name), "%s%u", dev->model->disk_name, dev->index);
	dev->debugfs = debugfs_create_dir(name, cfq_debugfs);
	debugfs_create_file("ranges", 0600, dev->debugfs, dev, &ranges_fops);
	debugfs_create_file("stat", 0600, dev->debugfs, dev, &stat_fops);
	debugfs_create_file("fail", 0600, dev->debugfs, dev, &fail_fops);
	debugfs_create_file("hang", 0600, dev->debugfs, dev, &hang_fops);
	debugfs_create_file_unsafe("unplug", 0200, dev->debugfs, dev,
				   &unplug_fops);
	debugfs_create_file_unsafe("plug", 0600, dev->debugfs, dev, &plug_fops);
}

/* The module */

static void cfq_remove_device(struct cfq_device *dev)
{
	debugfs_remove(dev->debugfs);
	flush_work(&dev->unplug_work);
	mutex_lock(&dev->plug_lock);
	cfq_unplug(dev);
	mutex_unlock(&dev->plug_lock);
	/* A write cache may still be busy with itself. */
	hrtimer_cancel(&dev->timer);
	cfq_store_free(dev);
	kvfree(dev);
}

static int cfq_add_device(const struct cfq_model *model, unsigned int index)
{
	struct cfq_device *dev;
	int ret;

	dev = kvzalloc(model->device_size, GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->model = model;
	dev->index = index;
	spin_lock_init(&dev->lock);
	mutex_init(&dev->plug_lock);
	INIT_LIST_HEAD(&dev->cmds);
	INIT_LIST_HEAD(&dev->done);
	xa_init(&dev->pages);
	xa_init_flags(&dev->before, XA_FLAGS_LOCK_IRQ);
	INIT_WORK(&dev->unplug_work, cfq_unplug_work);
	hrtimer_setup(&dev->timer, cfq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
	model->reset(dev);

	mutex_lock(&dev->plug_lock);
	ret = cfq_plug(dev);
	mutex_unlock(&dev->plug_lock);
	if (ret) {
		kvfree(dev);
		return ret;
	}
	cfq_create_files(dev);
	cfq_devices[index] = dev;
	return 0;
}

static void cfq_remove_devices(void)
{
	for (unsigned int i = 0; i < CFQ_MAX_DEVICES; i++)
		if (cfq_devices[i])
			cfq_remove_device(cfq_devices[i]);
	debugfs_remove(cfq_debugfs);
	unregister_blkdev(cfq_major, KBUILD_MODNAME);
}

static int cfq_add_devices(const struct cfq_model *model)
{
	const struct cfq_limit limits[] = {
		{ "nr_devices", nr_devices, 1, CFQ_MAX_DEVICES },
		{ "timeout_ms", timeout_ms, 1, 3600 * 1000 },
	};
	int ret;

	ret = cfq_check_limits(limits, ARRAY_SIZE(limits));
	if (ret)
		return ret;

	cfq_major = register_blkdev(0, KBUILD_MODNAME);
	if (cfq_major < 0)
		return cfq_major;
	cfq_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);

	for (unsigned int i = 0; i < nr_devices; i++) {
		ret = cfq_add_device(model, i);
		if (ret) {
			cfq_remove_devices();
			return ret;
		}
	}
	return 0;
}
