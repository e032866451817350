// The interface for C, and for every language that can call C: builds or reads histories, checks
// them, tells verdicts as text, JSON and HTML, and writes and re-checks certificates.
//
// It is the library libouro_c, which needs nothing else of Ouro: find_package(ouro COMPONENTS c)
// and ouro::c, or pkg-config ouro_c. docs/c.md is its guide.
//
// Example (built and run as tests/example_c.c):
//
//   ouro_error* error = NULL;
//   ouro_builder* builder = ouro_builder_new(&error);
//   ouro_builder_begin(builder, ouro_text("clerk 1"));
//   ouro_builder_read(builder, ouro_text("stock"), ouro_integer(10));
//   ouro_builder_write(builder, ouro_text("stock"), ouro_integer(9));
//   ouro_builder_begin(builder, ouro_text("clerk 2"));
//   ouro_builder_read(builder, ouro_text("stock"), ouro_integer(10));
//   ouro_builder_write(builder, ouro_text("stock"), ouro_integer(8));
//   ouro_builder_initial(builder, ouro_integer(10));
//   ouro_history* history = ouro_builder_finish(builder, &error);
//   ouro_options* options = ouro_options_new(&error);
//   ouro_options_set(options, "level", "si", &error);
//   ouro_verdict* verdict = ouro_check(history, options, &error);
//   if (error != NULL) return fail(error);
//   if (ouro_verdict_outcome(verdict) == OURO_VIOLATED) {
//     char* story = ouro_verdict_text(verdict, &error);
//     puts(story);
//     ouro_free(story);
//   }
//
// Names. What ends in _new or _finish, ouro_history_read, ouro_history_parse, ouro_check and
// ouro_verdict_counterexample make a handle; the function that ends in _free takes it back. All
// _free functions accept NULL.
//
// Ownership. The caller owns every handle and every `char*` that is returned; ouro_free() takes the
// latter back. A `const char*` belongs to the handle it came from, or to the library. Arguments
// are copied: nothing needs to live longer than the call. A verdict keeps what it needs of its
// history. Texts that are given and returned are UTF-8 and end with a zero byte, unless a length is
// given.
//
// Errors. What can fail has a last parameter `error`: NULL, or the address of a pointer that is
// NULL at first. On failure a function returns NULL or a negative number and sets that pointer to
// an error that the caller owns, unless there is an earlier one, which stays. If a handle that is
// given is NULL, the function fails and tells nothing. So calls can follow each other, and at the
// end *error says what went wrong first. A violation is no error but a verdict. Nothing is printed,
// nothing is thrown, nothing exits.
//
// Thread safety. Different handles may be used by different threads. One history, verdict or error
// may be read by many threads at once. A builder, and options while they are changed, are for one
// thread at a time; only ouro_options_cancel() may be called at any time. Handles do not survive a
// fork() while another thread is in a call.
//
// Stability. The library's SONAME is libouro_c.so.1, its symbols have the version OURO_1.
// Functions, numbers and structures that are here stay as they are; what is added gets a new symbol
// version.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef OURO_API
#define OURO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ouro_builder ouro_builder;
typedef struct ouro_error ouro_error;
typedef struct ouro_history ouro_history;
typedef struct ouro_options ouro_options;
typedef struct ouro_verdict ouro_verdict;

// The version of the library: "0.1.0".
OURO_API const char* ouro_version(void);

// Gives back a text that was returned. NULL is accepted.
OURO_API void ouro_free(char* text);

// ---- Errors ----

enum {
  OURO_ERROR_INPUT = 1,     // A file, a history, a level, an option: what the message says.
  OURO_ERROR_MEMORY = 2,    // There was no memory.
  OURO_ERROR_INTERNAL = 3,  // A bug of this library.
};

OURO_API int ouro_error_kind(const ouro_error* error);
// The whole message: "bank.jsonl:98: expected ',' …".
OURO_API const char* ouro_error_text(const ouro_error* error);
// Its parts: what is wrong; the file, or "" if it is about none; the line, from 1, or 0 if it is
// about none; the byte, from 0, or -1.
OURO_API const char* ouro_error_what(const ouro_error* error);
OURO_API const char* ouro_error_file(const ouro_error* error);
OURO_API int64_t ouro_error_line(const ouro_error* error);
OURO_API int64_t ouro_error_byte(const ouro_error* error);
OURO_API void ouro_error_free(ouro_error* error);

