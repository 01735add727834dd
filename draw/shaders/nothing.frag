// For programs that write depth alone, or nothing.
void main() {}
