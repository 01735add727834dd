SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 0.5};
Mesh.MeshSizeMin = 0.5;
Mesh.MeshSizeMax = 0.5;