// ---- Options ----

// Options of reading and checking; all have defaults. An option that a call has no use for is
// ignored, so one handle can serve all calls. Everywhere below NULL stands for the defaults.
OURO_API ouro_options* ouro_options_new(ouro_error** error);
OURO_API void ouro_options_free(ouro_options* options);

// Sets an option. Names and values are those of 'ouro check': "level" (one, several with commas
// between, or "all"), "evidence", "time-limit" (seconds), "memory-limit" (10^6 bytes), "threads",
// "clock-drift", "examples", "title", "format", "model", "expect" (the text of an expectation, not
// its file); and "explain": "nothing", "weakest" (the default: violated levels that imply no other
// violated one) or "all". Returns 0, or -1 if there is no such option or value.
OURO_API int ouro_options_set(ouro_options* options, const char* name, const char* value,
                              ouro_error** error);

// Ends the checks that were begun with these options, and those begun later, within about a second:
// what they have not decided is undecided. May be called from any thread and from signal handlers.
// Reading is not interrupted.
OURO_API void ouro_options_cancel(ouro_options* options);
// Takes that back, for later checks.
OURO_API void ouro_options_resume(ouro_options* options);

// ---- Histories ----

// Reads the history at `path`: a file (also .gz or .zst), a folder where the format is one, or "-"
// for standard input. Options: "format", "model", "threads". Cost: linear in the input.
OURO_API ouro_history* ouro_history_read(const char* path, const ouro_options* options,
                                         ouro_error** error);
// Reads a history of `length` bytes from memory; "title" stands in messages for the file.
OURO_API ouro_history* ouro_history_parse(const void* bytes, size_t length,
                                          const ouro_options* options, ouro_error** error);
OURO_API void ouro_history_free(ouro_history* history);

// Sizes; zero if `history` is NULL.
OURO_API uint64_t ouro_history_transactions(const ouro_history* history);
OURO_API uint64_t ouro_history_operations(const ouro_history* history);
OURO_API uint64_t ouro_history_sessions(const ouro_history* history);
OURO_API uint64_t ouro_history_keys(const ouro_history* history);

// Writes `history` to `path` in a format that 'ouro formats' calls writable: "native" or "ouro" can
// express everything. What another format leaves out is told in *warnings, a line each (NULL if
// there is nothing to tell, or if `warnings` is NULL). Returns 0, or -1.
OURO_API int ouro_history_write(const ouro_history* history, const char* path, const char* format,
                                char** warnings, ouro_error** error);
// The same, into memory. *length, if `length` is not NULL, is the number of bytes without the zero
// byte at the end; "ouro" has zero bytes within.
OURO_API char* ouro_history_print(const ouro_history* history, const char* format, size_t* length,
                                  char** warnings, ouro_error** error);

// ---- Building histories ----

// A value or the name of a key or session. Make them with the functions below; a text must live
// until the call that it is given to returns.
enum {
  OURO_NULL = 0,        // Absent. Writing it deletes.
  OURO_INTEGER = 1,     // as.integer
  OURO_UNSIGNED = 2,    // as.natural
  OURO_BOOLEAN = 3,     // as.integer: 0 or 1
  OURO_FLOAT = 4,       // as.number. Never the same value as an exact number.
  OURO_DECIMAL = 5,     // as.text: an exact number, as JSON writes them
  OURO_TEXT = 6,        // as.text
  OURO_UNOBSERVED = 7,  // The result of a read that nobody recorded.
};

typedef struct ouro_value {
  int32_t kind;
  int32_t unused;
  union {
    int64_t integer;
    uint64_t natural;
    double number;
    const char* text;
  } as;
  size_t length;  // Of the text, in bytes; (size_t)-1: it ends with a zero byte.
} ouro_value;

#define OURO_VALUE_(KIND) \
  ouro_value value;       \
  value.kind = (KIND);    \
  value.unused = 0;       \
  value.as.integer = 0;   \
  value.length = 0

