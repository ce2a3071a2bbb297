#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static struct cpostgres_library library;
static const struct cpostgres_library *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct entry { void **place; const char *name; };

static void load(void) {
    const struct entry entries[] = {
        {(void **)&library.connectStartParams, "PQconnectStartParams"},
        {(void **)&library.connectPoll, "PQconnectPoll"},
        {(void **)&library.status, "PQstatus"},
        {(void **)&library.socket, "PQsocket"},
        {(void **)&library.errorMessage, "PQerrorMessage"},
        {(void **)&library.setErrorVerbosity, "PQsetErrorVerbosity"},
        {(void **)&library.setNoticeProcessor, "PQsetNoticeProcessor"},
        {(void **)&library.finish, "PQfinish"},
        {(void **)&library.setnonblocking, "PQsetnonblocking"},
        {(void **)&library.enterPipelineMode, "PQenterPipelineMode"},
        {(void **)&library.pipelineSync, "PQpipelineSync"},
        {(void **)&library.sendQueryParams, "PQsendQueryParams"},
        {(void **)&library.flush, "PQflush"},
        {(void **)&library.consumeInput, "PQconsumeInput"},
        {(void **)&library.isBusy, "PQisBusy"},
        {(void **)&library.getResult, "PQgetResult"},
        {(void **)&library.notifies, "PQnotifies"},
        {(void **)&library.freemem, "PQfreemem"},
        {(void **)&library.resultStatus, "PQresultStatus"},
        {(void **)&library.resultErrorField, "PQresultErrorField"},
        {(void **)&library.ntuples, "PQntuples"},
        {(void **)&library.nfields, "PQnfields"},
        {(void **)&library.getisnull, "PQgetisnull"},
        {(void **)&library.getlength, "PQgetlength"},
        {(void **)&library.getvalue, "PQgetvalue"},
        {(void **)&library.clear, "PQclear"},
    };
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    for (size_t index = 0; index < sizeof entries / sizeof entries[0]; index++) {
        *entries[index].place = dlsym(handle, entries[index].name);
        if (!*entries[index].place) return;
    }
    loaded = &library;
}

const struct cpostgres_library *cpostgres_load(void) {
    pthread_once(&once, load);
    return loaded;
}
