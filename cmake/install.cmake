# Installs the headers, the core, the libraries beside it (limber::io and others, where they are built), limberConfig.cmake for
# find_package(limber COMPONENTS ...), and a file for pkg-config of each library.
# Nothing installed holds an absolute path, so the installed tree may be moved.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/limber)

set(headers limber.h)
if(LIMBER_BUILD_LIBRARIES)
    list(APPEND headers mesh.h tets.h pose.h rig.h cache.h export.h seams.h capture.h shapes.h scene.h)
endif()
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/limber/)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/limber)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS limber EXPORT limberTargets)
install(EXPORT limberTargets NAMESPACE limber:: DESTINATION ${package_dir})
if(LIMBER_BUILD_LIBRARIES)
    install(TARGETS limber_io limber_shapes limber_scene EXPORT limberLibraries)
    install(EXPORT limberLibraries NAMESPACE limber:: DESTINATION ${package_dir})
endif()
if(LIMBER_BUILD_APPS)
    install(TARGETS limber_cli)
endif()
if(LIMBER_HAS_MPI)
    install(FILES ${PROJECT_SOURCE_DIR}/include/limber/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/limber)
    install(TARGETS limber_mpi EXPORT limberMpi)
    install(EXPORT limberMpi NAMESPACE limber:: DESTINATION ${package_dir})
    install(TARGETS limber_mpi_tool)
endif()

configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/limberConfig.cmake.in ${PROJECT_BINARY_DIR}/limberConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/limberConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/limberConfig.cmake ${PROJECT_BINARY_DIR}/limberConfigVersion.cmake
    DESTINATION ${package_dir})

# A static library cannot name what it needs itself: its file names it. The libraries beside the core are always static.
if(WIN32 OR WASI)
    set(pc_needs " -lm")
else()
    set(pc_needs " -lm -pthread")
endif()
if(BUILD_SHARED_LIBS)
    set(pc_cflags " -DLM_SHARED")
    set(pc_libs "")
    set(pc_libs_private "${pc_needs}")
else()
    set(pc_cflags "")
    set(pc_libs "${pc_needs}")
    set(pc_libs_private "")
endif()
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
    OUTPUT_VARIABLE pc_includedir)

# limber_install_pc(NAME DESCRIPTION REQUIRED LIBRARIES): the file of one library.
function(limber_install_pc pc_name pc_description pc_requires pc_links)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/limber.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
limber_install_pc(limber "${PROJECT_DESCRIPTION}" "" "-llimber${pc_libs}")
if(LIMBER_BUILD_LIBRARIES)
    set(pc_assimp "")
    if(LIMBER_HAS_ASSIMP)
        set(pc_assimp " -lassimp")
    endif()
    limber_install_pc(limber-io "Limber: meshes in, motion out" "limber" "-llimber_io${pc_assimp}${pc_needs}")
    limber_install_pc(limber-shapes "Limber: procedural models" "limber" "-llimber_shapes${pc_needs}")
    limber_install_pc(limber-scene "Limber: scene files" "limber-io limber-shapes" "-llimber_scene${pc_needs}")
    if(LIMBER_HAS_MPI)
        limber_install_pc(limber-mpi "Limber over MPI (to be compiled with mpicc)" "limber-scene" "-llimber_mpi")
    endif()
endif()
