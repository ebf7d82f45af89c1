# Compiles FILE as it stands, then with its indexes swapped (WEFT_SWAPPED). The first must succeed,
# or the second could fail for another reason; the second must fail because of the types. INDEX: the
# type of index that number_from_index.cc is about.
function(compile result message)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${SOURCE_DIR}
                          -DWEFT_INDEX=${INDEX} ${ARGN} ${FILE}
                  RESULT_VARIABLE code ERROR_VARIABLE text OUTPUT_QUIET)
  set(${result} ${code} PARENT_SCOPE)
  set(${message} "${text}" PARENT_SCOPE)
endfunction()

compile(code text)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${FILE} must compile without WEFT_SWAPPED:\n${text}")
endif()
compile(code text -DWEFT_SWAPPED)
if(code EQUAL 0)
  message(FATAL_ERROR "${FILE} compiles with its indexes swapped")
endif()
if(NOT text MATCHES "(cannot|could not) convert|no match for|no viable|invalid operands")
  message(FATAL_ERROR "${FILE} fails with its indexes swapped, but not because of types:\n${text}")
endif()
