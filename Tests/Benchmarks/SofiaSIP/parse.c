// The same message read by sofia-sip, which parses every header field that it knows.
//
//   cc -O2 -o parse parse.c $(pkg-config --cflags --libs sofia-sip-ua)
//   parse ROUNDS < MESSAGE
//
// Prints the processor time for one message in microseconds.
#include <sofia-sip/msg.h>
#include <sofia-sip/sip.h>
#include <sofia-sip/sip_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double processor_microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static unsigned read_message(const char *bytes, size_t count) {
    msg_t *message = msg_make(sip_default_mclass(), 0, bytes, (ssize_t)count);
    sip_t *sip = message ? sip_object(message) : NULL;
    if (!sip || sip->sip_error || !sip->sip_via || !sip->sip_from || !sip->sip_to || !sip->sip_cseq || !sip->sip_contact) {
        fprintf(stderr, "parse: sofia-sip does not take the message\n");
        exit(1);
    }
    unsigned kept = sip->sip_cseq->cs_seq + (sip->sip_via->v_branch != NULL) + (sip->sip_from->a_tag != NULL) + (sip->sip_contact->m_url->url_host != NULL);
    msg_destroy(message);
    return kept;
}

int main(int argc, char **argv) {
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 10) {
        fprintf(stderr, "usage: parse ROUNDS < MESSAGE\n");
        return 2;
    }
    static char message[65536];
    size_t count = fread(message, 1, sizeof message, stdin);
    volatile unsigned kept = 0;
    for (int n = 0; n < rounds / 10; n++) kept += read_message(message, count);
    double before = processor_microseconds();
    for (int n = 0; n < rounds; n++) kept += read_message(message, count);
    printf("%.4f\n", (processor_microseconds() - before) / rounds);
    return 0;
}
