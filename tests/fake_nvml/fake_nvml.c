/* A stand-in for the driver's libnvidia-ml.so.1, driven by a text profile, for tests.
 *
 * TFDOCTOR_FAKE_NVML      the profile: `key value` a line, `#` starts a comment
 * TFDOCTOR_FAKE_NVML_LOG  optional: every call is appended here, one a line
 *
 * A value `!N` makes the call return NVML error N; a key that is not there makes it return 3 (not supported).
 * `gpu.*.KEY` is the value of every GPU that has no own. All keys: __init__.py beside this file.
 * Layouts and codes follow what nvidia-ml-py 13.615 passes; no NVIDIA header is used.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdint.h>

#define PROFILE "TFDOCTOR_FAKE_NVML"
#include "../fake_profile.h"

typedef unsigned long long u64;
typedef struct { int gpu, mig; } Device;   /* mig is -1 for a whole GPU */

enum {
    OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
    GPU_IS_LOST = 15, VERSION_MISMATCH = 25, UNKNOWN = 999,
};
enum { MAX_GPUS = 64, MAX_MIG = 8, MAX_LINKS = 36 };

/* ---- the profile ------------------------------------------------------------------------------------------ */

static int initialised = 0;
static Device gpus[MAX_GPUS], migs[MAX_GPUS][MAX_MIG];   /* what handles point to */

__attribute__((constructor)) static void number_devices(void) {
    for (int g = 0; g < MAX_GPUS; g++) {
        gpus[g] = (Device){g, -1};
        for (int m = 0; m < MAX_MIG; m++) migs[g][m] = (Device){g, m};
    }
}

