// The library that stands in for cuDNN, cuBLAS and the CUDA runtime in a compiled program.
//
// Each function jumps through a table. An entry is filled at the first call: with the function of
// the real library where calls are only forwarded, else with one that Python has made for it.
// `functions.c`, which is written from the declarations, defines the functions and includes this.

#include <dlfcn.h>
#include <execinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static __thread void *caller; // where the program goes on after the call

typedef void *(*Resolver)(int);

static struct {
    int (*IsInitialized)(void);
    void (*InitializeEx)(int);
    int (*RunString)(const char *);
    void *(*SaveThread)(void);
    int (*Ensure)(void);
    void (*Release)(int);
    int (*HasGil)(void);
    void (*BeforeFork)(void), (*AfterForkParent)(void), (*AfterForkChild)(void);
} python;

static Resolver python_resolver;
static void (*python_end)(void);
static int python_is_ours;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "cudnn-ctypes: %s: %s\n", what, why ? why : "not found");
    _exit(127);
}

// --- Python in this process ----------------------------------------------------------------------

static void *python_function(void *from, const char *name) {
    void *found = dlsym(from, name);
    if (!found) stop(name, "this Python has no such function");
    return found;
}

// A fork in a thread that runs Python is Python's own, which does this itself.
static __thread int fork_state, fork_is_the_program_s;
static void before_fork(void) {
    fork_is_the_program_s = !python.HasGil();
    if (!fork_is_the_program_s) return;
    fork_state = python.Ensure();
    python.BeforeFork();
}
static void in_parent(void) {
    if (!fork_is_the_program_s) return;
    python.AfterForkParent();
    python.Release(fork_state);
}
static void in_child(void) {
    if (!fork_is_the_program_s) return;
    python.AfterForkChild();
    python.SaveThread(); // and not Release: Python cannot begin anew without any thread's state
}

static void start_python(void) {
    void *from = RTLD_DEFAULT;
    if (!dlsym(from, "Py_IsInitialized")) {
        from = dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
        if (!from) stop("Python cannot be loaded", dlerror());
    }
    python.IsInitialized = python_function(from, "Py_IsInitialized");
    python.InitializeEx = python_function(from, "Py_InitializeEx");
    python.RunString = python_function(from, "PyRun_SimpleString");
    python.SaveThread = python_function(from, "PyEval_SaveThread");
    python.Ensure = python_function(from, "PyGILState_Ensure");
    python.Release = python_function(from, "PyGILState_Release");
    python.HasGil = python_function(from, "PyGILState_Check");
    python.BeforeFork = python_function(from, "PyOS_BeforeFork");
    python.AfterForkParent = python_function(from, "PyOS_AfterFork_Parent");
    python.AfterForkChild = python_function(from, "PyOS_AfterFork_Child");
    int state = 0;
    python_is_ours = !python.IsInitialized();
    if (python_is_ours) {
        // The program's locale and environment stay as they are.
        char *locale = setlocale(LC_CTYPE, NULL);
        locale = strdup(locale ? locale : "C");
        char *home = getenv("PYTHONHOME");
        home = home ? strdup(home) : NULL;
        setenv("PYTHONHOME", PYTHONHOME, 1);
        python.InitializeEx(0);
        if (home) setenv("PYTHONHOME", home, 1); else unsetenv("PYTHONHOME");
        setlocale(LC_CTYPE, locale);
        free(home);
        free(locale);
    } else {
        state = python.Ensure();
    }
    char code[sizeof START + 32];
    snprintf(code, sizeof code, START, (long)&python_resolver, (long)&python_end, python_is_ours);
    if (python.RunString(code) || !python_resolver) stop("the library of the program", "no start");
    if (python_is_ours) {
        python.SaveThread();
        pthread_atfork(before_fork, in_parent, in_child);
    } else {
        python.Release(state);
    }
}

__attribute__((destructor)) static void end(void) {
    if (!python_end || !python.IsInitialized()) return;
    int state = python.Ensure();
    python_end();
    python.Release(state);
}

// --- the functions -------------------------------------------------------------------------------

static const char *const libraries[] = {
    "libcudnn.so.9", "libcudnn.so.8", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
    "libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcurand.so.10", NULL,
};

// The real function `name`: the next one in the loader's order, or that of a loaded library.
EXPORT void *cudnn_ctypes_real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    for (int i = 0; !found && libraries[i]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
        if (library) found = dlsym(library, name);
    }
    return found;
}

static int on_gpu, traces;

static void choose(void) {
    const char *device = getenv("CUDNN_CTYPES_DEVICE");
    const char *trace = getenv("CUDNN_CTYPES_TRACE");
    on_gpu = !device || strncmp(device, "reference", 9) != 0;
    traces = trace && *trace && strcmp(trace, "0") != 0;
}

// The function that carries out calls of `name`. On a GPU it is the real one, but for calls of
// cuDNN that are traced, and functions that cuDNN 9 dropped.
static void *carrier(int index) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *name = names[index];
    void *found = NULL;
    if (on_gpu && !(traces && strncmp(name, "cudnn", 5) == 0)) found = cudnn_ctypes_real(name);
    if (!found) {
        pthread_once(&once, start_python);
        found = python_resolver(index);
    }
    return found;
}

static void *resolve(int index) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *here = caller;
    pthread_once(&once, choose);
    void *found = carrier(index);
    if (!found) stop(names[index], "no library of this process has it");
    caller = here;
    return table[index] = found;
}

static inline void *entry(int index) {
    return __builtin_expect(table[index] != NULL, 1) ? table[index] : resolve(index);
}

// --- the program's places ------------------------------------------------------------------------

// The return addresses from the program's call of a function of this library outwards.
EXPORT int cudnn_ctypes_callers(void **addresses, int count) {
    void *all[256];
    int depth = backtrace(all, 256), first = 0, found = 0;
    while (first < depth && all[first] != caller) first++;
    if (first == depth) { // the stack cannot be walked through what is between
        if (caller && count) addresses[found++] = caller;
        return found;
    }
    while (first < depth && found < count) addresses[found++] = all[first++];
    return found;
}
