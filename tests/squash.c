/* SPDX-License-Identifier: BSD-3-Clause
 * squash - a network file system in small (FUSE): root is nobody there, and what a server may do wrong can be asked for
 *
 *     squash FOLDER MOUNTPOINT [root] [nolink] [norename2] [noflock] [lost]
 *
 * FOLDER's files, with the rights of whoever asks; root's are those of user 65534, as on an export with root_squash
 * (with `root`: root's own). nolink: no hard links (EPERM); norename2: no RENAME_NOREPLACE (EINVAL); noflock: no locks
 * (as Lustre without the option flock); lost: the answer to the first try of each link, rename and mkdir gets lost, and
 * the second is told what it finds. Stays in the foreground until it is unmounted.
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define PATH   4096

static const char *below;
/* What is open has its number, and not a name, on a server. FUSE's client asks by the last name that it knows: of what
 * was renamed without its knowing that is the old one. */
static char moved_from[PATH], moved_to[PATH];
static bool as_root, no_link, no_rename2, no_flock, lost;

static const char *real(char out[PATH], const char *path)
{
	snprintf(out, PATH, "%s%s", below, path);
	return out;
}

/* One thread: what follows is done with the rights of the caller. */
static void become_caller(void)
{
	const struct fuse_context *c = fuse_get_context();
	bool squashed = c->uid == 0 && !as_root;
	gid_t groups[64];
	int n = squashed ? 0 : fuse_getgroups(64, groups);

	syscall(SYS_setgroups, n > 0 && n <= 64 ? n : 0, groups);
	syscall(SYS_setresgid, -1, squashed ? NOBODY : c->gid, -1);
	syscall(SYS_setresuid, -1, squashed ? NOBODY : c->uid, -1);
}

static int answer(long rv)
{
	int failure = errno;
	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_setresgid, -1, 0, -1);
	return rv < 0 ? -failure : (int)rv;
}

#define ASK(call) (become_caller(), answer(call))

/* The client asked twice. */
static int twice(int rv, int found)
{
	return lost && rv == 0 ? -found : rv;
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	config->use_ino = 1;
	config->hard_remove = 1;
	return NULL;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	char p[PATH];
	int rv = fi ? answer(fstat((int)fi->fh, st)) : ASK(lstat(real(p, path), st));
	return rv == -ENOENT && !strcmp(path, moved_from) ? ASK(lstat(real(p, moved_to), st)) : rv;
}

static int fs_access(const char *path, int mask)
{
	char p[PATH];
	return ASK(faccessat(AT_FDCWD, real(p, path), mask, AT_EACCESS));
}

static int fs_readlink(const char *path, char *out, size_t size)
{
	char p[PATH];
	int n = ASK(readlink(real(p, path), out, size - 1));
	if (n >= 0)
		out[n] = '\0';
	return n < 0 ? n : 0;
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *fi,
                      enum fuse_readdir_flags flags)
{
	char p[PATH];
	(void)offset;
	(void)fi;
	(void)flags;
	become_caller();
	DIR *dir = opendir(real(p, path));
	for (struct dirent *e; dir && (e = readdir(dir));)
		fill(buffer, e->d_name, NULL, 0, 0);
	int rv = answer(dir ? 0 : -1);
	if (dir)
		closedir(dir);
	return rv;
}

static int fs_mkdir(const char *path, mode_t mode)
{
	char p[PATH];
	return twice(ASK(mkdir(real(p, path), mode)), EEXIST);
}

static int fs_symlink(const char *to, const char *path)
{
	char p[PATH];
	return ASK(symlink(to, real(p, path)));
}

static int fs_mknod(const char *path, mode_t mode, dev_t device)
{
	char p[PATH];
	return ASK(mknod(real(p, path), mode, device));
}

static int fs_unlink(const char *path)
{
	char p[PATH];
	return ASK(unlink(real(p, path)));
}

static int fs_rmdir(const char *path)
{
	char p[PATH];
	return ASK(rmdir(real(p, path)));
}

static int fs_link(const char *from, const char *to)
{
	char p[PATH], q[PATH];
	return no_link ? -EPERM : twice(ASK(link(real(p, from), real(q, to))), EEXIST);
}

