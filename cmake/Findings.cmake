# The tables that tools/findings makes of the folders of verify/findings, and the releases of AMD's runtime
# (hip/releases).
#
# Sets HGCHECK_RELEASES ("7.2;6.4": the reference first). A target that links hgcheck_findings_tables may include
# "findings/catalogue.inc", "findings/ways.inc" and "findings/platform_rules.inc".
file(STRINGS ${PROJECT_SOURCE_DIR}/hip/releases/releases.inc HGCHECK_RELEASES REGEX "^RELEASE\\(")
list(TRANSFORM HGCHECK_RELEASES REPLACE "^RELEASE\\(([0-9]+), ([0-9]+),.*" "\\1.\\2")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/hip/releases/releases.inc)

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
file(GLOB HGCHECK_FINDINGS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/verify/findings/*/finding.toml)
set(findings_tables ${PROJECT_BINARY_DIR}/generated/findings)
add_custom_command(OUTPUT ${findings_tables}/stamp BYPRODUCTS ${findings_tables}/catalogue.inc
                   ${findings_tables}/ways.inc ${findings_tables}/platform_rules.inc
                   COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tools/findings tables ${findings_tables}
                   COMMAND ${CMAKE_COMMAND} -E touch ${findings_tables}/stamp
                   DEPENDS ${HGCHECK_FINDINGS} ${PROJECT_SOURCE_DIR}/tools/findings
                           ${PROJECT_SOURCE_DIR}/verify/findings/vocabulary.toml
                           ${PROJECT_SOURCE_DIR}/verify/quirks/attributes.inc
                           ${PROJECT_SOURCE_DIR}/hip/releases/releases.inc
                   COMMENT "Making the tables of findings" VERBATIM)
add_custom_target(hgcheck_findings DEPENDS ${findings_tables}/stamp)
add_library(hgcheck_findings_tables INTERFACE)
target_include_directories(hgcheck_findings_tables INTERFACE ${PROJECT_BINARY_DIR}/generated)
add_dependencies(hgcheck_findings_tables hgcheck_findings)
