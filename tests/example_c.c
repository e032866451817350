/* The example of include/ouro/c.h: two clerks sell from the same stock, and one sale is lost. */
#include <stdio.h>

#include "ouro/c.h"

static int fail(ouro_error* error) {
  fprintf(stderr, "%s\n", ouro_error_text(error));
  ouro_error_free(error);
  return 254;
}

int main(void) {
  ouro_error* error = NULL;
  ouro_builder* builder = ouro_builder_new(&error);
  ouro_builder_begin(builder, ouro_text("clerk 1"));
  ouro_builder_read(builder, ouro_text("stock"), ouro_integer(10));
  ouro_builder_write(builder, ouro_text("stock"), ouro_integer(9));
  ouro_builder_begin(builder, ouro_text("clerk 2"));
  ouro_builder_read(builder, ouro_text("stock"), ouro_integer(10));
  ouro_builder_write(builder, ouro_text("stock"), ouro_integer(8));
  ouro_builder_initial(builder, ouro_integer(10));
  ouro_history* history = ouro_builder_finish(builder, &error);
  ouro_options* options = ouro_options_new(&error);
  ouro_options_set(options, "level", "si", &error);
  ouro_verdict* verdict = ouro_check(history, options, &error);
  if (error != NULL) return fail(error);
  if (ouro_verdict_outcome(verdict) == OURO_VIOLATED) {
    char* story = ouro_verdict_text(verdict, &error);
    puts(story);
    ouro_free(story);
  }
  const int outcome = ouro_verdict_outcome(verdict);
  ouro_verdict_free(verdict);
  ouro_options_free(options);
  ouro_history_free(history);
  return outcome == OURO_VIOLATED ? 0 : 1;
}
