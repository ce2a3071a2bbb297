// The functions of libpq that we use, declared by ourselves and found when they are wanted: neither the build nor a gateway without PostgreSQL needs the
// library. The names behind "PQ" are libpq's own (PostgreSQL 15, chapter 34).
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

typedef struct pgNotify {
    char *_Nonnull relname;
    int be_pid;
    char *_Nonnull extra;
    struct pgNotify *_Nullable next;
} PGnotify;

typedef void (*cpostgres_notice_processor)(void *_Nullable context, const char *_Nullable message);

struct cpostgres_library {
    PGconn *_Nullable (*_Nonnull connectStartParams)(const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values, int expand_dbname);
    int (*_Nonnull connectPoll)(PGconn *_Nonnull);
    int (*_Nonnull status)(const PGconn *_Nonnull);
    int (*_Nonnull socket)(const PGconn *_Nonnull);
    char *_Nonnull (*_Nonnull errorMessage)(const PGconn *_Nonnull);
    int (*_Nonnull setErrorVerbosity)(PGconn *_Nonnull, int verbosity);
    cpostgres_notice_processor _Nullable (*_Nonnull setNoticeProcessor)(PGconn *_Nonnull, cpostgres_notice_processor _Nonnull, void *_Nullable context);
    void (*_Nonnull finish)(PGconn *_Nonnull);
    int (*_Nonnull setnonblocking)(PGconn *_Nonnull, int on);
    int (*_Nonnull enterPipelineMode)(PGconn *_Nonnull);
    int (*_Nonnull pipelineSync)(PGconn *_Nonnull);
    int (*_Nonnull sendQueryParams)(PGconn *_Nonnull, const char *_Nonnull command, int count, const unsigned int *_Nullable types, const char *_Nullable const *_Nullable values, const int *_Nullable lengths, const int *_Nullable formats, int result_format);
    int (*_Nonnull flush)(PGconn *_Nonnull);
    int (*_Nonnull consumeInput)(PGconn *_Nonnull);
    int (*_Nonnull isBusy)(PGconn *_Nonnull);
    PGresult *_Nullable (*_Nonnull getResult)(PGconn *_Nonnull);
    PGnotify *_Nullable (*_Nonnull notifies)(PGconn *_Nonnull);
    void (*_Nonnull freemem)(void *_Nullable);
    int (*_Nonnull resultStatus)(const PGresult *_Nonnull);
    char *_Nullable (*_Nonnull resultErrorField)(const PGresult *_Nonnull, int field);
    int (*_Nonnull ntuples)(const PGresult *_Nonnull);
    int (*_Nonnull nfields)(const PGresult *_Nonnull);
    int (*_Nonnull getisnull)(const PGresult *_Nonnull, int row, int column);
    int (*_Nonnull getlength)(const PGresult *_Nonnull, int row, int column);
    char *_Nonnull (*_Nonnull getvalue)(const PGresult *_Nonnull, int row, int column);
    void (*_Nonnull clear)(PGresult *_Nonnull);
};

/// The library, loaded at the first call and never let go. From any thread. NULL where it is not there, or is older than PostgreSQL 14.
const struct cpostgres_library *_Nullable cpostgres_load(void);

// Of libpq-fe.h and postgres_ext.h.
enum { cpostgres_connection_ok = 0, cpostgres_connection_bad = 1 };
enum { cpostgres_polling_failed = 0, cpostgres_polling_reading = 1, cpostgres_polling_writing = 2, cpostgres_polling_ok = 3 };
enum { cpostgres_command_ok = 1, cpostgres_tuples_ok = 2, cpostgres_pipeline_sync = 10, cpostgres_pipeline_aborted = 11 };
enum { cpostgres_errors_verbose = 2 };
enum { cpostgres_field_sqlstate = 'C', cpostgres_field_message = 'M' };

#endif