static int fs_rename(const char *from, const char *to, unsigned flags)
{
	char p[PATH], q[PATH];
	if (flags && no_rename2)
		return -EINVAL;
	int rv = ASK(syscall(SYS_renameat2, AT_FDCWD, real(p, from), AT_FDCWD, real(q, to), flags));
	snprintf(moved_from, sizeof moved_from, "%s", lost && rv == 0 ? from : "");
	snprintf(moved_to, sizeof moved_to, "%s", to);
	return twice(rv, ENOENT);
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	char p[PATH];
	return fi ? ASK(fchmod((int)fi->fh, mode)) : ASK(chmod(real(p, path), mode));
}

static int fs_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	char p[PATH];
	return fi ? ASK(fchown((int)fi->fh, uid, gid)) : ASK(lchown(real(p, path), uid, gid));
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	char p[PATH];
	return fi ? answer(ftruncate((int)fi->fh, size)) : ASK(truncate(real(p, path), size));
}

static int fs_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *fi)
{
	char p[PATH];
	if (fi)
		return ASK(futimens((int)fi->fh, times));
	return ASK(utimensat(AT_FDCWD, real(p, path), times, AT_SYMLINK_NOFOLLOW));
}

static int opened(int fd, struct fuse_file_info *fi)
{
	if (fd < 0)
		return fd;
	fi->fh = (uint64_t)fd;
	return 0;
}

static int fs_open(const char *path, struct fuse_file_info *fi)
{
	char p[PATH];
	return opened(ASK(open(real(p, path), fi->flags & ~(O_CREAT | O_EXCL))), fi);
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	char p[PATH];
	return opened(ASK(open(real(p, path), fi->flags | O_CREAT, mode)), fi);
}

static int fs_read(const char *path, char *out, size_t n, off_t at, struct fuse_file_info *fi)
{
	(void)path;
	return answer(pread((int)fi->fh, out, n, at));
}

static int fs_write(const char *path, const char *bytes, size_t n, off_t at, struct fuse_file_info *fi)
{
	(void)path;
	return answer(pwrite((int)fi->fh, bytes, n, at));
}

static int fs_fsync(const char *path, int data, struct fuse_file_info *fi)
{
	(void)path;
	(void)data;
	return answer(fsync((int)fi->fh));
}

static int fs_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return answer(close((int)fi->fh));
}

static int fs_flock(const char *path, struct fuse_file_info *fi, int operation)
{
	(void)path;
	(void)fi;
	(void)operation;
	return -EOPNOTSUPP;
}

static int fs_statfs(const char *path, struct statvfs *st)
{
	char p[PATH];
	return ASK(statvfs(real(p, path), st));
}

int main(int argc, char **argv)
{
	struct fuse_operations operations = {.init = fs_init,
	                                     .getattr = fs_getattr,
	                                     .access = fs_access,
	                                     .readlink = fs_readlink,
	                                     .readdir = fs_readdir,
	                                     .mkdir = fs_mkdir,
	                                     .symlink = fs_symlink,
	                                     .mknod = fs_mknod,
	                                     .unlink = fs_unlink,
	                                     .rmdir = fs_rmdir,
	                                     .link = fs_link,
	                                     .rename = fs_rename,
	                                     .chmod = fs_chmod,
	                                     .chown = fs_chown,
	                                     .truncate = fs_truncate,
	                                     .utimens = fs_utimens,
	                                     .open = fs_open,
	                                     .create = fs_create,
	                                     .read = fs_read,
	                                     .write = fs_write,
	                                     .fsync = fs_fsync,
	                                     .release = fs_release,
	                                     .statfs = fs_statfs};
	char *arguments[] = {argv[0], argv[2], "-f", "-s", "-o", "allow_other", NULL};

	if (argc < 3) {
		fputs("Usage: squash FOLDER MOUNTPOINT [root] [nolink] [norename2] [noflock] [lost]\n", stderr);
		return 2;
	}
	below = argv[1];
	for (int i = 3; i < argc; i++) {
		as_root |= !strcmp(argv[i], "root");
		no_link |= !strcmp(argv[i], "nolink");
		no_rename2 |= !strcmp(argv[i], "norename2");
		no_flock |= !strcmp(argv[i], "noflock");
		lost |= !strcmp(argv[i], "lost");
	}
	if (no_flock)
		operations.flock = fs_flock;
	umask(0);
	return fuse_main(6, arguments, &operations, NULL);
}
