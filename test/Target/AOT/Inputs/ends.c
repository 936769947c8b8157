/* Calls every function of ends.kina so that it fails, and then so that it succeeds: the status
   and the message are right, nothing stays allocated, the context serves the next call. */

#include "ends.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static kina_context *context;
static kina_memory_resource *counting;
static int failures;

static void check(int holds, const char *what) {
  if (holds)
    return;
  ++failures;
  printf("FAILED: %s\n", what);
}

/* What a call has left: `live` tells whether results are held. */
static void check_memory(int live) {
  kina_memory_statistics all;
  kina_allocation_statistics of_call;
  kina_memory_counting_read(counting, &all);
  kina_context_statistics(context, &of_call);
  check(of_call.live_bytes == 0, "the call has freed its memory");
  check(live ? all.live_bytes > 0 : all.live_bytes == 0 && all.allocations == all.deallocations,
        "the memory resource has everything back");
}

/* The end of a call that has to fail. */
static void failed(int32_t status, kina_tensor *result) {
  printf("K%04d %s (%d)\n", (int)status, kina_context_message(context),
         (int)kina_context_line(context));
  check(status != KINA_OK && kina_context_code(context) == status, "the status is the context's");
  check(result->dl.data == NULL && result->deleter == NULL, "nothing was handed over");
  check_memory(0);
}

static void succeeded(int32_t status, kina_tensor *result, double first) {
  check(status == KINA_OK && kina_context_code(context) == KINA_OK, kina_context_message(context));
  check(strcmp(kina_context_message(context), "") == 0, "no message is left");
  if (status != KINA_OK)
    return;
  check(fabs(((double *)result->dl.data)[0] - first) < 1e-12, "the value");
  check_memory(1);
  kina_tensor_release(result);
  check_memory(0);
}

static void interrupt(int signal) {
  (void)signal;
  kina_context_interrupt(context);
}

