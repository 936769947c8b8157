# Writes every NAME.md of FOLDER as an entry {"NAME", R"page(text)page"}, of an initialiser list, to OUT.
# Run as a script: cmake -DFOLDER=.. -DOUT=.. -P EmbedPages.cmake
file(GLOB pages ${FOLDER}/*.md)
list(SORT pages)
set(text "")
foreach(page IN LISTS pages)
  get_filename_component(name ${page} NAME_WE)
  file(READ ${page} content)
  string(APPEND text "{\"${name}\", R\"page(${content})page\"},\n")
endforeach()
file(WRITE ${OUT} "${text}")
