// What the shared library shows. A header that users get opens its namespace with FATHOM_PUBLIC;
// everything else stays hidden inside the library, Eigen and OpenBLAS included, so that it cannot
// clash with what a user's program brings.
#ifndef FATHOM_BASE_EXPORT_H_
#define FATHOM_BASE_EXPORT_H_

#define FATHOM_PUBLIC __attribute__((visibility("default")))

#endif  // FATHOM_BASE_EXPORT_H_
