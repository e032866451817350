/* The C interface as C programs use it. Prints what is wrong and returns 1 if anything is. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ouro/c.h"

static int wrong = 0;

#define EXPECT(condition) expect((condition), #condition, __LINE__)

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  printf("c_interface.c:%d: not true: %s\n", line, what);
  wrong = 1;
}

/* Frees `error` and returns whether its text is `text`. */
static int says(ouro_error** error, const char* text) {
  const int same = *error != NULL && strcmp(ouro_error_text(*error), text) == 0;
  if (!same) printf("  the error is: %s\n", ouro_error_text(*error));
  ouro_error_free(*error);
  *error = NULL;
  return same;
}

/* Whether `text` contains `part`; frees `text`. */
static int has(char* text, const char* part) {
  const int found = text != NULL && strstr(text, part) != NULL;
  if (!found) printf("  the text is: %.200s\n", text == NULL ? "missing" : text);
  ouro_free(text);
  return found;
}

static ouro_history* lost_update(ouro_error** error) {
  ouro_builder* builder = ouro_builder_new(error);
  ouro_builder_initial_of(builder, ouro_text("stock"), ouro_integer(10));
  ouro_builder_begin(builder, ouro_integer(1));
  ouro_builder_id(builder, ouro_text("first"));
  ouro_builder_clocks(builder, 100, 180);
  ouro_builder_inner_clocks(builder, OURO_NO_CLOCK, 150);
  ouro_builder_read(builder, ouro_text("stock"), ouro_integer(10));
  ouro_builder_write(builder, ouro_text("stock"), ouro_integer(9));
  ouro_builder_begin(builder, ouro_integer(2));
  ouro_builder_read(builder, ouro_bytes("stocks", 5), ouro_integer(10));
  ouro_builder_write(builder, ouro_text("stock"), ouro_integer(8));
  return ouro_builder_finish(builder, error);
}

static ouro_options* at_level(const char* level, ouro_error** error) {
  ouro_options* options = ouro_options_new(error);
  ouro_options_set(options, "level", level, error);
  return options;
}

static void test_verdict(void) {
  ouro_error* error = NULL;
  ouro_history* history = lost_update(&error);
  ouro_options* options = at_level("all", &error);
  ouro_options_set(options, "title", "the shop", &error);
  ouro_verdict* verdict = ouro_check(history, options, &error);
  size_t i, levels = ouro_verdict_levels(verdict);
  EXPECT(error == NULL);
  EXPECT(ouro_history_transactions(history) == 2 && ouro_history_operations(history) == 4);
  EXPECT(ouro_history_sessions(history) == 2 && ouro_history_keys(history) == 1);
  ouro_history_free(history); /* The verdict keeps what it needs. */
  EXPECT(ouro_verdict_outcome(verdict) == OURO_VIOLATED);
  EXPECT(levels > 10);
  for (i = 0; i < levels; ++i) {
    const char* level = ouro_verdict_level(verdict, i);
    const int outcome = ouro_verdict_level_outcome(verdict, i);
    if (strcmp(level, "si") == 0) EXPECT(outcome == OURO_VIOLATED);
    if (strcmp(level, "causal") == 0) EXPECT(outcome == OURO_HOLDS);
  }
  EXPECT(ouro_verdict_level(verdict, levels) == NULL);
  EXPECT(ouro_verdict_level_outcome(verdict, levels) == -1);
  EXPECT(has(ouro_verdict_headline(verdict, &error), "the shop: VIOLATED"));
  EXPECT(has(ouro_verdict_text(verdict, &error), "one update is lost"));
  EXPECT(has(ouro_verdict_json(verdict, &error), "\"id\":\"lost-update\""));
  EXPECT(has(ouro_verdict_html(verdict, &error), "<!doctype html>"));
  history = ouro_verdict_counterexample(verdict, &error);
  EXPECT(ouro_history_transactions(history) == 2);
  EXPECT(error == NULL);
  ouro_history_free(history);
  ouro_verdict_free(verdict);
  ouro_options_free(options);
}

static void test_certificates(void) {
  ouro_error* error = NULL;
  ouro_history* history = lost_update(&error);
  ouro_options* options = at_level("si", &error);
  ouro_verdict* verdict = ouro_check(history, options, &error);
  size_t length = 0;
  char* reason = NULL;
  char* proof = ouro_verdict_certificate(verdict, 0, &length, &error);
  EXPECT(error == NULL && proof != NULL && length == strlen(proof));
  EXPECT(ouro_certify(history, proof, length, &reason, &error) == 1 && reason == NULL);
  /* Of another history. */
  const char* lines = "{\"session\":1,\"ops\":[[\"r\",1,null]]}\n";
  ouro_history* other = ouro_history_parse(lines, strlen(lines), NULL, &error);
  EXPECT(ouro_certify(other, proof, length, &reason, &error) == 0);
  EXPECT(has(reason, "history"));
  EXPECT(ouro_certify(history, proof, length / 2, NULL, &error) == -1 && error != NULL);
  ouro_error_free(error);
  error = NULL;
  EXPECT(ouro_verdict_certificate(verdict, 7, &length, &error) == NULL);
  EXPECT(says(&error, "the verdict has no level number 7"));
  ouro_free(proof);
  ouro_history_free(other);
  ouro_history_free(history);
  ouro_verdict_free(verdict);
  ouro_options_free(options);
}

