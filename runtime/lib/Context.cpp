//===- Context.cpp - Contexts and tensors ---------------------------------===//

#include "Context.h"

#include <cstdio>

int32_t kina_abi_version(void) { return KINA_ABI_VERSION; }

void kina_context::clearError() {
  code = KINA_OK;
  message[0] = file[0] = '\0';
  line = column = numValues = 0;
}

void kina_context::setLocation(const char *newFile, int32_t newLine, int32_t newColumn) {
  snprintf(file, sizeof(file), "%s", newFile ? newFile : "");
  line = newLine;
  column = newColumn;
}

kina_context *kina_context_create(kina_memory_resource *memory) {
  auto *context = kina::runtime::create<kina_context>();
  if (context)
    context->memory = memory ? memory : kina_memory_host();
  return context;
}

void kina_context_destroy(kina_context *context) { free(context); }

int32_t kina_context_code(const kina_context *context) { return context->code; }
const char *kina_context_message(const kina_context *context) { return context->message; }
const char *kina_context_file(const kina_context *context) { return context->file; }
int32_t kina_context_line(const kina_context *context) { return context->line; }
int32_t kina_context_column(const kina_context *context) { return context->column; }
int32_t kina_context_num_values(const kina_context *context) { return context->numValues; }
int64_t kina_context_value(const kina_context *context, int32_t i) {
  return i >= 0 && i < context->numValues ? context->values[i] : 0;
}

int32_t kina_context_set_error(kina_context *context, int32_t code, const char *message) {
  context->clearError();
  context->code = code;
  snprintf(context->message, sizeof(context->message), "%s", message);
  return code;
}

void kina_context_set_max_steps(kina_context *context, uint64_t steps) {
  context->maxSteps = steps;
}
uint64_t kina_context_steps(const kina_context *context) { return context->steps; }
void kina_context_interrupt(kina_context *context) {
  context->interrupted.store(true, std::memory_order_relaxed);
}

void kina_context_set_progress(kina_context *context, kina_progress progress, void *user,
                               double interval) {
  context->progress = progress;
  context->progressUser = user;
  context->progressInterval = interval;
}

void kina_context_statistics(const kina_context *context, kina_allocation_statistics *out) {
  *out = context->statistics;
}

void kina_tensor_release(kina_tensor *tensor) {
  if (tensor->deleter)
    tensor->deleter(tensor);
  tensor->deleter = nullptr;
  tensor->owner = nullptr;
  tensor->dl.data = nullptr;
}
