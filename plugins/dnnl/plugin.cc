// plugin.cc: the one exported function of the library.
#include <ephost/plugin.hpp>

#include "plugins/dnnl/provider.h"

EPH_DEFINE_PLUGIN("ephost.dnnl", "0.1.0", ephost_dnnl::DnnlProvider)