__attribute__((format(printf, 2, 3))) static const char *of(const Device *d, const char *format, ...) {
    char key[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(key, sizeof key, format, arguments);
    va_end(arguments);
    const char *value;
    if (d->mig >= 0) return find("gpu.%d.mig.%d.%s", d->gpu, d->mig, key);
    value = find("gpu.%d.%s", d->gpu, key);
    return value ? value : find("gpu.*.%s", key);
}

static int refused(const char *value) {   /* the error code a value stands for, 0 when it is a real value */
    if (!value) return NOT_SUPPORTED;
    return *value == '!' ? atoi(value + 1) : OK;
}

static int numbers(const char *value, u64 *out, int wanted) {   /* how many were there; the rest become 0 */
    int got = 0;
    memset(out, 0, sizeof *out * wanted);
    while (value && got < wanted) {
        char *end;
        u64 number = *value == '-' ? (u64)strtoll(value, &end, 0) : strtoull(value, &end, 0);
        if (end == value) break;
        out[got++] = number;
        value = end;
        while (*value == ' ' || *value == ',' || *value == '\t') value++;
    }
    return got;
}

static int wide(const char *value, u64 *out) {
    int bad = refused(value);
    if (bad) return bad;
    if (!out) return INVALID_ARGUMENT;
    numbers(value, out, 1);
    return OK;
}

static int number(const char *value, unsigned *out) {
    u64 big = 0;
    int bad = wide(value, &big);
    if (!bad) *out = (unsigned)big;
    return bad;
}

static int pair(const char *value, unsigned *first, unsigned *second) {
    u64 two[2];
    int bad = refused(value);
    if (bad) return bad;
    numbers(value, two, 2);
    *first = (unsigned)two[0];
    *second = (unsigned)two[1];
    return OK;
}

static int text(const char *value, char *out, unsigned size) {
    int bad = refused(value);
    if (bad) return bad;
    if (!out) return INVALID_ARGUMENT;
    if (strlen(value) + 1 > size) return INSUFFICIENT_SIZE;
    strcpy(out, value);
    return OK;
}

static int count(void) {
    const char *value = find("count");
    return value ? atoi(value) : 0;
}

/* ---- what every call does first --------------------------------------------------------------------------- */

static void log_call(const char *function, const Device *d) {
    char line[128];
    if (!d) snprintf(line, sizeof line, "%s\n", function);
    else if (d->mig < 0) snprintf(line, sizeof line, "%s gpu=%d\n", function, d->gpu);
    else snprintf(line, sizeof line, "%s gpu=%d mig=%d\n", function, d->gpu, d->mig);
    log_line(line);
}

static int applies(const char *what, const char *function, const Device *d) {   /* `hang.F any` or `hang.F GPU` */
    const char *value = find("%s.%s", what, function);
    if (!value && !strcmp(function, "nvmlInitWithFlags")) value = find("%s.nvmlInit", what);
    return value && (!strcmp(value, "any") || (d && d->gpu == atoi(value)));
}

static void misbehave(const char *function, const Device *d) {
    const char *wait = find("slow.%s", function);
    if (wait) usleep(1000u * (unsigned)atoi(wait));
    if (applies("crash", function, d)) crash();
    if (applies("hang", function, d)) hang();
}

static int enter(const char *function, const Device *d, int has_device, int needs_init) {
    load();
    log_call(function, d);
    if (needs_init && !initialised) return UNINITIALIZED;
    if (has_device && !d) return INVALID_ARGUMENT;
    misbehave(function, d);
    const char *own = d ? find("gpu.%d.fail.%s", d->gpu, function) : NULL;
    const char *code = own ? own : find("fail.%s", function);
    if (code && atoi(code)) return atoi(code);
    if (d && find("gpu.%d.lost", d->gpu) && atoi(find("gpu.%d.lost", d->gpu))) return GPU_IS_LOST;
    return OK;
}

#define ENTER(d) do { int bad_ = enter(__func__, d, 1, 1); if (bad_) return bad_; } while (0)
#define ENTER_SYSTEM() do { int bad_ = enter(__func__, NULL, 0, 1); if (bad_) return bad_; } while (0)
#define ENTER_ALWAYS() do { int bad_ = enter(__func__, NULL, 0, 0); if (bad_) return bad_; } while (0)

/* ---- library and system ----------------------------------------------------------------------------------- */

static int start(const char *function) {
    int bad = enter(function, NULL, 0, 0);
    if (bad) return bad;
    const char *code = find("init");
    if (keys == 0) return UNKNOWN;
    if (code && atoi(code)) return atoi(code);
    initialised++;
    return OK;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return start(__func__); }
int nvmlInit_v2(void) { return start(__func__); }
int nvmlInit(void) { return start(__func__); }
int nvmlShutdown(void) { ENTER_SYSTEM(); initialised--; return OK; }

const char *nvmlErrorString(int code) {
    static const char *const names[] = {
        "Success", "Uninitialized", "Invalid Argument", "Not Supported", "Insufficient Permissions",
        "Already Initialized", "Not Found", "Insufficient Size", "Insufficient External Power",
        "Driver Not Loaded", "Timeout", "Interrupt Request Issue", "NVML Shared Library Not Found",
        "Function Not Found", "Corrupted infoROM", "GPU is lost", "GPU requires reset",
        "GPU access blocked by the operating system", "Driver/library version mismatch", "In use by another client",
        "Insufficient Memory", "No data", "vGPU ECC not supported", "Insufficient Resources",
        "Frequency not supported", "Argument version mismatch", "Deprecated", "Not Ready", "GPU not found",
        "Invalid state",
    };
    return code >= 0 && code < (int)(sizeof names / sizeof *names) ? names[code] : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *out, unsigned n) { ENTER_SYSTEM(); return text(find("driver"), out, n); }
int nvmlSystemGetNVMLVersion(char *out, unsigned n) { ENTER_ALWAYS(); return text(find("nvml"), out, n); }
int nvmlSystemGetCudaDriverVersion(int *out) { ENTER_ALWAYS(); return number(find("cuda_driver"), (unsigned *)out); }
int nvmlSystemGetCudaDriverVersion_v2(int *out) { ENTER_ALWAYS(); return number(find("cuda_driver"), (unsigned *)out); }
int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned n) {
    ENTER_SYSTEM();
    const char *name = find("process.%u", pid);
    return name ? text(name, out, n) : NOT_FOUND;
}
typedef struct { unsigned version; char branch[80]; } Branch;
int nvmlSystemGetDriverBranch(Branch *out, unsigned n) {
    ENTER_SYSTEM();
    return text(find("driver_branch"), out->branch, n);
}
typedef struct { unsigned environment, feature, devtools; } ConfCompute;
int nvmlSystemGetConfComputeState(ConfCompute *out) {
    ENTER_SYSTEM();
    u64 three[3];
    int bad = refused(find("conf_compute"));
    if (bad) return bad;
    numbers(find("conf_compute"), three, 3);
    out->environment = three[0], out->feature = three[1], out->devtools = three[2];
    return OK;
}
int nvmlGetExcludedDeviceCount(unsigned *out) { ENTER_SYSTEM(); *out = 0; return OK; }

/* ---- handles ---------------------------------------------------------------------------------------------- */

static int handle(int index, Device **out) {
    if (index < 0 || index >= count() || index >= MAX_GPUS) return INVALID_ARGUMENT;
    const char *value = of(&gpus[index], "handle");
    if (value && *value == '!') return atoi(value + 1);
    *out = &gpus[index];
    return OK;
}

static int by_text(const char *key, const char *wanted, Device **out) {
    for (int g = 0; wanted && g < count() && g < MAX_GPUS; g++) {
        const char *value = of(&gpus[g], "%s", key);
        if (value && !strcasecmp(value, wanted)) return handle(g, out);
    }
    return NOT_FOUND;
}

