#include "operator/cli/main.h"

int main(int argc, char** argv) { return weft::cli::Main(argc, argv); }
