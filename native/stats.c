/* The stat data of many paths: `python_stats` of gitindex/git/path_stats.py, byte for byte. */
#define _GNU_SOURCE
#include "table.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS = 6, MAX_THREADS = 8, LEAST_PATHS = 500 }; /* fewer are read at once */

typedef struct {
    int root, flags;
    const char *at; /* paths, each ended by a zero byte */
    size_t count;
    int64_t *out;
} Part;

#ifdef __APPLE__
#define MTIME st_mtimespec
#define CTIME st_ctimespec
#else
#define MTIME st_mtim
#define CTIME st_ctim
#endif

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

static void *stat_part(void *argument) {
    Part *part = argument;
    const char *path = part->at;
    int64_t *out = part->out;
    for (size_t i = 0; i < part->count; i++, out += FIELDS, path += strlen(path) + 1) {
        struct stat found;
        if (fstatat(part->root, path, &found, part->flags)) {
            memset(out, 0, (FIELDS - 1) * sizeof *out);
            out[FIELDS - 1] = -(int64_t)errno;
            continue;
        }
        out[0] = (int64_t)found.st_dev;
        out[1] = (int64_t)found.st_ino;
        out[2] = nanoseconds(found.MTIME);
        out[3] = nanoseconds(found.CTIME);
        out[4] = (int64_t)found.st_size;
        out[5] = (int64_t)found.st_mode;
    }
    return NULL;
}

/* Threads that read stat data, and what they share. It is freed when all have ended. */
typedef struct {
    int root;
    size_t count, threads;
    char *paths;
    int64_t *out;
    Part parts[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    int started[MAX_THREADS];
} Job;

static const char *JOB = "gitindex.stats";

static void wait_for(Job *job) {
    for (size_t n = 0; n < job->threads; n++) {
        if (job->started[n])
            pthread_join(job->ids[n], NULL);
        job->started[n] = 0;
    }
}

static void free_job(Job *job) {
    wait_for(job);
    if (job->root >= 0)
        close(job->root);
    free(job->paths);
    free(job->out);
    free(job);
}

static void drop_job(PyObject *capsule) {
    Job *job = PyCapsule_GetPointer(capsule, JOB);
    if (job)
        free_job(job);
}

/* Share the paths among threads; what a thread that cannot be started should do is done at once. */
static void start_job(Job *job, int flags) {
    Part rest = {job->root, flags, job->paths, job->count, job->out};
    size_t each = job->count / job->threads;
    for (size_t n = 0; n < job->threads; n++) {
        Part *part = &job->parts[n];
        *part = rest;
        part->count = n + 1 < job->threads ? each : rest.count;
        job->started[n] = job->count >= LEAST_PATHS && !pthread_create(&job->ids[n], NULL, stat_part, part);
        if (!job->started[n])
            stat_part(part);
        rest.count -= part->count;
        rest.out += FIELDS * part->count;
        for (size_t i = 0; n + 1 < job->threads && i < each; i++)
            rest.at += strlen(rest.at) + 1;
    }
}

static Job *new_job(const char *root, const char *paths, Py_ssize_t length, int threads) {
    Job *job = calloc(1, sizeof *job);
    if (!job)
        return (Job *)PyErr_NoMemory();
    job->root = -1;
    for (const char *at = paths; at < paths + length; at += strlen(at) + 1)
        job->count++;
    job->threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : (size_t)threads;
    job->paths = malloc((size_t)length + 1);
    job->out = malloc((job->count + 1) * FIELDS * sizeof *job->out);
    if (!job->paths || !job->out) {
        free_job(job);
        return (Job *)PyErr_NoMemory();
    }
    memcpy(job->paths, paths, (size_t)length);
    job->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job->root < 0) {
        free_job(job);
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, root);
        return NULL;
    }
    return job;
}

PyObject *start_stats(PyObject *module, PyObject *args) {
    const char *root, *paths;
    Py_ssize_t length;
    int follow, threads;
    (void)module;
    if (!PyArg_ParseTuple(args, "yy#pi", &root, &paths, &length, &follow, &threads))
        return NULL;
    if (length && paths[length - 1]) {
        PyErr_SetString(PyExc_ValueError, "every path ends with a zero byte");
        return NULL;
    }
    Job *job = new_job(root, paths, length, threads);
    if (!job)
        return NULL;
    PyObject *capsule = PyCapsule_New(job, JOB, drop_job);
    if (!capsule) {
        free_job(job);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    start_job(job, follow ? 0 : AT_SYMLINK_NOFOLLOW);
    Py_END_ALLOW_THREADS
    return capsule;
}

PyObject *end_stats(PyObject *module, PyObject *args) {
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    Job *job = PyCapsule_GetPointer(capsule, JOB);
    if (!job)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wait_for(job);
    Py_END_ALLOW_THREADS
    Py_ssize_t size = (Py_ssize_t)(job->count * FIELDS * sizeof *job->out);
    return PyBytes_FromStringAndSize((const char *)job->out, size);
}
