#include "grant.h"

#include <stdio.h>

static bool grant_kind(const struct session *session, int32_t kind, selene_window *window) {
    selene_decision *decision;
    bool granted;
    if (selene_governor_ask(session->scheduler, kind, 0, &decision)) return false;
    granted = decision->granted;
    if (granted && decision->longest_window < window->budget)
        window->budget = decision->longest_window > SELENE_MILLISECOND ? decision->longest_window
                                                                       : SELENE_MILLISECOND;
    if (session->options->why) show_decision(session, decision);
    else if (!granted) show_refused(session, decision);
    selene_free(decision);
    return granted;
}

bool grant(const struct session *session, selene_window *window) {
    uint32_t granted = 0;
    if (session->options->profile < 0 && !session->options->why) return true;
    for (int32_t kind = SELENE_KIND_REFRESH; kind <= SELENE_KIND_PROCESSING; kind++)
        if ((window->kinds & (uint32_t)kind) && grant_kind(session, kind, window))
            granted |= (uint32_t)kind;
    if (window->reserve > window->budget) window->reserve = window->budget;
    window->kinds = granted;
    write_out();
    return granted != 0;
}
