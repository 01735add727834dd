"""vtk_read.py FILE.pvd FRAME...: surfaces and the arrays of particles that VTK reads."""
import json
import os
import sys
import xml.etree.ElementTree

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader


def grid(path):
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    if reader.GetErrorCode() != 0:
        raise SystemExit("VTK cannot read " + path)
    return reader.GetOutput()


pvd, *frames = sys.argv[1:]
names = {}
for item in xml.etree.ElementTree.parse(pvd).iter("DataSet"):
    names.setdefault(int(item.get("part")), []).append(os.path.join(os.path.dirname(pvd), item.get("file")))
result = {"frames": [], "particles": []}
for frame in map(int, frames):
    surface = grid(names[1][frame])
    cells = vtk_to_numpy(surface.GetCells().GetConnectivityArray())
    result["frames"].append([{"points": vtk_to_numpy(surface.GetPoints().GetData()).ravel().tolist(),
                              "triangles": cells.tolist()}])
    data = grid(names[0][frame]).GetPointData()
    result["particles"].append({data.GetArrayName(i): data.GetArray(i).GetNumberOfComponents()
                                for i in range(data.GetNumberOfArrays())})
print("READ " + json.dumps(result))