int nvmlDeviceGetCount_v2(unsigned *out) { ENTER_SYSTEM(); *out = count(); return OK; }
int nvmlDeviceGetCount(unsigned *out) { ENTER_SYSTEM(); *out = count(); return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, Device **out) { ENTER_SYSTEM(); return handle((int)i, out); }
int nvmlDeviceGetHandleByIndex(unsigned i, Device **out) { ENTER_SYSTEM(); return handle((int)i, out); }
int nvmlDeviceGetHandleByUUID(const char *uuid, Device **out) {
    ENTER_SYSTEM();
    for (int g = 0; g < count() && g < MAX_GPUS; g++)
        for (int m = 0; m < MAX_MIG; m++) {
            const char *value = of(&migs[g][m], "uuid");
            if (value && uuid && !strcasecmp(value, uuid)) { *out = &migs[g][m]; return OK; }
        }
    return by_text("uuid", uuid, out);
}
int nvmlDeviceGetHandleBySerial(const char *s, Device **out) { ENTER_SYSTEM(); return by_text("serial", s, out); }
int nvmlDeviceGetHandleByPciBusId_v2(const char *b, Device **out) { ENTER_SYSTEM(); return by_text("pci", b, out); }
int nvmlDeviceGetHandleByPciBusId(const char *b, Device **out) { ENTER_SYSTEM(); return by_text("pci", b, out); }
int nvmlDeviceGetIndex(Device *d, unsigned *out) { ENTER(d); *out = d->gpu; return OK; }

/* ---- one value of one GPU --------------------------------------------------------------------------------- */

#define TEXT(function, key) int function(Device *d, char *out, unsigned n) { ENTER(d); return text(of(d, key), out, n); }
#define UINT(function, key) int function(Device *d, unsigned *out) { ENTER(d); return number(of(d, key), out); }
#define WIDE(function, key) int function(Device *d, u64 *out) { ENTER(d); return wide(of(d, key), out); }
#define PAIR(function, key) int function(Device *d, unsigned *a, unsigned *b) { ENTER(d); return pair(of(d, key), a, b); }
/* a value chosen by a number, e.g. a clock domain: `key.` and the name of that number */
#define CHOSEN(function, key, ...)                                                              \
    int function(Device *d, unsigned which, unsigned *out) {                                    \
        static const char *const names[] = {__VA_ARGS__};                                       \
        ENTER(d);                                                                               \
        if (which >= sizeof names / sizeof *names) return INVALID_ARGUMENT;                     \
        return number(of(d, "%s.%s", key, names[which]), out);                                  \
    }

