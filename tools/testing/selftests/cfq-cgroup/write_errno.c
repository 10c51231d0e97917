// SPDX-License-Identifier: GPL-2.0
/*
 * Writes its standard input to a file with one write(2) and prints the name of
 * the error, 0 if there is none, "short" if not all was taken. A shell can
 * neither write nothing nor tell one error from another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[65536];
	size_t len = 0;
	ssize_t n;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	while ((n = read(STDIN_FILENO, buf + len, sizeof(buf) - len)) > 0)
		len += n;

	fd = open(argv[1], O_WRONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	n = write(fd, buf, len);
	if (n < 0)
		puts(strerrorname_np(errno));
	else
		puts((size_t)n == len ? "0" : "short");
	return 0;
}
