// SPDX-License-Identifier: GPL-2.0
/*
 * Looks at files by io_uring, whose workers do that, eight at a time, again and again.
 *
 *   uring_stat FILE...
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR	8

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(int fd, size_t size, off_t what)
{
	void *there = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, fd, what);

	if (there == MAP_FAILED)
		die("mmap");
	return there;
}

int main(int argc, char **argv)
{
	struct io_uring_params params = { 0 };
	int fd = syscall(SYS_io_uring_setup, NR, &params);
	unsigned int *tail, *head, *array, i;
	struct io_uring_sqe *sqes;
	static struct statx found[NR];
	char *sq, *cq;
	int next = 0;

	if (fd < 0 || argc < 2)
		die("io_uring_setup");
	sq = map(fd, params.sq_off.array + params.sq_entries * sizeof(*array),
		 IORING_OFF_SQ_RING);
	cq = map(fd, params.cq_off.cqes +
		     params.cq_entries * sizeof(struct io_uring_cqe),
		 IORING_OFF_CQ_RING);
	sqes = map(fd, params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	tail = (unsigned int *)(sq + params.sq_off.tail);
	array = (unsigned int *)(sq + params.sq_off.array);
	head = (unsigned int *)(cq + params.cq_off.head);
	for (;;) {
		for (i = 0; i < NR; i++) {
			memset(&sqes[i], 0, sizeof(sqes[i]));
			sqes[i].opcode = IORING_OP_STATX;
			sqes[i].fd = AT_FDCWD;
			sqes[i].addr = (unsigned long)argv[1 + next++ % (argc - 1)];
			sqes[i].len = STATX_BASIC_STATS;
			sqes[i].off = (unsigned long)&found[i];
			array[(*tail + i) % NR] = i;
		}
		__atomic_store_n(tail, *tail + NR, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, NR, NR,
			    IORING_ENTER_GETEVENTS, NULL, 0) != NR)
			die("io_uring_enter");
		__atomic_store_n(head, *head + NR, __ATOMIC_RELEASE);
	}
}
