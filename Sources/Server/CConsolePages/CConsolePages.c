// The files of the web console. A file in `pages` is served when it stands here.
#include "CConsolePages.h"
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "pages/api.js"
};
static const unsigned char call_js[] = {
#embed "pages/call.js"
};
static const unsigned char calls_js[] = {
#embed "pages/calls.js"
};
static const unsigned char console_css[] = {
#embed "pages/console.css"
};
static const unsigned char dom_js[] = {
#embed "pages/dom.js"
};
static const unsigned char events_js[] = {
#embed "pages/events.js"
};
static const unsigned char icon_svg[] = {
#embed "pages/icon.svg"
};
static const unsigned char index_html[] = {
#embed "pages/index.html"
};
static const unsigned char lines_js[] = {
#embed "pages/lines.js"
};
static const unsigned char live_js[] = {
#embed "pages/live.js"
};
static const unsigned char load_js[] = {
#embed "pages/load.js"
};
static const unsigned char long_table_js[] = {
#embed "pages/long-table.js"
};
static const unsigned char main_js[] = {
#embed "pages/main.js"
};
static const unsigned char phone_card_js[] = {
#embed "pages/phone-card.js"
};
static const unsigned char phone_ringer_js[] = {
#embed "pages/phone-ringer.js"
};
static const unsigned char phone_css[] = {
#embed "pages/phone.css"
};
static const unsigned char phone_html[] = {
#embed "pages/phone.html"
};
static const unsigned char phone_js[] = {
#embed "pages/phone.js"
};
static const unsigned char server_js[] = {
#embed "pages/server.js"
};
static const unsigned char settings_js[] = {
#embed "pages/settings.js"
};
static const unsigned char sip_agent_js[] = {
#embed "pages/sip-agent.js"
};
static const unsigned char sip_call_js[] = {
#embed "pages/sip-call.js"
};
static const unsigned char sip_connection_js[] = {
#embed "pages/sip-connection.js"
};
static const unsigned char sip_digest_js[] = {
#embed "pages/sip-digest.js"
};
static const unsigned char sip_media_js[] = {
#embed "pages/sip-media.js"
};
static const unsigned char sip_message_js[] = {
#embed "pages/sip-message.js"
};
static const unsigned char trunks_js[] = {
#embed "pages/trunks.js"
};
static const unsigned char words_js[] = {
#embed "pages/words.js"
};

#define PAGE(name, bytes) { name, bytes, sizeof(bytes) }

static const struct console_page pages[] = {
    PAGE("api.js", api_js),
    PAGE("call.js", call_js),
    PAGE("calls.js", calls_js),
    PAGE("console.css", console_css),
    PAGE("dom.js", dom_js),
    PAGE("events.js", events_js),
    PAGE("icon.svg", icon_svg),
    PAGE("index.html", index_html),
    PAGE("lines.js", lines_js),
    PAGE("live.js", live_js),
    PAGE("load.js", load_js),
    PAGE("long-table.js", long_table_js),
    PAGE("main.js", main_js),
    PAGE("phone-card.js", phone_card_js),
    PAGE("phone-ringer.js", phone_ringer_js),
    PAGE("phone.css", phone_css),
    PAGE("phone.html", phone_html),
    PAGE("phone.js", phone_js),
    PAGE("server.js", server_js),
    PAGE("settings.js", settings_js),
    PAGE("sip-agent.js", sip_agent_js),
    PAGE("sip-call.js", sip_call_js),
    PAGE("sip-connection.js", sip_connection_js),
    PAGE("sip-digest.js", sip_digest_js),
    PAGE("sip-media.js", sip_media_js),
    PAGE("sip-message.js", sip_message_js),
    PAGE("trunks.js", trunks_js),
    PAGE("words.js", words_js),
};

const struct console_page *console_page_at(unsigned long index) {
    return index < sizeof(pages) / sizeof(pages[0]) ? &pages[index] : 0;
}
