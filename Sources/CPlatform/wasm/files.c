// The files of a WebAssembly module: in its memory, gone with it. A host brings a store in and takes it out as bytes.

#include "files.h"
#include "CPlatform.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static memory_file *all;
static uint64_t last_number;

// Files by descriptor; descriptors are small, and one that is free is NULL.
static memory_file *opened[16];

memory_file *files_find(const char *name) {
    memory_file *file = all;
    while (file != NULL && (file->name == NULL || strcmp(file->name, name) != 0))
        file = file->next;
    return file;
}

memory_file *files_make(const char *name) {
    memory_file *file = calloc(1, sizeof *file);
    char *copy = strdup(name);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        return NULL;
    }
    file->name = copy;
    file->number = ++last_number;
    file->next = all;
    return all = file;
}

/// Frees a file that has neither name nor user.
static void release(memory_file *file) {
    if (file->name != NULL || file->uses > 0) return;
    memory_file **link = &all;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    free(file->bytes);
    free(file);
}

void files_close(memory_file *file) {
    file->uses--;
    release(file);
}

void files_remove(memory_file *file) {
    free(file->name);
    file->name = NULL;
    release(file);
}

size_t files_read(const memory_file *file, uint64_t offset, uint8_t *bytes, size_t size) {
    if (offset >= file->size) return 0;
    size_t rest = file->size - (size_t)offset, count = size < rest ? size : rest;
    memcpy(bytes, file->bytes + offset, count);
    return count;
}

int files_write(memory_file *file, uint64_t offset, const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    if (offset > INT32_MAX || size > INT32_MAX) return FILES_FULL;
    size_t end = (size_t)offset + size;
    if (end > file->room) {
        // Some more, so that what grows by pages is seldom copied.
        size_t room = end + end / 4 + 4096;
        uint8_t *grown = realloc(file->bytes, room);
        if (grown == NULL) return FILES_FULL;
        file->bytes = grown;
        file->room = room;
    }
    if (offset > file->size) memset(file->bytes + file->size, 0, (size_t)offset - file->size);
    memcpy(file->bytes + offset, bytes, size);
    if (end > file->size) file->size = end;
    file->changes++;
    return 0;
}

void files_cut(memory_file *file, uint64_t size) {
    if (size >= file->size) return;
    file->size = (size_t)size;
    file->changes++;
}

// ---- The engine's view ----

static platform_file_facts facts_of(const memory_file *file) {
    return (platform_file_facts){
        .device = 1, .inode = file->number, .size = (int64_t)file->size, .written = file->changes};
}

int64_t platform_read_head(const char *path, uint8_t *bytes, int64_t size) {
    const memory_file *file = files_find(path);
    return file == NULL ? -FILES_ABSENT : (int64_t)files_read(file, 0, bytes, (size_t)size);
}

int32_t platform_file_look(const char *path, platform_file_facts *facts) {
    const memory_file *file = files_find(path);
    if (file == NULL) return FILES_ABSENT;
    *facts = facts_of(file);
    return 0;
}

int32_t platform_sync_directory(const char *path) {
    (void)path;
    return 0;
}

int32_t platform_open(const char *path, int32_t for_writing) {
    (void)for_writing;
    memory_file *file = files_find(path);
    if (file == NULL) return -FILES_ABSENT;
    for (int32_t place = 0; place < (int32_t)(sizeof opened / sizeof *opened); place++) {
        if (opened[place] != NULL) continue;
        opened[place] = file;
        file->uses++;
        return place;
    }
    return -ENFILE;
}

void platform_close(int32_t descriptor) {
    files_close(opened[descriptor]);
    opened[descriptor] = NULL;
}

int32_t platform_look(int32_t descriptor, platform_file_facts *facts) {
    *facts = facts_of(opened[descriptor]);
    return 0;
}

int64_t platform_read_at(int32_t descriptor, int64_t offset, uint8_t *bytes, int64_t size) {
    return (int64_t)files_read(opened[descriptor], (uint64_t)offset, bytes, (size_t)size);
}

int64_t platform_data_from(int32_t descriptor, int64_t offset) {
    return offset < (int64_t)opened[descriptor]->size ? offset : -1;
}

int64_t platform_data_end(int32_t descriptor) {
    return (int64_t)opened[descriptor]->size;
}

int64_t platform_memory(void) {
    return (int64_t)__builtin_wasm_memory_size(0) * 65536;
}

int32_t platform_cut(int32_t descriptor, int64_t size) {
    files_cut(opened[descriptor], (uint64_t)size);
    return 0;
}

int64_t platform_free_room(int32_t descriptor) {
    (void)descriptor;
    return INT64_MAX;
}

int64_t platform_file_size(const char *path) {
    const memory_file *file = files_find(path);
    return file == NULL ? -1 : (int64_t)file->size;
}

int32_t platform_whole_name(const char *path, char *name) {
    if (strncmp(path, FILES_FOLDER, sizeof FILES_FOLDER - 1) != 0) return ENOSYS;
    if (strlen(path) >= PLATFORM_PATH_SIZE) return ENAMETOOLONG;
    strcpy(name, path);
    return 0;
}

int32_t platform_create_file(const char *path, const uint8_t *bytes, int64_t size) {
    int32_t error = platform_create_empty(path);
    if (error != 0) return error;
    memory_file *file = files_find(path);
    error = size > INT32_MAX ? FILES_FULL : files_write(file, 0, bytes, (size_t)size);
    if (error != 0) files_remove(file);
    return error;
}

int32_t platform_create_empty(const char *path) {
    if (strncmp(path, FILES_FOLDER, sizeof FILES_FOLDER - 1) != 0) return ENOSYS;
    if (files_find(path) != NULL) return FILES_EXIST;
    return files_make(path) == NULL ? FILES_FULL : 0;
}

int32_t platform_finish_file(const char *path, int64_t offset, const uint8_t *bytes, int64_t size) {
    memory_file *file = files_find(path);
    return file == NULL ? FILES_ABSENT : files_write(file, (uint64_t)offset, bytes, (size_t)size);
}

void platform_remove_file(const char *path) {
    memory_file *file = files_find(path);
    if (file != NULL) files_remove(file);
}

// Recordings are read while they are written, which nobody could here.
int32_t platform_append_open(const char *path) {
    (void)path;
    return -ENOSYS;
}

int32_t platform_append(int32_t descriptor, const uint8_t *bytes, int64_t size) {
    (void)descriptor, (void)bytes, (void)size;
    return ENOSYS;
}

// ---- The host's view: what the package for JavaScript calls beside the header's functions ----

/// Makes a file of these bytes. 0, FILES_EXIST or FILES_FULL; ENOSYS where the name does not begin with FILES_FOLDER.
int32_t module_file_put(const char *name, const uint8_t *bytes, int32_t size) {
    return platform_create_file(name, bytes, size);
}

/// Where the bytes of a file are until the next call, and how many by `size`; NULL if there is no such file.
const uint8_t *module_file_get(const char *name, int32_t *size) {
    const memory_file *file = files_find(name);
    if (file == NULL) return NULL;
    *size = (int32_t)file->size;
    return file->bytes;
}

void module_file_remove(const char *name) {
    platform_remove_file(name);
}
