// SPDX-License-Identifier: GPL-2.0
/*
 * Reads directly and asynchronously, one request after the other, by processes
 * in several groups; prints the result of each that is not what was asked for.
 *
 *   queue_reads DEVICE STEP...
 *
 *   read CGROUP.PROCS FIRST_KB KB   by the process that is in this group
 *   command NR                      of SCSI, which no scheduler sees, by so many
 *                                   processes, which run before all others
 *   level LEVEL                     of what is read from then on, best effort
 *   sleep MS
 *
 * A step begins when the one before it is done or, if its process sleeps for
 * it, 10 ms later.  At the end all are waited for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <sched.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_READERS	8
#define MAX_READS	64
#define PATIENCE_MS	10

struct reader {
	const char	*procs;		/* its group */
	int		orders;		/* pipes */
	int		answers;
};

struct order {
	long long	first;		/* bytes */
	size_t		bytes;
	int		ioprio;
};

static struct reader readers[MAX_READERS];
static int nr_readers;
static int ioprio;
static const char *device;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_device(void)
{
	int fd = open(device, O_RDONLY | O_DIRECT);

	if (fd < 0)
		die(device);
	return fd;
}

static void enter(const char *procs)
{
	int fd = open(procs, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1)
		die(procs);
	close(fd);
}

static void submit(aio_context_t context, int fd, const struct order *order)
{
	struct iocb iocb = {
		.aio_fildes = fd,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_offset = order->first,
		.aio_nbytes = order->bytes,
		.aio_data = order->bytes,
		.aio_reqprio = order->ioprio,
		.aio_flags = order->ioprio ? IOCB_FLAG_IOPRIO : 0,
	};
	struct iocb *list = &iocb;
	void *buffer = aligned_alloc(4096, order->bytes);

	if (!buffer)
		die("memory");
	iocb.aio_buf = (unsigned long)buffer;
	if (syscall(SYS_io_submit, context, 1, &list) != 1)
		die("io_submit");
}

static int wait_for(aio_context_t context, int nr)
{
	struct io_event event;
	int status = 0;

	while (nr--) {
		if (syscall(SYS_io_getevents, context, 1, 1, &event, NULL) != 1)
			die("io_getevents");
		if (event.res != (long long)event.data) {
			printf("a read gave %lld\n", (long long)event.res);
			status = 1;
		}
	}
	return status;
}

/* Reads what it is told to, until there are no more orders. */
static int run_reader(const char *procs, int orders, int answers)
{
	aio_context_t context = 0;
	int fd = open_device(), nr = 0;
	struct order order;

	enter(procs);
	if (syscall(SYS_io_setup, MAX_READS, &context))
		die("io_setup");
	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		submit(context, fd, &order);
		nr++;
		if (write(answers, "x", 1) != 1)
			die("answer");
	}
	return wait_for(context, nr);
}

static struct reader *find_reader(const char *procs)
{
	struct reader *reader = readers;
	int orders[2], answers[2], i;
	pid_t child;

	for (; reader < readers + nr_readers; reader++)
		if (!strcmp(reader->procs, procs))
			return reader;
	if (nr_readers++ == MAX_READERS || pipe(orders) || pipe(answers))
		die("too many groups");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		/* The ends that would keep it or others from seeing the end */
		close(orders[1]);
		for (i = 0; i < nr_readers - 1; i++)
			close(readers[i].orders);
		exit(run_reader(procs, orders[0], answers[1]));
	}
	close(orders[0]);
	close(answers[1]);
	*reader = (struct reader){
		.procs = procs, .orders = orders[1], .answers = answers[0],
	};
	return reader;
}

static void order_read(const char *procs, long long first, size_t bytes)
{
	struct reader *reader = find_reader(procs);
	const struct order order = {
		.first = first, .bytes = bytes, .ioprio = ioprio,
	};
	struct pollfd answer = { .fd = reader->answers, .events = POLLIN };
	char done;

	if (write(reader->orders, &order, sizeof(order)) != sizeof(order))
		die("order");
	if (poll(&answer, 1, PATIENCE_MS) == 1 &&
	    read(reader->answers, &done, 1) != 1)
		die("answer");
}

static void start_command(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	unsigned char read_one_block[10] = { 0x28, [8] = 1 };
	unsigned char block[512];
	struct sg_io_hdr command = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.cmdp = read_one_block,
		.cmd_len = sizeof(read_one_block),
		.dxferp = block,
		.dxfer_len = sizeof(block),
		.timeout = 60000,
	};
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child)
		return;
	for (int i = 0; i < nr_readers; i++)
		close(readers[i].orders);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("sched_setscheduler");
	if (ioctl(open_device(), SG_IO, &command) || command.status)
		die("SG_IO");
	exit(0);
}

static char **take_step(char **arg)
{
	if (!strcmp(arg[0], "read") && arg[1] && arg[2] && arg[3]) {
		order_read(arg[1], atoll(arg[2]) * 1024, atol(arg[3]) * 1024);
		return arg + 4;
	}
	if (!strcmp(arg[0], "command") && arg[1]) {
		for (int i = atoi(arg[1]); i > 0; i--)
			start_command();
		return arg + 2;
	}
	if (!strcmp(arg[0], "level") && arg[1]) {
		ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, atoi(arg[1]));
		return arg + 2;
	}
	if (!strcmp(arg[0], "sleep") && arg[1]) {
		usleep(atoi(arg[1]) * 1000);
		return arg + 2;
	}
	fprintf(stderr, "no step: %s\n", arg[0]);
	exit(2);
}

int main(int argc, char **argv)
{
	int status, failed = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s DEVICE STEP...\n", argv[0]);
		return 2;
	}
	device = argv[1];
	argv += 2;
	while (*argv)
		argv = take_step(argv);
	for (int i = 0; i < nr_readers; i++)
		close(readers[i].orders);
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