int main(void) {
  double x_data[] = {1, 2, 3, 4}, large[] = {1e301, 2, 3, 4}, w_data[16] = {0};
  int64_t shape[] = {4}, w_shape[] = {4, 4}, result_shape[2];
  int32_t n;
  kina_tensor x = kina_tensor_view(x_data, kDLFloat, 64, 1, shape);
  kina_tensor big = kina_tensor_view(large, kDLFloat, 64, 1, shape);
  kina_tensor w = kina_tensor_view(w_data, kDLFloat, 64, 2, w_shape);
  kina_tensor n_view = kina_tensor_view(&n, kDLInt, 32, 0, NULL);
  kina_tensor result = kina_tensor_view(NULL, kDLFloat, 64, 1, result_shape);
  counting = kina_memory_counting_create(kina_memory_host());
  context = kina_context_create(counting);

  kina_context_set_max_steps(context, 1000);
  failed(ends_forever_call(context, &x, &x, &result), &result);
  check(kina_context_steps(context) == 1001, "steps are counted");
  kina_context_set_max_steps(context, 0);
  /* From a signal handler, while the loop runs. */
  struct itimerval timer = {{0, 0}, {0, 50000}};
  signal(SIGALRM, interrupt);
  setitimer(ITIMER_REAL, &timer, NULL);
  int32_t status = ends_forever_call(context, &x, &x, &result);
  check(strstr(kina_context_message(context), "interrupted after ") != NULL, "interrupted");
  kina_context_set_error(context, status, "interrupted");
  failed(status, &result);
  succeeded(ends_forever_call(context, &big, &x, &result), &result, 1e301 + 1);

  n = 2;
  failed(ends_quotient_call(context, &x, &n_view, &result), &result);
  n = 4;
  succeeded(ends_quotient_call(context, &x, &n_view, &result), &result, 1 + 3 + 4 + 6);

  n = 2;
  failed(ends_element_call(context, &x, &n_view, &result), &result);
  check(kina_context_num_values(context) > 0 && kina_context_value(context, 0) == 4,
        "the values of the check");
  n = -1;
  failed(ends_element_call(context, &x, &n_view, &result), &result);
  n = 0;
  succeeded(ends_element_call(context, &x, &n_view, &result), &result, 1 + 1 + 2 + 3);

  failed(ends_clauses(context, NULL, NULL), &result);
  shape[0] = 3;
  double sum = 7;
  kina_tensor sum_view = kina_tensor_view(&sum, kDLFloat, 64, 0, NULL);
  failed(ends_clauses_call(context, &x, &w, &sum_view), &result);
  shape[0] = 4, w_shape[1] = 3;
  failed(ends_clauses_call(context, &x, &w, &sum_view), &result);
  w_shape[0] = 2, w_shape[1] = 8, shape[0] = 2;
  failed(ends_clauses_call(context, &x, &w, &sum_view), &result);
  w_shape[0] = 4, w_shape[1] = 4, shape[0] = 4;
  x_data[0] = -9;
  failed(ends_clauses_call(context, &x, &w, &sum_view), &result);
  check(sum == 7, "no destination was written");
  x_data[0] = 1;
  check(ends_clauses_call(context, &x, &w, &sum_view) == KINA_OK && sum == 10, "the sum");

  /* Memory ends at each allocation in turn, and in sizes that no machine has. */
  int64_t rows = (int64_t)1 << 50, matrix_shape[2], row_shape[1];
  kina_tensor rows_view = kina_tensor_view(&rows, kDLInt, 64, 0, NULL);
  kina_tensor matrix = kina_tensor_view(NULL, kDLFloat, 64, 2, matrix_shape);
  kina_tensor row = kina_tensor_view(NULL, kDLFloat, 64, 1, row_shape);
  kina_tensor total = kina_tensor_view(NULL, kDLFloat, 64, 0, NULL);
  failed(ends_several_call(context, &x, &rows_view, &matrix, &row, &total), &matrix);
  rows = INT64_MAX / 2;
  failed(ends_several_call(context, &x, &rows_view, &matrix, &row, &total), &matrix);
  rows = 3;
  kina_context *counted = context;
  for (uint64_t victim = 1; status != KINA_OK; ++victim) {
    kina_memory_resource *fault = kina_memory_fault_create(counting, victim);
    context = kina_context_create(fault);
    status = ends_several_call(context, &x, &rows_view, &matrix, &row, &total);
    if (status != KINA_OK) {
      check(status == KINA_ERROR_MEMORY && victim < 50, "out of memory");
      check(!matrix.dl.data && !row.dl.data && !total.dl.data, "nothing was handed over");
      check_memory(0);
    } else {
      check(victim > 3, "every result was refused once");
      check(matrix_shape[0] == 3 && matrix_shape[1] == 4, "the shape");
      kina_tensor_release(&matrix);
      kina_tensor_release(&row);
      succeeded(status, &total, 1);
    }
    kina_context_destroy(context);
    fault->vtable->destroy(fault);
  }
  context = counted;

  /* A destination may be the memory of an argument, not of another destination. */
  n = 4;
  kina_tensor in_place = x;
  check(ends_quotient_call(context, &x, &n_view, &in_place) == KINA_OK && x_data[0] == 14,
        "in place");
  int64_t one_row[] = {1, 4};
  rows = 1;
  double shared[4];
  kina_tensor first = kina_tensor_view(shared, kDLFloat, 64, 2, one_row);
  kina_tensor second = kina_tensor_view(shared, kDLFloat, 64, 1, shape);
  failed(ends_several_call(context, &x, &rows_view, &first, &second, &total), &total);

  check(ends_clauses(NULL, NULL, NULL) == KINA_ERROR_ARGUMENT, "no context");
  check(ends_kina_abi_version == kina_abi_version(), "the version");
  kina_context_destroy(context);
  counting->vtable->destroy(counting);
  printf("failures: %d\n", failures);
  return failures != 0;
}
