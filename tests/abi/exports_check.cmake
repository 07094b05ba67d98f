# LIBRARY must export eph_plugin_v1 and nothing else; no unique symbol may keep it in memory.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "^[0-9a-f]+ T eph_plugin_v1\n$")
  message(FATAL_ERROR "${LIBRARY} exports more than eph_plugin_v1, or not even that:\n${symbols}")
endif()
