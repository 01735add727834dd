# limber_beside(NAME LIBRARIES...): makes the static library limber_NAME, which uses the core and the other LIBRARIES, one that others can
# link: as limber::NAME in this build, from a subdirectory and once it is installed (cmake/install.cmake).
#
# Inside the project it is linked with limber_internal, as everything is; installed with limber::limber. A shared core hides its internals:
# then the library has its own copy of the few that it uses (deterministic mathematics, memory, tasks).

function(limber_beside name)
    set(target limber_${name})
    add_library(limber::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC ${ARGN} $<BUILD_INTERFACE:limber_internal> $<INSTALL_INTERFACE:limber::limber>
        PRIVATE $<BUILD_INTERFACE:limber_flags> ${LIMBER_NEEDS})
    if(BUILD_SHARED_LIBS)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:limber_base>)
    endif()
endfunction()
