# The two-layer CFQ series from the outside: patched trees, kernels for the VM, tests. `make help` lists what there is.

KERNEL ?=
FLAVOUR ?= fast
CONFIG ?=

.PHONY: help
help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)

#: make tree      a patched kernel source tree in build/linux-KERNEL
.PHONY: tree
tree: packages
	@kit/tree '$(KERNEL)'

#: make kernel    that tree built for the VM, FLAVOUR=fast (the default), debug, kcsan, onelayer, blkcg, suites,
#:                locktime or coverage
.PHONY: kernel
kernel: tree
	@kit/kernel '$(KERNEL)' $(FLAVOUR)

#: make lint      checkpatch, W=1, sparse, coccicheck, kernel-doc, shellcheck, black on our files
.PHONY: lint
lint: tree
	@kit/lint '$(KERNEL)'

#: make test      the test suites, on 7.3 and on the 6.12 of the distribution, or all on the one that KERNEL names; with
#:                SEED=N what is left to chance falls another way
.PHONY: test
test: packages
	@kit/packages packages-dkms.list packages-image.list
	@kit/test $(KERNEL)

#: make stress    what takes longer: with data races watched, all in larger numbers, long random sequences, and what
#:                make test leaves out on the second kernel
.PHONY: stress
stress: packages
	@kit/test --stress $(KERNEL)

#: make suites    suites that others wrote, with mq-deadline, bfq and cfq for the disk, in one table: the kernel's tests of
#:                cgroups, stress-ng, and the checks of ext4, xfs and btrfs after power cuts; with SEED=N at other moments
.PHONY: suites
suites: tree
	@kit/packages packages-suites.list
	@kit/kernel '$(KERNEL)' suites
	@kit/run-suites '$(KERNEL)'

#: make coverage  the lines of the scheduler that no test runs; SUITES="heads flash" for a part of the suites
.PHONY: coverage
coverage: tree
	@kit/kernel '$(KERNEL)' coverage
	@kit/coverage '$(KERNEL)' $(SUITES)

#: make stock     the package installed beside a kernel of the distribution, upgraded and removed; and such kernels,
#:                unmodified, 7.3 and 6.12, in the VM, with all suites that hold for the module
.PHONY: stock
stock: packages
	@kit/packages packages-dkms.list packages-image.list
	@kit/test --stock $(KERNEL)

#: make clients   Debian 13 in the VM, with the package installed: services of systemd, containers of podman, docker,
#:                containerd, runc, crun, LXC, Incus and libvirt, guests of QEMU, two of each with their own flags
#:                for weights 800 and 100
.PHONY: clients
clients: packages
	@kit/packages packages-dkms.list packages-image.list
	@kit/clients

#: make containers
#:                the four commands of README.md on Debian 13 in the VM: what two containers have of the disk, and
#:                build/containers.png
.PHONY: containers
containers: packages
	@kit/packages packages-image.list
	@demo/containers

#: make demo      the four published dd examples and three groups of readers: a table, and build/demo.png
.PHONY: demo
demo: FLAVOUR = fast
demo: kernel
	@demo/demo --kernel '$(KERNEL)'

#: make bench     cfq against its peers, as tables and plots; all of it takes two to three hours. ONLY=scenario,... and
#:                SCHED=scheduler,... run a part; bench/bench --list shows what there is
.PHONY: bench
bench: tree
	@flavours=$$(bench/bench --only '$(ONLY)' --sched '$(SCHED)' --flavours) || exit; \
	for flavour in $$flavours; do kit/kernel '$(KERNEL)' $$flavour || exit; done
	@bench/bench --kernel '$(KERNEL)' --only '$(ONLY)' --sched '$(SCHED)'

#: make series    the series as patches for git am, in build/series-KERNEL; each is checked and built
.PHONY: series
series: tree
	@kit/series '$(KERNEL)'
	@kit/series-builds '$(KERNEL)'

#: make deb       packages of the patched kernel for dpkg, in build/deb-KERNEL; CONFIG=FILE is its configuration, without
#:                which it is the VM's
.PHONY: deb
deb: tree
	@kit/packages packages-deb.list
	@kit/deb '$(KERNEL)' '$(CONFIG)'

#: make dkms      a package that builds the scheduler as a module for kernels as the distribution made them, in
#:                build/deb-dkms
.PHONY: dkms
dkms: packages
	@kit/dkms

#: make clean     removes all that was built, but for the downloaded kernel sources
.PHONY: clean
clean:
	@find build -mindepth 1 -maxdepth 1 ! -name dl -exec rm -rf {} +

.PHONY: packages
packages:
	@kit/packages

#:
#: KERNEL is 7.3, 6.12 or the path of a kernel tree (read only);
#: without it, the newest of these that the machine's package sources offer.
