extern "C" [[gnu::visibility("default")]] int attnspan_plugln();

int attnspan_plugln() {
    return 1;
}
