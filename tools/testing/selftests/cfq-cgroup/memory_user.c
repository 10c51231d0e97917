// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses memory: a server, whose set of pages is in use all the time while it
 * reads a device, one page at a random place after the other; and a hog, which
 * takes more and more, and uses none of it again. Says how many reads were done,
 * or pages taken, in a time that begins a while after the start.
 *
 *	memory_user server WAIT_MS COUNTED_MS SET_MB DEVICE FIRST_MB SIZE_MB
 *	memory_user hog WAIT_MS COUNTED_MS MB_PER_S
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096
#define MB	1048576L
#define TOUCHED	1000	/* pages of the set, for each read */
#define HOG_MB	16384L	/* more than there ever is */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static char *take(long mb)
{
	char *memory = mmap(NULL, mb * MB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	/* A page is what is taken and given. */
	madvise(memory, mb * MB, MADV_NOHUGEPAGE);
	return memory;
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static long serve(int64_t from_ns, int64_t until_ns, long set_mb,
		  const char *device, long first_mb, long size_mb)
{
	char *set = take(set_mb), *buffer;
	int fd = open(device, O_RDONLY | O_DIRECT);
	const long pages = set_mb * MB / PAGE;
	long i, reads = 0;
	int64_t ns;

	if (fd < 0 || posix_memalign((void **)&buffer, PAGE, PAGE))
		die(device);
	for (i = 0; i < pages; i++)
		set[i * PAGE] = 1;
	while ((ns = now_ns()) < until_ns) {
		off_t page = random_number() % (size_mb * MB / PAGE);

		if (pread(fd, buffer, PAGE, first_mb * MB + page * PAGE) != PAGE)
			die(device);
		for (i = 0; i < TOUCHED; i++)
			set[random_number() % pages * PAGE]++;
		reads += ns >= from_ns;
	}
	return reads;
}

static long grow(int64_t from_ns, int64_t until_ns, long mb_per_s)
{
	char *memory = take(HOG_MB);
	const int64_t begin_ns = now_ns();
	long page, taken = 0;
	int64_t ns;

	for (page = 0; (ns = now_ns()) < until_ns; page++) {
		int64_t ahead_ns = begin_ns + page * 1000000000LL /
				   (mb_per_s * MB / PAGE) - ns;

		if (ahead_ns > 1000000)
			usleep(ahead_ns / 1000);
		if (page == HOG_MB * MB / PAGE)
			die("there is too much memory");
		/* No two are the same, so each is really written. */
		*(long *)(memory + page * PAGE) = page + 1;
		taken += ns >= from_ns;
	}
	return taken;
}

int main(int argc, char **argv)
{
	int64_t from_ns, until_ns;
	long nr;

	if (argc < 5)
		return 2;
	from_ns = now_ns() + atol(argv[2]) * 1000000LL;
	until_ns = from_ns + atol(argv[3]) * 1000000LL;
	if (!strcmp(argv[1], "server") && argc == 8)
		nr = serve(from_ns, until_ns, atol(argv[4]), argv[5],
			   atol(argv[6]), atol(argv[7]));
	else if (!strcmp(argv[1], "hog") && argc == 5)
		nr = grow(from_ns, until_ns, atol(argv[4]));
	else
		return 2;
	printf("%ld\n", nr);
	return 0;
}
