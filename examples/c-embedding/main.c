/* Calls the compiled model of regression.kina; docs/Embedding.md goes through it. */

#include "regression.h"

#include <signal.h>
#include <stdio.h>

static kina_context *context;

/* The one thing that may be done with a context in a signal handler. */
static void on_interrupt(int signal) {
  (void)signal;
  kina_context_interrupt(context);
}

/* Says what the last call ended with. */
static int report(const char *what, int32_t status) {
  if (status == KINA_OK)
    return 0;
  printf("%s: error[K%04d]: %s\n", what, (int)status, kina_context_message(context));
  if (kina_context_line(context) > 0)
    printf("  at %s:%d:%d\n", kina_context_file(context), (int)kina_context_line(context),
           (int)kina_context_column(context));
  return 1;
}

int main(void) {
  double X_data[3][2] = {{1, 0}, {1, 1}, {1, 2}}, y_data[3] = {1, 3, 5};
  double rate = 0.3, tol = 1e-6;
  int64_t X_shape[] = {3, 2}, y_shape[] = {3};
  kina_tensor X = kina_tensor_view(X_data, kDLFloat, 64, 2, X_shape);
  kina_tensor y = kina_tensor_view(y_data, kDLFloat, 64, 1, y_shape);
  kina_tensor rate_view = kina_tensor_view(&rate, kDLFloat, 64, 0, NULL);
  kina_tensor tol_view = kina_tensor_view(&tol, kDLFloat, 64, 0, NULL);

  context = kina_context_create(NULL);
  if (!context) {
    fputs("out of memory\n", stderr);
    return 1;
  }
  kina_context_set_max_steps(context, 100000);
  signal(SIGINT, on_interrupt);

  /* The function makes the weights, and the caller releases them; the steps go where the
     caller says. */
  int64_t w_shape[1];
  int32_t steps;
  kina_tensor w = kina_tensor_view(NULL, kDLFloat, 64, 1, w_shape);
  kina_tensor steps_view = kina_tensor_view(&steps, kDLInt, 32, 0, NULL);
  int32_t status =
      regression_fit_call(context, &X, &y, &rate_view, &tol_view, &w, &steps_view);
  if (report("fit", status) == 0) {
    const double *weights = w.dl.data;
    printf("fit: %d weights, %.4f and %.4f, after %d steps\n", (int)w_shape[0], weights[0],
           weights[1], (int)steps);
    double predicted[3];
    kina_tensor predicted_view = kina_tensor_view(predicted, kDLFloat, 64, 1, y_shape);
    if (report("predict", regression_predict_call(context, &X, &w, &predicted_view)) == 0)
      printf("predict: %.4f %.4f %.4f\n", predicted[0], predicted[1], predicted[2]);
  }
  kina_tensor_release(&w);

  /* Errors leave the context as good as new, and no result to release. */
  int64_t short_shape[] = {2}, flat_shape[] = {1, 2};
  kina_tensor short_y = kina_tensor_view(y_data, kDLFloat, 64, 1, short_shape);
  report("a size", regression_fit_call(context, &X, &short_y, &rate_view, &tol_view, &w,
                                       &steps_view));
  kina_tensor flat_X = kina_tensor_view(X_data, kDLFloat, 64, 2, flat_shape);
  kina_tensor one_y = kina_tensor_view(y_data, kDLFloat, 64, 1, flat_shape);
  report("a clause", regression_fit_call(context, &flat_X, &one_y, &rate_view, &tol_view, &w,
                                         &steps_view));
  rate = 0; /* never arrives */
  report("a loop", regression_fit_call(context, &X, &y, &rate_view, &tol_view, &w, &steps_view));

  kina_context_destroy(context);
  return 0;
}
