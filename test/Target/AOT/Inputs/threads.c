/* Two modules in one process, called from several threads at once, one of which is interrupted
   again and again by another: every value is right. */

#include "ends.h"
#include "regression.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, CALLS = 200 };

static kina_context *endless;
static atomic_int failures, stopped, done;

static void check(int holds) {
  if (!holds)
    ++failures;
}

/* y = slope * x is fitted, with a slope of its own in each thread. */
static void *fit(void *user) {
  double slope = *(double *)user, x[] = {1, 2, 3}, y[3], rate = 0.1, tol = 1e-9;
  for (int i = 0; i < 3; ++i)
    y[i] = slope * x[i];
  int64_t x_shape[] = {3, 1}, shape[] = {3}, w_shape[1];
  int32_t steps;
  kina_tensor X = kina_tensor_view(x, kDLFloat, 64, 2, x_shape);
  kina_tensor Y = kina_tensor_view(y, kDLFloat, 64, 1, shape);
  kina_tensor Rate = kina_tensor_view(&rate, kDLFloat, 64, 0, NULL);
  kina_tensor Tol = kina_tensor_view(&tol, kDLFloat, 64, 0, NULL);
  kina_tensor w = kina_tensor_view(NULL, kDLFloat, 64, 1, w_shape);
  kina_tensor Steps = kina_tensor_view(&steps, kDLInt, 32, 0, NULL);
  kina_context *context = kina_context_create(NULL);
  for (int i = 0; i < CALLS; ++i) {
    check(regression_fit_call(context, &X, &Y, &Rate, &Tol, &w, &Steps) == KINA_OK);
    check(fabs(*(double *)w.dl.data - slope) < 1e-6);
    kina_tensor_release(&w);

    /* Two iterations pass, the third has an index out of bounds, whose values are checked. */
    int32_t n = 1;
    kina_tensor N = kina_tensor_view(&n, kDLInt, 32, 0, NULL);
    kina_tensor sum = kina_tensor_view(NULL, kDLFloat, 64, 1, w_shape);
    check(ends_element_call(context, &Y, &N, &sum) == KINA_ERROR_INDEX);
    check(kina_context_value(context, 0) == 3 && !sum.dl.data);
    n = 0;
    check(ends_element_call(context, &Y, &N, &sum) == KINA_OK);
    check(fabs(*(double *)sum.dl.data - 7 * slope) < 1e-9);
    kina_tensor_release(&sum);
  }
  kina_context_destroy(context);
  return NULL;
}

static void *loop(void *user) {
  (void)user;
  double x[] = {1, 2};
  int64_t shape[] = {2}, result_shape[1];
  kina_tensor X = kina_tensor_view(x, kDLFloat, 64, 1, shape);
  kina_tensor result = kina_tensor_view(NULL, kDLFloat, 64, 1, result_shape);
  while (stopped < 20) {
    check(ends_forever_call(endless, &X, &X, &result) == KINA_ERROR_STOPPED && !result.dl.data);
    ++stopped;
  }
  done = 1;
  return NULL;
}

int main(void) {
  double slopes[THREADS];
  pthread_t threads[THREADS], looping;
  endless = kina_context_create(NULL);
  pthread_create(&looping, NULL, loop, NULL);
  for (int i = 0; i < THREADS; ++i) {
    slopes[i] = i + 1;
    pthread_create(&threads[i], NULL, fit, &slopes[i]);
  }
  while (!done)
    kina_context_interrupt(endless);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  pthread_join(looping, NULL);
  kina_context_destroy(endless);
  printf("failures: %d, stopped: %d\n", failures, stopped);
  return failures != 0;
}
