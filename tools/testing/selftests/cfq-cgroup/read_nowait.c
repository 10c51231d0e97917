// SPDX-License-Identifier: GPL-2.0
/*
 * Reads 4 KB from the beginning of a device, directly and without ever
 * sleeping for it (RWF_NOWAIT), and prints the name of the error, 0 if there is
 * none, "short" if not all was read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define SIZE	4096

int main(int argc, char **argv)
{
	struct iovec iov = {
		.iov_base = aligned_alloc(SIZE, SIZE),
		.iov_len = SIZE,
	};
	ssize_t n;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DEVICE\n", argv[0]);
		return 2;
	}
	fd = iov.iov_base ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	n = preadv2(fd, &iov, 1, 0, RWF_NOWAIT);
	if (n < 0)
		puts(strerrorname_np(errno));
	else
		puts(n == SIZE ? "0" : "short");
	return 0;
}