TEXT(nvmlDeviceGetName, "name")
TEXT(nvmlDeviceGetUUID, "uuid")
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetBoardPartNumber, "board_part_number")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
TEXT(nvmlDeviceGetInforomImageVersion, "inforom_image")
UINT(nvmlDeviceGetBoardId, "board_id")
UINT(nvmlDeviceGetMinorNumber, "minor")
UINT(nvmlDeviceGetBrand, "brand")
UINT(nvmlDeviceGetArchitecture, "architecture")
UINT(nvmlDeviceGetNumGpuCores, "cores")
UINT(nvmlDeviceGetMemoryBusWidth, "bus_width")
UINT(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_gen")
UINT(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen_max")
UINT(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie_gen_gpu_max")
UINT(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
UINT(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
UINT(nvmlDeviceGetPcieLinkMaxSpeed, "pcie_link_max_speed")
UINT(nvmlDeviceGetPcieSpeed, "pcie_speed")
UINT(nvmlDeviceGetPcieReplayCounter, "pcie_replay")
UINT(nvmlDeviceGetDefaultEccMode, "ecc_default")
UINT(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pending")
UINT(nvmlDeviceGetComputeMode, "compute_mode")
UINT(nvmlDeviceGetPersistenceMode, "persistence")
UINT(nvmlDeviceGetDisplayActive, "display_active")
UINT(nvmlDeviceGetDisplayMode, "display_mode")
UINT(nvmlDeviceGetPerformanceState, "pstate")
UINT(nvmlDeviceGetPowerState, "pstate")
UINT(nvmlDeviceGetFanSpeed, "fan")
UINT(nvmlDeviceGetPowerManagementMode, "power_management")
UINT(nvmlDeviceGetPowerUsage, "power_usage")
UINT(nvmlDeviceGetPowerManagementLimit, "power_limit")
UINT(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_default")
UINT(nvmlDeviceGetEnforcedPowerLimit, "power_limit_enforced")
UINT(nvmlDeviceGetNumaNodeId, "numa_node")
UINT(nvmlDeviceGetVirtualizationMode, "virtualization_mode")
UINT(nvmlDeviceGetHostVgpuMode, "host_vgpu_mode")
UINT(nvmlDeviceGetMaxMigDeviceCount, "mig_max")
WIDE(nvmlDeviceGetTotalEnergyConsumption, "energy")
WIDE(nvmlDeviceGetCurrentClocksThrottleReasons, "clocks_event_reasons")
WIDE(nvmlDeviceGetCurrentClocksEventReasons, "clocks_event_reasons")
WIDE(nvmlDeviceGetSupportedClocksThrottleReasons, "clocks_supported_reasons")
WIDE(nvmlDeviceGetSupportedClocksEventReasons, "clocks_supported_reasons")
PAIR(nvmlDeviceGetEccMode, "ecc")
PAIR(nvmlDeviceGetMigMode, "mig")
PAIR(nvmlDeviceGetGspFirmwareMode, "gsp_mode")
PAIR(nvmlDeviceGetDriverModel, "driver_model")
PAIR(nvmlDeviceGetDriverModel_v2, "driver_model")
CHOSEN(nvmlDeviceGetClockInfo, "clock", "graphics", "sm", "mem", "video")
CHOSEN(nvmlDeviceGetMaxClockInfo, "clock_max", "graphics", "sm", "mem", "video")
CHOSEN(nvmlDeviceGetApplicationsClock, "clock_app", "graphics", "sm", "mem", "video")
CHOSEN(nvmlDeviceGetDefaultApplicationsClock, "clock_app_default", "graphics", "sm", "mem", "video")
CHOSEN(nvmlDeviceGetTemperatureThreshold, "temperature_threshold", "shutdown", "slowdown", "mem_max", "gpu_max",
       "acoustic_min", "acoustic_curr", "acoustic_max", "gps_curr")

typedef struct { unsigned gpu, memory; } Utilisation;
int nvmlDeviceGetUtilizationRates(Device *d, Utilisation *out) {
    ENTER(d);
    return pair(of(d, "utilisation"), &out->gpu, &out->memory);
}

int nvmlDeviceGetPowerManagementLimitConstraints(Device *d, unsigned *low, unsigned *high) {
    ENTER(d);
    int bad = number(of(d, "power_limit_min"), low);
    return bad ? bad : number(of(d, "power_limit_max"), high);
}

int nvmlDeviceGetTemperature(Device *d, unsigned sensor, unsigned *out) {
    ENTER(d);
    return sensor ? INVALID_ARGUMENT : number(of(d, "temperature"), out);
}

typedef struct { unsigned version, sensor; int temperature; } Temperature;
int nvmlDeviceGetTemperatureV(Device *d, Temperature *out) {
    ENTER(d);
    return out->sensor ? INVALID_ARGUMENT : number(of(d, "temperature"), (unsigned *)&out->temperature);
}

int nvmlDeviceGetPcieThroughput(Device *d, unsigned counter, unsigned *out) {
    ENTER(d);
    unsigned both[2];
    int bad = pair(of(d, "pcie_throughput"), &both[0], &both[1]);
    if (bad || counter > 1) return bad ? bad : INVALID_ARGUMENT;
    *out = both[counter];
    return OK;
}

typedef struct { u64 reference, violation; } Violation;
int nvmlDeviceGetViolationStatus(Device *d, unsigned policy, Violation *out) {
    ENTER(d);
    out->reference = 0;
    return wide(of(d, "violation.%s", policy == 0 ? "power" : policy == 1 ? "thermal" : "other"), &out->violation);
}

int nvmlDeviceGetCudaComputeCapability(Device *d, int *major, int *minor) {
    ENTER(d);
    const char *value = of(d, "compute_capability");
    int bad = refused(value);
    if (bad) return bad;
    return sscanf(value, "%d.%d", major, minor) == 2 ? OK : UNKNOWN;
}

int nvmlDeviceGetGspFirmwareVersion(Device *d, char *out) { ENTER(d); return text(of(d, "gsp_version"), out, 64); }

typedef struct { unsigned version, value; } AddressingMode;
int nvmlDeviceGetAddressingMode(Device *d, AddressingMode *out) {
    ENTER(d);
    if (out->version != 0x1000008) return VERSION_MISMATCH;
    return number(of(d, "addressing_mode"), &out->value);
}

/* ---- PCI -------------------------------------------------------------------------------------------------- */

typedef struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
} Pci;

static int pci(const char *bus_id, const char *id, const char *subsystem, Pci *out) {
    int bad = refused(bus_id);
    if (bad) return bad;
    memset(out, 0, sizeof *out);
    if (sscanf(bus_id, "%x:%x:%x", &out->domain, &out->bus, &out->device) != 3) return UNKNOWN;
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", out->domain, out->bus, out->device);
    snprintf(out->bus_id, sizeof out->bus_id, "%s", bus_id);
    if (id) number(id, &out->id);
    if (subsystem) number(subsystem, &out->subsystem);
    return OK;
}

int nvmlDeviceGetPciInfo_v3(Device *d, Pci *out) {
    ENTER(d);
    return pci(of(d, "pci"), of(d, "pci_device_id"), of(d, "pci_subsystem_id"), out);
}
int nvmlDeviceGetPciInfo_v2(Device *d, Pci *out) {   /* same size; the last 16 bytes were reserved then */
    ENTER(d);
    return pci(of(d, "pci"), of(d, "pci_device_id"), of(d, "pci_subsystem_id"), out);
}
typedef struct {
    unsigned version, domain, bus, device, id, subsystem, base_class, sub_class; char bus_id[32];
} PciExt;
int nvmlDeviceGetPciInfoExt(Device *d, PciExt *out) {
    ENTER(d);
    Pci plain;
    if (out->version != 0x1000040) return VERSION_MISMATCH;
    int bad = pci(of(d, "pci"), of(d, "pci_device_id"), of(d, "pci_subsystem_id"), &plain);
    if (bad) return bad;
    out->domain = plain.domain, out->bus = plain.bus, out->device = plain.device;
    out->id = plain.id, out->subsystem = plain.subsystem, out->base_class = 3, out->sub_class = 2;
    memcpy(out->bus_id, plain.bus_id, sizeof out->bus_id);
    return OK;
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

static int memory(Device *d, u64 *total, u64 *used, u64 *reserved) {
    const char *key = d->mig >= 0 ? "memory_mib" : "memory_total_mib";
    int bad = wide(of(d, "%s", key), total);
    if (bad) return bad;
    wide(of(d, "%s", d->mig >= 0 ? "used_mib" : "memory_used_mib"), used);
    wide(of(d, "memory_reserved_mib"), reserved);
    *total <<= 20, *used <<= 20, *reserved <<= 20;
    return OK;
}

typedef struct { u64 total, free, used; } Memory;
int nvmlDeviceGetMemoryInfo(Device *d, Memory *out) {
    ENTER(d);
    u64 total, used = 0, reserved = 0;
    int bad = memory(d, &total, &used, &reserved);
    if (bad) return bad;
    out->total = total, out->used = used + reserved, out->free = total - used - reserved;   /* v1 counts reserved as used */
    return OK;
}

typedef struct { unsigned version; u64 total, reserved, free, used; } MemoryV2;
int nvmlDeviceGetMemoryInfo_v2(Device *d, MemoryV2 *out) {
    ENTER(d);
    u64 total, used = 0, reserved = 0;
    if (out->version != 0x02000028) return VERSION_MISMATCH;
    int bad = memory(d, &total, &used, &reserved);
    if (bad) return bad;
    out->total = total, out->used = used, out->reserved = reserved, out->free = total - used - reserved;
    return OK;
}

int nvmlDeviceGetBAR1MemoryInfo(Device *d, Memory *out) {
    ENTER(d);
    u64 used = 0;
    int bad = wide(of(d, "bar1_total_mib"), &out->total);
    if (bad) return bad;
    wide(of(d, "bar1_used_mib"), &used);
    out->total <<= 20, out->used = used << 20, out->free = out->total - out->used;
    return OK;
}

/* ---- ECC, retired pages, remapped rows -------------------------------------------------------------------- */

static const char *ecc(Device *d, unsigned error, unsigned counter, const char *where) {
    return of(d, "ecc.%s.%s%s", counter ? "aggregate" : "volatile", error ? "uncorrected" : "corrected", where);
}

int nvmlDeviceGetTotalEccErrors(Device *d, unsigned error, unsigned counter, u64 *out) {
    ENTER(d);
    return error > 1 || counter > 1 ? INVALID_ARGUMENT : wide(ecc(d, error, counter, ""), out);
}

int nvmlDeviceGetMemoryErrorCounter(Device *d, unsigned error, unsigned counter, unsigned place, u64 *out) {
    static const char *const places[] = {".l1", ".l2", ".dram", ".regs", ".tex", ".shm", ".cbu", ".sram"};
    ENTER(d);
    if (error > 1 || counter > 1 || place > 7) return INVALID_ARGUMENT;
    return wide(ecc(d, error, counter, places[place]), out);
}

int nvmlDeviceGetDetailedEccErrors(Device *d, unsigned error, unsigned counter, u64 *four) {
    static const char *const places[] = {".l1", ".l2", ".dram", ".regs"};
    ENTER(d);
    int bad = refused(ecc(d, error, counter, ""));
    for (int i = 0; !bad && i < 4; i++) {
        four[i] = 0;
        wide(ecc(d, error, counter, places[i]), &four[i]);
    }
    return bad;
}

int nvmlDeviceGetRemappedRows(Device *d, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    ENTER(d);
    u64 four[4];
    int bad = refused(of(d, "remapped_rows"));
    if (bad) return bad;
    numbers(of(d, "remapped_rows"), four, 4);
    *corrected = four[0], *uncorrected = four[1], *pending = four[2], *failed = four[3];
    return OK;
}

int nvmlDeviceGetRowRemapperHistogram(Device *d, unsigned *five) {
    ENTER(d);
    u64 wide_five[5];
    int bad = refused(of(d, "remap_histogram"));
    if (bad) return bad;
    numbers(of(d, "remap_histogram"), wide_five, 5);
    for (int i = 0; i < 5; i++) five[i] = (unsigned)wide_five[i];
    return OK;
}

static int retired(Device *d, unsigned cause, unsigned *n, u64 *pages, u64 *times) {
    u64 found[256];
    const char *value = of(d, cause ? "retired.dbe" : "retired.sbe");
    int bad = refused(value);
    if (bad) return bad;
    int got = numbers(value, found, 256);
    unsigned room = *n;
    *n = got;
    if (!pages || (int)room < got) return got ? INSUFFICIENT_SIZE : OK;
    for (int i = 0; i < got; i++) {
        pages[i] = found[i];
        if (times) times[i] = 0;
    }
    return OK;
}
int nvmlDeviceGetRetiredPages(Device *d, unsigned cause, unsigned *n, u64 *pages) {
    ENTER(d);
    return retired(d, cause, n, pages, NULL);
}
int nvmlDeviceGetRetiredPages_v2(Device *d, unsigned cause, unsigned *n, u64 *pages, u64 *times) {
    ENTER(d);
    return retired(d, cause, n, pages, times);
}

/* ---- MIG -------------------------------------------------------------------------------------------------- */

int nvmlDeviceIsMigDeviceHandle(Device *d, unsigned *out) { ENTER(d); *out = d->mig >= 0; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(Device *d, unsigned i, Device **out) {
    ENTER(d);
    if (refused(of(d, "mig"))) return NOT_SUPPORTED;
    if (d->mig >= 0 || i >= MAX_MIG) return INVALID_ARGUMENT;
    if (!of(&migs[d->gpu][i], "uuid")) return NOT_FOUND;
    *out = &migs[d->gpu][i];
    return OK;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device *d, Device **out) { ENTER(d); *out = &gpus[d->gpu]; return OK; }
UINT(nvmlDeviceGetGpuInstanceId, "gi")
UINT(nvmlDeviceGetComputeInstanceId, "ci")
typedef struct { unsigned eight[8]; u64 memory_mib; } Attributes;
int nvmlDeviceGetAttributes_v2(Device *d, Attributes *out) {
    ENTER(d);
    u64 nine[9];
    int bad = refused(of(d, "attributes"));
    if (bad) return bad;
    numbers(of(d, "attributes"), nine, 9);
    for (int i = 0; i < 8; i++) out->eight[i] = (unsigned)nine[i];
    out->memory_mib = nine[8];
    return OK;
}

/* ---- processes -------------------------------------------------------------------------------------------- */

typedef struct { unsigned pid; u64 used; unsigned gi, ci; } Process;
typedef struct { unsigned pid; u64 used; } OldProcess;

static int parse_processes(const char *value, Process *out, int room) {
    int got = 0;
    while (value && *value && got < room) {
        Process p = {0, ~0ull, ~0u, ~0u};
        char *end;
        p.pid = strtoul(value, &end, 10);
        if (end == value) break;
        if (*end == ':') {
            if (end[1] == '-') end += 2;
            else p.used = strtoull(end + 1, &end, 10) << 20;
        }
        if (*end == ':') p.gi = strtoul(end + 1, &end, 10);
        if (*end == ':') p.ci = strtoul(end + 1, &end, 10);
        out[got++] = p;
        value = end + strspn(end, " ,");
    }
    return got;
}

static int processes(Device *d, const char *key, unsigned *n, void *out, int old) {
    Process found[64];
    const char *value = of(d, "%s", key);
    if (value && *value == '!') return atoi(value + 1);
    int got = parse_processes(value, found, 64);
    unsigned room = *n;
    *n = got;
    if (!got) return OK;
    if (!out || (int)room < got) return INSUFFICIENT_SIZE;
    for (int i = 0; i < got; i++)
        if (old) ((OldProcess *)out)[i] = (OldProcess){found[i].pid, found[i].used};
        else ((Process *)out)[i] = found[i];
    return OK;
}

#define PROCESSES(function, key)                                                                              \
    int function(Device *d, unsigned *n, void *out) { ENTER(d); return processes(d, key, n, out, 1); }          \
    int function##_v2(Device *d, unsigned *n, void *out) { ENTER(d); return processes(d, key, n, out, 0); }     \
    int function##_v3(Device *d, unsigned *n, void *out) { ENTER(d); return processes(d, key, n, out, 0); }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, "compute_processes")
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, "graphics_processes")
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, "mps_processes")

/* ---- NVLink ----------------------------------------------------------------------------------------------- */

static int links(Device *d) {
    unsigned n = 0;
    return number(of(d, "nvlink_count"), &n) ? 0 : (int)n;
}

static int no_link(Device *d, unsigned link) {
    if (!links(d)) return NOT_SUPPORTED;
    return (int)link >= links(d) ? INVALID_ARGUMENT : OK;
}

static const char *of_link(Device *d, unsigned link, const char *key) {
    const char *value = of(d, "nvlink.%u.%s", link, key);
    return value ? value : of(d, "nvlink.*.%s", key);
}

#define LINK(d, link) do { ENTER(d); int none_ = no_link(d, link); if (none_) return none_; } while (0)

int nvmlDeviceGetNvLinkState(Device *d, unsigned link, unsigned *out) {
    LINK(d, link);
    return number(of_link(d, link, "state"), out);
}
int nvmlDeviceGetNvLinkVersion(Device *d, unsigned link, unsigned *out) {
    LINK(d, link);
    return number(of_link(d, link, "version"), out);
}
int nvmlDeviceGetNvLinkRemoteDeviceType(Device *d, unsigned link, unsigned *out) {
    LINK(d, link);
    return number(of_link(d, link, "remote_type"), out);
}
int nvmlDeviceGetNvLinkCapability(Device *d, unsigned link, unsigned which, unsigned *out) {
    u64 six[6];
    LINK(d, link);
    int bad = refused(of_link(d, link, "cap"));
    if (bad || which > 5) return bad ? bad : INVALID_ARGUMENT;
    numbers(of_link(d, link, "cap"), six, 6);
    *out = (unsigned)six[which];
    return OK;
}
int nvmlDeviceGetNvLinkErrorCounter(Device *d, unsigned link, unsigned which, u64 *out) {
    static const char *const names[] = {"error.replay", "error.recovery", "error.crc_flit", "error.crc_data", "error.ecc_data"};
    LINK(d, link);
    return which > 4 ? INVALID_ARGUMENT : wide(of_link(d, link, names[which]), out);
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device *d, unsigned link, Pci *out) {
    LINK(d, link);
    return pci(of_link(d, link, "remote_pci"), of_link(d, link, "remote_pci_device_id"), NULL, out);
}
int nvmlDeviceGetNvLinkRemotePciInfo(Device *d, unsigned link, Pci *out) {
    LINK(d, link);
    return pci(of_link(d, link, "remote_pci"), of_link(d, link, "remote_pci_device_id"), NULL, out);
}

/* ---- pairs ------------------------------------------------------------------------------------------------ */

static const char *of_pair(const char *what, Device *a, Device *b, const char *rest) {
    const char *value = find("%s.%d.%d%s", what, a->gpu, b->gpu, rest);
    if (!value) value = find("%s.%d.%d%s", what, b->gpu, a->gpu, rest);
    return value ? value : find("%s.*.*%s", what, rest);
}

int nvmlDeviceGetTopologyCommonAncestor(Device *a, Device *b, unsigned *out) {
    ENTER(a);
    if (!b) return INVALID_ARGUMENT;
    return number(of_pair("topology", a, b, ""), out);
}

int nvmlDeviceGetTopologyNearestGpus(Device *d, unsigned level, unsigned *n, Device **out) {
    ENTER(d);
    unsigned got = 0, room = *n;
    for (int g = 0; g < count() && g < MAX_GPUS; g++) {
        unsigned here = ~0u;
        if (g == d->gpu || number(of_pair("topology", d, &gpus[g], ""), &here) || here != level) continue;
        if (out && got < room) out[got] = &gpus[g];
        got++;
    }
    *n = got;
    return OK;
}

int nvmlDeviceGetP2PStatus(Device *a, Device *b, unsigned which, unsigned *out) {
    static const char *const names[] = {".read", ".write", ".nvlink", ".atomics", ".prop"};
    ENTER(a);
    if (!b || which > 4) return INVALID_ARGUMENT;
    return number(of_pair("p2p", a, b, names[which]), out);
}

/* ---- where it sits ---------------------------------------------------------------------------------------- */

static int bit_set(const char *value, unsigned words, unsigned long *out) {   /* "0-23,48-71" */
    int bad = refused(value);
    if (bad) return bad;
    memset(out, 0, words * sizeof *out);
    while (*value) {
        char *end;
        unsigned long first = strtoul(value, &end, 10), last = first;
        if (end == value) break;
        if (*end == '-') last = strtoul(end + 1, &end, 10);
        for (unsigned long i = first; i <= last && i < words * 64ul; i++) out[i / 64] |= 1ul << (i % 64);
        value = end + strspn(end, ", ");
    }
    return OK;
}
int nvmlDeviceGetCpuAffinity(Device *d, unsigned words, unsigned long *out) {
    ENTER(d);
    return bit_set(of(d, "cpu_affinity"), words, out);
}
int nvmlDeviceGetCpuAffinityWithinScope(Device *d, unsigned words, unsigned long *out, unsigned scope) {
    ENTER(d);
    (void)scope;
    return bit_set(of(d, "cpu_affinity"), words, out);
}
int nvmlDeviceGetMemoryAffinity(Device *d, unsigned words, unsigned long *out, unsigned scope) {
    ENTER(d);
    (void)scope;
    return bit_set(of(d, "memory_affinity"), words, out);
}

/* ---- fabric ----------------------------------------------------------------------------------------------- */

typedef struct { unsigned char cluster[16]; unsigned status, clique, state; } Fabric;

static int fabric(Device *d, Fabric *out) {   /* "state status clique"; byte layout of v1 */
    u64 three[3];
    const char *value = of(d, "fabric"), *cluster = of(d, "fabric_cluster");
    int bad = refused(value);
    if (bad) return bad;
    numbers(value, three, 3);
    memset(out, 0, sizeof *out);
    out->state = three[0], out->status = three[1], out->clique = three[2];
    for (int i = 0; cluster && i < 16 && isxdigit(cluster[2 * i]) && isxdigit(cluster[2 * i + 1]); i++)
        sscanf(cluster + 2 * i, "%2hhx", &out->cluster[i]);
    return OK;
}
typedef struct { unsigned char cluster[16]; unsigned status, clique; unsigned char state; } FabricV1;
int nvmlDeviceGetGpuFabricInfo(Device *d, FabricV1 *out) {
    ENTER(d);
    Fabric f;
    int bad = fabric(d, &f);
    if (bad) return bad;
    memcpy(out->cluster, f.cluster, 16);
    out->status = f.status, out->clique = f.clique, out->state = f.state;
    return OK;
}
typedef struct {
    unsigned version; unsigned char cluster[16]; unsigned status, clique; unsigned char state; unsigned health_mask;
    unsigned char health_summary;
} FabricV;
int nvmlDeviceGetGpuFabricInfoV(Device *d, FabricV *out) {
    ENTER(d);
    Fabric f;
    if (out->version != 0x02000024 && out->version != 0x03000028) return VERSION_MISMATCH;
    int bad = fabric(d, &f);
    if (bad) return bad;
    unsigned summary = 0;
    memcpy(out->cluster, f.cluster, 16);
    out->status = f.status, out->clique = f.clique, out->state = f.state, out->health_mask = 0;
    number(of(d, "fabric_health_mask"), &out->health_mask);
    number(of(d, "fabric_health_summary"), &summary);
    if (out->version == 0x03000028) out->health_summary = summary;
    return OK;
}

/* ---- vGPU licence ----------------------------------------------------------------------------------------- */

typedef struct {
    unsigned code, state;
    char info[128], product[128];
    unsigned enabled;
    struct { uint32_t year; uint16_t month, day, hour, minute, second; uint8_t status; } expiry;
} Feature;

typedef struct { int supported; unsigned n; Feature features[3]; } Features;
int nvmlDeviceGetGridLicensableFeatures_v4(Device *d, Features *out) {
    ENTER(d);
    const char *value = of(d, "vgpu_license");   /* "supported state product name" */
    int bad = refused(value), used = 0, state = 0;
    if (bad) return bad;
    memset(out, 0, sizeof *out);
    if (sscanf(value, "%d %d %n", &out->supported, &state, &used) < 2) return OK;
    out->n = 1;
    out->features[0].code = 1;
    out->features[0].state = state;
    out->features[0].enabled = state == 5;
    snprintf(out->features[0].product, 128, "%s", used ? value + used : "");
    return OK;
}

/* ---- field values ----------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t id, scope;
    int64_t timestamp, latency;
    uint32_t type, result;
    u64 value;
} Field;

static int derived(Device *d, const Field *f, u64 *out) {   /* numbers as in nvidia-ml-py, NVML_FI_DEV_… */
    static const char *const totals[] = {"ecc.volatile.corrected", "ecc.volatile.uncorrected",
                                         "ecc.aggregate.corrected", "ecc.aggregate.uncorrected"};
    u64 list[4];
    unsigned speed_link = f->id >= 84 && f->id <= 89 ? f->id - 84 : f->id >= 132 && f->id <= 137 ? f->id - 126 : ~0u;
    if (f->id >= 3 && f->id <= 6) return wide(of(d, "%s", totals[f->id - 3]), out);
    if (f->id == 1 || f->id == 2) {
        int bad = refused(of(d, "ecc"));
        numbers(bad ? NULL : of(d, "ecc"), list, 2);
        *out = list[f->id - 1];
        return bad;
    }
    if (f->id == 31) return wide(of(d, "retired_pending"), out);
    if (f->id == 82) return wide(of(d, "temperature_memory"), out);
    if (speed_link != ~0u) return no_link(d, speed_link) ? NOT_SUPPORTED : wide(of_link(d, speed_link, "speed_mbps"), out);
    if (f->id == 164) return no_link(d, f->scope) ? NOT_SUPPORTED : wide(of_link(d, f->scope, "speed_mbps"), out);
    if (f->id == 90) return wide(of_link(d, 0, "speed_mbps"), out);
    if (f->id == 91) { *out = links(d); return links(d) ? OK : NOT_SUPPORTED; }
    if (f->id == 94) return wide(of(d, "pcie_replay"), out);
    if (f->id >= 142 && f->id <= 145) {
        int bad = refused(of(d, "remapped_rows"));
        numbers(bad ? NULL : of(d, "remapped_rows"), list, 4);
        *out = list[f->id - 142];
        return bad;
    }
    return NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(Device *d, int n, Field *fields) {
    ENTER(d);
    for (int i = 0; i < n; i++) {
        Field *f = &fields[i];
        const char *value = of(d, "field.%u.%u", f->id, f->scope);
        if (!value) value = of(d, "field.%u", f->id);
        f->timestamp = 0, f->latency = 0, f->type = 3, f->value = 0;
        f->result = value ? wide(value, &f->value) : derived(d, f, &f->value);
    }
    return OK;
}