static inline ouro_value ouro_null(void) {
  OURO_VALUE_(OURO_NULL);
  return value;
}
static inline ouro_value ouro_unobserved(void) {
  OURO_VALUE_(OURO_UNOBSERVED);
  return value;
}
static inline ouro_value ouro_integer(int64_t number) {
  OURO_VALUE_(OURO_INTEGER);
  value.as.integer = number;
  return value;
}
static inline ouro_value ouro_unsigned(uint64_t number) {
  OURO_VALUE_(OURO_UNSIGNED);
  value.as.natural = number;
  return value;
}
static inline ouro_value ouro_boolean(int truth) {
  OURO_VALUE_(OURO_BOOLEAN);
  value.as.integer = truth != 0;
  return value;
}
static inline ouro_value ouro_float(double number) {
  OURO_VALUE_(OURO_FLOAT);
  value.as.number = number;
  return value;
}
static inline ouro_value ouro_decimal(const char* digits) {
  OURO_VALUE_(OURO_DECIMAL);
  value.as.text = digits;
  value.length = SIZE_MAX;
  return value;
}
static inline ouro_value ouro_text(const char* text) {
  OURO_VALUE_(OURO_TEXT);
  value.as.text = text;
  value.length = SIZE_MAX;
  return value;
}
static inline ouro_value ouro_bytes(const char* text, size_t length) {
  OURO_VALUE_(OURO_TEXT);
  value.as.text = text;
  value.length = length;
  return value;
}
#undef OURO_VALUE_

// A builder remembers the first thing that is wrong; from then on it ignores what it is given, and
// ouro_builder_finish() fails with that error. So its calls, which return 0 or -1, need not be
// looked at one by one.
OURO_API ouro_builder* ouro_builder_new(ouro_error** error);
OURO_API void ouro_builder_free(ouro_builder* builder);  // Of one that shall not be finished.

// The history of all that was added; frees `builder` in any case.
OURO_API ouro_history* ouro_builder_finish(ouro_builder* builder, ouro_error** error);

enum { OURO_COMMITTED = 0, OURO_ABORTED = 1, OURO_UNKNOWN = 2 };

// Stands for a clock or timestamp that nobody recorded.
#define OURO_NO_CLOCK INT64_MIN

// Begins a transaction, which counts as committed until ouro_builder_status() says otherwise. The
// transactions of a session come in the order of the session. `session` is an integer or a text.
OURO_API int ouro_builder_begin(ouro_builder* builder, ouro_value session);
// About the transaction begun last. The fields are those of docs/formats.md, Transactions.
OURO_API int ouro_builder_status(ouro_builder* builder, int status);
OURO_API int ouro_builder_id(ouro_builder* builder, ouro_value id);
OURO_API int ouro_builder_level(ouro_builder* builder, const char* level);
OURO_API int ouro_builder_clocks(ouro_builder* builder, int64_t invoked, int64_t completed);
OURO_API int ouro_builder_inner_clocks(ouro_builder* builder, int64_t began, int64_t committing);
// Timestamps of the database with a physical and a logical part; the latter may be zero.
OURO_API int ouro_builder_timestamps(ouro_builder* builder, int64_t start, int64_t start_logical,
                                     int64_t commit, int64_t commit_logical);

// Operations of the transaction begun last, in the order in which it did them. Keys are integers or
// texts. docs/formats.md, Reads and writes, says what they mean.
OURO_API int ouro_builder_read(ouro_builder* builder, ouro_value key, ouro_value value);
OURO_API int ouro_builder_write(ouro_builder* builder, ouro_value key, ouro_value value);
OURO_API int ouro_builder_append(ouro_builder* builder, ouro_value key, ouro_value element);
// A read that returned a list; `elements` may be NULL if there are none.
OURO_API int ouro_builder_read_list(ouro_builder* builder, ouro_value key,
                                    const ouro_value* elements, size_t count);
