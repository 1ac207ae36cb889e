/*
 * selene_java.c - the Java VM's side of the package: calls.inc has the functions of the header, this what they do not have
 *
 * A callback's context is a global reference to an object of Java, which its destroy releases. Threads of the library are
 * attached to the VM once, when they begin. No exception of Java crosses the library: Upcalls.java catches them, and what
 * even that throws (no memory, no stack) is a failure of the run.
 */
#include <jni.h>
#include <pthread.h>
#include <selene.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

static JavaVM *machine;
static jclass upcalls;
static jmethodID upcall_run, upcall_stop, upcall_report, upcall_event, upcall_release,
    upcall_refused;

/* What a method that completes nothing answers; see Upcalls.OPEN. */
enum { OPEN = -1 };

// ---- threads --------------------------------------------------------------------------------------------------------

/* What a thread that was attached here has, so that it is detached when it ends. */
static pthread_key_t attached;

static void detach(void *value) {
    (void)value;
    (*machine)->DetachCurrentThread(machine);
}

/*
 * The VM's side of this thread, which is attached once if it is not; NULL: the VM ends. Callbacks come on threads of the
 * library and of hosts, all of which are attached, and on those of a server or a connection, which no hook tells of.
 */
static JNIEnv *enter(void) {
    void *vm = NULL;
    char name[32] = "selene";
    JavaVMAttachArgs arguments = {JNI_VERSION_10, name, NULL};
    if ((*machine)->GetEnv(machine, &vm, JNI_VERSION_10) == JNI_OK) return vm;
    prctl(PR_GET_NAME, name);
    if ((*machine)->AttachCurrentThreadAsDaemon(machine, &vm, &arguments) != JNI_OK) return NULL;
    pthread_setspecific(attached, &attached);
    return vm;
}

static void thread_begin(void *context) {
    (void)context;
    enter();
}

static void thread_end(void *context) {
    (void)context;
    pthread_setspecific(attached, NULL);
    (*machine)->DetachCurrentThread(machine);
}

static void leave(JNIEnv *vm) {
    if ((*vm)->ExceptionCheck(vm)) (*vm)->ExceptionClear(vm);
}

// ---- what is refused ------------------------------------------------------------------------------------------------

/* NULL: there is no memory, which is then thrown. */
static jbyteArray bytes(JNIEnv *vm, const void *data, int64_t length) {
    const jsize size = length > INT32_MAX - 8 ? INT32_MAX - 8 : (jsize)length;
    jbyteArray made = (*vm)->NewByteArray(vm, size);
    if (made && size) (*vm)->SetByteArrayRegion(vm, made, 0, size, data);
    return made;
}

static jbyteArray text(JNIEnv *vm, selene_text of) {
    return bytes(vm, of.data, of.length);
}

/* Throws what the last call of this thread was refused for. */
static void refuse(JNIEnv *vm, selene_status status) {
    const selene_error *error = selene_error_last();
    jbyteArray words = text(vm, error->message), field, found, allowed;
    jobject thrown;
    if (!words || !(field = text(vm, error->field)) || !(found = text(vm, error->found)) ||
        !(allowed = text(vm, error->allowed)))
        return;
    thrown = (*vm)->CallStaticObjectMethod(vm, upcalls, upcall_refused, (jint)status, words, field,
                                           found, allowed);
    if (!(*vm)->ExceptionCheck(vm) && thrown) (*vm)->Throw(vm, thrown);
}

static void check(JNIEnv *vm, selene_status status) {
    if (status != SELENE_OK) refuse(vm, status);
}

// ---- runs -----------------------------------------------------------------------------------------------------------

/* A struct of the library as Struct.java keeps it: its bytes, and behind them those of its texts. */
static jbyteArray facts(JNIEnv *vm, const void *whole, size_t size, const selene_text *texts,
                        size_t count) {
    int64_t length = (int64_t)size;
    jsize at = (jsize)size;
    jbyteArray made;
    for (size_t i = 0; i < count; i++)
        length += texts[i].length;
    if (length > INT32_MAX - 8 || !(made = (*vm)->NewByteArray(vm, (jsize)length))) return NULL;
    (*vm)->SetByteArrayRegion(vm, made, 0, at, whole);
    for (size_t i = 0; i < count; i++) {
        if (!texts[i].length) continue;
        (*vm)->SetByteArrayRegion(vm, made, at, (jsize)texts[i].length,
                                  (const jbyte *)texts[i].data);
        at += (jsize)texts[i].length;
    }
    return made;
}

