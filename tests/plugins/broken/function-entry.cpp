extern "C" [[gnu::visibility("default")]] int attnspan_plugin();

int attnspan_plugin() {
    return 1;
}
