algebraic3d
solid block = orthobrick(0, 0, 0; 2, 1, 1);
tlo block;
