/*
 * Other mesh formats (DAE, FBX, X, 3DS and more) through the Open Asset Import Library, where the build found it; a
 * refusal otherwise.
 */
#include "io/mesh_reader.h"

#include <stdio.h>
#include <string.h>

static const char *ending_of(const mesh_reader *reader)
{
    const char *point = strrchr(reader->name, '.');
    return point ? point : ".";
}

#if LIMBER_HAS_ASSIMP

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

/* The file's nodes are applied to its meshes, polygons divided, points and lines dropped. Vertices stay as they are in
 * the file: welding is ours. */
static const struct aiScene *import(const mesh_reader *reader)
{
    const unsigned flags = aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_PreTransformVertices;
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    if (!properties) return NULL;
    aiSetImportPropertyInteger(properties, AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    const struct aiScene *scene =
        reader->path ? aiImportFileExWithProperties(reader->path, flags, NULL, properties)
                     : aiImportFileFromMemoryWithProperties(reader->bytes, (unsigned)(reader->end - reader->bytes),
                                                            flags, ending_of(reader) + 1, properties);
    aiReleasePropertyStore(properties);
    return scene;
}

static lm_vec3 from_assimp(struct aiVector3D v) { return (lm_vec3){v.x, v.y, v.z}; }

/* The diffuse colour of a material that the file has; assimp gives a grey one to meshes without. */
static bool find_colour(const struct aiMaterial *material, struct aiColor4D *colour)
{
    struct aiString name = {0};
    if (aiGetMaterialString(material, AI_MATKEY_NAME, &name) == aiReturn_SUCCESS &&
        strcmp(name.data, AI_DEFAULT_MATERIAL_NAME) == 0)
        return false;
    return aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, colour) == aiReturn_SUCCESS;
}

static bool add_vertices(mesh_reader *reader, const struct aiMesh *mesh, const struct aiMaterial *material)
{
    struct aiColor4D base = {1.0f, 1.0f, 1.0f, 1.0f};
    bool colours = mesh->mColors[0] || (material && find_colour(material, &base));
    if (!lmi_mesh_reader_reserve(reader, mesh->mNumVertices, mesh->mNormals != NULL, colours)) return false;
    for (unsigned i = 0; i < mesh->mNumVertices; i++) {
        if (!lmi_mesh_reader_add_vertex(reader, from_assimp(mesh->mVertices[i]))) return false;
        if (mesh->mNormals && !lmi_mesh_reader_set_normal(reader, from_assimp(mesh->mNormals[i]))) return false;
        struct aiColor4D c = mesh->mColors[0] ? mesh->mColors[0][i] : base;
        uint8_t colour[3] = {lmi_mesh_colour_byte((double)c.r), lmi_mesh_colour_byte((double)c.g),
                             lmi_mesh_colour_byte((double)c.b)};
        if (colours && !lmi_mesh_reader_set_colour(reader, colour)) return false;
    }
    return true;
}

static bool add_mesh(mesh_reader *reader, const struct aiScene *scene, const struct aiMesh *mesh)
{
    uint32_t first = reader->mesh.vertex_count;
    const struct aiMaterial *material =
        mesh->mMaterialIndex < scene->mNumMaterials ? scene->mMaterials[mesh->mMaterialIndex] : NULL;
    if (!lmi_mesh_reader_begin_part(reader, mesh->mName.data, strlen(mesh->mName.data)) ||
        !add_vertices(reader, mesh, material))
        return false;
    for (unsigned f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        if (face->mNumIndices < 3) continue;
        if (!lmi_mesh_reader_reserve_corners(reader, face->mNumIndices)) return false;
        for (unsigned i = 0; i < face->mNumIndices; i++) {
            if (face->mIndices[i] >= mesh->mNumVertices)
                return lmi_mesh_reader_fail(reader, "face %u names vertex %u, there are %u", f, face->mIndices[i],
                                            mesh->mNumVertices);
            reader->corners[i] = first + face->mIndices[i];
        }
        if (!lmi_mesh_reader_add_face(reader, face->mNumIndices)) return false;
    }
    return true;
}

bool lmi_assimp_read(mesh_reader *reader)
{
    if (!aiIsExtensionSupported(ending_of(reader)))
        return lmi_mesh_reader_fail(reader, "%.12s files cannot be read, not by assimp either", ending_of(reader) + 1);
    const struct aiScene *scene = import(reader);
    if (!scene) return lmi_mesh_reader_fail(reader, "assimp: %.300s", aiGetErrorString());
    snprintf(reader->mesh.format, sizeof reader->mesh.format, "%.12s, read by assimp", ending_of(reader) + 1);
    bool read = true;
    for (unsigned i = 0; read && i < scene->mNumMeshes; i++) read = add_mesh(reader, scene, scene->mMeshes[i]);
    aiReleaseImport(scene);
    return read;
}

#else

bool lmi_assimp_read(mesh_reader *reader)
{
    return lmi_mesh_reader_fail(
        reader,
        "%.12s files need assimp, and this program was built without it (expected OBJ, PLY, STL, "
        "glTF or GLB)",
        ending_of(reader) + 1);
}

#endif