// A delete that left `tombstone`, which may be null.
OURO_API int ouro_builder_delete(ouro_builder* builder, ouro_value key, ouro_value tombstone);
// A compare-and-set; `succeeded` is 0 if something else than `expected` was there.
OURO_API int ouro_builder_cas(ouro_builder* builder, ouro_value key, ouro_value expected,
                              ouro_value desired, int succeeded);
// Operations of any kind as an array of native JSON, such as
// [["scan","a","f",[["a",1]]],["select",{"gt":["price",3]},[]]]: predicate reads, counters, sets,
// rolled-back parts, rows. `length` may be (size_t)-1 if the text ends with a zero byte.
OURO_API int ouro_builder_operations(ouro_builder* builder, const char* json, size_t length);

// What every key holds at the start, and what one key does.
OURO_API int ouro_builder_initial(ouro_builder* builder, ouro_value value);
OURO_API int ouro_builder_initial_of(ouro_builder* builder, ouro_value key, ouro_value value);

// Lines of the native format: whole transactions, keys with version orders, a header if they are
// the first. Errors name the line, counted over all calls.
OURO_API int ouro_builder_lines(ouro_builder* builder, const char* lines, size_t length);

// Operations as tables, in Apache Arrow's C stream interface: a row for each operation; docs/c.md
// names the columns. Reads the stream to its end and releases it, also after an error. The
// structure is Arrow's, so that neither side needs the other. Cost: linear; makes no object for a
// row.
struct ArrowArrayStream;
OURO_API int ouro_builder_arrow(ouro_builder* builder, struct ArrowArrayStream* stream);

// ---- Verdicts ----

// The numbers are the exit statuses of 'ouro check'.
enum { OURO_HOLDS = 0, OURO_VIOLATED = 1, OURO_UNDECIDED = 2 };

// Decides whether `history` satisfies the levels that the options ask for and explains why not, as
// 'ouro check' does. Without a level it is that of 'ouro check': serializable, unless the history
// asks for another one. Options: all but "format" and "model". Cost: that of ouro::examine().
OURO_API ouro_verdict* ouro_check(const ouro_history* history, const ouro_options* options,
                                  ouro_error** error);
OURO_API void ouro_verdict_free(ouro_verdict* verdict);

// The outcome of all levels: OURO_VIOLATED if any is, else OURO_UNDECIDED if any is. With "expect",
// OURO_HOLDS if all was as expected. -1 if `verdict` is NULL.
OURO_API int ouro_verdict_outcome(const ouro_verdict* verdict);
// The levels asked for, by number from 0; NULL and -1 if there is none with that number.
OURO_API size_t ouro_verdict_levels(const ouro_verdict* verdict);
OURO_API const char* ouro_verdict_level(const ouro_verdict* verdict, size_t number);
OURO_API int ouro_verdict_level_outcome(const ouro_verdict* verdict, size_t number);

// What was found: the line that 'ouro check' begins with; all that it prints, with its stories; the
// same JSON object as 'ouro check --json' (docs/json.md); and a page that needs nothing else.
OURO_API char* ouro_verdict_headline(const ouro_verdict* verdict, ouro_error** error);
OURO_API char* ouro_verdict_text(const ouro_verdict* verdict, ouro_error** error);
OURO_API char* ouro_verdict_json(const ouro_verdict* verdict, ouro_error** error);
OURO_API char* ouro_verdict_html(const ouro_verdict* verdict, ouro_error** error);

// The first story as a history of its own. NULL, without an error, if there is no story.
OURO_API ouro_history* ouro_verdict_counterexample(const ouro_verdict* verdict, ouro_error** error);

// The proof of the outcome of level `number`, for ouro_certify() or 'ouro certify'. Fails if that
// is undecided. *length as in ouro_history_print().
OURO_API char* ouro_verdict_certificate(const ouro_verdict* verdict, size_t number, size_t* length,
                                        ouro_error** error);

// Re-checks a certificate against `history`, with code that shares nothing with what made it.
// Returns 1 if it is accepted; 0 if not, and then *reason, if `reason` is not NULL, is why; or -1.
OURO_API int ouro_certify(const ouro_history* history, const void* certificate, size_t length,
                          char** reason, ouro_error** error);

#ifdef __cplusplus
}
#endif
