/* A queue of the kernel's events about many folders (Linux only): gitindex/git/folder_watch.py. */
#include "table.h"
#include <errno.h>
#ifdef __linux__
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    MASK = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE |
           IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW,
    MAX_PATH = 4096
};

/* 0, or the number of the error. A folder that is gone is left out: its parent is watched. */
static int watch_all(int queue, const char *root, const char *paths, Py_ssize_t length) {
    char name[2 * MAX_PATH];
    size_t above = strlen(root);
    if (above >= MAX_PATH)
        return ENAMETOOLONG;
    memcpy(name, root, above);
    name[above++] = '/';
    for (const char *end = paths + length; paths < end; paths += strlen(paths) + 1) {
        if (strlen(paths) >= MAX_PATH)
            return ENAMETOOLONG;
        strcpy(name + above, paths);
        if (inotify_add_watch(queue, name, MASK) < 0 && errno != ENOENT && errno != ENOTDIR)
            return errno;
    }
    return 0;
}
#endif

PyObject *watch_folders(PyObject *module, PyObject *args) {
    const char *root, *paths;
    Py_ssize_t length;
    (void)module;
    if (!PyArg_ParseTuple(args, "yy#", &root, &paths, &length))
        return NULL;
    if (length && paths[length - 1]) {
        PyErr_SetString(PyExc_ValueError, "every path ends with a zero byte");
        return NULL;
    }
#ifdef __linux__
    int queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), failed;
    if (queue < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_BEGIN_ALLOW_THREADS
    failed = watch_all(queue, root, paths, length);
    Py_END_ALLOW_THREADS
    if (failed) {
        close(queue);
        errno = failed;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return PyLong_FromLong(queue);
#else
    errno = ENOSYS;
    return PyErr_SetFromErrno(PyExc_OSError);
#endif
}
