#ifndef CCONSOLEPAGES_H
#define CCONSOLEPAGES_H

/// A file of the web console, as it stands in the program.
struct console_page {
    const char *name;
    const unsigned char *bytes;
    unsigned long size;
};

/// The files, by name; NULL behind the last.
const struct console_page *console_page_at(unsigned long index);

#endif
