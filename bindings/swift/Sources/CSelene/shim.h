/* selene.h, wherever pkg-config says that it is. */
#include <selene.h>
