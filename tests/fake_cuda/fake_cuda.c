/* A stand-in for the driver's libcuda.so.1: enough for TensorFlow to list GPUs, nothing that computes.
 *
 * TFDOCTOR_FAKE_CUDA      the profile: `key value` a line, `#` starts a comment (keys: __init__.py beside this file)
 * TFDOCTOR_FAKE_CUDA_LOG  optional: every call is appended here, one a line
 *
 * CUDA_VISIBLE_DEVICES is read as the driver reads it: numbers or beginnings of UUIDs; the list ends at the first
 * entry that is no device; a device named twice leaves none; nothing left is CUDA_ERROR_NO_DEVICE from cuInit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define PROFILE "TFDOCTOR_FAKE_CUDA"
#include "../fake_profile.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
       NOT_FOUND = 500, NOT_SUPPORTED = 801 };
enum { MAX_GPUS = 64 };

static int initialised = 0, visible[MAX_GPUS], visible_count = 0;

static long number(const char *value, long otherwise) { return value ? strtol(value, NULL, 0) : otherwise; }

/* ---- what every call does first --------------------------------------------------------------------------- */

static void log_call(const char *function) {
    char line[128];
    snprintf(line, sizeof line, "%s\n", function);
    log_line(line);
}

static int enter(const char *function, int needs_init) {
    log_call(function);
    if (find("crash.%s", function)) crash();
    if (find("hang.%s", function)) hang();
    long code = number(find("fail.%s", function), 0);
    if (code) return (int)code;
    return needs_init && !initialised ? NOT_INITIALIZED : SUCCESS;
}

#define ENTER() do { int bad_ = enter(__func__, 1); if (bad_) return bad_; } while (0)
#define DEVICE(d) do { ENTER(); if ((d) < 0 || (d) >= visible_count) return INVALID_DEVICE; } while (0)

/* ---- CUDA_VISIBLE_DEVICES --------------------------------------------------------------------------------- */

static int by_number(const char *entry) {   /* "1gpu" is 1, as strtoul reads it; no digits is no device */
    char *end;
    long index = strtol(entry, &end, 10);
    return end == entry ? -1 : (int)index;
}