/* Everything that a builder takes; then the same history again, by way of each native format. */
static void test_builder(void) {
  ouro_error* error = NULL;
  ouro_value list[2];
  ouro_builder* builder = ouro_builder_new(&error);
  list[0] = ouro_text("a");
  list[1] = ouro_unsigned(18446744073709551615u);
  EXPECT(ouro_builder_lines(builder,
                            "{\"ouro\":1,\"initial\":0}\n"
                            "{\"session\":\"s\",\"id\":\"t1\",\"ops\":[[\"w\",\"y\",5]]}\n",
                            (size_t)-1) == 0);
  EXPECT(ouro_builder_begin(builder, ouro_text("s")) == 0);
  EXPECT(ouro_builder_status(builder, OURO_UNKNOWN) == 0);
  EXPECT(ouro_builder_level(builder, "snapshot-isolation") == 0);
  EXPECT(ouro_builder_timestamps(builder, 7, 0, 9, 1) == 0);
  EXPECT(ouro_builder_append(builder, ouro_integer(1), list[0]) == 0);
  EXPECT(ouro_builder_append(builder, ouro_integer(1), list[1]) == 0);
  EXPECT(ouro_builder_read_list(builder, ouro_integer(1), list, 2) == 0);
  EXPECT(ouro_builder_cas(builder, ouro_text("y"), ouro_integer(5), ouro_boolean(7), 1) == 0);
  EXPECT(ouro_builder_write(builder, ouro_text("y"), ouro_float(0.5)) == 0);
  EXPECT(ouro_builder_write(builder, ouro_text("y"), ouro_decimal("0.50")) == 0);
  EXPECT(ouro_builder_delete(builder, ouro_text("y"), ouro_null()) == 0);
  EXPECT(ouro_builder_read(builder, ouro_text("z"), ouro_unobserved()) == 0);
  EXPECT(ouro_builder_operations(builder, "[[\"scan\",\"a\",\"b\",[]],[\"select\",true,[]]]",
                                 (size_t)-1) == 0);
  ouro_history* history = ouro_builder_finish(builder, &error);
  size_t length = 0;
  char* text = ouro_history_print(history, "native", &length, NULL, &error);
  EXPECT(error == NULL && text != NULL && strlen(text) == length);
  EXPECT(
      strstr(text,
             "\"status\":\"unknown\",\"start_ts\":7,\"commit_ts\":[9,1],\"level\":\"si\",\"ops\":"
             "[[\"append\",1,\"a\"],[\"append\",1,18446744073709551615],[\"r\",1,[\"a\","
             "18446744073709551615]],[\"cas\",\"y\",5,true,true],[\"w\",\"y\",{\"@float\":0.5}],"
             "[\"w\",\"y\",0.5],[\"d\",\"y\"],[\"r\",\"z\"],[\"scan\",\"a\",\"b\",[]],"
             "[\"select\",true,[]]]") != NULL);
  char* binary = ouro_history_print(history, "ouro", &length, NULL, &error);
  ouro_history* again = ouro_history_parse(binary, length, NULL, &error);
  EXPECT(has(ouro_history_print(again, "native", NULL, NULL, &error), text));
  EXPECT(error == NULL);
  char* warnings = NULL;
  EXPECT(ouro_history_print(history, "plume", NULL, &warnings, &error) == NULL && error != NULL);
  ouro_error_free(error);
  ouro_free(binary);
  ouro_free(text);
  ouro_history_free(again);
  ouro_history_free(history);
}

