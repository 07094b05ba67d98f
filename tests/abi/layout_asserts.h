/* The lines of a golden layout as assertions, in C and in C++. */
#include <stddef.h>

#if defined(__cplusplus)
#define LAYOUT_ASSERT static_assert
#else
#define LAYOUT_ASSERT _Static_assert
#endif

#define SIZE(type, size) LAYOUT_ASSERT(sizeof(type) == (size), #type " has another size");
#define FIELD(type, field, offset, size)                                                    \
  LAYOUT_ASSERT(offsetof(type, field) == (offset), #type "." #field " has another offset"); \
  LAYOUT_ASSERT(sizeof(((type*)0)->field) == (size), #type "." #field " has another size");
#define CONSTANT(name, number) LAYOUT_ASSERT(name == (number), #name " is another number");