static int by_uuid(const char *entry, int count) {   /* the only device whose UUID begins so */
    int found = -1;
    for (int i = 0; i < count; i++) {
        const char *uuid = find("gpu.%d.uuid", i);
        if (!uuid || strncmp(uuid, entry, strlen(entry))) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

static void choose_visible(void) {
    int count = (int)number(find("count"), 0);
    const char *wanted = getenv("CUDA_VISIBLE_DEVICES");
    visible_count = 0;
    if (!wanted) {
        while (visible_count < count && visible_count < MAX_GPUS) visible[visible_count] = visible_count, visible_count++;
        return;
    }
    char *copy = strdup(wanted), *rest = copy, *entry;
    while ((entry = strsep(&rest, ",")) && visible_count < MAX_GPUS) {
        entry += strspn(entry, " \t");
        entry[strcspn(entry, " \t")] = 0;
        int index = !strncmp(entry, "GPU-", 4) || !strncmp(entry, "MIG-", 4) ? by_uuid(entry, count) : by_number(entry);
        if (index < 0 || index >= count) break;
        for (int i = 0; i < visible_count; i++)
            if (visible[i] == index) { visible_count = 0; free(copy); return; }
        visible[visible_count++] = index;
    }
    free(copy);
}

/* ---- the driver API --------------------------------------------------------------------------------------- */

int cuInit(unsigned flags) {
    (void)flags;
    int bad = enter(__func__, 0);
    if (!bad) bad = (int)number(find("init"), 0);
    if (bad) return bad;
    choose_visible();
    if (!visible_count) return NO_DEVICE;
    initialised = 1;
    return SUCCESS;
}

int cuDriverGetVersion(int *out) {
    int bad = enter(__func__, 0);
    *out = (int)number(find("driver_version"), 0);
    return bad;
}
int cuDeviceGetCount(int *out) { ENTER(); *out = visible_count; return SUCCESS; }
int cuDeviceGet(int *out, int ordinal) { DEVICE(ordinal); *out = ordinal; return SUCCESS; }

int cuDeviceGetName(char *out, int size, int d) {
    DEVICE(d);
    const char *name = find("gpu.%d.name", visible[d]);
    snprintf(out, size, "%s", name ? name : "NVIDIA GPU");
    return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *out, int d) {
    DEVICE(d);
    *out = (size_t)number(find("gpu.%d.memory_mib", visible[d]), 0) << 20;
    return SUCCESS;
}
int cuDeviceTotalMem(unsigned *out, int d) {
    size_t all = 0;
    int bad = cuDeviceTotalMem_v2(&all, d);
    *out = (unsigned)all;
    return bad;
}

static void capability(int d, int *major, int *minor) {
    const char *value = find("gpu.%d.compute_capability", visible[d]);
    *major = *minor = 0;
    if (value) sscanf(value, "%d.%d", major, minor);
}
int cuDeviceComputeCapability(int *major, int *minor, int d) { DEVICE(d); capability(d, major, minor); return SUCCESS; }

static void bus(int d, unsigned *domain, unsigned *number_, unsigned *device) {
    const char *value = find("gpu.%d.pci", visible[d]);
    *domain = 0, *number_ = 1 + (unsigned)visible[d], *device = 0;
    if (value) sscanf(value, "%x:%x:%x", domain, number_, device);
}

int cuDeviceGetPCIBusId(char *out, int size, int d) {
    unsigned domain, number_, device;
    DEVICE(d);
    bus(d, &domain, &number_, &device);
    snprintf(out, size, "%04x:%02x:%02x.0", domain, number_, device);
    return SUCCESS;
}

int cuDeviceGetAttribute(int *out, int attribute, int d) {   /* numbers of the enumeration CUdevice_attribute */
    int major, minor;
    unsigned domain, number_, device;
    DEVICE(d);
    capability(d, &major, &minor);
    bus(d, &domain, &number_, &device);
    switch (attribute) {
    case 1: case 2: case 3: case 4: *out = attribute == 4 ? 64 : 1024; break;   /* threads a block; block sizes */
    case 5: *out = 2147483647; break;                       /* grid sizes */
    case 6: case 7: *out = 65535; break;
    case 8: case 81: *out = 49152; break;                    /* shared memory a block, a multiprocessor */
    case 10: *out = 32; break;                              /* warp */
    case 12: case 82: *out = 65536; break;                   /* registers */
    case 13: *out = 1410000; break;                         /* clock, kHz */
    case 16: *out = (int)number(find("gpu.%d.multiprocessors", visible[d]), 108); break;
    case 20: *out = (int)number(find("gpu.%d.compute_mode", visible[d]), 0); break;
    case 33: *out = (int)number_; break;
    case 34: *out = (int)device; break;
    case 36: *out = 1215000; break;                         /* memory clock, kHz */
    case 37: *out = 5120; break;                            /* bus width, bits */
    case 38: *out = 41943040; break;                        /* L2 cache, bytes */
    case 39: *out = 2048; break;                            /* threads a multiprocessor */
    case 41: *out = 1; break;                               /* unified addressing */
    case 50: *out = (int)domain; break;
    case 75: *out = major; break;
    case 76: *out = minor; break;
    case 97: *out = 166912; break;                          /* shared memory a block, opt-in */
    case 106: *out = 32; break;                             /* blocks a multiprocessor */
    default: *out = 0;
    }
    return SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char *out, int d) {
    DEVICE(d);
    const char *value = find("gpu.%d.uuid", visible[d]);
    memset(out, 0, 16);
    for (int i = 0; value && i < 16; i++) {
        if (!strncmp(value, "GPU-", 4)) value += 4;
        if (*value == '-') value++;
        if (sscanf(value, "%2hhx", &out[i]) != 1) break;
        value += 2;
    }
    return SUCCESS;
}
int cuDeviceGetUuid(unsigned char *out, int d) { return cuDeviceGetUuid_v2(out, d); }

int cuDeviceCanAccessPeer(int *out, int a, int b) { DEVICE(a); DEVICE(b); *out = a != b; return SUCCESS; }
int cuDeviceGetP2PAttribute(int *out, int attribute, int a, int b) {
    (void)attribute;
    DEVICE(a);
    DEVICE(b);
    *out = 1;
    return SUCCESS;
}

/* No contexts: nothing here can compute, so asking for one is answered plainly. */
int cuDevicePrimaryCtxRetain(void **out, int d) { DEVICE(d); *out = NULL; return NOT_SUPPORTED; }
int cuDevicePrimaryCtxRelease_v2(int d) { DEVICE(d); return SUCCESS; }
int cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) { DEVICE(d); *flags = 0; *active = 0; return SUCCESS; }
int cuDevicePrimaryCtxSetFlags_v2(int d, unsigned flags) { (void)flags; DEVICE(d); return SUCCESS; }
int cuCtxGetCurrent(void **out) { ENTER(); *out = NULL; return SUCCESS; }
int cuCtxSetCurrent(void *context) { ENTER(); return context ? INVALID_CONTEXT : SUCCESS; }
int cuCtxGetDevice(int *out) { (void)out; ENTER(); return INVALID_CONTEXT; }
int cuMemGetInfo_v2(size_t *free_, size_t *total) { (void)free_; (void)total; ENTER(); return INVALID_CONTEXT; }

static const struct { int code; const char *name, *text; } errors[] = {
    {0, "CUDA_SUCCESS", "no error"}, {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
static int error_text(int code, const char **out, int name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) {
            *out = name ? errors[i].name : errors[i].text;
            return SUCCESS;
        }
    *out = NULL;
    return INVALID_VALUE;
}
int cuGetErrorName(int code, const char **out) { return error_text(code, out, 1); }
int cuGetErrorString(int code, const char **out) { return error_text(code, out, 0); }

static int lookup(const char *name, void **out) {
    char newer[128];
    Dl_info self;
    snprintf(newer, sizeof newer, "%s_v2", name);
    if (!dladdr((void *)lookup, &self)) return NOT_FOUND;
    void *library = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_NOW);
    *out = library ? dlsym(library, newer) : NULL;
    if (library && !*out) *out = dlsym(library, name);
    return *out ? SUCCESS : NOT_FOUND;
}
int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    (void)version; (void)flags;
    return lookup(name, out);
}
int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
    (void)version; (void)flags;
    int bad = lookup(name, out);
    if (status) *status = bad ? 1 : 0;
    return bad ? NOT_FOUND : SUCCESS;
}