static void test_errors(void) {
  ouro_error* error = NULL;
  const char* cut = "{\"session\":1,\"ops\":[]}\n{\"session\":1,\"ops\":[[\"r\",1,2}\n";
  EXPECT(ouro_history_read("/nowhere/h.jsonl", NULL, &error) == NULL);
  EXPECT(ouro_error_kind(error) == OURO_ERROR_INPUT);
  EXPECT(strcmp(ouro_error_file(error), "/nowhere/h.jsonl") == 0);
  EXPECT(ouro_error_line(error) == 0 && ouro_error_byte(error) == -1);
  ouro_error_free(error);
  error = NULL;
  EXPECT(ouro_history_parse(cut, strlen(cut), NULL, &error) == NULL);
  EXPECT(ouro_error_line(error) == 2 && strcmp(ouro_error_file(error), "input") == 0);
  /* The first error stays. */
  EXPECT(ouro_history_read("/nowhere/h.jsonl", NULL, &error) == NULL);
  EXPECT(ouro_error_line(error) == 2);
  ouro_error_free(error);
  error = NULL;

  ouro_options* options = ouro_options_new(&error);
  EXPECT(ouro_options_set(options, "levl", "si", &error) == -1);
  EXPECT(says(&error, "unknown option 'levl'; did you mean 'level'?"));
  EXPECT(ouro_options_set(options, "level", "serialisable", &error) == -1);
  EXPECT(says(&error, "unknown level 'serialisable'; did you mean 'serializable'?"));
  EXPECT(ouro_options_set(options, "threads", "-1", &error) == -1);
  EXPECT(says(&error, "threads '-1' is not a number from 0 to 1024"));
  EXPECT(ouro_options_set(options, "time-limit", "nan", &error) == -1 && error != NULL);
  ouro_error_free(error);
  error = NULL;

  ouro_builder* builder = ouro_builder_new(&error);
  EXPECT(ouro_builder_read(builder, ouro_integer(1), ouro_null()) == -1);
  EXPECT(ouro_builder_begin(builder, ouro_integer(1)) == -1); /* It was wrong before. */
  EXPECT(ouro_builder_finish(builder, &error) == NULL);
  EXPECT(says(&error, "no transaction was begun; call ouro_builder_begin()"));
  builder = ouro_builder_new(&error);
  ouro_builder_begin(builder, ouro_boolean(1));
  EXPECT(ouro_builder_finish(builder, &error) == NULL);
  EXPECT(says(&error, "expected a session: an integer or a text"));
  builder = ouro_builder_new(&error);
  ouro_builder_begin(builder, ouro_integer(1));
  ouro_builder_write(builder, ouro_integer(1), ouro_decimal("1.2.3"));
  EXPECT(ouro_builder_finish(builder, &error) == NULL);
  EXPECT(says(&error, "'1.2.3' is no number; expected digits such as -12 or 0.50"));
  builder = ouro_builder_new(&error);
  ouro_builder_begin(builder, ouro_integer(1));
  ouro_builder_operations(builder, "[[\"scan\",1]]", (size_t)-1);
  EXPECT(ouro_builder_finish(builder, &error) == NULL && error != NULL);
  ouro_error_free(error);
  error = NULL;
  builder = ouro_builder_new(&error);
  ouro_builder_lines(builder, "{\"session\":1,\"ops\":[]}\n", (size_t)-1);
  ouro_builder_lines(builder, "{\"session\":1,\"op\":[]}\n", (size_t)-1);
  EXPECT(ouro_builder_finish(builder, &error) == NULL);
  EXPECT(says(&error, "history:2: unknown field 'op'; did you mean 'ops'?"));
  ouro_options_free(options);
}

static void test_nothing_given(void) {
  ouro_error* error = NULL;
  EXPECT(ouro_check(NULL, NULL, &error) == NULL);
  EXPECT(ouro_builder_finish(NULL, &error) == NULL);
  EXPECT(ouro_verdict_text(NULL, &error) == NULL && ouro_verdict_outcome(NULL) == -1);
  EXPECT(ouro_history_parse(NULL, 0, NULL, NULL) == NULL);
  EXPECT(error == NULL && ouro_error_text(NULL)[0] == 0);
  ouro_error_free(NULL);
  ouro_history_free(NULL);
  ouro_builder_free(NULL);
  ouro_verdict_free(NULL);
  ouro_options_free(NULL);
  ouro_free(NULL);
  EXPECT(strchr(ouro_version(), '.') != NULL);
  ouro_history* nothing = ouro_builder_finish(ouro_builder_new(&error), &error);
  EXPECT(ouro_check(nothing, NULL, &error) == NULL && error != NULL); /* No transactions. */
  ouro_error_free(error);
  ouro_history_free(nothing);
}

static void test_cancel(void) {
  ouro_error* error = NULL;
  ouro_history* history = lost_update(&error);
  ouro_options* options = at_level("serializable", &error);
  ouro_options_cancel(options);
  ouro_verdict* verdict = ouro_check(history, options, &error);
  EXPECT(ouro_verdict_outcome(verdict) == OURO_UNDECIDED);
  EXPECT(ouro_verdict_certificate(verdict, 0, NULL, &error) == NULL);
  EXPECT(says(&error, "an undecided level has no certificate"));
  ouro_verdict_free(verdict);
  ouro_options_resume(options);
  verdict = ouro_check(history, options, &error);
  EXPECT(ouro_verdict_outcome(verdict) == OURO_VIOLATED && error == NULL);
  ouro_verdict_free(verdict);
  ouro_options_free(options);
  ouro_history_free(history);
}

static void* check_many(void* history) {
  int i;
  for (i = 0; i < 20; ++i) {
    ouro_verdict* verdict = ouro_check(history, NULL, NULL);
    EXPECT(ouro_verdict_outcome(verdict) == OURO_VIOLATED);
    ouro_verdict_free(verdict);
  }
  return NULL;
}

/* One history, several threads. */
static void test_threads(void) {
  ouro_error* error = NULL;
  ouro_history* history = lost_update(&error);
  pthread_t threads[3];
  int i;
  for (i = 0; i < 3; ++i) EXPECT(pthread_create(&threads[i], NULL, check_many, history) == 0);
  for (i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  ouro_history_free(history);
}

int main(void) {
  test_verdict();
  test_certificates();
  test_builder();
  test_errors();
  test_nothing_given();
  test_cancel();
  test_threads();
  return wrong;
}
