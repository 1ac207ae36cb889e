// Files in the memory of a WebAssembly module: a store is one of them while a scheduler has it open.

#ifndef SELENE_WASM_FILES_H
#define SELENE_WASM_FILES_H

#include <stddef.h>
#include <stdint.h>

// The numbers by which the engine knows these errors are those of Linux; WASI has others.
#define FILES_ABSENT 2
#define FILES_EXIST 17
#define FILES_FULL 28

// Their names begin so: a path that a host of files would know is refused.
#define FILES_FOLDER "/state/"

typedef struct memory_file {
    struct memory_file *next;
    // NULL once it was removed; the bytes stay until it is closed.
    char *name;
    uint8_t *bytes;
    size_t size;
    size_t room;
    uint64_t number;
    // How often it was changed.
    int64_t changes;
    // How often it is open.
    uint32_t uses;
} memory_file;

memory_file *files_find(const char *name);
// NULL where no memory is left; the name must be new.
memory_file *files_make(const char *name);
void files_close(memory_file *file);
void files_remove(memory_file *file);
// Reads what is there of a part; how much that was.
size_t files_read(const memory_file *file, uint64_t offset, uint8_t *bytes, size_t size);
// Writes, with zeros before it where the file was shorter. 0 or FILES_FULL.
int files_write(memory_file *file, uint64_t offset, const uint8_t *bytes, size_t size);
void files_cut(memory_file *file, uint64_t size);

#endif
