# Included by the install step of a plugin: writes its manifest, with the SHA-256 of the library that
# was installed just before.
#
# platform         key of the library in the manifest, e.g. linux-x86_64
# manifest         absolute path of the vendor's manifest
# library          file name of the library
# library_folder   where it was installed, absolute or below the prefix
# folder           where the manifest is installed, likewise
foreach(variable folder library_folder)
  if(NOT IS_ABSOLUTE "${${variable}}")
    set(${variable} "${CMAKE_INSTALL_PREFIX}/${${variable}}")
  endif()
  set(${variable} "$ENV{DESTDIR}${${variable}}")
endforeach()
get_filename_component(name "${manifest}" NAME)

file(READ "${manifest}" text)
if(NOT text MATCHES "\n$")
  string(APPEND text "\n")
endif()
string(REGEX REPLACE "([.+])" "[\\1]" pattern "${library}")
if(NOT text MATCHES "[\n{, \t\"']${platform}[\"']?:[ \t]+[\"']?${pattern}[\"']?[ \t]*[,}#\n]")
  message(FATAL_ERROR "${manifest} does not name the library that is installed with it: below "
    "\"library:\", add the line \"  ${platform}: ${library}\"")
endif()
file(SHA256 "${library_folder}/${library}" digest)
set(entry "  ${platform}: ${digest}\n")
if(text MATCHES "(^|\n)sha256:[ \t]*(#[^\n]*)?\n")
  # The digest of an earlier build goes.
  string(REGEX REPLACE "\n[ \t]+[\"']?${platform}[\"']?:[ \t]+[\"']?[0-9a-fA-F]+[\"']?[ \t]*\n" "\n"
    text "${text}")
  string(REGEX REPLACE "(^|\n)(sha256:[^\n]*\n)" "\\1\\2${entry}" text "${text}")
elseif(text MATCHES "(^|\n)sha256:")
  message(FATAL_ERROR "${manifest}: write \"sha256:\" as a block, one platform to a line, so that the "
    "digest of the installed library can be added")
else()
  string(APPEND text "sha256:\n${entry}")
endif()
message(STATUS "Installing: ${folder}/${name}")
file(WRITE "${folder}/${name}" "${text}")
