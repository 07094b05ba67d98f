/* The lines of a list of fields, printed in the form of a golden layout. */
#include <stddef.h>
#include <stdio.h>

#define STRUCT(type) printf("SIZE(%s, %zu)\n", #type, sizeof(type));
#define FIELD(type, field)                                                  \
  printf("FIELD(%s, %s, %zu, %zu)\n", #type, #field, offsetof(type, field), \
         sizeof(((type*)0)->field));
#define CONSTANT(name) printf("CONSTANT(%s, %d)\n", #name, (int)name);
