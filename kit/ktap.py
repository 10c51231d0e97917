"""Reads the results of tests in KTAP, the format of the kernel's selftests and of KUnit."""

import re

RESULT = re.compile(r"^(\s*)(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:\s*#\s*(SKIP)\b.*)?$")
KSFT_SKIP = 4
VM_FAILED = 124  # and above: statuses of kit/vm itself
PLAN = re.compile(r"^(\s*)1\.\.(\d+)")


class Results:
    def __init__(self):
        self.passed = self.skipped = 0
        self.failures = []

    def add(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures

    def line(self):
        return f"{self.passed} passed, {len(self.failures)} failed" + (
            f", {self.skipped} skipped" if self.skipped else ""
        )


def read(text, status=0):
    """Counts the results in the output of a test that ended with this status.

    Of nested results the innermost count. A test that breaks off, one that gives no result, and one that ends with an
    error of which its results know nothing have failed.
    """
    results = Results()
    promised = counted = 0
    below = -1
    for line in text.splitlines():
        if (plan := PLAN.match(line)) and not plan[1]:
            promised += int(plan[2])
            if int(plan[2]) == 0 and "SKIP" in line:
                results.skipped += 1
        match = RESULT.match(line)
        if not match:
            continue
        depth = len(match[1])
        counted += depth == 0
        summary, below = below > depth, depth
        if summary:
            continue
        if match[2]:
            results.failures.append(match[3])
        elif match[4]:
            results.skipped += 1
        else:
            results.passed += 1
    if counted < promised:
        results.failures.append(f"broke off: {counted} of {promised} results")
    known = results.failures and status < VM_FAILED
    if not known and status not in (0, KSFT_SKIP):
        results.failures.append(f"ended with status {status}")
    if not (results.passed or results.skipped or results.failures):
        results.failures.append("gave no result")
    return results


def of_failures(text, longest):
    """What a test says before what failed or was skipped, and after its last result; of each so many lines at most."""
    said, shown = [], []
    for line in text.splitlines():
        said.append(line)
        if match := RESULT.match(line):
            if match[2] or match[4]:
                shown += said[-longest:]
            said = []
    return shown + said[-longest:]
