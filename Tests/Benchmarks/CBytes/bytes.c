// The yardstick for reading a message: one look at each of its bytes.
//
//   cc -O2 -o bytes bytes.c
//   bytes ROUNDS < MESSAGE
//
// Finds the lines and the first colon of each and keeps nothing else. Prints the processor time for one message in microseconds.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double processor_microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static uint32_t read_lines(const uint8_t *bytes, size_t count) {
    uint32_t kept = 0;
    int in_name = 1;
    for (size_t n = 0; n < count; n++) {
        if (bytes[n] == '\n') {
            kept += n;
            in_name = 1;
        } else if (in_name && bytes[n] == ':') {
            kept ^= n;
            in_name = 0;
        }
    }
    return kept;
}

int main(int argc, char **argv) {
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 10) {
        fprintf(stderr, "usage: bytes ROUNDS < MESSAGE\n");
        return 2;
    }
    static uint8_t message[65536];
    size_t count = fread(message, 1, sizeof message, stdin);
    volatile uint32_t kept = 0;
    for (int n = 0; n < rounds / 10; n++) kept += read_lines(message, count);
    double before = processor_microseconds();
    for (int n = 0; n < rounds; n++) kept += read_lines(message, count);
    printf("%.4f\n", (processor_microseconds() - before) / rounds);
    return count > 0 && kept > 0 ? 0 : 1;
}
