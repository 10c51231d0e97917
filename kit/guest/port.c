// SPDX-License-Identifier: GPL-2.0
/*
 * Copies standard input to an I/O port, byte by byte.
 *
 * QEMU's debug console keeps what is written to its port in a file of the host at once. There is no buffer
 * that fills and no interrupt, so sending never disturbs the guest's virtual time in a way that depends on the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[65536];
	unsigned short port;
	ssize_t n;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PORT\n", argv[0]);
		return 2;
	}
	port = strtoul(argv[1], NULL, 0);
	if (ioperm(port, 1, 1)) {
		perror("ioperm");
		return 1;
	}
	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		outsb(port, buf, n);
	return n < 0;
}
