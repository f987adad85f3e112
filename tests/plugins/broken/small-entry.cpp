extern "C" [[gnu::visibility("default")]] const int attnspan_plugin;

const int attnspan_plugin = 1;
