/* test_pid.c - the number of this process, and of its child
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pid.h"

Test(pid, a_child_has_its_own)
{
	int status = -1;
	pid_t pid;

	cr_assert_eq(pid_own(), getpid());
	cr_assert_eq(pid_own(), getpid());
	pid = fork();
	if (pid == 0)
		_exit(pid_own() == getpid() ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	cr_expect_eq(pid_own(), getpid());
}
