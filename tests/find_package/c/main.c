/* Checks a small history with the installed C interface. */
#include <ouro/c.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char* lines =
      "{\"session\":1,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",1]]}\n"
      "{\"session\":2,\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\",2]]}\n";
  ouro_error* error = NULL;
  ouro_history* history = ouro_history_parse(lines, strlen(lines), NULL, &error);
  ouro_verdict* verdict = ouro_check(history, NULL, &error);
  char* headline = ouro_verdict_headline(verdict, &error);
  const int outcome = ouro_verdict_outcome(verdict);
  if (error != NULL) puts(ouro_error_text(error));
  printf("%s %s", ouro_version(), headline == NULL ? "" : headline);
  ouro_free(headline);
  ouro_error_free(error);
  ouro_verdict_free(verdict);
  ouro_history_free(history);
  return outcome == OURO_VIOLATED ? 0 : 1;
}