static jbyteArray run_facts(JNIEnv *vm, const selene_run_info *info) {
    const selene_text texts[] = {info->id, info->handler, info->input};
    return facts(vm, info, sizeof *info, texts, 3);
}

static void run_handler(selene_run run, const selene_run_info *info, void *context) {
    JNIEnv *vm = enter();
    jint outcome = OPEN;
    jbyteArray given;
    if (!vm) return; // the process ends
    given = run_facts(vm, info);
    if (given)
        outcome = (*vm)->CallStaticIntMethod(vm, upcalls, upcall_run, (jobject)context, (jlong)run,
                                             given);
    if (!given || (*vm)->ExceptionCheck(vm)) {
        (*vm)->ExceptionClear(vm);
        selene_run_fail(run, SELENE_OUTCOME_FAILED, -1,
                        "the Java VM had no memory, or no stack, to say why", -1);
    } else if (outcome != OPEN) {
        selene_run_complete(run, outcome);
    }
    (*vm)->DeleteLocalRef(vm, given);
    leave(vm);
}

static void stop_handler(selene_run run, int32_t reason, void *context) {
    JNIEnv *vm = enter();
    if (!vm) return;
    (*vm)->CallStaticVoidMethod(vm, upcalls, upcall_stop, (jobject)context, (jlong)run,
                                (jint)reason);
    leave(vm);
}

static void report_window(const selene_report *report, void *context) {
    JNIEnv *vm = enter();
    if (!vm) return;
    (*vm)->CallStaticVoidMethod(vm, upcalls, upcall_report, (jobject)context,
                                (jlong)(intptr_t)report);
    leave(vm);
}

static void tell_event(const selene_event *event, void *context) {
    const selene_text texts[] = {event->id, event->message};
    JNIEnv *vm = enter();
    jbyteArray given;
    if (!vm) return;
    given = facts(vm, event, sizeof *event, texts, 2);
    if (given) (*vm)->CallStaticVoidMethod(vm, upcalls, upcall_event, (jobject)context, given);
    if ((*vm)->ExceptionCheck(vm)) (*vm)->ExceptionClear(vm);
    (*vm)->DeleteLocalRef(vm, given);
    leave(vm);
}

static void release(void *context) {
    JNIEnv *vm = enter();
    if (!vm) return;
    (*vm)->CallStaticVoidMethod(vm, upcalls, upcall_release, (jobject)context);
    if ((*vm)->ExceptionCheck(vm)) (*vm)->ExceptionClear(vm);
    (*vm)->DeleteGlobalRef(vm, (jobject)context);
    leave(vm);
}

// ---- Native.java ----------------------------------------------------------------------------------------------------

static jlong JNICALL native_function(JNIEnv *vm, jclass self, jint which) {
    (void)vm, (void)self;
    switch (which) {
    case 0:
        return (jlong)(intptr_t)run_handler;
    case 1:
        return (jlong)(intptr_t)stop_handler;
    case 2:
        return (jlong)(intptr_t)report_window;
    case 3:
        return (jlong)(intptr_t)tell_event;
    case 4:
        return (jlong)(intptr_t)release;
    case 5:
        return (jlong)(intptr_t)thread_begin;
    default:
        return (jlong)(intptr_t)thread_end;
    }
}

static jlong JNICALL native_keep(JNIEnv *vm, jclass self, jobject object) {
    (void)self;
    return (jlong)(intptr_t)(*vm)->NewGlobalRef(vm, object);
}

static jlong JNICALL native_address(JNIEnv *vm, jclass self, jobject buffer) {
    (void)self;
    return (jlong)(intptr_t)(*vm)->GetDirectBufferAddress(vm, buffer);
}

static jbyteArray JNICALL native_read(JNIEnv *vm, jclass self, jlong address, jlong length) {
    (void)self;
    return bytes(vm, (const void *)(intptr_t)address, length);
}

/* What Cycle.java lends: selene_cycle_next fills it in, and the texts of the run, which are borrowed, are copied behind. */
typedef struct room {
    int64_t wake_at;
    int32_t step;
    /* How many bytes of texts; -1: they do not fit, native_facts has them. */
    int32_t length;
    selene_run_info info;
    char texts[1024];
} room;

