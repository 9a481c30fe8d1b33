// The version of Fathom. Before 1.0 a new minor version may change the interface, and a program
// must be compiled again; a patch version never does.
#ifndef FATHOM_VERSION_H_
#define FATHOM_VERSION_H_

#define FATHOM_VERSION_MAJOR 0
#define FATHOM_VERSION_MINOR 1
#define FATHOM_VERSION_PATCH 0
#define FATHOM_VERSION "0.1.0"

#endif  // FATHOM_VERSION_H_
