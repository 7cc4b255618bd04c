"""What a session that was taken over tries (breakout.py): system calls, a line
each.

SPDX-License-Identifier: ISC
"""
# Of files, by place: {spool} {dir} {run}; the reason is the line.
FILES = """
	openat {cwd} "/etc/passwd" 0 0
	openat {cwd} "/etc/hosts" 0 0
	openat {cwd} "../../../../../../etc/passwd" 0 0
	openat {cwd} "/proc/self/mem" 2 0
	openat {cwd} "/proc/1/environ" 0 0
	openat {cwd} "/proc/{keys}/mem" 0 0
	openat {cwd} "/" {list} 0
	openat {cwd} "/tmp/zmailer-breakout" {make} 0o600
	openat {cwd} "{dir}/log/{journal}" 0 0
	openat {cwd} "{dir}/mail" {list} 0
	openat {cwd} "{dir}/etc/zmailer.conf" 2 0
	openat {cwd} "{spool}/router" {list} 0
	openat {cwd} "{spool}/public" {list} 0
	openat {cwd} "{spool}/public/new" {list} 0
	openat {cwd} "{spool}/public/new/A" {list} 0
	openat {cwd} "{spool}/router/..other" 0 0
	openat {cwd} "{spool}/router/..other" 1 0
	openat {cwd} "{spool}/queue/..other" 0 0
	openat {cwd} "{spool}/router/..mine" {make} 0o600
	openat {cwd} "{spool}/queue/1" {make} 0o600
	openat {cwd} "{spool}/transport/1" {make} 0o600
	openat {cwd} "{spool}/deferred/1" {make} 0o600
	openat {cwd} "{spool}/postman/1" {make} 0o600
	openat {cwd} "{spool}/trash/1" {make} 0o600
	openat {cwd} "{run}/x" {make} 0o600
	renameat {cwd} "{spool}/router/..other" {cwd} "{spool}/public/got"
	renameat {cwd} "{spool}/router/..other" {cwd} "{spool}/freezer/got"
	renameat {cwd} "{spool}/queue/..other" {cwd} "{spool}/public/got"
	unlinkat {cwd} "{spool}/router/..other" 0
	unlinkat {cwd} "{spool}/queue/..other" 0
	linkat {cwd} "{spool}/router/..other" {cwd} "{spool}/public/got" 0
	symlinkat "/etc/passwd" {cwd} "{spool}/public/got"
	mkdirat {cwd} "{spool}/public/got" 0o700
	mknodat {cwd} "{spool}/public/got" 0o10600 0
	truncate "{spool}/router/..other" 0
	fchmodat {cwd} "{spool}/router" 0o777
	fchownat {cwd} "{spool}/router" 1 1 0
	utimensat {cwd} "{spool}/router/..other" 0 0
	setxattr "{spool}/router/..other" "user.x" "x" 1 0
	name_to_handle_at {cwd} "/etc/passwd" x0800000000000000 x00000000 0
	open_by_handle_at {cwd} x0800000000000000 0
"""

REST = """
	fork
	vfork
	kill {parent} 0
	kill {keys} 0
	tkill {parent} 0
	ptrace 16 {parent} 0 0
	process_vm_readv {keys} 0 0 0 0 0
	process_vm_writev {keys} 0 0 0 0 0
	pidfd_open {parent} 0
	kcmp {pid} {parent} 0 0 0
	prlimit64 {parent} 7 0 0
	setpriority 0 {parent} 19
	socket 1 1 0
	socket 2 1 0
	socket 2 2 0
	socket 10 1 0
	socket 16 3 0
	socket 17 3 0
	connect 0 x02000019 16
	bind 0 x02000019 16
	listen 0 5
	accept4 0 0 0 0
	setuid 0
	setgid 0
	setgroups 0 0
	setresuid 0 0 0
	capset 0 0
	chroot "/"
	pivot_root "/" "/"
	unshare 0x10000000
	unshare 0x20000
	setns 0 0
	mount "none" "/tmp" "tmpfs" 0 0
	umount2 "/tmp" 0
	keyctl 0 0 0
	bpf 0 x00 0
	perf_event_open x00 0 -1 -1 0
	userfaultfd 0
	io_uring_setup 4 x00
	init_module x00 0 ""
	reboot 0 0 0 0
	personality 0x40000
	modify_ldt 0 x00 16
	syslog 10 0 0
	quotactl 0 0 0 0
	swapon "/tmp/x" 0
	acct 0
	execve "/bin/true" 0 0
	execveat {cwd} "/bin/true" 0 0 0
"""

# what a process with AddressSanitizer needs itself (daemon/sandbox*.c)