static void JNICALL native_next(JNIEnv *vm, jclass self, jlong cycle, jlong address) {
    room *lent = (room *)(intptr_t)address;
    const selene_run_info *info = &lent->info;
    const selene_status status =
        selene_cycle_next((selene_cycle)cycle, &lent->step, &lent->info, &lent->wake_at);
    char *to = lent->texts;
    (void)self;
    if (status != SELENE_OK) {
        refuse(vm, status);
        return;
    }
    if (lent->step != SELENE_STEP_RUN) return;
    if (info->input.length > (int64_t)sizeof lent->texts - 2 * 255) {
        lent->length = -1;
        return;
    }
    // Ids and names of handlers have at most 255 bytes.
    memcpy(to, info->id.data, (size_t)info->id.length), to += info->id.length;
    memcpy(to, info->handler.data, (size_t)info->handler.length), to += info->handler.length;
    if (info->input.length)
        memcpy(to, info->input.data, (size_t)info->input.length), to += info->input.length;
    lent->length = (int32_t)(to - lent->texts);
}

/* Called at once after the call, on its thread. */
static void JNICALL native_refuse(JNIEnv *vm, jclass self, jint status) {
    (void)self;
    refuse(vm, status);
}

static jbyteArray JNICALL native_facts(JNIEnv *vm, jclass self, jlong address) {
    (void)self;
    return run_facts(vm, &((room *)(intptr_t)address)->info);
}

// ---- loading --------------------------------------------------------------------------------------------------------

#include "calls.inc"

static const JNINativeMethod natives[] = {
    {(char *)"function", (char *)"(I)J", (void *)(intptr_t)native_function},
    {(char *)"keep", (char *)"(Ljava/lang/Object;)J", (void *)(intptr_t)native_keep},
    {(char *)"address", (char *)"(Ljava/nio/ByteBuffer;)J", (void *)(intptr_t)native_address},
    {(char *)"read", (char *)"(JJ)[B", (void *)(intptr_t)native_read},
    {(char *)"next", (char *)"(JJ)V", (void *)(intptr_t)native_next},
    {(char *)"refuse", (char *)"(I)V", (void *)(intptr_t)native_refuse},
    {(char *)"facts", (char *)"(J)[B", (void *)(intptr_t)native_facts},
};

#define COUNT(table) ((jint)(sizeof(table) / sizeof *(table)))

static jmethodID upcall(JNIEnv *vm, const char *name, const char *signature) {
    return upcalls ? (*vm)->GetStaticMethodID(vm, upcalls, name, signature) : NULL;
}

/* With what it did not find the VM has an exception already, which the one who loads it gets. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *loaded, void *reserved) {
    void *made = NULL;
    JNIEnv *vm;
    jclass found, raw, native;
    (void)reserved;
    machine = loaded;
    if ((*machine)->GetEnv(machine, &made, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
    if (pthread_key_create(&attached, detach)) return JNI_ERR;
    vm = made;
    found = (*vm)->FindClass(vm, "org/selene/Upcalls");
    if (!found) return JNI_ERR;
    upcalls = (*vm)->NewGlobalRef(vm, found);
    upcall_run = upcall(vm, "run", "(Lorg/selene/Registration;J[B)I");
    if (!upcall_run) return JNI_ERR;
    upcall_stop = upcall(vm, "stop", "(Lorg/selene/Registration;JI)V");
    if (!upcall_stop) return JNI_ERR;
    upcall_report = upcall(vm, "report", "(Lorg/selene/WindowFuture;J)V");
    if (!upcall_report) return JNI_ERR;
    upcall_event = upcall(vm, "event", "(Lorg/selene/Events;[B)V");
    if (!upcall_event) return JNI_ERR;
    upcall_release = upcall(vm, "release", "(Ljava/lang/Object;)V");
    if (!upcall_release) return JNI_ERR;
    upcall_refused = upcall(vm, "refused", "(I[B[B[B[B)Lorg/selene/SeleneException;");
    if (!upcall_refused) return JNI_ERR;
    native = (*vm)->FindClass(vm, "org/selene/Native");
    if (!native || (*vm)->RegisterNatives(vm, native, natives, COUNT(natives))) return JNI_ERR;
    raw = (*vm)->FindClass(vm, "org/selene/Raw");
    if (!raw || (*vm)->RegisterNatives(vm, raw, calls, COUNT(calls))) return JNI_ERR;
    return JNI_VERSION_10;
}
