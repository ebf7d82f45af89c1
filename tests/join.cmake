# Writes OUT: the test files SOURCES one after the other, each in a namespace of its own, where its
# names meet no others. The compiler tells an error at the file's own line; the path is the one from
# BUILD, where it runs.
set(joined "")
foreach(source ${SOURCES})
  get_filename_component(name ${source} NAME_WE)
  file(RELATIVE_PATH path ${BUILD} ${source})
  file(READ ${source} text)
  string(REPLACE "\nnamespace {\n" "\nnamespace ${name} { namespace {\n" text "${text}")
  string(REPLACE "\n}  // namespace\n" "\n}}  // namespace\n" text "${text}")
  string(APPEND joined "#line 1 \"${path}\"\n${text}")
endforeach()
file(WRITE ${OUT} "${joined}")
